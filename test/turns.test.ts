import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

/** Bytes of texts in the largest body that is read. */
const roomForTexts = 252_000
const longest = 4_000

/** Numbers from 0 to 1 that look random and are the same each time. */
function createChance(): () => number {
  let seed = 1
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
}

const chance = createChance()
const characterFrom = (from: number, to: number) =>
  String.fromCodePoint(from + Math.floor(chance() * (to - from)))

/** A text without spaces, so that each two characters in a row are a word. */
function unspaced(from: number, to: number, length: number): string {
  let text = ''
  while (text.length < length) text += characterFrom(from, to)
  return text.slice(0, length).toWellFormed()
}

function fiveLetterWords(): string {
  let text = ''
  for (let at = 0; at < longest; at++) text += at % 6 === 5 ? ' ' : characterFrom(0x61, 0x7b)
  return text
}

/** As many texts as the largest body has room for, 64 at most. */
function goalsOf(newText: () => string): string[] {
  const goals: string[] = []
  let bytes = 0
  while (goals.length < 64) {
    const goal = newText()
    bytes += Buffer.byteLength(goal)
    if (bytes > roomForTexts) break
    goals.push(goal)
  }
  return goals
}

const goalsByScript: Record<string, string[]> = {
  'long Chinese goals': goalsOf(() => unspaced(0x4e00, 0x9fff, longest)),
  'short Chinese goals': goalsOf(() => unspaced(0x4e00, 0x9fff, 1_300)),
  'Thai goals': goalsOf(() => unspaced(0xe01, 0xe2e, longest)),
  'kana goals': goalsOf(() => unspaced(0x30a1, 0x30fa, longest)),
  'goals beyond the basic plane': goalsOf(() => unspaced(0x20000, 0x2a6d0, longest)),
  'Latin goals': goalsOf(fiveLetterWords),
}

/**
 * The most processor time, in milliseconds, that one turn of the event loop takes while the work is
 * under way. On an idle machine that is how long any other request waits; time that other programs of
 * this machine and other threads of this process take does not count.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  let before = process.threadCpuUsage()
  function turn(): void {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1_000)
    before = process.threadCpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await work()
  } finally {
    isOver = true
  }
  await new Promise(setImmediate)
  return longest
}

const longestAllowedMs = 500

/** Asks a service for much at once, and fails when a turn of the event loop takes long meanwhile. */
async function startJudging(t: TestContext, env: Record<string, string> = {}) {
  const app = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '0', ...env } })
  const me = await newCaller(app)
  // The first request loads the model.
  await me.post('/v1/check', { ground: 'fix the login page', goal: 'fix the login form' })
  return async function assertShort(name: string, path: string, bodies: readonly unknown[]) {
    const ask = (body: unknown) =>
      path === '/mcp'
        ? me.post(path, body, {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': '2025-03-26',
          })
        : me.post(path, body)
    const took = await longestTurn(async () => {
      for (const answer of await Promise.all(bodies.map(ask)))
        assert.equal(answer.status, 200, `${name}: ${answer.text.slice(0, 300)}`)
    })
    assert.ok(took < longestAllowedMs, `${name}: ${took} ms`)
  }
}

const stepsOf = (goals: readonly string[] = []) => goals.map((goal) => ({ goal }))

test('no turn of the event loop takes long, however long the texts of a check', async (t) => {
  verifies('http.turns')
  const assertShort = await startJudging(t)
  for (const [name, goals] of Object.entries(goalsByScript)) {
    await assertShort(`a check of ${name}`, '/v1/check', [{ steps: stepsOf(goals) }])
  }
  const steps = stepsOf(goalsByScript['long Chinese goals'])
  await assertShort('four checks at once', '/v1/check', Array(4).fill({ steps }))
})

onEachDatabase((database) => {
  test('no turn of the event loop takes long, however much a fleet has to compare', async (t) => {
    verifies('team.fleet.turns')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const owner = await newCaller(app)
    const members = [owner]
    for (let count = 1; count < 8; count++) {
      const member = await newCaller(app)
      const invited = await owner.post('/v1/team/invite', { label: 'crew' })
      await member.post('/v1/team/join', { code: invited.body.code })
      members.push(member)
    }
    // Of each ground three quarters are the same as in all others.
    const shared = unspaced(0x4e00, 0x9fff, 3_000)
    for (const [place, member] of members.entries()) {
      await member.logAll(
        Array.from({ length: 20 }, (_, at) => ({
          run_id: `${place} ${at}`,
          goal: shared + unspaced(0x4e00, 0x9fff, 900),
        })),
      )
    }
    const took = await longestTurn(async () => {
      const { compared, collisions } = (await owner.get('/v1/team/fleet')).body
      assert.deepEqual([compared, collisions.length], [160, 100])
    })
    assert.ok(took < longestAllowedMs, `${took} ms`)

    // What is remembered of the fleet does not outlive a change.
    await owner.log({ run_id: '0 0', goal: 'mend the boat', user_turn: true })
    await members[1]?.log({ run_id: 'boat', goal: 'mend the boat' })
    const [newest] = (await owner.get('/v1/team/fleet')).body.collisions
    assert.deepEqual([newest.overlap, newest.runs.includes('0 0')], [1, true])
  })

  test('no turn of the event loop takes long, however long the texts of a run', async (t) => {
    verifies('http.turns')
    const assertShort = await startJudging(t, { DATABASE_URL: await database.createUrl() })
    for (const [name, goals] of Object.entries(goalsByScript)) {
      const steps = stepsOf(goals)
      const inRun = (run_id: string) => ({ steps: steps.map((step) => ({ ...step, run_id })) })
      await assertShort(`a batch of ${name}`, '/v1/drift/batch', [inRun(name)])

      const half = goals.slice(0, Math.min(20, goals.length >> 1))
      const plan = goals.slice(half.length, half.length + 18).map((item) => item.slice(0, 2_200))
      const planned = half.map((goal, place) => ({
        run_id: `planned ${name}`,
        goal,
        ...(place === 0 ? { plan } : {}),
      }))
      await assertShort(`steps of a plan of ${name}`, '/v1/drift/batch', [{ steps: planned }])

      const calls = Array.from({ length: 20 }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: {
          name: 'check_state',
          arguments: {
            goal: (goals[id % goals.length] ?? '').slice(0, 3_000).toWellFormed(),
            progress: 'advancing',
            distance: 5,
          },
        },
      }))
      await assertShort(`tool calls with ${name}`, '/mcp', [calls])
    }

    const steps = stepsOf(goalsByScript['long Chinese goals'])
    const four = ['a', 'b', 'c', 'd']
    await assertShort(
      'four batches at once',
      '/v1/drift/batch',
      four.map((run_id) => ({ steps: steps.map((step) => ({ ...step, run_id })) })),
    )
  })
})
