import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { StoredRun, StoredStep } from '../src/surfaces/client/client.ts'
import { layOut } from '../web/app/run/layout.ts'
import { databases } from './backends.ts'
import type { App, Holder } from './harness.ts'
import { barriersOn, isTooWide, noBrowser, openPage, startWithPages, untilCount } from './pages.ts'
import { answerOf, startReceiver } from './receiver.ts'
import { verifies } from './verifies.ts'

const ground = 'Fix the bug where users are logged out after five minutes on the login page'
const goals = [
  'reproduce the logout bug in a login test',
  'read the login session middleware',
  'fix the session expiry in the login handler',
  'rename variables in the billing module',
  'reformat the billing module files',
  'update the invoice PDF template colours',
  'split the invoice template into partials',
  'move invoice colours into a palette file',
  'fix the logout bug on the login page',
]

async function logGoals(
  app: App,
  { headers }: Holder,
  runId: string,
  logged = goals,
): Promise<void> {
  for (const [at, goal] of logged.entries()) {
    const step = { run_id: runId, goal, tokens: 1_000 + at, ...(at === 0 ? { ground } : {}) }
    assert.equal((await app.post('/v1/drift', step, headers)).status, 200)
  }
}

function rows(page: Page) {
  return page.locator('[role=row]')
}

test('a row says who moved the ground, as far as that is known', () => {
  verifies('web.run.moved')
  const grounds = [
    { revision: 1, by: 'first', step: 1 },
    { revision: 2, by: 'machine', step: 2 },
    { revision: 3, by: 'user', step: 2 },
    { revision: 4, by: 'unknown', step: 4 },
    { revision: 5, by: 'user', step: 5 },
  ].map((each) => ({ ...each, goal: `ground ${each.revision}`, agent_id: '' }))
  const trace = [1, 2, 3, 4, 5, 6].map((step) => ({
    step,
    revision: [1, 2, 3, 4, 5, 6][step - 1],
    goal: `goal ${step}`,
    reason: 'advancing',
    ts: '2026-01-01T12:00:00.000Z',
    user_message: null,
  }))
  const run = { grounds, outcome: null } as unknown as StoredRun
  const { items, placeOf } = layOut(run, trace as unknown as StoredStep[], 23, '')
  assert.deepEqual(
    items.map((item) =>
      item.kind === 'turn' ? `${item.says}: ${item.text}` : 'step' in item ? item.step?.goal : '',
    ),
    [
      undefined,
      'goal 1',
      'a program moved the ground: ground 2',
      'the ground stands again: ground 3',
      'goal 3',
      'the ground moved, by whom is not known: ground 4',
      'the user moved the ground: ground 5',
      'the ground moved: goal 6',
    ],
  )
  assert.deepEqual(
    [2, 3, 4].map((step) => placeOf.get(step)),
    [2, 4, 5],
  )
})

for (const { name, skip, createUrl } of databases) {
  describe(`the pages of runs on ${name}`, { skip: skip || noBrowser }, () => {
    async function startApp(t: TestContext): Promise<{ app: App; holder: Holder }> {
      const app = await startWithPages(t, { env: { DATABASE_URL: await createUrl() } })
      return { app, holder: await app.newAccount() }
    }

    test('a run is seen drifting and coming back, with why and how sure', async (t) => {
      verifies('web.run', 'web.policy')
      const { app, holder } = await startApp(t)
      await logGoals(app, holder, 'login timeout')
      const { page, faults } = await openPage(t, app, '/app', holder)
      await page.getByRole('link', { name: ground }).click()
      await page.waitForURL('**/app/runs/login%20timeout')
      await page.getByText(/^Back on its errand since step 9\. It left at step 4/).waitFor()
      const drifting = page.getByRole('gridcell', { name: /drifting, goal-drift/ }).first()
      assert.match(
        (await drifting.textContent()) ?? '',
        /^Step \d, drifting, goal-drift, phi 0\.\d\d, /,
      )
      const inspector = page.getByRole('complementary')
      await inspector.getByText('drifting').waitFor()
      await inspector.getByText(/^It shares no word with the ground/).waitFor()
      await inspector.getByText(/that this verdict is right/).waitFor()
      assert.deepEqual(faults, [])
    })

    test('a run of which nothing is heard is silent, and not fine, until it is heard again', async (t) => {
      verifies('web.silent', 'web.seen', 'hosts.silent')
      const { app, holder } = await startApp(t)
      const common = { session_id: 's', cwd: '/home/kim/shop' }
      const post = (body: object) =>
        app.post('/v1/hooks/claude-code', { ...common, ...body }, holder.headers)
      const used = (nth: number, answer: object) =>
        post({
          hook_event_name: 'PostToolUse',
          tool_name: 'Read',
          tool_input: { file_path: '/home/kim/shop/src/login.js' },
          tool_use_id: `t-${nth}`,
          ...answer,
        })
      await post({ hook_event_name: 'UserPromptSubmit', prompt: ground, prompt_id: 'p' })
      await post({ hook_event_name: 'SubagentStart', agent_id: 'a', agent_type: 'scout' })
      for (let nth = 0; nth < 10; nth++) await used(nth, nth === 0 ? {} : { tool_response: 'x' })
      await app.running.service.waitingActs.flush()
      const list = await openPage(t, app, '/app/runs', holder)
      await list.page.getByText('on the errand', { exact: true }).waitFor()
      const { page, faults } = await openPage(t, app, '/app/runs/claude-code%3As', holder)
      const facts = page.locator('.run-facts')
      await facts.getByText('Seen 90 % of 10 acts').waitFor()
      await facts.getByText('Sub-agents 1 started, 0 stopped').waitFor()
      // The page reads it again by its own clock.
      await page.clock.install()
      await page.reload()
      await page.getByText(/^live, last step/).waitFor()
      app.advance(11 * 60_000)
      await page.clock.fastForward(11 * 60_000)
      await page.getByText(/^silent since \d\d:\d\d$/).waitFor()
      await page.getByText(/^Silent since \d\d:\d\d\./).waitFor()
      await list.page.reload()
      await list.page.getByText(/^silent since \d\d:\d\d$/).waitFor()
      await list.page.getByText(/on their errand, finished or silent/).waitFor()
      await list.page.getByRole('heading', { name: 'Silent' }).waitFor()
      // An act that opens no step is heard too.
      await used(10, { tool_response: 'x' })
      await list.page.getByText('on the errand', { exact: true }).waitFor()
      assert.deepEqual([...faults, ...list.faults], [])
    })

    test('the list says what needs a look, finds goals and filters by state', async (t) => {
      verifies('web.runs')
      const { app, holder } = await startApp(t)
      await logGoals(app, holder, 'calm', goals.slice(0, 3))
      await logGoals(app, holder, 'away', goals.slice(0, 8))
      await logGoals(app, holder, 'asks', goals.slice(0, 2))
      await app.post('/v1/escalation', { run_id: 'asks', reason: 'goal-drift' }, holder.headers)
      const { page, faults } = await openPage(t, app, '/app/runs', holder)
      await page
        .getByRole('heading', { name: 'One run is drifting. One more needs a look.' })
        .waitFor()
      assert.equal(await page.locator('.run-row').count(), 3)
      await page.getByRole('button', { name: /^Drifting/ }).click()
      await page.waitForURL('**/app/runs?state=drifting')
      await untilCount(page.locator('.run-row'), 1)
      await page.getByText('drifting for').waitFor()
      await page.getByRole('button', { name: /^All/ }).click()
      await page.keyboard.press('/')
      await page.keyboard.type('invoice template')
      await untilCount(page.locator('.run-row'), 1)
      await page.getByRole('searchbox').fill('nothing holds this')
      await page.getByRole('heading', { name: 'No runs with “nothing holds this”.' }).waitFor()
      await page.getByRole('button', { name: 'Clear the filter' }).click()
      await untilCount(page.locator('.run-row'), 3)
      await page.clock.setSystemTime(Date.now() + 2 * 86_400_000)
      await page.goto(`${app.url}/app/runs?state=drifting&since=1d`)
      await page.getByRole('heading', { name: 'No drifting runs in the last 24 hours.' }).waitFor()
      await page.getByText('The newest drift was 2 days ago.').waitFor()
      assert.deepEqual(faults, [])
    })

    test('what another node takes comes to an open page by itself', {
      skip: name === 'sqlite' && 'one file has one node',
    }, async (t) => {
      verifies('web.live.nodes')
      const env = { DATABASE_URL: await createUrl() }
      const [app, other] = [await startWithPages(t, { env }), await startWithPages(t, { env })]
      const holder = await app.newAccount()
      await logGoals(app, holder, 'live', goals.slice(0, 2))
      const run = await openPage(t, app, '/app/runs/live', holder)
      const list = await openPage(t, app, '/app/runs', holder)
      const asked = await openPage(t, app, '/app/escalations', holder)
      await run.page.getByRole('gridcell', { name: /^Step 2,/ }).waitFor()
      await list.page.locator('.run-row').waitFor()
      await asked.page.getByRole('heading', { name: 'Nobody is waited for.' }).waitFor()
      await logGoals(other, holder, 'live', goals.slice(2, 8))
      await other.post('/v1/escalation', { run_id: 'live', reason: 'lost' }, holder.headers)
      await run.page.getByRole('gridcell', { name: /^Step 8, drifting/ }).waitFor()
      await list.page.locator('.run-row').getByText('waits for a person').waitFor()
      await asked.page.getByRole('button', { name: /^Return to the errand/ }).waitFor()
      assert.deepEqual([...run.faults, ...list.faults, ...asked.faults], [])
    })

    test('a run streams in while its page is open, and the list changes by itself', async (t) => {
      verifies('web.live')
      const { app, holder } = await startApp(t)
      await logGoals(app, holder, 'live', goals.slice(0, 2))
      const { page, faults } = await openPage(t, app, '/app/runs/live', holder)
      const list = await openPage(t, app, '/app/runs', holder)
      await page.getByRole('gridcell', { name: /^Step 2,/ }).waitFor()
      await list.page.locator('.run-row').waitFor()
      for (const goal of goals.slice(2, 8)) {
        await app.post('/v1/drift', { run_id: 'live', goal }, holder.headers)
      }
      await page.getByRole('gridcell', { name: /^Step 8, drifting/ }).waitFor()
      await page.getByText(/^Drifting for \d steps\. The errand is still owed\./).waitFor()
      await list.page.getByText('drifting for').waitFor()
      await app.post(
        '/v1/drift',
        {
          run_id: 'live',
          goal: 'rebuild the search index',
          user_message: 'forget that, rather rebuild the search index',
        },
        holder.headers,
      )
      await page.getByText('the user moved the ground', { exact: true }).waitFor()
      assert.deepEqual([...faults, ...list.faults], [])
    })
  })
}

describe('the pages of runs', { skip: noBrowser }, () => {
  test('the keys move between steps, drifts and agents', async (t) => {
    verifies('web.keys', 'hosts.clock.look')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'keys')
    await app.post(
      '/v1/drift',
      { run_id: 'keys', agent_id: 'writer', ground: 'write a test', goal: 'write a login test' },
      holder.headers,
    )
    const { page } = await openPage(t, app, '/app/runs/keys?step=1', holder)
    await rows(page).first().waitFor()
    const at = () => new URL(page.url()).searchParams
    await page.keyboard.press('j')
    await page.waitForURL('**step=2')
    await page.keyboard.press('d')
    await page.locator('.inspector-head').getByText('drifting').waitFor()
    await page.keyboard.press('End')
    await page.waitForURL('**step=10')
    await page.keyboard.press('Home')
    await page.waitForURL('**step=1')
    await page.keyboard.press(']')
    await page.waitForURL('**agent=writer')
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'write a test')
    await page.keyboard.press('[')
    await page.waitForURL((url) => !url.searchParams.has('agent'))
    await page.keyboard.press('o')
    await page.getByRole('button', { name: 'success' }).click()
    await page.getByText('finished: success').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.waitForURL('**/app/runs')
    assert.equal(at().get('step'), null)
  })

  test('a person labels, asks for help and finds the places by single keys', async (t) => {
    verifies('web.keys')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'keys')
    const { page } = await openPage(t, app, '/app/runs/keys?step=1', holder)
    const looked = page.waitForResponse('**/v1/drift/look')
    await rows(page).first().waitFor()
    assert.equal((await looked).status(), 200)
    const { trace } = (await app.get('/v1/drift/run?run_id=keys', holder.headers)).body
    const drifts = trace.flatMap((step: StoredStep) => (step.drifting ? [step.step] : []))
    assert.notEqual(
      (await app.get('/v1/drift/run?run_id=keys', holder.headers)).body.run.last_person_at,
      null,
    )
    await page.keyboard.press('d')
    await page.waitForURL(`**step=${drifts[0]}`)
    await page.keyboard.press('d')
    await page.waitForURL(`**step=${drifts[1]}`)
    await page.keyboard.press('Shift+D')
    await page.waitForURL(`**step=${drifts[0]}`)
    await page.keyboard.press('k')
    await page.waitForURL(`**step=${drifts[0] - 1}`)
    await page.keyboard.press('j')
    await page.waitForURL(`**step=${drifts[0]}`)
    const labelled = async () =>
      (await app.get('/v1/drift/run?run_id=keys', holder.headers)).body.trace[drifts[0] - 1].label
    await page.keyboard.press('y')
    await page.getByText('1 of 1 goal-drift alarms labelled so far were right.').waitFor()
    assert.equal(await labelled(), 'useful')
    await page.keyboard.press('n')
    await page.getByText('0 of 1 goal-drift alarms labelled so far were right.').waitFor()
    assert.equal(await labelled(), 'false_alarm')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('next and previous drift').waitFor()
    await page.keyboard.press('Escape')
    for (const [key, place] of [
      ['e', 'escalations'],
      ['a', 'alerts'],
      ['q', 'quality'],
      ['r', 'runs'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(`**/app/${place}`)
    }
  })

  test('a step says what was told of it, and the run where its drift is', async (t) => {
    verifies('web.run.told', 'web.run.facts', 'web.runs.wall')
    const receiver = await startReceiver(t, (socket) => socket.end(answerOf('200 OK')))
    const app = await startWithPages(t, { env: { PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1' } })
    const holder = await app.newAccount()
    const url = `http://127.0.0.1:${receiver.port}/hook`
    await app.post('/v1/alerts', { url, incidents: true }, holder.headers)
    await logGoals(app, holder, 'told', goals.slice(0, 2))
    for (const [at, goal] of goals.slice(2, 8).entries()) {
      const step = { run_id: 'told', agent_id: 'helper', goal, ...(at === 0 ? { ground } : {}) }
      await app.post('/v1/drift', step, holder.headers)
    }
    await app.running.runDue()
    const { page, faults } = await openPage(t, app, '/app/runs/told', holder)
    await page.getByText(/^The main agent kept to its errand\. The sub-agent helper left/).waitFor()
    await page
      .locator('.run-facts')
      .getByText(/^\d, all in one sub-agent$/)
      .waitFor()
    await page.locator('.run-facts').getByText('Uncertain').waitFor()
    const inspector = page.getByRole('complementary')
    await inspector.getByText(/^critical, delivered in \d+ ms \(200\)$/).waitFor()
    await page.keyboard.press('Home')
    await inspector.getByText('Step 1', { exact: false }).first().waitFor()
    assert.equal(await inspector.getByText(/delivered in/).count(), 0)
    const other = 'upgrade the production database to PostgreSQL 17'
    const staging = 'Upgrade the staging database to PostgreSQL 17'
    for (const goal of [staging, other]) {
      await app.post('/v1/drift', { run_id: 'other', goal }, holder.headers)
    }
    await page.goto(`${app.url}/app/runs`)
    await page.locator('.run-row').getByText('staging → production').waitFor()
    assert.equal(await page.locator('.wall .mark.name').count(), 1)
    assert.deepEqual(faults, [])
  })

  test('a page that is not live says since when and when it tries again, and catches up', async (t) => {
    verifies('web.live.lost')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'away', goals.slice(0, 2))
    const { page } = await openPage(t, app, '/signin', holder)
    await page.route('**/v1/stream*', (route) => route.abort())
    await page.goto(`${app.url}/app/runs`)
    await page.locator('.run-row').waitFor()
    await page.getByText(/^Not live since \d\d:\d\d\. What you see may be older/).waitFor()
    await page.getByText(/^Trying again in \d+ s\.$/).waitFor()
    assert.deepEqual(await barriersOn(page), [])
    await logGoals(app, holder, 'away', goals.slice(2, 8))
    await page.unroute('**/v1/stream*')
    const back = page.getByText('Not live since').waitFor({ state: 'detached' })
    // The page also tries by itself, and the button is gone as soon as that succeeds.
    await Promise.any([page.getByRole('button', { name: 'Reconnect now' }).click(), back])
    await page.locator('.run-row').getByText('drifting').waitFor()
    await back
  })

  test('a page whose first connection failed becomes live by itself, and reads what it has missed', async (t) => {
    verifies('web.live.lost')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'away', goals.slice(0, 2))
    const { page } = await openPage(t, app, '/signin', holder)
    await page.route('**/v1/stream*', (route) => route.abort())
    await page.goto(`${app.url}/app/runs`)
    await page.getByText('Not live since').waitFor()
    await page.locator('.run-row').waitFor()
    await logGoals(app, holder, 'away', goals.slice(2, 8))
    await page.unroute('**/v1/stream*')
    await page.getByText('Not live since').waitFor({ state: 'detached' })
    await page.locator('.run-row').getByText('drifting').waitFor()
  })

  test('text of an agent is shown as text everywhere', async (t) => {
    verifies('web.text')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const hostile = [
      '<img src=x onerror="document.title=1"><script>document.title=1</script>',
      'read \u202Etxt.exe\u202C now',
      'x'.repeat(3_000),
      'write the guide\nwith a line break',
    ]
    for (const goal of hostile) {
      await app.post(
        '/v1/drift',
        { run_id: '<b>run</b>', ground: hostile[0], goal, agent_id: '<i>a</i>' },
        holder.headers,
      )
      await app.post(
        '/v1/drift',
        { run_id: '<b>run</b>', ground: hostile[0], goal },
        holder.headers,
      )
    }
    for (const path of ['/app/runs', `/app/runs/${encodeURIComponent('<b>run</b>')}`]) {
      const { page, faults } = await openPage(t, app, path, holder)
      await page.locator('h1, .run-errand').getByText('<img src=x').first().waitFor()
      assert.equal(await page.locator('img, #app script, b b, i > i').count(), 0)
      assert.match(await page.title(), / · Plumbline$/)
      assert.equal(await isTooWide(page), false)
      assert.deepEqual(faults, [])
    }
  })

  test('no barriers in both themes, and nothing is too wide at 320 pixels', async (t) => {
    verifies('web.access')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'login')
    await app.post('/v1/escalation', { run_id: 'login', reason: 'goal-drift' }, holder.headers)
    const looks = [
      ['light', 1440],
      ['dark', 1440],
      ['light', 320],
    ] as const
    for (const [colorScheme, width] of looks) {
      for (const path of ['/app/runs', '/app/runs/login', '/app/runs/none', '/app/runs?q=zzz']) {
        const viewport = { width, height: 844 }
        const { page } = await openPage(t, app, path, holder, { colorScheme, viewport })
        await page.locator('.top h1, .run-head-block h1, .notice h2').first().waitFor()
        await untilCount(page.locator('.skeleton'), 0)
        assert.deepEqual(await barriersOn(page), [], `${path} ${colorScheme} ${width}`)
        assert.equal(await isTooWide(page), false, `${path} ${width}`)
      }
    }
  })

  test('10,000 steps: the browser holds the rows that are seen, and the end is reached', async (t) => {
    verifies('web.long')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    for (let batch = 0; batch < 20; batch++) {
      const steps = Array.from({ length: 500 }, (_, at) => ({
        run_id: 'long',
        goal: `${goals[(batch + at) % 3]} ${batch * 500 + at}`,
        ...(batch + at === 0 ? { ground } : {}),
      }))
      assert.equal((await app.post('/v1/drift/batch', { steps }, holder.headers)).status, 200)
    }
    const { page } = await openPage(t, app, '/app/runs/long', holder)
    await page.locator('.trace').waitFor({ timeout: 60_000 })
    await page.locator('.partial').waitFor({ state: 'detached', timeout: 60_000 })
    await page.keyboard.press('End')
    await page.getByRole('gridcell', { name: /^Step 10000,/ }).waitFor()
    assert.ok((await rows(page).count()) <= 60)
  })

  /** Logs 10,000 runs of one step. */
  async function logRuns(app: App, holder: Holder): Promise<void> {
    for (let batch = 0; batch < 20; batch++) {
      const steps = Array.from({ length: 500 }, (_, at) => ({
        run_id: `run ${batch * 500 + at}`,
        goal: `${ground} ${batch * 500 + at}`,
      }))
      assert.equal((await app.post('/v1/drift/batch', { steps }, holder.headers)).status, 200)
    }
  }

  test('10,000 runs: a filter finds the one far back, and a phone holds few rows', async (t) => {
    verifies('web.runs.found', 'web.runs.phone')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await app.post('/v1/drift', { run_id: 'first of all', goal: ground }, holder.headers)
    const outcome = { run_id: 'first of all', outcome: 'success' }
    await app.post('/v1/drift/outcome', outcome, holder.headers)
    app.advance(1_000)
    await logRuns(app, holder)
    const { page, faults } = await openPage(t, app, '/app/runs', holder)
    const shown = page.locator('.run-row')
    await page.getByText(/^1,000\+ runs kept; all are on their errand/).waitFor()
    await page.getByRole('button', { name: 'Finished 1' }).click()
    await page.getByText('finished: success').waitFor()
    assert.equal(await shown.count(), 1)
    await page.getByRole('button', { name: /^Drifting/ }).click()
    await page.getByRole('heading', { name: 'No drifting runs.' }).waitFor()
    const viewport = { width: 390, height: 844 }
    const phone = await openPage(t, app, '/app/runs', holder, { viewport })
    const rows = phone.page.locator('.run-row')
    await rows.nth(20).waitFor()
    for (const read of [100, 150, 200]) {
      await phone.page.evaluate('document.querySelector("#page").scrollTo(0, 1e9)')
      await phone.page.getByText(`${read} runs are shown`).waitFor()
    }
    await rows.last().waitFor()
    assert.ok((await rows.count()) <= 60, `${await rows.count()} rows`)
    assert.deepEqual([...faults, ...phone.faults], [])
  })

  test('10,000 runs: no row moves under the pointer while steps come', async (t) => {
    verifies('web.runs.still')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logRuns(app, holder)
    app.advance(1_000)
    await logGoals(app, holder, 'calm', goals.slice(0, 3))
    const { page, faults } = await openPage(t, app, '/app/runs', holder)
    const shown = page.locator('.run-row')
    await shown.nth(20).waitFor()
    const placesOf = () =>
      shown.evaluateAll((found) =>
        found
          .slice(0, 20)
          .map((row) => [
            (row as unknown as { getAttribute(name: string): string }).getAttribute('href'),
            (row as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect()
              .top,
          ]),
      )
    const before = await placesOf()
    assert.ok((await shown.count()) <= 80)
    await shown.nth(4).hover()
    app.advance(1_000)
    for (const [at, goal] of goals.slice(3, 8).entries()) {
      await app.post('/v1/drift', { run_id: 'calm', goal }, holder.headers)
      await app.post('/v1/drift', { run_id: `later ${at}`, goal }, holder.headers)
      await app.post('/v1/drift', { run_id: `run ${at}`, goal: ground }, holder.headers)
    }
    await page.getByText('drifting for').waitFor()
    const news = page.locator('.new-runs')
    await news.getByText(/^5 new runs, 1 more needs a look$/).waitFor()
    assert.deepEqual(await placesOf(), before)
    await news.click()
    await page.getByRole('heading', { name: 'Needs a look' }).waitFor()
    await news.waitFor({ state: 'detached' })
    assert.deepEqual(faults, [])
  })

  test('nothing yet: how an agent reports, and a recorded run that drifts', async (t) => {
    verifies('web.onboarding')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const { page, faults } = await openPage(t, app, '/app', holder)
    await page.getByRole('heading', { name: 'No agent has reported yet' }).waitFor()
    assert.deepEqual(await barriersOn(page), [])
    await page.getByRole('button', { name: 'Replay a recorded run' }).click()
    await page.waitForURL('**/app/runs/demo*')
    await page.getByText('the user moved the ground', { exact: true }).waitFor({ timeout: 20_000 })
    assert.deepEqual(faults, [])
  })

  test('without a session the page asks to sign in and leads back; a session that ends does so too', async (t) => {
    verifies('web.signed-out')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'some run')
    const { page } = await openPage(t, app, '/app/runs/some%20run')
    await page.waitForURL('**/signin?to=%2Fapp%2Fruns%2Fsome%2520run')
    await page.getByRole('textbox').fill(holder.key)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/runs/some%20run')
    await page.getByRole('gridcell', { name: /^Step 1,/ }).waitFor()
    // The session ends on another device while the page is open.
    assert.equal((await app.post('/v1/me/keys', {}, holder.headers)).status, 201)
    const path = `/v1/me/keys?id=${holder.keyId}`
    assert.equal((await app.request('DELETE', path, { headers: holder.headers })).status, 200)
    await page.keyboard.press('o')
    await page.getByRole('button', { name: 'success' }).click()
    await page.waitForURL('**/signin?to=%2Fapp%2Fruns%2Fsome%2520run')
  })

  test('no page is shown in a frame, and those without a script obey their policy too', async (t) => {
    verifies('web.framed', 'web.policy')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    const foreign = createServer((request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<iframe src="${app.url}${request.url}"></iframe>`)
    }).listen(0, '127.0.0.1')
    await once(foreign, 'listening')
    t.after(() => foreign.close())
    const { page } = await openPage(t, app, '/app/runs', holder)
    const elsewhere = `http://localhost:${(foreign.address() as AddressInfo).port}`
    for (const path of ['/', '/docs/run', '/signin', '/welcome', '/app/runs', '/email/confirm']) {
      await page.goto(elsewhere + path)
      const inside = page.frameLocator('iframe').locator('body')
      assert.doesNotMatch(
        (await inside.textContent()) ?? '',
        /Plumbline|Runs|no longer valid/,
        path,
      )
      assert.match(page.frames()[1]?.url() ?? '', /^chrome-error:/, path)
    }
    const mailed = await openPage(t, app, '/email/confirm?token=x')
    assert.equal(await mailed.page.locator('h1').textContent(), 'This link is no longer valid')
    const margin = 'getComputedStyle(document.body).maxWidth'
    assert.equal(await mailed.page.evaluate(margin), '672px', 'its own style counts')
    assert.deepEqual(await barriersOn(mailed.page), [])
    assert.deepEqual(
      mailed.faults.filter((fault) => !/status of 404/.test(fault)),
      [],
    )
  })

  test('in colours of the person lines say what is selected', async (t) => {
    verifies('web.forced')
    const app = await startWithPages(t)
    const holder = await app.newAccount()
    await logGoals(app, holder, 'forced')
    const { page } = await openPage(t, app, '/app/runs/forced?step=5', holder, {
      forcedColors: 'active',
    })
    const outlineOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`)
    await page.locator('.trace-row.selected').waitFor()
    assert.equal(await outlineOf('.trace-row.selected'), 'solid')
    assert.equal(await outlineOf('.trace-row:not(.selected)'), 'none')
    assert.equal(await outlineOf('.rail-item[aria-current]'), 'solid')
    assert.equal(await outlineOf('.inspector .chip'), 'solid')
    assert.deepEqual(await barriersOn(page), [])
  })

  test('an address that is none of the views says so', async (t) => {
    verifies('web.nowhere')
    const app = await startWithPages(t)
    const { page, faults } = await openPage(t, app, '/app/runs', await app.newAccount())
    for (const name of ['__proto__', 'constructor', 'toString', 'run', 'welcome', 'one%20run']) {
      await page.goto(`${app.url}/app/${name}`)
      await page.getByRole('heading', { name: 'There is no such page.' }).waitFor()
    }
    await page.goto(`${app.url}/app/runs/`)
    await page.getByRole('heading', { name: 'No agent has reported yet' }).waitFor()
    assert.deepEqual(faults, [])
  })

  test('files are sent compressed, never change under their name, and pages are framed by nobody', async (t) => {
    verifies('web.files', 'web.policy')
    const app = await startWithPages(t)
    const html = await app.get('/app/runs', { 'accept-encoding': 'br' })
    assert.equal(html.headers.get('content-encoding'), 'br')
    assert.equal(html.headers.get('cache-control'), 'no-cache')
    assert.match(
      html.headers.get('content-security-policy') ?? '',
      /default-src 'none'.*frame-ancestors 'none'/,
    )
    assert.doesNotMatch(html.headers.get('content-security-policy') ?? '', /unsafe/)
    assert.equal(html.headers.get('x-frame-options'), 'DENY')
    assert.doesNotMatch(html.text, /style=|<script>|https?:\/\//)
    const [script = ''] = /\/assets\/app-[\w-]+\.js/.exec(html.text) ?? []
    const asset = await app.get(script, { 'accept-encoding': 'gzip;q=1, br;q=0' })
    assert.equal(asset.headers.get('content-encoding'), 'gzip')
    assert.match(asset.headers.get('cache-control') ?? '', /immutable/)
    const again = await app.get(script, { 'if-none-match': asset.headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
    const plain = await app.get(script, { 'accept-encoding': 'identity' })
    assert.equal(plain.headers.get('content-encoding'), null)
    for (const wrong of [
      '/assets/none.js',
      '/assets/../package.json',
      '/assets/%2e%2e/built-from',
    ]) {
      assert.equal((await app.get(wrong)).status, 404, wrong)
    }
  })
})
