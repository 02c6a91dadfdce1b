import { Agent } from 'node:http'
import { compare, readBack } from './checker.ts'
import { post } from './http.ts'
import { makeKey, onSqlite, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { createVerdict, type Experiment, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const usualRounds = 3
const othersLimitMs = 500
/** Other callers, who write steps meanwhile. */
const others = 2

/** Sends the texts that cost the most to judge in the largest body, while other callers send small ones. */
export const worst: Experiment = {
  name: 'worst',
  async play(size) {
    const rounds = size ?? usualRounds
    return [
      await onStage((stage) => playWorst(stage, onSqlite(stage), rounds, null)),
      await onStage((stage) =>
        playWorst(stage, { ...onSqlite(stage), preloads: ['slow-large-bodies'] }, rounds, {
          how: 'blocks 1.5 s for a large body',
          breaks: 'others go on',
        }),
      ),
    ]
  },
}

async function playWorst(
  stage: Stage,
  setting: Setting,
  rounds: number,
  wrong: Wrong | null,
): Promise<Trial> {
  const key = await makeKey(stage, setting, 'enterprise')
  const server = await startServer(stage, {
    ...setting,
    env: { ...setting.env, PLUMBLINE_CHECK_PER_DAY: '0' },
  })
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: others,
    runs: others,
    retry: 'same key',
  })
  await writers.nextAcknowledgement(15_000)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  stage.after(() => agent.destroy())
  const { broken, expect } = createVerdict()
  let asked = 0
  let slowestMs = 0
  let slowestText = ''
  let waitedMs = 0
  let waitedText = ''
  for (const { name, path, body } of repeated(requests, rounds)) {
    const began = performance.now()
    const answer = await post(server.url + path, body, { authorization: `Bearer ${key}` }, agent)
    const tookMs = performance.now() - began
    asked++
    if (tookMs > slowestMs) {
      slowestMs = tookMs
      slowestText = name
    }
    if (writers.slowestMs() > waitedMs) {
      waitedMs = writers.slowestMs()
      waitedText = name
    }
    const isAnswered = 'status' in answer && answer.status === 200
    const found = `${name}: ${JSON.stringify(answer).slice(0, 200)}`
    expect(isAnswered, 'the worst is answered too', found)
    // If the server does not recover, the other texts need not be sent.
    if (!isAnswered || (wrong !== null && waitedMs >= othersLimitMs)) break
  }
  // A server that does not recover reacts to no other signal.
  if (broken.length > 0) await server.end('SIGKILL')
  const left = broken.length > 0 ? await startServer(stage, setting) : server
  await writers.stop()
  expect(
    waitedMs < othersLimitMs,
    'others go on',
    `one waited ${Math.round(waitedMs)} ms beside ${waitedText}`,
  )
  const stored = await readBack(left.url, key)
  const checked = compare(
    writers,
    stored.filter(({ run }) => run.startsWith('run-')),
  )
  const odd = undocumented(writers.failed)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  return {
    on: 'SQLite',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${asked} requests of the worst kinds, the slowest ${Math.round(slowestMs)} ms (${slowestText}), beside ${others} writers`,
    },
    broken: [...broken, ...checked.broken],
  }
}

function repeated<T>(list: readonly T[], times: number): T[] {
  return Array.from({ length: times }, () => list).flat()
}

/** Some letters of a script: the first of them and their number. */
const scripts = {
  CJK: [0x4e00, 20_000],
  Thai: [0x0e01, 46],
  kana: [0x3041, 86],
  Hangul: [0xac00, 11_000],
} as const
const longest = 4_000
/** The number of goals of the greatest length in a body of 256 KiB, at three bytes a letter. */
const mostGoals = 21

const requests: readonly { name: string; path: string; body: string }[] = [
  ...Object.entries(scripts).map(([name, [from, letters]]) =>
    request(`${mostGoals} goals in ${name}`, '/v1/check', {
      steps: goals(mostGoals, () => String.fromCodePoint(from + chance(letters))),
    }),
  ),
  request('60 goals of five-letter words', '/v1/check', {
    steps: goals(60, (at) => (at % 6 === 5 ? ' ' : String.fromCodePoint(0x61 + chance(26)))),
  }),
  request(`a batch of ${mostGoals} steps in CJK`, '/v1/drift/batch', {
    steps: goals(mostGoals, () => String.fromCodePoint(0x4e00 + chance(20_000))).map((step) => ({
      ...step,
      run_id: 'worst',
    })),
  }),
  request('a plan of 20 items in CJK', '/v1/drift', {
    run_id: 'planned',
    goal: 'fix the login page',
    plan: goals(20, () => String.fromCodePoint(0x4e00 + chance(20_000))).map(({ goal }) => goal),
  }),
  consult('find -exec in itself', 'find -exec '.repeat(40)),
  consult('documents in documents', nested(8, 9)),
]

function request(
  name: string,
  path: string,
  body: object,
): { name: string; path: string; body: string } {
  return { name, path, body: JSON.stringify(body) }
}

function consult(name: string, command: string): { name: string; path: string; body: string } {
  return request(name, '/v1/operator/consult', {
    run_id: 'consulting',
    kind: 'command',
    target: 'the shell',
    reversible: true,
    outward: false,
    command,
  })
}

function goals(count: number, letterAt: (at: number) => string): { goal: string }[] {
  return Array.from({ length: count }, () => ({
    goal: Array.from({ length: longest }, (_, at) => letterAt(at)).join(''),
  }))
}

/** Nested here-documents, each read by several shells. */
function nested(depth: number, shells: number): string {
  const inner = depth === 1 ? 'true' : nested(depth - 1, shells)
  return `cat<<A${depth}${'|sh'.repeat(shells)}\n${inner}\nA${depth}`
}

function chance(below: number): number {
  return Math.floor(Math.random() * below)
}
