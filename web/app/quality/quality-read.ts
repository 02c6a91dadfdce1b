import { api, send } from '../api.ts'

/** A share with its Wilson interval at 95 %. */
export interface Interval {
  value: number
  low: number
  high: number
}

interface Counts {
  steps: number
  alarms: number
  labelled: number
  useful: number
  precision: Interval | null
  per_1000_steps: Interval | null
}

/** How good the alarms of one reason, detector and host were. */
export interface Group extends Counts {
  reason: string
  detector: string
  host: string | null
}

/** One set of runs that the repository judges its detector by. */
export interface JudgedSet {
  runs: string
  clean_runs: number
  alarmed: Interval
  false_alarms_per_1000: Interval
  precision_at_10_percent: number
  found: { kind: string; runs: number; within_3: Interval }[]
}

/** The answer of `GET /v1/quality`. */
export interface Quality extends Counts {
  missed: number
  groups: Group[]
  published: { data: string; command: string; model: string; rows: JudgedSet[] }
}

/** An alarm that nobody has labelled: the step at which a drift began. */
export interface Alarm {
  run_id: string
  step: number
  goal: string
  ground: string | null
  reason: string
}

const listedRuns = 100
const readRuns = 12
const mostAlarms = 20

/** Reads how good the alarms were. */
export function readQuality(): Promise<Quality> {
  return send<Quality>('GET', '/v1/quality')
}

/** The newest alarms without a label, from the newest runs that have drifted. */
export async function readUnlabelled(): Promise<Alarm[]> {
  const { runs } = await api.listRuns({ limit: listedRuns })
  const drifted = runs.filter(({ drifting_steps }) => drifting_steps > 0).slice(0, readRuns)
  const traces = await Promise.all(
    drifted.map(async ({ run_id, ground }) => {
      const { trace } = await api.readRun({ run_id })
      return { run_id, ground, trace }
    }),
  )
  const alarms = traces.flatMap(({ run_id, ground, trace }) => {
    const drifting = new Map<string, boolean>()
    return trace
      .filter((step) => {
        const agent = step.agent_id ?? ''
        const began = step.drifting && drifting.get(agent) !== true
        drifting.set(agent, step.drifting)
        return began && (step as { label?: string | null }).label == null
      })
      .reverse()
      .map(({ step, goal, reason }) => ({ run_id, ground, step, goal, reason }))
  })
  return alarms.slice(0, mostAlarms)
}

const z = 1.959_964

/** The Wilson interval at 95 % of a share. */
export function wilson(hits: number, of: number): Interval {
  if (of === 0) return { value: 0, low: 0, high: 1 }
  const share = hits / of
  const centre = share + (z * z) / (2 * of)
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))
  const scale = 1 + (z * z) / of
  return {
    value: share,
    low: Math.max(0, (centre - spread) / scale),
    high: Math.min(1, (centre + spread) / scale),
  }
}
