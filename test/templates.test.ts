import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { modes } from '../src/core/runs/modulation.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const path = '/v1/recursion-team'
const builtIn = ['deep-search', 'iterative-refinement', 'adversarial-deliberation']

const template = {
  name: 'pair',
  task: 'Write and review.',
  roles: [
    { role: 'writer', recurse: 'balanced' },
    {
      role: 'reviewer',
      recurse: 'tight',
      modes: ['stalled', 'goal-drift'],
      return: 'Read it again.',
    },
    { role: 'watcher', recurse: 'deep', return: false },
  ],
}

onEachDatabase((database) => {
  async function startKeyed(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app) }
  }

  test('the built-in teams, with their published roles and depths', async (t) => {
    verifies('templates.built-in', 'templates.read')
    const { app, me } = await startKeyed(t)
    assert.equal((await app.get(path)).body.error, 'no_key')
    const { templates } = (await me.get(path)).body
    const roles = templates.map(({ name, built_in, roles }: Stored) => [
      name,
      built_in,
      ...roles.map(({ role, recurse, modes }) => [role, recurse, ...(modes ?? [])].join(' ')),
    ])
    assert.deepEqual(roles, [
      ['deep-search', true, 'explorer deep', 'checker tight'],
      [
        'iterative-refinement',
        true,
        'drafter balanced',
        'critic balanced echo-spiral topic-drift ungrammatical',
      ],
      ['adversarial-deliberation', true, 'advocate-a deep', 'advocate-b deep', 'synthesizer tight'],
    ])
    for (const [at, name] of builtIn.entries()) {
      assert.deepEqual((await me.get(`${path}?name=${name}`)).body, { template: templates[at] })
    }
  })

  test('a template is stored, replaced, listed, read and deleted', async (t) => {
    verifies('templates.store', 'templates.read', 'templates.delete')
    const { me } = await startKeyed(t)
    const stored = await me.post(path, { ...template, surplus: 1 })
    assert.equal(stored.status, 201)
    assert.deepEqual(stored.body, { ok: true, template: { ...template, built_in: false } })
    await me.post(path, { ...template, name: 'another' })
    const replacement = { name: 'pair', task: 'Again.', roles: [{ role: 'one', recurse: 'deep' }] }
    assert.equal((await me.post(path, replacement)).status, 201)
    const { templates } = (await me.get(path)).body
    assert.deepEqual(
      templates.map(({ name }: Stored) => name),
      [...builtIn, 'another', 'pair'],
    )
    assert.deepEqual((await me.get(`${path}?name=pair`)).body, {
      template: { ...replacement, built_in: false },
    })
    assert.deepEqual((await me.request('DELETE', `${path}?name=pair`)).body, { ok: true })
    for (const answer of [
      await me.get(`${path}?name=pair`),
      await me.request('DELETE', `${path}?name=pair`),
    ]) {
      assert.deepEqual([answer.status, answer.body.error], [404, 'no_template'])
    }
    assert.equal((await me.get(path)).body.templates.length, 4)
  })

  test('a built-in name is not to be had, and stays', async (t) => {
    verifies('templates.built-in-name')
    const { me } = await startKeyed(t)
    const before = (await me.get(path)).body
    for (const name of builtIn) {
      for (const answer of [
        await me.post(path, { ...template, name }),
        await me.request('DELETE', `${path}?name=${name}`),
      ]) {
        assert.deepEqual([answer.status, answer.body.error], [409, 'conflict'])
      }
    }
    assert.deepEqual((await me.get(path)).body, before)
  })

  test('what is no template is refused by the name of its field', async (t) => {
    verifies('templates.store')
    const { me } = await startKeyed(t)
    const role = { role: 'one', recurse: 'deep' }
    const cases: [object, RegExp][] = [
      [{ name: undefined }, /^name: /],
      [{ name: '' }, /^name: /],
      [{ name: 'x'.repeat(201) }, /^name: /],
      [{ task: 5 }, /^task: /],
      [{ task: undefined }, /^task: /],
      [{ roles: undefined }, /^roles: /],
      [{ roles: [] }, /^roles: send 1 to 20/],
      [{ roles: Array.from({ length: 21 }, (_, at) => ({ ...role, role: `${at}` })) }, /^roles: /],
      [{ roles: [role, role] }, /^roles: send each role once/],
      [{ roles: [{ ...role, role: '' }] }, /^roles\.0\.role: /],
      [
        { roles: [{ ...role, recurse: 'deeper' }] },
        /^roles\.0\.recurse: send deep, balanced, tight/,
      ],
      [{ roles: [role, { role: 'two' }] }, /^roles\.1\.recurse: /],
      [
        { roles: [{ ...role, modes: ['tired'] }] },
        new RegExp(`^roles\\.0\\.modes\\.0: .*${modes[1]}`),
      ],
      [{ roles: [{ ...role, modes: [] }] }, /^roles\.0\.modes: /],
      [{ roles: [{ ...role, return: 5 }] }, /^roles\.0\.return: /],
    ]
    for (const [fields, detail] of cases) {
      const answer = await me.post(path, { ...template, ...fields })
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'])
      assert.match(answer.body.detail, detail)
    }
    for (const query of ['', '?name=']) {
      assert.equal((await me.request('DELETE', path + query)).status, 400)
    }
    assert.equal((await me.get(path)).body.templates.length, 3)
  })

  test('an account holds a hundred, however many come at once', async (t) => {
    verifies('templates.store')
    const { me } = await startKeyed(t)
    const names = Array.from({ length: 104 }, (_, at) => `team ${at}`)
    const answers = await Promise.all(names.map((name) => me.post(path, { ...template, name })))
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 201).length, 100)
    assert.equal(statuses.filter((status) => status === 409).length, 4)
    const kept = names[statuses.indexOf(201)]
    assert.equal((await me.post(path, { ...template, name: kept })).status, 201)
    assert.equal((await me.get(path)).body.templates.length, 103)
  })
})

interface Stored {
  name: string
  built_in: boolean
  roles: { role: string; recurse: string; modes?: string[] }[]
}
