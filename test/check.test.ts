import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { detectorNames } from '../src/core/detector/contract/detector.ts'
import { openDatabase } from '../src/storage/database/open-database.ts'
import { databases, onEachDatabase } from './backends.ts'
import { type Answer, type App, published, start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const other = 'refund order 2093'

/** A service that counts nobody, and two ways to send it a body. */
async function startUncounted(t: TestContext, env: Record<string, string> = {}) {
  const app = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '0', ...env } })
  return {
    /** The answer to a body that is in order. */
    async judge(body: unknown) {
      const answer = await app.post('/v1/check', body)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    /** The detail of the 400 that a body gets. */
    async refuse(body: unknown, word = 'bad_request'): Promise<string> {
      return detailOf(await app.post('/v1/check', body), word)
    },
    /** The answer to a body as text. */
    send: (body: string | Uint8Array, headers: Record<string, string> = {}) =>
      app.request('POST', '/v1/check', { body, headers }),
  }
}

function detailOf(answer: Answer, word = 'bad_request'): string {
  assert.equal(answer.status, 400, answer.text)
  assert.equal(answer.body.error, word)
  return answer.body.detail
}

/** Goals in one order, each as a step. */
const stepsOf = (...goals: string[]) => ({ steps: goals.map((goal) => ({ goal })) })

const notTexts = [undefined, null, 5, 0, true, false, {}, { goal: 'x' }, [], ['x']]
const blanks = ['', ' ', ' \t\r\n', '\u00a0\u3000\ufeff']

/** What `Number.parseInt` reads at the beginning of a text, clamped; the same in both forms. */
const distancesReadAlike: [unknown, number][] = [
  [0, 0],
  [7, 7],
  [10, 10],
  [7.9, 7],
  ['7', 7],
  ['7.9', 7],
  [' 7 ', 7],
  ['+3', 3],
  ['007', 7],
  ['1e1', 1],
  ['0x1F', 0],
  [1e21, 1],
  [1e-7, 1],
  [-0, 0],
  [-3, 0],
  ['-3', 0],
  [-0.5, 0],
  [11, 10],
  [99, 10],
  ['99', 10],
  [[7], 7],
  [[['7']], 7],
  [undefined, 5],
  [null, 5],
  [true, 5],
  [false, 5],
  ['', 5],
  [' ', 5],
  ['Infinity', 5],
  ['-Infinity', 5],
  ['NaN', 5],
  ['abc', 5],
  ['d8', 5],
  ['٧', 5],
  [[], 5],
  [[null], 5],
  [{}, 5],
  [{ valueOf: 7 }, 5],
]

/** Texts that begin with a number and are none: only the two-goal form refuses them. */
const distancesHalfRead: [unknown, number][] = [
  ['8abc', 8],
  ['8 of 10', 8],
  ['3,5', 3],
  ['1_000', 1],
  ['7n', 7],
  [[2, 3], 2],
]

describe('two goals', () => {
  test('are read whenever steps is no array', async (t) => {
    verifies('check.sugar.when')
    const { judge } = await startUncounted(t)
    for (const steps of [
      undefined,
      null,
      'text',
      5,
      true,
      {},
      { length: 3 },
      { 0: { goal: 'x' } },
    ]) {
      const answer = await judge({ steps, ground: errand, goal: errand })
      assert.equal(answer.ground, errand)
      assert.equal(answer.steps.length, 2)
    }
  })

  test('answer two steps, and the second is the verdict', async (t) => {
    verifies('check.sugar.two-steps', 'check.answer.ground', 'check.answer.verdict')
    const { judge } = await startUncounted(t)
    const answer = await judge({ ground: errand, goal: other })
    assert.deepEqual(
      answer.steps.map(({ goal }: { goal: string }) => goal),
      [errand, other],
    )
    assert.equal(answer.ground, errand)
    assert.deepEqual(answer.verdict, answer.steps[1])
    const { drifting, reason, phi, goal_score, advice, context } = answer.verdict
    assert.deepEqual(
      { drifting, reason, phi, goal_score },
      { drifting: true, reason: 'goal-drift', phi: 0.45, goal_score: 0.5 },
    )
    assert.match(advice, /\w+ \w+/)
    assert.match(context, /^ctx_/)
  })

  test('both have to be texts that are not blank', async (t) => {
    verifies('check.sugar.ground-required', 'check.sugar.goal-required')
    const { refuse } = await startUncounted(t)
    for (const value of [...notTexts, ...blanks]) {
      assert.match(await refuse({ ground: value, goal: errand }), /^ground /)
      assert.match(await refuse({ ground: errand, goal: value }), /^goal /)
    }
  })

  test('are trimmed', async (t) => {
    verifies('check.sugar.trim')
    const { judge } = await startUncounted(t)
    const answer = await judge({ ground: ` \n${errand}\t`, goal: `\u3000${other}\ufeff` })
    assert.deepEqual(answer, await judge({ ground: errand, goal: other }))
    assert.deepEqual([answer.ground, answer.verdict.goal], [errand, other])
  })

  test('a progress that is no text is advancing', async (t) => {
    verifies('check.sugar.progress-default')
    const { judge } = await startUncounted(t)
    for (const progress of notTexts) {
      const { verdict } = await judge({ ground: errand, goal: errand, progress })
      assert.deepEqual([verdict.progress, verdict.reason], ['advancing', 'advancing'])
    }
  })

  test('a progress that does not exist is ungrammatical', async (t) => {
    verifies('check.sugar.progress-unknown')
    const { judge } = await startUncounted(t)
    for (const progress of ['done', 'Advancing', 'stuck ', '', '__proto__', 'constructor']) {
      const { verdict } = await judge({ ground: errand, goal: errand, progress })
      assert.deepEqual([verdict.progress, verdict.reason], [progress, 'ungrammatical'])
    }
  })

  test('progress is that of the second step alone', async (t) => {
    verifies('check.sugar.progress-second-only')
    const { judge } = await startUncounted(t)
    for (const progress of ['stuck', 'circling', 'done']) {
      const { steps } = await judge({ ground: errand, goal: errand, progress })
      assert.deepEqual([steps[0].progress, steps[1].progress], ['advancing', progress])
      assert.equal(steps[0].reason, 'grounded')
    }
  })

  test('one distance is read for both', async (t) => {
    verifies(
      'check.sugar.distance-not-finite',
      'check.sugar.distance-parsed',
      'check.sugar.distance-both',
    )
    const { judge } = await startUncounted(t)
    const halfRead = distancesHalfRead.map(([value]) => [value, 5] as const)
    for (const [distance, read] of [...distancesReadAlike, ...halfRead]) {
      const { steps } = await judge({ ground: errand, goal: errand, distance })
      assert.deepEqual([steps[0].distance, steps[1].distance], [read, read], inspect(distance))
    }
  })

  test('a ground and a goal alone get one of four reasons and no judgment', async (t) => {
    verifies('check.sugar.reasons', 'check.sugar.no-judgment')
    const { judge } = await startUncounted(t)
    const goal = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '')
    await fc.assert(
      fc.asyncProperty(fc.oneof(goal, fc.constant(errand)), goal, async (ground, goal) => {
        const { steps } = await judge({ ground, goal })
        assert.equal(steps[0].reason, 'grounded')
        assert.match(steps[1].reason, /^(advancing|goal-drift|ungrammatical)$/)
        assert.ok(!('judgment' in steps[0]) && !('judgment' in steps[1]))
      }),
    )
    for (const progress of ['stuck', 'circling', 'done']) {
      const { steps } = await judge({ ground: errand, goal: other, progress, distance: 10 })
      assert.ok(!('judgment' in steps[0]) && !('judgment' in steps[1]))
    }
  })
})

describe('a sequence', () => {
  test('wins over two goals, even when it is empty', async (t) => {
    verifies('check.steps.wins', 'check.steps.first-is-ground', 'check.answer.ground')
    const { judge, refuse } = await startUncounted(t)
    const twoGoals = { ground: other, goal: other, progress: 'stuck', distance: 1 }
    assert.match(await refuse({ ...twoGoals, steps: [] }), /^steps /)
    const answer = await judge({ ...twoGoals, ...stepsOf(errand, other) })
    assert.deepEqual(answer, await judge(stepsOf(errand, other)))
    assert.deepEqual([answer.ground, answer.steps[1].ground], [errand, errand])
  })

  test('has 2 to 64 entries', async (t) => {
    verifies('check.steps.too-few', 'check.steps.too-many', 'check.steps.limits')
    const { judge, refuse } = await startUncounted(t)
    const goals = (count: number) => Array.from({ length: count }, (_, at) => `goal number ${at}`)
    for (const count of [0, 1]) await refuse(stepsOf(...goals(count)))
    for (const count of [65, 66, 1_000]) {
      assert.match(await refuse(stepsOf(...goals(count)), 'too_many_steps'), /64/)
    }
    for (const count of [2, 3, 64]) {
      const { steps } = await judge(stepsOf(...goals(count)))
      assert.deepEqual(
        steps.map(({ goal }: { goal: string }) => goal),
        goals(count),
      )
    }
  })

  test('the number of entries is refused before their goals', async (t) => {
    verifies('check.refusal.count-before-goals')
    const { refuse } = await startUncounted(t)
    await refuse({ steps: Array(65).fill({ goal: ' ' }) }, 'too_many_steps')
    assert.match(await refuse({ steps: [{ goal: ' ' }] }), /^steps has 1 entry/)
  })

  test('every entry has a goal, and the detail says which has not', async (t) => {
    verifies('check.steps.goal-required')
    const { refuse } = await startUncounted(t)
    for (const [count, index] of [
      [2, 0],
      [2, 1],
      [64, 63],
    ] as const) {
      const entries: unknown[] = Array.from({ length: count }, () => ({ goal: errand }))
      const bad = [...notTexts, ...blanks].map((goal) => ({ goal }))
      for (const entry of [...bad, {}, null, 5, 'text', [errand], []]) {
        const detail = await refuse({ steps: entries.with(index, entry) })
        assert.ok(detail.startsWith(`steps[${index}].goal `), detail)
      }
    }
    assert.match(await refuse({ steps: [{ goal: errand }, {}, {}] }), /^steps\[1\]/)
  })

  test('goals are trimmed', async (t) => {
    verifies('check.steps.goal-trim')
    const { judge } = await startUncounted(t)
    const answer = await judge(stepsOf(` ${errand}\n`, `\t${other} `))
    assert.deepEqual(answer, await judge(stepsOf(errand, other)))
    assert.equal(answer.verdict.goal, other)
  })

  test('each entry has a progress of its own', async (t) => {
    verifies('check.steps.progress-default', 'check.steps.progress-unknown')
    const { judge } = await startUncounted(t)
    const progressOf = async (progress: unknown) => {
      const { steps } = await judge({
        steps: [
          { goal: errand, progress },
          { goal: errand, progress },
        ],
      })
      return [steps[0].progress, steps[0].reason, steps[1].progress, steps[1].reason]
    }
    for (const progress of notTexts) {
      assert.deepEqual(await progressOf(progress), [
        'advancing',
        'grounded',
        'advancing',
        'advancing',
      ])
    }
    for (const progress of ['done', 'STUCK', '', ' advancing']) {
      const expected = [progress, 'ungrammatical', progress, 'ungrammatical']
      assert.deepEqual(await progressOf(progress), expected)
    }
  })

  test('each entry has a distance of its own, read as far as it is a number', async (t) => {
    verifies('check.steps.distance-parsed', 'check.steps.distance-clamped')
    const { judge } = await startUncounted(t)
    for (const [distance, read] of [...distancesReadAlike, ...distancesHalfRead]) {
      const { steps } = await judge({
        steps: [
          { goal: errand, distance },
          { goal: errand, distance: 4 },
        ],
      })
      assert.deepEqual([steps[0].distance, steps[1].distance], [read, 4], inspect(distance))
    }
  })

  test('fields other than goal, progress and distance change nothing', async (t) => {
    verifies('check.steps.parent-ignored', 'check.steps.other-fields-ignored')
    const { judge } = await startUncounted(t)
    const plain = [{ goal: errand }, { goal: other, progress: 'advancing', distance: 4 }]
    const expected = await judge({ steps: plain })
    assert.equal(expected.verdict.reason, 'goal-drift')
    for (const more of [
      { parent_goal: errand },
      { parent_goal: 5 },
      { parent_goal: { deep: [errand] } },
      { user_turn: true, ground: other },
      { plan: [other], tokens: -1, overhead: {}, agent_id: 'a', step_id: '', earlier: null },
      { parentGoal: errand, userTurn: true, words: ['add'], detector: 'nothing' },
    ]) {
      const steps = plain.map((entry) => ({ ...entry, ...more }))
      assert.deepEqual(await judge({ steps }), expected, inspect(more))
    }
  })
})

test('any distance that JSON can hold is read by the published rules', async (t) => {
  verifies('check.sugar.distance-parsed', 'check.steps.distance-parsed')
  const { judge } = await startUncounted(t)
  const texts = fc.oneof(
    fc.stringMatching(/^[ +-]?[0-9a-fnx.,_e]{0,6}$/),
    fc.double().map(String),
    fc.integer().map(String),
  )
  const value = fc.oneof(texts, fc.jsonValue({ maxDepth: 3 }), fc.array(texts, { maxLength: 3 }))
  await fc.assert(
    fc.asyncProperty(value, async (sent) => {
      const distance = JSON.parse(JSON.stringify(sent))
      const twoGoals = await judge({ ground: errand, goal: errand, distance })
      assert.equal(twoGoals.verdict.distance, readAsPublished(distance, true))
      const sequence = await judge({ steps: [{ goal: errand }, { goal: errand, distance }] })
      assert.equal(sequence.verdict.distance, readAsPublished(distance, false))
    }),
    { numRuns: 300 },
  )
})

/** interface.md's sentence on distance, as it stands there. */
function readAsPublished(distance: unknown, finiteFirst: boolean): number {
  try {
    const value = finiteFirst && !Number.isFinite(Number(distance)) ? 5 : distance
    const parsed = Number.parseInt(String(value), 10)
    return Number.isNaN(parsed) ? 5 : Math.min(10, Math.max(0, parsed)) + 0
  } catch {
    // An object whose own toString is no function has no string form.
    return 5
  }
}

describe('the body', () => {
  test('has to be JSON', async (t) => {
    verifies('check.body.not-json')
    const { send } = await startUncounted(t)
    for (const body of [
      '',
      ' ',
      'undefined',
      'ground=a&goal=b',
      '{',
      '{"ground":"a","goal":"b"',
      '{"ground":"a","goal":"b"}}',
      '{"ground":"a","goal":"b"} {}',
      "{'ground':'a','goal':'b'}",
      '{"ground":"a","goal":"b",}',
      '// a comment\n{"ground":"a","goal":"b"}',
      '{"ground":"a","goal":NaN}',
      '{"ground":"a\nb","goal":"b"}',
      '<check/>',
    ]) {
      detailOf(await send(body))
    }
  })

  test('has to be an object', async (t) => {
    verifies('check.body.falsy', 'check.body.not-object')
    const { send } = await startUncounted(t)
    const falsy = ['null', 'false', '0', '-0', '0e9', '""', ' null ']
    const entries = JSON.stringify(stepsOf(errand, errand).steps)
    for (const body of [...falsy, '5', 'true', '"text"', '[]', '[1,2]', entries]) {
      detailOf(await send(body))
    }
  })

  test('is read as JSON whatever the content type says', async (t) => {
    verifies('check.body.content-type')
    const { send } = await startUncounted(t)
    const body = JSON.stringify({ ground: errand, goal: other })
    const expected = (await send(body, { 'content-type': 'application/json' })).text
    for (const type of [
      'text/plain',
      'text/plain;charset=UTF-16',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json; charset=latin1',
      'application/problem+json',
      'image/png',
      'nonsense',
      ';',
      '/',
      'a/b/c; =; "',
    ]) {
      const answer = await send(body, { 'content-type': type })
      assert.deepEqual([answer.status, answer.text], [200, expected], type)
    }
    const bytes = new TextEncoder().encode(body)
    assert.equal((await send(bytes)).text, expected, 'no content type')
  })

  test('its unknown fields are ignored', async (t) => {
    verifies('check.unknown-fields')
    const { send } = await startUncounted(t)
    const plain = { ground: errand, goal: other }
    const expected = (await send(JSON.stringify(plain))).text
    for (const more of [
      { run_id: 'r', user_turn: true, parent_goal: errand },
      { settings: { detector: 'x' }, memory: {}, verdict: null },
      { '': 1, toString: 1, hasOwnProperty: 1, constructor: { prototype: {} } },
    ]) {
      assert.equal((await send(JSON.stringify({ ...more, ...plain }))).text, expected)
    }
  })

  test('its texts have at most 4,000 characters', async (t) => {
    verifies('check.text.limit')
    const { judge, refuse } = await startUncounted(t)
    const longest = 'word '.repeat(800).trimEnd().padEnd(4_000, 'x')
    const emoji = '😀'.repeat(2_000)
    for (const text of [longest, ` ${longest}\n`, emoji]) {
      const { verdict } = await judge({ ground: text, goal: text })
      assert.deepEqual([verdict.goal, verdict.phi], [text.trim(), 0])
      await judge(stepsOf(text, text))
    }
    for (const text of [`${longest}x`, `${emoji}.`, 'x'.repeat(100_000)]) {
      assert.match(await refuse({ ground: text, goal: errand }), /^ground .*4000/)
      assert.match(await refuse({ ground: errand, goal: text }), /^goal .*4000/)
      assert.match(await refuse(stepsOf(text, errand)), /^steps\[0\]\.goal .*4000/)
      assert.match(await refuse(stepsOf(errand, text)), /^steps\[1\]\.goal .*4000/)
    }
  })

  test('its texts become well-formed before they are looked at', async (t) => {
    verifies('check.text.well-formed')
    const { send } = await startUncounted(t)
    for (const [sent, echoed] of [
      ['a\\u0000b', 'a\ufffdb'],
      ['a\\ud800b', 'a\ufffdb'],
      ['a\\udc00b', 'a\ufffdb'],
      ['\\udc00\\ud800', '\ufffd\ufffd'],
      ['\\u0000', '\ufffd'],
      ['\\ud83d\\ude00', '😀'],
    ]) {
      const twoGoals = await send(`{"ground":"${sent}","goal":"${sent}","progress":"${sent}"}`)
      assert.equal(twoGoals.status, 200)
      assert.equal(twoGoals.body.ground, echoed)
      assert.equal(twoGoals.body.verdict.goal, echoed)
      assert.equal(twoGoals.body.verdict.progress, echoed)
      assert.ok(twoGoals.text.isWellFormed() && !/\\u(0000|d[89a-f])/i.test(twoGoals.text))
      const sequence = await send(`{"steps":[{"goal":"${sent}"},{"goal":"${echoed}"}]}`)
      assert.deepEqual([sequence.body.ground, sequence.body.steps[0].goal], [echoed, echoed])
      assert.equal(sequence.body.steps[1].context, sequence.body.steps[0].context)
    }
  })

  test('its field detector chooses the detector', async (t) => {
    verifies('check.detector.field', 'check.detector.unknown')
    const { judge, refuse } = await startUncounted(t)
    for (const form of [{ ground: errand, goal: other }, stepsOf(errand, other)]) {
      const { steps } = await judge({ ...form, detector: 'overlap' })
      for (const { detector } of steps) assert.equal(detector, 'overlap')
      await judge({ ...form, detector: null })
      for (const detector of ['', 'Overlap', 'nothing', '__proto__', 'toString', 5, true, [], {}]) {
        assert.match(await refuse({ ...form, detector }), /^detector .*overlap/)
      }
      assert.match(await refuse({ ...form, detector: ['overlap'] }), /^detector /)
    }
  })
})

describe('a refusal', () => {
  test('says what to send, and its examples are answered', async (t) => {
    verifies('check.400.body', 'check.400.shapes')
    const { judge, send } = await startUncounted(t)
    const tooMany = JSON.stringify({ steps: Array(65).fill({ goal: errand }) })
    for (const [body, word] of [
      ['nonsense', 'bad_request'],
      ['null', 'bad_request'],
      ['{}', 'bad_request'],
      ['{"steps":[]}', 'bad_request'],
      ['{"steps":[{},{}]}', 'bad_request'],
      ['{"ground":"a","goal":"b","detector":"x"}', 'bad_request'],
      [tooMany, 'too_many_steps'],
    ]) {
      const answer = await send(body!)
      detailOf(answer, word)
      const { detail, note, shapes } = answer.body
      assert.deepEqual([typeof detail, typeof note], ['string', 'string'])
      assert.ok(detail !== '' && note !== '')
      assert.equal((await judge(shapes.two_step)).steps.length, 2)
      assert.ok(Array.isArray(shapes.sequence.steps))
      await judge(shapes.sequence)
    }
  })
})

describe('the answer', () => {
  test('says that nothing is kept', async (t) => {
    verifies('check.answer.stateless')
    const { judge } = await startUncounted(t)
    for (const body of [{ ground: errand, goal: other }, stepsOf(errand, other)]) {
      const { stateless, retained } = await judge(body)
      assert.deepEqual([stateless, retained], [true, 'nothing'])
    }
  })

  test('echoes what was measured', async (t) => {
    verifies('check.result.echo')
    const { judge } = await startUncounted(t)
    const { steps } = await judge({
      steps: [
        { goal: ' one goal', progress: 'circling', distance: '9 left' },
        { goal: 'one goal ', progress: 'sideways', distance: -1 },
        { goal: 'one goal', progress: 7 },
      ],
    })
    assert.deepEqual(
      steps.map(({ goal, progress, distance }: Record<string, unknown>) => [
        goal,
        progress,
        distance,
      ]),
      [
        ['one goal', 'circling', 9],
        ['one goal', 'sideways', 0],
        ['one goal', 'advancing', 5],
      ],
    )
  })

  test('is the same bytes for the same body', async (t) => {
    verifies('check.same-bytes')
    const [one, another] = [await startUncounted(t), await startUncounted(t)]
    for (const body of [
      { ground: errand, goal: other },
      { ground: '修复登录页面', goal: 'répare la page', progress: 'stuck', distance: 3 },
      stepsOf(errand, other, errand, other, errand, other, errand),
    ]) {
      const text = JSON.stringify(body)
      const { text: first } = await one.send(text)
      assert.equal((await one.send(text)).text, first)
      assert.equal((await another.send(text)).text, first)
    }
  })

  test('phi weighs goal, distance and progress against the ground', async (t) => {
    verifies('check.result.phi', 'check.result.goal-score')
    const { judge } = await startUncounted(t, published)
    const ground = 'alpha beta gamma delta'
    for (const [step, phi, goalScore] of [
      [{ goal: ground }, 0, 1],
      [{ goal: 'delta alpha gamma beta beta' }, 0, 1],
      [{ goal: ground, distance: 0 }, 0.15, 1],
      [{ goal: ground, distance: 10 }, 0.15, 1],
      [{ goal: ground, progress: 'circling' }, 0.2, 1],
      [{ goal: 'alpha beta gamma' }, 0.13, 0.75],
      [{ goal: 'alpha omega' }, 0.4, 0.2],
      [{ goal: 'omega' }, 0.5, 0],
      [{ goal: 'omega', progress: 'stuck', distance: 0 }, 0.85, 0],
      [{ goal: 'omega', progress: 'sideways', distance: 0 }, 0, 0],
    ] as const) {
      const { steps } = await judge({ steps: [{ goal: ground }, step] })
      assert.deepEqual([steps[0].reason, steps[0].phi, steps[0].goal_score], ['grounded', 0, 1])
      assert.deepEqual([steps[1].phi, steps[1].goal_score], [phi, goalScore], inspect(step))
    }
  })

  test('spells a step in one canonical line', async (t) => {
    verifies('check.result.svcscore')
    const { judge } = await startUncounted(t)
    const { steps } = await judge({
      steps: [
        { goal: 'ship the sky billboard' },
        { goal: 'the billboard: SHIP SKY sky!', progress: 'stuck', distance: 99 },
        { goal: 'zoo Apple 10 9', distance: 0 },
        { goal: 'the of and', progress: 'circling', distance: 4 },
      ],
    })
    assert.deepEqual(
      steps.map(({ svcscore }: { svcscore: string }) => svcscore),
      [
        '⟨billboard|ship|sky⟩ advancing d5',
        '⟨billboard|ship|sky⟩ stuck d10',
        '⟨10|9|apple|zoo⟩ advancing d0',
        '⟨⟩ circling d4',
      ],
    )
  })

  test('names a goal by its words', async (t) => {
    verifies('check.result.context')
    const { judge } = await startUncounted(t)
    const contextOf = async (goal: string) =>
      (await judge({ ground: errand, goal })).verdict.context
    assert.equal(await contextOf('build the parser'), 'ctx_1sax889')
    assert.equal(await contextOf('building a Parser'), 'ctx_1sax889')
    assert.match(await contextOf('修复登录页面'), /^ctx_[0-9a-z]+$/)
    assert.notEqual(await contextOf('build the lexer'), 'ctx_1sax889')
    for (const wordless of ['the', 'a of the', '!!!', '—']) {
      assert.equal(await contextOf(wordless), null, wordless)
    }
  })

  test('the ground is null only while a step that cannot be spelled comes before any ground', async (t) => {
    verifies('check.result.ground', 'check.result.ground-null', 'check.result.goal-score')
    const { judge } = await startUncounted(t)
    const { ground, steps } = await judge({
      steps: [
        { goal: other, progress: 'sideways' },
        { goal: errand, progress: 'nowhere' },
        { goal: errand },
        { goal: other, progress: 'sideways' },
        { goal: other },
      ],
    })
    assert.equal(ground, other, 'the goal of the first step, grounded or not')
    assert.deepEqual(
      steps.map((step: Record<string, unknown>) => [step.reason, step.ground, step.goal_score]),
      [
        ['ungrammatical', null, 1],
        ['ungrammatical', null, 1],
        ['grounded', errand, 1],
        ['ungrammatical', errand, 0.5],
        ['goal-drift', errand, 0.5],
      ],
    )
  })

  test('counts a spelling that comes again', async (t) => {
    verifies('check.result.repetition')
    const { judge } = await startUncounted(t)
    const { steps } = await judge({
      steps: [
        { goal: errand, distance: 3 },
        { goal: errand, distance: 2 },
        { goal: `${errand} ${errand}`, distance: 3 },
        { goal: errand, distance: 2, progress: 'stuck' },
        { goal: errand, distance: '3' },
      ],
    })
    assert.deepEqual(
      steps.map(({ repetition }: { repetition?: number }) => repetition),
      [undefined, undefined, 2, undefined, 3],
    )
  })

  test('judges a run that goes nowhere', async (t) => {
    verifies('check.result.judgment')
    const { judge } = await startUncounted(t)
    const repeat = (count: number, step: object) => Array(count).fill(step)
    for (const [steps, first, verdict] of [
      [repeat(4, { goal: errand, distance: 5 }), 2, 'repeating'],
      [[{ goal: errand }, ...repeat(3, { goal: other })], 3, 'wrong-problem'],
      [walk(6, 7), 4, 'narrow'],
      [walk(13, 4), 11, 'abandon'],
    ] as const) {
      const { steps: results } = await judge({ steps })
      const judged = results.findIndex(({ judgment }: Judged) => judgment?.verdict === verdict)
      assert.equal(judged, first, verdict)
      const { judgment } = results[judged]
      assert.deepEqual(Object.keys(judgment).sort(), ['because', 'counsel', 'verdict'])
      assert.ok(judgment.because !== '' && judgment.counsel !== '')
    }
  })

  interface Judged {
    judgment?: { verdict: string; because: string; counsel: string }
  }

  /** Steps on the errand, each but the first with a word of its own, at one distance. */
  function walk(count: number, distance: number): object[] {
    return Array.from({ length: count }, (_, at) => ({
      goal: at === 0 ? errand : `${errand} part${at}`,
      distance,
    }))
  }

  for (const detector of detectorNames) {
    test(`keeps its promises for any sequence, judged by ${detector}`, async (t) => {
      verifies(
        'check.answer.ground',
        'check.answer.verdict',
        'check.result.reason',
        'check.result.drifting',
        'check.result.svcscore-null',
        'check.result.ground-null',
        'check.result.repetition',
        'check.result.judgment',
        'check.result.additive',
        'check.rounded',
      )
      const { judge } = await startUncounted(t)
      const step = fc.record(
        {
          goal: fc.constantFrom(
            errand,
            `${errand} now`,
            'write a token bucket',
            other,
            'the',
            '修复',
          ),
          progress: fc.constantFrom('advancing', 'advancing', 'stuck', 'circling', 'sideways'),
          distance: fc.integer({ min: 0, max: 10 }),
          parent_goal: fc.constantFrom(errand, other),
        },
        { requiredKeys: ['goal'] },
      )
      const seen = new Set<string>()
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 2, maxLength: 64, size: 'max' }),
          async (sent) => {
            const { ground, steps, verdict } = await judge({ steps: sent, detector })
            assert.equal(ground, sent[0]!.goal)
            assert.deepEqual(verdict, steps.at(-1))
            const spellings = new Map<string, number>()
            let frozen: string | null = null
            for (const [at, result] of steps.entries()) {
              seen.add(result.reason)
              assert.match(
                result.reason,
                /^(grounded|advancing|goal-drift|ungrammatical|stalled|oscillating|self-report:(stuck|circling))$/,
              )
              assert.equal(typeof result.drifting, 'boolean')
              for (const text of [result.advice, result.why]) assert.match(text, /\S \S.*[.?]$/)
              assert.match(result.why, /\d|"|ground|blank/)
              assert.equal(result.detector, detector)
              assert.equal(typeof result.uncertain, 'boolean')
              assert.ok(!(result.uncertain && result.drifting))
              for (const score of [result.phi, result.goal_score, result.confidence]) {
                assert.ok(score >= 0 && score <= 1, String(score))
                assert.equal(score, Number(score.toFixed(2)))
              }
              const ungrammatical = result.progress === 'sideways'
              if (!ungrammatical) frozen ??= result.goal
              assert.equal(result.svcscore === null, ungrammatical)
              assert.equal(result.ground, frozen)
              if (/grounded|ungrammatical/.test(result.reason)) assert.equal(result.phi, 0)
              const times: number = (spellings.get(result.svcscore) ?? 0) + 1
              spellings.set(result.svcscore, times)
              assert.equal(result.repetition, ungrammatical || times === 1 ? undefined : times)
              if ('judgment' in result) {
                assert.ok(at >= 2)
                assert.match(result.judgment.verdict, /^(abandon|wrong-problem|repeating|narrow)$/)
              }
            }
          },
        ),
        { numRuns: 60 },
      )
      assert.equal(seen.size, 8, `only these reasons were seen: ${[...seen]}`)
    })
  }
})

onEachDatabase((database) => {
  async function startCounting(t: TestContext, perDay?: number): Promise<App> {
    const limit = perDay === undefined ? {} : { PLUMBLINE_CHECK_PER_DAY: String(perDay) }
    return start(t, { env: { DATABASE_URL: await database.createUrl(), ...limit } })
  }

  test('an address gets 100 calls a day, and then a 429', async (t) => {
    verifies(
      'check.counter.cap',
      'check.counter.headers-200',
      'check.429.body',
      'check.429.headers',
      'check.no-key',
    )
    const app = await startCounting(t)
    for (let left = 99; left >= 0; left--) {
      const answer = await ask(app)
      assert.deepEqual(limitsOf(answer), [200, '100', String(left), '43200'])
    }
    for (let call = 0; call < 3; call++) {
      const answer = await ask(app)
      assert.deepEqual(limitsOf(answer), [429, '100', '0', '43200'])
      assert.equal(answer.headers.get('retry-after'), '43200')
      const { error, detail, retry_after_s, ...more } = answer.body
      assert.deepEqual([error, retry_after_s, more], ['rate_limit', 43_200, {}])
      assert.match(detail, /100 .*43200/)
    }
  })

  test('a call counts before its body is read', async (t) => {
    verifies(
      'check.counter.before-body',
      'check.counter.headers-400',
      'check.refusal.cap-first',
      'check.counter.reset',
    )
    const app = await startCounting(t, 6)
    const bodies = [
      'nonsense',
      '',
      'null',
      '{}',
      '{"steps":[]}',
      `{"steps":[${'{},'.repeat(64)}{}]}`,
    ]
    for (const [index, body] of bodies.entries()) {
      const answer = await app.request('POST', '/v1/check', { body })
      assert.deepEqual(limitsOf(answer), [400, '6', String(5 - index), '43200'])
    }
    for (const body of [...bodies, JSON.stringify({ ground: errand, goal: errand })]) {
      assert.equal((await app.request('POST', '/v1/check', { body })).status, 429)
    }
  })

  test('the count begins anew at midnight UTC', async (t) => {
    verifies('check.counter.reset')
    const app = await startCounting(t, 2)
    const noon = 43_200
    assert.deepEqual(limitsOf(await ask(app)), [200, '2', '1', String(noon)])
    app.advance(1_500)
    assert.deepEqual(limitsOf(await ask(app)), [200, '2', '0', String(noon - 1)])
    app.advance((noon - 2) * 1_000)
    const last = await ask(app)
    assert.deepEqual(limitsOf(last), [429, '2', '0', '1'])
    assert.equal(last.body.retry_after_s, 1)
    app.advance(499)
    assert.equal((await ask(app)).status, 429)
    app.advance(1)
    assert.deepEqual(limitsOf(await ask(app)), [200, '2', '1', '86400'])
  })

  test('each address is counted apart, however it is spelled', async (t) => {
    verifies(
      'check.counter.address',
      'check.counter.unknown',
      'check.counter.canonical',
      'check.counter.other-value',
    )
    const app = await startCounting(t)
    const long = 'x'.repeat(64)
    for (const spellings of [
      [undefined, '', 'unknown'],
      ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
      ['192.0.2.2'],
      ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '2001:0db8:0000:0000:0000:0000:0000:0001'],
      ['2001:db8::2'],
      ['192.0.2.1, 192.0.2.2'],
      ['not an address'],
      ['Not an address'],
      ['192.0.2.999'],
      [long, `${long}y`, `${long}z`],
      [long.slice(1)],
      ['__proto__'],
    ]) {
      for (const [index, address] of spellings.entries()) {
        const answer = await ask(app, address)
        assert.equal(answer.headers.get('x-ratelimit-remaining'), String(99 - index), address)
      }
    }
  })

  test('of 200 calls at once exactly 100 pass', async (t) => {
    verifies('check.counter.parallel')
    const app = await startCounting(t)
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(app, '192.0.2.7')))
    const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
    assert.deepEqual(tally(answers), { 200: 100, 429: 100 })
    assert.equal(new Set(left).size, 100, 'each remaining count is told once, 0 to all refused')
  })

  test('a check leaves nothing in the store but its count', async (t) => {
    verifies('check.nothing-stored')
    const marker = 'xylophone'
    const idle = await remembered(t, async () => {})
    const busy = await remembered(t, async (app) => {
      await app.post('/v1/check', { ground: `tune the ${marker}`, goal: `sell the ${marker}` })
      await app.post('/v1/check', stepsOf(marker, marker, marker))
      await app.request('POST', '/v1/check', { body: marker })
    })
    assert.deepEqual(busy.rows.counters, [{ bucket: 'check:unknown', day: 20_468, used: 3 }])
    const counts = ({ rows: { counters, ...rest } }: Remembered) =>
      Object.entries(rest).map(([table, { length }]) => ({ table, length }))
    assert.deepEqual(counts(busy), counts(idle))
    assert.doesNotMatch(JSON.stringify(busy.rows), new RegExp(marker))
    assert.ok(!busy.file.includes(marker))
  })

  interface Remembered {
    rows: Record<string, unknown[]>
    /** The bytes of the file, when there is one. */
    file: Buffer
  }

  /** What a service leaves in its database after this work. */
  async function remembered(
    t: TestContext,
    work: (app: App) => Promise<void>,
  ): Promise<Remembered> {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    await work(app)
    await app.running.stop()
    const db = await openDatabase(url)
    t.after(() => db.close())
    const tables = await db.all<{ name: string }>(
      db.kind === 'sqlite'
        ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
    )
    const rows: Record<string, unknown[]> = {}
    for (const { name } of tables) rows[name] = await db.all(`SELECT * FROM ${name}`)
    const path = url.slice('sqlite:'.length)
    return { rows, file: db.kind === 'sqlite' ? readFileSync(path) : Buffer.alloc(0) }
  }
})

const postgres = databases.find(({ name }) => name === 'postgres')!

test('nodes on one PostgreSQL share the count', { skip: postgres.skip }, async (t) => {
  verifies('process.nodes-share', 'check.counter.parallel')
  const env = { DATABASE_URL: await postgres.createUrl() }
  const nodes = await Promise.all([start(t, { env }), start(t, { env })])
  const calls = Array.from({ length: 200 }, (_, call) => ask(nodes[call % 2]!, '192.0.2.7'))
  assert.deepEqual(tally(await Promise.all(calls)), { 200: 100, 429: 100 })
  for (const node of nodes) {
    assert.equal((await ask(node, '192.0.2.7')).status, 429)
    assert.equal((await ask(node, '192.0.2.8')).status, 200)
  }
})

function ask(app: App, address?: string): Promise<Answer> {
  const headers = address === undefined ? {} : { 'cf-connecting-ip': address }
  return app.post('/v1/check', { ground: errand, goal: errand }, headers)
}

/** Status and the three headers of the limit. */
function limitsOf({ status, headers }: Answer) {
  const names = ['limit', 'remaining', 'reset']
  return [status, ...names.map((name) => headers.get(`x-ratelimit-${name}`))]
}

function tally(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function inspect(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}
