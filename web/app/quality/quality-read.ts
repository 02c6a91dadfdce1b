import type { ListedRun } from '../../../src/surfaces/client/routes.ts'
import { api } from '../api.ts'

/** How good the alarms were, and the figures of the repository. */
export type Quality = Awaited<ReturnType<typeof api.quality>>
/** How good the alarms of one reason, detector and host were. */
export type Group = Quality['groups'][number]
/** One set of runs that the repository judges its detector by. */
export type JudgedSet = Quality['published']['rows'][number]
/** A share with its Wilson interval at 95 %. */
export type Interval = JudgedSet['alarmed']

/** An alarm that nobody has labelled: the step at which a drift began. */
export interface Alarm {
  run_id: string
  step: number
  goal: string
  ground: string | null
  reason: string
}

const listedRuns = 100
const tracesAtOnce = 6
const mostAlarms = 20

/**
 * The newest alarms without a label, from the newest runs that have drifted. It reads no more runs than it takes to
 * find `missing` of them.
 */
export async function readUnlabelled(missing: number): Promise<Alarm[]> {
  if (missing <= 0) return []
  const { runs } = await api.listRuns({ limit: listedRuns })
  const drifted = runs.filter(({ drifting_steps }) => drifting_steps > 0)
  const found: Alarm[] = []
  while (drifted.length > 0 && found.length < Math.min(missing, mostAlarms)) {
    const read = await Promise.all(drifted.splice(0, tracesAtOnce).map(alarmsOf))
    found.push(...read.flat())
  }
  return found.slice(0, mostAlarms)
}

/** The alarms of a run without a label, newest first. */
async function alarmsOf({ run_id, ground }: Pick<ListedRun, 'run_id' | 'ground'>) {
  const { trace } = await api.readRun({ run_id })
  const isDrifting = new Map<string, boolean>()
  const alarms = trace.filter((step) => {
    const agent = step.agent_id ?? ''
    const began = step.drifting && isDrifting.get(agent) !== true
    isDrifting.set(agent, step.drifting)
    return began && step.label === null
  })
  return alarms.reverse().map(({ step, goal, reason }) => ({ run_id, ground, step, goal, reason }))
}
