import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { databases } from './backends.ts'
import type { App, Holder } from './harness.ts'
import {
  barriersOn,
  isTooWide,
  noBrowser,
  openPage,
  startWithPages,
  turnedTexts,
  untilCount,
} from './pages.ts'
import { answerOf, startReceiver } from './receiver.ts'
import { verifies } from './verifies.ts'

const ground = 'Upgrade the staging database from PostgreSQL 15 to 17'
const allowLoopback = { PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1' }

async function report(app: App, { headers }: Holder, runId: string, goals: readonly string[]) {
  for (const [at, goal] of goals.entries()) {
    const step = { run_id: runId, goal, tokens: 1_000, ...(at === 0 ? { ground } : {}) }
    assert.equal((await app.post('/v1/drift', step, headers)).status, 200)
  }
}

const upgrade = [
  'back up the staging database',
  'upgrade the staging database to PostgreSQL 17',
  'upgrade the production database to PostgreSQL 17',
]

const drift = [
  'back up the staging database',
  'draft the newsletter about the redesign',
  'draft the newsletter about the redesign again',
  'choose colours for the newsletter of the redesign',
  'send the newsletter about the redesign to everybody',
]

async function ask(app: App, { headers }: Holder, runId: string): Promise<string> {
  const asked = await app.post(
    '/v1/escalation',
    { run_id: runId, reason: 'goal-drift', detail: `Look at ${runId}.` },
    headers,
  )
  assert.equal(asked.status, 201)
  return asked.body.esc_id
}

/** Moves the focus with Tab until it stands on an element with this text. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let press = 0; press < 60; press++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate('document.activeElement?.textContent ?? ""')
    if (String(focused).includes(text)) return
  }
  assert.fail(`Tab never came to ${text}`)
}

for (const { name, skip, createUrl } of databases) {
  describe(`the views of the dashboard on ${name}`, { skip: skip || noBrowser }, () => {
    async function startApp(t: TestContext, env: Record<string, string> = {}): Promise<App> {
      return startWithPages(t, { env: { DATABASE_URL: await createUrl(), ...env } })
    }

    test('an escalation is decided with the keyboard, live over two tabs', async (t) => {
      verifies('web.escalations')
      const app = await startApp(t)
      const holder = await app.newAccount()
      await report(app, holder, 'staging', upgrade)
      await report(app, holder, 'other', upgrade)
      const older = await ask(app, holder, 'staging')
      app.advance(1_000)
      await ask(app, holder, 'other')
      const { page, faults } = await openPage(t, app, '/app/escalations', holder)
      const second = await openPage(t, app, `/app/escalations/${older}`, holder)
      await page.getByText('Look at staging.').waitFor()
      await page.keyboard.press('j')
      await page.waitForURL(`**/app/escalations/${older}`)
      await page
        .getByRole('heading', {
          name: 'The goal names production where the errand names staging.',
        })
        .waitFor()
      await second.page.getByRole('button', { name: /^Return to the errand/ }).waitFor()
      await tabTo(page, 'Open the run')
      await page.keyboard.press('Tab')
      await page.keyboard.type('Staging only. A for nothing.')
      await page.keyboard.press('Escape')
      await page.keyboard.press('r')
      await page.getByText(/^Decided at \d\d:\d\d: return\.$/).waitFor()
      await second.page
        .getByText(/^Already decided by this account at \d\d:\d\d: return\.$/)
        .waitFor()
      await second.page.getByText('Staging only. A for nothing.').waitFor()
      const { body } = await app.get(`/v1/escalation?id=${older}`, holder.headers)
      assert.equal(body.decision, 'return')
      assert.equal(body.note, 'Staging only. A for nothing.')
      await page.keyboard.press('j')
      await page.getByRole('button', { name: /^Stop the run/ }).waitFor()
      await page.keyboard.press('s')
      await page.getByText(/^Decided at \d\d:\d\d: stop\.$/).waitFor()
      await page.getByRole('link', { name: /^Waiting/ }).click()
      await page.getByRole('heading', { name: 'Nobody is waited for.' }).waitFor()
      await page.getByRole('link', { name: /^Decided/ }).click()
      await page.getByText('return: Look at staging.').waitFor()
      assert.deepEqual([...faults, ...second.faults], [])
    })

    test('a decision that came too late is told who was first', async (t) => {
      verifies('web.escalations')
      const app = await startApp(t)
      const holder = await app.newAccount()
      const id = await ask(app, holder, 'never stored')
      const { page } = await openPage(t, app, `/app/escalations/${id}`, holder)
      await page.getByRole('button', { name: /^Allow this once/ }).waitFor()
      // Without the stream the page does not hear of it before it decides itself.
      await page.context().setOffline(true)
      await app.post('/v1/escalation/decide', { id, decision: 'stop' }, holder.headers)
      await page.context().setOffline(false)
      await page.keyboard.press('a')
      await page.getByText(/^Already decided by this account at \d\d:\d\d: stop\.$/).waitFor()
    })

    test('cost, quality and fleet change by themselves', async (t) => {
      verifies('web.live.views')
      const app = await startApp(t)
      const holder = await app.newAccount()
      await report(app, holder, 'staging', upgrade)
      const open = (path: string) => openPage(t, app, path, holder)
      const cost = await open('/app/cost')
      const quality = await open('/app/quality')
      const fleet = await open('/app/fleet')
      await cost.page.getByText(/^None of 3\.0k tokens went into drift\.$/).waitFor()
      await quality.page.getByRole('heading', { name: 'No alarm has fired' }).waitFor()
      const mine = fleet.page.locator('.member-row', { hasText: 'this account' })
      await mine.getByText('3.0k').waitFor()
      await report(app, holder, 'away', drift)
      await cost.page.getByText(/^\S+ of 8\.0k tokens went into drift\.$/).waitFor()
      await quality.page.getByText(/^Too few to say\. 0 labels so far/).waitFor()
      await mine.getByText('8.0k').waitFor()
      assert.deepEqual([...cost.faults, ...quality.faults, ...fleet.faults], [])
    })

    test('an alert is set, tested and seen delivered', async (t) => {
      verifies('web.alerts')
      const app = await startApp(t, allowLoopback)
      const holder = await app.newAccount()
      const receiver = await startReceiver(t, (socket) => socket.end(answerOf('200 OK')))
      const { page, faults } = await openPage(t, app, '/app/alerts', holder)
      await page.getByLabel('Where alerts go').fill(`http://127.0.0.1:${receiver.port}/hook`)
      await page.getByRole('switch', { name: 'The distance stopped falling' }).click()
      await page.getByLabel('Quiet below: The agent says it is stuck').fill('0.4')
      await page.getByLabel('Tell me that an agent works alone').selectOption('30')
      await page.getByLabel('and acts').fill('0')
      await page.getByText('Write a number of acts from 1 to 99999.').waitFor()
      await page.getByLabel('and acts').fill('25')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved.').waitFor()
      await page.getByRole('button', { name: /^Send a test/ }).click()
      await page.getByText(/^The test arrived: 200 after \d+ ms\.$/).waitFor()
      await page.getByRole('button', { name: 'Show what was sent' }).click()
      await page.locator('.test-result pre').getByText('"run_id": "test"').waitFor()
      const { body } = await app.get('/v1/alerts', holder.headers)
      assert.equal(body.alert.incidents, true)
      assert.equal(body.alert.renotify_minutes, 360)
      assert.deepEqual(body.alert.unattended, { minutes: 30, acts: 25 })
      assert.deepEqual(body.alert.modes, {
        stalled: { on: false, severity: 'info' },
        'self-report:stuck': { on: true, severity: 'warn', min_phi: 0.4 },
      })
      await page.getByRole('link', { name: 'Deliveries' }).click()
      await page.getByRole('heading', { name: 'Nothing was sent yet.' }).waitFor()
      await report(app, holder, 'away', drift)
      await page.locator('.delivery-row[data-state=delivered]').waitFor()
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByText('1 event will be sent again.').waitFor()
      await page.getByRole('link', { name: 'Incidents' }).click()
      await page.getByRole('link', { name: 'away' }).waitFor()
      await page.getByText('open', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Log' }).click()
      await page.getByText('goal-drift, critical').first().waitFor()
      assert.deepEqual(faults, [])
    })

    test('a verdict is labelled by the keyboard, and the precision changes', async (t) => {
      verifies('web.quality', 'web.quality.reliability')
      const app = await startApp(t)
      const unlabelled = await openPage(t, app, '/app/quality', await app.newAccount())
      await unlabelled.page
        .getByRole('heading', { name: 'No alarm has fired on your runs.' })
        .waitFor()
      assert.equal(await unlabelled.page.locator('.reliability').count(), 0)
      const holder = await app.newAccount()
      for (let run = 0; run < 11; run++) {
        await report(app, holder, `run ${run}`, drift)
        if (run > 8) continue
        const { body } = await app.get(`/v1/drift/run?run_id=run ${run}`, holder.headers)
        const { step } = body.trace.find((each: { drifting: boolean }) => each.drifting)
        const label = { run_id: `run ${run}`, step, label: 'useful' }
        assert.equal((await app.post('/v1/drift/label', label, holder.headers)).status, 200)
      }
      const { page, faults } = await openPage(t, app, '/app/quality', holder)
      await page
        .getByRole('heading', { name: 'Too few to say. 9 labels so far, 10 are needed.' })
        .waitFor()
      await page.getByText('too few to say', { exact: true }).waitFor()
      await page.locator('.alarm-row').nth(1).waitFor()
      await page.keyboard.press('l')
      await page.locator('.alarm-row.chosen').waitFor()
      await page.keyboard.press('y')
      await page
        .getByRole('heading', {
          name: 'On your runs, 10 of 10 labelled goal-drift alarms were right.',
        })
        .waitFor()
      await page.getByText('may be as low as 0.72').waitFor()
      const reliability = page.getByRole('region', { name: 'Does it know how sure it is?' })
      await reliability.getByText(/on 10 drifting steps with your label/).waitFor()
      await reliability.getByText(/^Off by 0\.\d\d on average\.$/).waitFor()
      await page.locator('.own-row').getByText('1.00').first().waitFor()
      await page.keyboard.press('n')
      await page
        .getByRole('heading', {
          name: 'On your runs, 10 of 11 labelled goal-drift alarms were right.',
        })
        .waitFor()
      const { body } = await app.get('/v1/quality', holder.headers)
      assert.deepEqual([body.labelled, body.useful], [11, 10])
      assert.deepEqual(
        faults.filter((fault) => !/status of 404/.test(fault)),
        [],
      )
    })

    test('no precision stands beside runs that were hardly seen', async (t) => {
      verifies('web.seen', 'quality.seen')
      const app = await startApp(t)
      const holder = await app.newAccount()
      const limited = 'add rate limiting to the login endpoint'
      for (let nth = 0; nth < 10; nth++) {
        const common = { session_id: `${nth}`, cwd: '/home/kim/shop', turn_id: 'u' }
        const prompt = { hook_event_name: 'UserPromptSubmit', prompt: limited }
        const act = {
          hook_event_name: 'PostToolUse',
          tool_name: 'Bash',
          tool_input: { command: 'x', description: 'remove rate limiting from the login endpoint' },
          tool_use_id: `t-${nth}`,
          tool_response: '',
        }
        for (const event of [prompt, act]) {
          await app.post('/v1/hooks/codex', { ...common, ...event }, holder.headers)
        }
        const label = { run_id: `codex:${nth}`, step: 2, label: 'useful' }
        const answer = await app.post('/v1/drift/label', label, holder.headers)
        assert.equal(answer.status, 200, answer.text)
      }
      const { page, faults } = await openPage(t, app, '/app/quality', holder)
      await page
        .getByRole('heading', { name: 'Too little of your runs was seen to say.' })
        .waitFor()
      await page.locator('.own-row').getByText('too little seen').waitFor()
      await page.locator('.own-row').getByText('seen 0 % of 10 acts').waitFor()
      await page.getByText(/per 1,000 .* Seen 0 % of 10 acts\./).waitFor()
      assert.deepEqual(
        faults.filter((fault) => !/status of 404/.test(fault)),
        [],
      )
    })

    test('a key is made, rotated and revoked', async (t) => {
      verifies('web.keys-view')
      const app = await startApp(t)
      const holder = await app.newAccount()
      const { page, faults } = await openPage(t, app, '/app/keys', holder)
      const secret = page.locator('.secret code')
      await page.getByLabel('Label').fill('laptop <b>x</b>')
      await page.getByRole('button', { name: 'Make a key' }).click()
      await page.getByText('Your key is shown this once; the server keeps only its hash.').waitFor()
      const made = (await secret.textContent()) ?? ''
      const by = (key: string) => app.get('/v1/me', { authorization: `Bearer ${key}` })
      assert.equal((await by(made)).status, 200)
      await page.getByRole('button', { name: 'Rotate laptop <b>x</b>' }).click()
      await page.getByLabel('The old key').selectOption('0')
      await page.getByRole('button', { name: 'Make its successor' }).click()
      await page.locator('.secret code', { hasNotText: made }).waitFor()
      const successor = (await secret.textContent()) ?? ''
      assert.equal((await by(made)).status, 401)
      assert.equal((await by(successor)).status, 200)
      const row = page.locator('.key-row', { hasText: 'laptop' })
      await row.getByRole('button', { name: 'Revoke' }).click()
      await row.getByText('It stops working at once.').waitFor()
      assert.equal((await by(successor)).status, 200)
      await row.getByRole('button', { name: 'Revoke' }).click()
      await row.waitFor({ state: 'detached' })
      assert.equal((await by(successor)).status, 401)
      assert.deepEqual(faults, [])
    })

    test('the account is erased once its id is typed', async (t) => {
      verifies('web.settings')
      const app = await startApp(t)
      const holder = await app.newAccount()
      await report(app, holder, 'staging', upgrade)
      const { page } = await openPage(t, app, '/app/settings', holder)
      const erase = page.locator('#erase').getByRole('button', { name: 'Erase the account' })
      await erase.waitFor()
      assert.equal(await erase.isDisabled(), true)
      await page.locator('#erase').getByRole('textbox').fill(holder.account)
      await erase.click()
      await page.getByRole('button', { name: 'Erase everything' }).click()
      await page.getByRole('heading', { name: 'The account is erased.' }).waitFor()
      await page.getByText('1 run', { exact: true }).waitFor()
      await page.getByText('3 steps', { exact: true }).waitFor()
      assert.equal((await app.get('/v1/me', holder.headers)).status, 401)
    })
  })
}

describe('the views of the dashboard', { skip: noBrowser }, () => {
  test('a key signs in and signing out ends it; what failed is said', async (t) => {
    verifies('web.sign-in')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const { page } = await openPage(t, app, '/app/keys?from=test')
    await page.waitForURL('**/signin?to=*')
    assert.deepEqual(await barriersOn(page), [])
    await page.getByLabel('Key').fill(`${holder.key}x`)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('This key is not known here. Was all of it copied?').waitFor()
    await page.getByLabel('Key').fill(holder.key)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/keys?from=test')
    await page.getByRole('button', { name: 'Make a key' }).waitFor()
    await page.goto(`${app.url}/app/settings`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/signin')
    assert.equal((await page.request.get(`${app.url}/v1/me`)).status(), 401)
    await page.goto(`${app.url}/signin?error=expired&to=https://evil.example/app`)
    await page.getByText('The sign-in took too long and was dropped. Start again.').waitFor()
    await page.getByLabel('Key').fill(holder.key)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.waitForURL(`${app.url}/app/runs`)
  })

  test('an escalation of a run that drifts says for how many steps it does, and not in all', async (t) => {
    verifies('web.escalations.streak')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const away = drift.slice(1)
    await report(app, holder, 'twice', [...drift, ...upgrade.slice(0, 2), ...away])
    const { run, trace } = (await app.get('/v1/drift/run?run_id=twice', holder.headers)).body
    const streak =
      trace.length - 1 - trace.findLastIndex((step: { drifting: boolean }) => !step.drifting)
    assert.ok(streak >= 1 && streak < run.drifting_steps, `${streak} of ${run.drifting_steps}`)
    const id = await ask(app, holder, 'twice')
    const { page } = await openPage(t, app, `/app/escalations/${id}`, holder)
    const steps = `${streak} ${streak === 1 ? 'step' : 'steps'}`
    await page
      .getByRole('heading', { name: `Drifting for ${steps}. The errand is still owed.` })
      .waitFor()
  })

  test('an address that may not be called is said at its field, and a failed test too', async (t) => {
    verifies('web.alerts')
    const DATABASE_URL = (await databases[0]?.createUrl()) ?? ''
    const app = await startWithPages(t, { env: { ...allowLoopback, DATABASE_URL } })
    const holder = await app.newAccount()
    const { page } = await openPage(t, app, '/app/alerts', holder)
    const address = page.getByLabel('Where alerts go')
    await address.fill('http://10.0.0.8/hook')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page
      .getByText(
        'Use an https address on a public host, or have it added to PLUMBLINE_WEBHOOK_ALLOW.',
      )
      .waitFor()
    assert.equal(await address.getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await barriersOn(page), [])
    const receiver = await startReceiver(t, (socket) => socket.end(answerOf('503 Busy')))
    await address.fill(`http://127.0.0.1:${receiver.port}/hook`)
    await page.getByRole('button', { name: /^Save and test/ }).click()
    await page.getByText(/^The test did not arrive: .*503.*\. Nothing was retried\.$/).waitFor()
    await page.getByRole('button', { name: 'Make a secret' }).click()
    await page
      .locator('.secret code')
      .getByText(/^whsec_/)
      .waitFor()
    await page.getByRole('button', { name: 'Delete the secret' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('The secret is deleted. Events are unsigned.').waitFor()
    const ground = await openPage(t, app, '/app/alerts', await app.newAccount('ground'))
    await ground.page.getByRole('heading', { name: 'Alerts need tier solo or above.' }).waitFor()
    await ground.page.getByText('Checks and history stay free on ground.').waitFor()
  })

  test('settings are kept by the server, or by the browser', async (t) => {
    verifies('web.settings')
    const app = await startWithPages(t, { env: allowLoopback })
    const holder = await app.newAccount()
    const { page } = await openPage(t, app, '/app/settings', holder, { colorScheme: 'light' })
    await page.getByText('weekly').click()
    await page.getByLabel('Day', { exact: true }).selectOption('5')
    await page.getByText('webhook', { exact: true }).click()
    await page.getByLabel('Address of the webhook').fill('http://127.0.0.1:9/digest')
    await page.getByRole('button', { name: 'Save the digest' }).click()
    await page.getByText('Saved.').first().waitFor()
    const { body } = await app.get('/v1/digest', holder.headers)
    assert.deepEqual(
      [body.digest.cadence, body.digest.weekday, body.digest.channel],
      ['weekly', 5, 'webhook'],
    )
    await page.getByText('gate', { exact: true }).click()
    await page.getByText('As advise, and commands that cannot be undone').waitFor()
    const { body: hooks } = await app.get('/v1/hooks', holder.headers)
    assert.equal(hooks.hooks.mode, 'gate')
    await page.locator('#budget').getByText('per 1,000 steps').click()
    await page.getByLabel('At most').fill('5')
    await page.getByRole('button', { name: 'Save the budget' }).click()
    await page.locator('#budget').getByText('Saved.').waitFor()
    const { body: budget } = await app.get('/v1/budget', holder.headers)
    assert.deepEqual(budget.budget, { per_1000_steps: 5 })
    await page.locator('#colours').getByText('dark').click()
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    await page.getByRole('switch', { name: 'Single keys' }).click()
    await page.reload()
    await page.locator('#colours').waitFor()
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    await page.keyboard.press('?')
    assert.equal(await page.locator('#keys-help').isVisible(), false)
  })

  test('settings show the digest before it is sent, and say what is kept', async (t) => {
    verifies('web.settings.digest', 'web.settings.privacy')
    const app = await startWithPages(t)
    const holder = await app.newAccount('solo')
    await report(app, holder, 'away', drift)
    app.advance(1)
    const { page, faults } = await openPage(t, app, '/app/settings', holder)
    await page.getByText('weekly').click()
    await page.getByRole('button', { name: 'Show a preview' }).click()
    const preview = page.getByRole('region', { name: 'Preview of the digest' })
    await preview.getByText('Plumbline: 1 of 1 run drifted').waitFor()
    const text = (await preview.locator('pre').textContent()) ?? ''
    assert.match(text, /^1 of 1 run drifted\nWeekly digest, /)
    assert.match(text, /^1\. Upgrade the staging database/m)
    assert.deepEqual(await barriersOn(page), [])
    assert.equal((await app.get('/v1/digest', holder.headers)).body.digest, null)
    const privacy = page.locator('#privacy')
    await privacy.getByText(/goals and verdicts, until 30 days after its last step/).waitFor()
    await privacy.getByText(/Goals only if its owner shares them/).waitFor()
    assert.deepEqual(faults, [])
  })

  test('cost shows what drift took', async (t) => {
    verifies('web.cost')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const { page } = await openPage(t, app, '/app/cost', holder)
    await page.getByRole('heading', { name: 'No agent has reported yet.' }).waitFor()
    await report(app, holder, 'away', drift)
    await report(app, holder, 'staging', upgrade)
    await page.reload()
    await page.getByRole('heading', { name: /^\S+ of 8\.0k tokens went into drift\.$/ }).waitFor()
    await page.locator('.plot canvas').waitFor()
    assert.match((await page.locator('a.cost-row').first().textContent()) ?? '', /away/)
  })

  test('a team: an invite shown once gives a seat, goals are shared, a member is removed', async (t) => {
    verifies('web.fleet')
    const app = await startWithPages(t)
    const owner = await app.newAccount()
    const member = await app.newAccount('ground')
    const mine = await openPage(t, app, '/app/fleet', owner)
    await mine.page.getByRole('heading', { name: 'This account is alone.' }).waitFor()
    await mine.page.getByLabel('Name of the team').fill('Shop')
    await mine.page.getByRole('button', { name: 'Make an invite code' }).click()
    const code = (await mine.page.locator('.secret code').textContent()) ?? ''
    const theirs = await openPage(t, app, '/app/fleet', member)
    await theirs.page.getByText('Teams need tier group or above.').waitFor()
    await theirs.page.getByLabel('Invite code').fill(code)
    await theirs.page.getByRole('button', { name: 'Take the seat' }).click()
    await theirs.page.getByRole('heading', { name: 'Two members of Shop.' }).waitFor()
    await report(app, owner, 'staging', upgrade)
    await report(app, member, 'copy', upgrade)
    await mine.page.reload()
    await mine.page.getByRole('switch', { name: 'Members see each other’s goals' }).click()
    await mine.page.getByText('100 % alike').waitFor()
    await theirs.page.reload()
    await theirs.page.locator('.collisions').getByText(ground).first().waitFor()
    await mine.page.getByRole('button', { name: 'Remove' }).click()
    await mine.page.getByRole('button', { name: 'Remove' }).click()
    await mine.page.getByRole('heading', { name: 'One member of Shop.' }).waitFor()
  })

  test('eight words are spoken into the field', async (t) => {
    verifies('web.field')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const { page } = await openPage(t, app, '/app/field', holder)
    await page.getByText('Nobody has spoken in the last 24 hours.').waitFor()
    await page.getByLabel('Say eight words').fill('stone wind line')
    await page.getByText('5 more.').waitFor()
    for (const word of ['fire', 'spark', 'door', 'soil', 'leaf']) {
      await page.getByRole('button', { name: word, exact: true }).click()
    }
    await page.getByRole('button', { name: 'Speak' }).click()
    await page.locator('blockquote').waitFor()
    await page.getByText('1 speaker in the last 24 hours.').waitFor()
  })

  const views = [
    '/app/escalations',
    '/app/escalations?show=decided',
    '/app/escalations/esc_none',
    '/app/alerts',
    '/app/alerts/incidents',
    '/app/alerts/deliveries',
    '/app/alerts/log',
    '/app/quality',
    '/app/cost',
    '/app/fleet',
    '/app/keys',
    '/app/settings',
    '/app/field',
    '/app/more',
  ]

  async function furnish(t: TestContext): Promise<{ app: App; holder: Holder }> {
    const app = await startWithPages(t, { env: allowLoopback })
    const holder = await app.newAccount()
    const receiver = await startReceiver(t, (socket) => socket.end(answerOf('200 OK')))
    const url = `http://127.0.0.1:${receiver.port}/hook`
    await app.post('/v1/alerts', { url, incidents: true }, holder.headers)
    await app.post('/v1/alerts/test', {}, holder.headers)
    const hostile = [
      '<img src=x onerror="document.title=1"><script>document.title=1</script>',
      'read \u202Etxt.exe\u202C now',
      'x'.repeat(900),
    ]
    const turning = '\u202Eturned'
    const runId = `<b>run</b>${turning}`
    const goals = [...upgrade, ...hostile, ...drift.slice(1)]
    for (const goal of goals) {
      const step = { run_id: runId, ground: hostile[0], goal, tokens: 100, overhead: true }
      await app.post('/v1/drift', step, holder.headers)
    }
    await report(app, holder, `run-${'y'.repeat(150)}`, [...drift, 'z'.repeat(900)])
    for (const run_id of [runId, `run-${'y'.repeat(150)}`, 'x'.repeat(150)]) {
      await app.post(
        '/v1/escalation',
        { run_id, reason: `<i>why</i>${turning}`, detail: hostile.join(' ') },
        holder.headers,
      )
    }
    await report(app, holder, 'sub', upgrade.slice(0, 2))
    for (const goal of drift) {
      const step = { run_id: 'sub', agent_id: `${turning}<i>sub</i>`, ground: drift[0], goal }
      await app.post('/v1/drift', step, holder.headers)
    }
    const decided = await ask(app, holder, runId)
    const note = hostile.join(' ')
    await app.post('/v1/escalation/decide', { id: decided, decision: 'stop', note }, holder.headers)
    await app.post('/v1/me/keys', { label: `${turning}<b>${'k'.repeat(80)}</b>` }, holder.headers)
    await app.post(
      '/v1/team/invite',
      { label: `${turning}<u>${'t'.repeat(80)}</u>` },
      holder.headers,
    )
    for (const arm of ['treatment', 'control']) {
      const step = { run_id: `pair ${arm}`, goal: 'sort the mail', tokens: 90, pair: 'p', arm }
      await app.post('/v1/drift', step, holder.headers)
    }
    return { app, holder }
  }

  test('text of agents is shown as text', async (t) => {
    verifies('web.views-text', 'web.text.turned')
    const { app, holder } = await furnish(t)
    const { page, faults } = await openPage(t, app, '/app/more', holder)
    const { runs } = (await app.get('/v1/drift/runs', holder.headers)).body
    const ofRuns = runs.map(
      ({ run_id }: { run_id: string }) => `/app/runs/${encodeURIComponent(run_id)}`,
    )
    const sub = `/app/runs/sub?agent=${encodeURIComponent('\u202Eturned<i>sub</i>')}`
    for (const view of [...views, '/app/runs', '/app/runs?q=%E2%80%AEnothing', sub, ...ofRuns]) {
      await page.goto(app.url + view)
      await page.locator('.top').waitFor()
      await untilCount(page.locator('.skeleton'), 0)
      assert.equal(await page.locator('img, #app script, b b, i i, bdi u u').count(), 0, view)
      assert.notEqual(await page.title(), '1', view)
      // Also the questions before what cannot be undone.
      const asking = page.getByRole('button', { name: /^(Revoke|End the team)$/ })
      for (let at = (await asking.count()) - 1; at >= 0; at--) await asking.nth(at).click()
      assert.deepEqual(await turnedTexts(page), [], view)
    }
    assert.deepEqual(
      faults.filter((fault) => !/status of 404/.test(fault)),
      [],
    )
  })

  test('at 200 % zoom nothing is too wide, covered or out of reach', async (t) => {
    verifies('web.zoom')
    const { app, holder } = await furnish(t)
    await report(app, holder, 'away', drift)
    // A window of 1440 by 900 pixels at 200 %.
    const zoomed = { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }
    const { page } = await openPage(t, app, '/app/more', holder, zoomed)
    for (const view of [...views, '/app/runs', '/app/runs/away', '/docs/run', '/']) {
      await page.goto(app.url + view)
      await page.locator('h1').first().waitFor()
      await untilCount(page.locator('.skeleton'), 0)
      assert.equal(await isTooWide(page), false, view)
      const last = page
        .locator('main')
        .locator('a, button:enabled, input:enabled, select')
        .and(page.locator(':visible'))
        .last()
      if ((await last.count()) > 0) await last.click({ trial: true })
    }
    await page.goto(`${app.url}/app/runs/away`)
    const step = page
      .getByRole('row')
      .filter({ has: page.getByRole('gridcell', { name: /^Step/ }) })
    await step.nth(4).waitFor()
    for (let at = 0; at < drift.length; at++) await step.nth(at).click()
    const seen = await page.locator('.trace-scroll').evaluate((element) => element.clientHeight)
    assert.ok(seen >= 5 * 44, `${seen} pixels of rows`)
    await page.getByRole('button', { name: /^Wrong/ }).click()
    await page.getByText(/^(Noted\.|\d of 1 .* labelled so far were right\.)$/).waitFor()
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`no barriers in ${colorScheme}, and nothing is too wide at 320 pixels`, async (t) => {
      verifies('web.views-access')
      const { app, holder } = await furnish(t)
      for (const width of [1440, 320]) {
        const { page } = await openPage(t, app, '/app/more', holder, {
          colorScheme,
          viewport: { width, height: 844 },
        })
        for (const view of views) {
          await page.goto(app.url + view)
          await page.locator('.top h1').waitFor()
          await untilCount(page.locator('.skeleton'), 0)
          assert.deepEqual(await barriersOn(page), [], `${view} ${width}`)
          assert.equal(await isTooWide(page), false, `${view} ${width}`)
        }
        const { page: outside } = await openPage(t, app, '/signin', null, {
          colorScheme,
          viewport: { width, height: 640 },
        })
        await outside.getByRole('button', { name: 'Open' }).waitFor()
        assert.deepEqual(await barriersOn(outside), [], `/signin ${width}`)
        assert.equal(await isTooWide(outside), false, `/signin ${width}`)
      }
    })
  }
})
