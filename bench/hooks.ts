import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { englishGoal } from './goals.ts'
import { startWithKey } from './server.ts'
import type { Row } from './table.ts'

const sessions = 50
const seconds = 40
/** Each session sends an event so often. */
const everyMs = 1000
/** The first events of each session are not counted: all errands are new then. */
const warmUpEvents = 6
/** Acts between two steps of a session. */
const actsAStep = 8

type Kind = 'act' | 'step' | 'drift'

/**
 * Measures what the hooks of 50 sessions wait for: acts, which open no step, and acts that open one under a goal that
 * no one has judged before. The peer is `POST /v1/drift` with such a goal, from the same sessions in the same run.
 */
export async function measureHooks(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  try {
    const { server, key } = await startWithKey('sqlite:./hooks.db', folder, {
      PLUMBLINE_ENCODER: fileURLToPath(shippedWeights),
    })
    const agent = new Agent({ keepAlive: true, maxSockets: sessions })
    const times: Record<Kind, number[]> = { act: [], step: [], drift: [] }
    try {
      const post = (path: string, body: object) => timed(agent, server.url, key, path, body)
      await Promise.all(Array.from({ length: sessions }, (_, nth) => drive(nth, post, times)))
    } finally {
      agent.destroy()
      await server.stop()
    }
    return rowsOf(times)
  } finally {
    await rm(folder, { recursive: true })
  }
}

type Post = (path: string, body: object) => Promise<number>

async function drive(nth: number, post: Post, times: Record<Kind, number[]>): Promise<void> {
  const session = `session-${nth}`
  const common = { session_id: session, cwd: '/home/kim/shop' }
  const errand = englishGoal(nth)
  await wait((everyMs * nth) / sessions)
  await post('/v1/hooks/claude-code', {
    ...{ ...common, hook_event_name: 'UserPromptSubmit' },
    ...{ prompt: errand, prompt_id: 'p' },
  })
  const goalOf = (at: number) => englishGoal(1000 + nth * 1000 + at)
  for (let at = 0; at < (seconds * 1000) / everyMs; at++) {
    // Not all sessions at once.
    const turn = Math.floor((at + nth) / actsAStep)
    const isStep = (at + nth) % actsAStep === 0
    if (isStep) {
      const step = { run_id: `peer-${nth}`, ground: errand, goal: goalOf(500 + turn) }
      const took = await post('/v1/drift', step)
      if (at >= warmUpEvents) times.drift.push(took)
    }
    const call = {
      tool_name: 'Bash',
      tool_input: { command: `node --test ${at}.js`, description: goalOf(turn) },
      tool_use_id: `t-${at}`,
      tool_response: { stdout: 'ok', exit_code: 0 },
    }
    const took = await post('/v1/hooks/claude-code', {
      ...{ ...common, hook_event_name: 'PostToolBatch' },
      tool_calls: [call],
    })
    if (at >= warmUpEvents) times[isStep ? 'step' : 'act'].push(took)
    await wait(everyMs)
  }
}

/** Sends a request on a kept connection and returns the milliseconds until its answer was complete. */
function timed(
  agent: Agent,
  url: string,
  key: string,
  path: string,
  body: object,
): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      url + path,
      { method: 'POST', agent, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(performance.now() - began))
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

function rowsOf(times: Record<Kind, readonly number[]>): Row[] {
  const at = (kind: Kind, share: number) => {
    const sorted = [...times[kind]].sort((a, b) => a - b)
    return sorted[Math.floor(share * sorted.length)] ?? Number.NaN
  }
  const row = (kind: Kind, name: string, share: number, target: string): Row => ({
    measured: `hooks: ${name}, p${100 * share}, ms`,
    ours: at(kind, share),
    against: kind === 'step' ? 'POST /v1/drift' : '',
    peer: kind === 'step' ? at('drift', share) : null,
    ratios: kind === 'step' ? [at(kind, share) / at('drift', share)] : [],
    target,
  })
  return [
    row('act', 'an act of one of 50 sessions', 0.5, ''),
    row('act', 'an act of one of 50 sessions', 0.99, '≤ 5 ms'),
    row('step', 'an act that opens a step', 0.5, ''),
    row('step', 'an act that opens a step', 0.99, '≤ 15 ms'),
  ]
}
