import { z } from 'zod'
import { detectorNames } from '../../core/detector/contract/detector.ts'
import { type AlarmCount, hadLeft, qualityOf, withholdings } from '../../core/evaluation/labels.ts'
import { publishedFigures } from '../../core/evaluation/published-figures.ts'
import { reliabilityOf } from '../../core/evaluation/reliability.ts'
import { type Share, shareOf } from '../../core/figures.ts'
import { hostNames } from '../../core/hosts/host-event.ts'
import { seenShare } from '../../core/hosts/seen.ts'
import { readKept } from '../../core/runs/kept-verdict.ts'
import type { HostSeen } from '../../storage/host-sessions.ts'
import type { LabelledVerdict } from '../../storage/runs/labels.ts'
import type { Keyed } from '../gate/context.ts'
import { share } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { reasonSchema } from './verdict.ts'

const count = z.int().min(0)

const interval = z.strictObject({ value: share, low: share, high: share })

const rate = z
  .strictObject({ value: z.number().min(0), low: z.number().min(0), high: z.number().min(0) })
  .nullable()
  .describe('Alarms per 1,000 steps with the Wilson interval at 95 %; null without a step.')

const counted = {
  steps: count.describe('The steps of the runs within retention, of all agents.'),
  alarms: count.describe('The steps at which a drift began, held ones among them.'),
  labelled: count.describe('The alarms whose newest label is useful, false_alarm or redirected.'),
  useful: count,
  precision: interval
    .nullable()
    .describe(
      'The useful ones of the labelled, with the Wilson interval at 95 %; null unless it is known.',
    ),
  known: z.boolean().describe('Whether a precision is told.'),
  withheld: z
    .enum(withholdings)
    .nullable()
    .describe(
      'Why no precision is told: few_labels below ten labelled alarms; little_seen if of at least eight acts of the runs less than 80 % are known to their end. Null if it is told.',
    ),
  seen: z
    .strictObject({
      acts: count.describe('The acts of the runs that hosts show.'),
      share: share.nullable().describe('Share of these of which the host told how they ended.'),
    })
    .nullable()
    .describe('How much of the runs has been seen; null if no host shows any of them.'),
  per_1000_steps: rate,
}

/** How good the alarms of one reason, detector and host were. */
export const qualitySchema = z
  .strictObject({
    reason: reasonSchema,
    detector: z.enum(detectorNames),
    host: z.enum(hostNames).nullable().describe('Null for runs that their agents report.'),
    ...counted,
  })
  .meta({ id: 'Quality' })

/** The labelled steps that the reliability is measured on: the latest ones. */
const mostTold = 1_000

const reliability = z
  .array(
    z.strictObject({
      from: share.describe('The stated probabilities of the steps, from here …'),
      to: share.describe('… to below here; the last tenth holds 1.'),
      labels: count.describe('The labelled steps.'),
      mean: share.describe('The mean of the stated probabilities.'),
      share: interval.describe('The share that had left the errand, with its interval at 95 %.'),
    }),
  )
  .describe(
    `What was said of the newest ${mostTold} drifting steps labelled useful or false_alarm, against what people say, by tenths of the stated probability of drift, their \`confidence\`. Of other steps people can only say what was missed, so they are left out. Empty without such a label.`,
  )

const published = z
  .strictObject({
    data: z.string(),
    command: z.string().describe('Prints the figures anew, in a checkout of the repository.'),
    model: z.string(),
    rows: z.array(
      z.strictObject({
        runs: z.string(),
        clean_runs: count,
        alarmed: interval,
        false_alarms_per_1000: z.strictObject({
          value: z.number(),
          low: z.number(),
          high: z.number(),
        }),
        precision_at_10_percent: share,
        found: z.array(
          z.strictObject({
            kind: z.string(),
            runs: count,
            within_1: interval,
            within_2: interval,
            within_3: interval,
          }),
        ),
      }),
    ),
  })
  .describe('The figures of this repository for the default detector, with 95 % intervals.')

/** How good the alarms of the account were, as far as people have said. */
export const readQuality = keyed({
  name: 'quality.read',
  group: 'detector',
  summary: 'How good the alarms of the account were.',
  description:
    'An alarm is the step at which a drift begins. The last label of any step of a drift counts for its alarm. The answer covers the runs within retention.',
  http: { method: 'GET', path: '/v1/quality' },
  input: z.object({}),
  output: z.strictObject({
    ...counted,
    missed: count.describe('The steps without an alarm whose newest label is missed.'),
    reliability,
    groups: z.array(qualitySchema).describe('By reason, detector and host, most alarms first.'),
    published,
  }),
})(async ({ store, account, now }) => {
  const at = now()
  const [counts, steps, seen, missed, told] = await Promise.all([
    store.labels.countAlarms(account.id, at),
    store.labels.countSteps(account.id, at),
    store.hostSessions.seenByHost(account.id, at),
    store.labels.countMissed(account.id, at),
    store.labels.verdicts(account.id, at, mostTold),
  ])
  const all = steps.reduce((sum, each) => sum + each.steps, 0)
  return {
    ...shownCounts(counts, all, seen),
    missed,
    reliability: reliabilityOf(told.flatMap(toldStep)),
    groups: groupsOf(counts, steps, seen),
    published: publishedFigures,
  }
})

/** A labelled step as its reliability is measured; nothing if it is older than its verdict. */
function toldStep({ label, verdict }: LabelledVerdict) {
  const { confidence } = readKept(verdict)
  const left = hadLeft(label)
  return confidence === null || left === null ? [] : [{ confidence, left }]
}

/** The store, as an account sees it. */
export interface OfAccount extends Pick<Keyed, 'store' | 'now'> {
  readonly account: Pick<Keyed['account'], 'id'>
}

/** The quality of the alarms like one: of its reason, detector and host. */
export async function qualityLike(
  { store, account, now }: OfAccount,
  like: Pick<AlarmCount, 'reason' | 'detector' | 'host'>,
): Promise<z.infer<typeof qualitySchema> | null> {
  const [counts, steps, seen] = await Promise.all([
    store.labels.countAlarms(account.id, now()),
    store.labels.countSteps(account.id, now()),
    store.hostSessions.seenByHost(account.id, now()),
  ])
  const groups = groupsOf(counts, steps, seen)
  return groups.find((group) => kindOf(group) === kindOf(like)) ?? null
}

function groupsOf(
  counts: readonly AlarmCount[],
  steps: readonly { detector: string; host: string | null; steps: number }[],
  seen: readonly HostSeen[],
): z.infer<typeof qualitySchema>[] {
  const groups = [...Map.groupBy(counts, kindOf).values()].flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const { reason, detector, host } = first
    const isOf = (each: { detector: string; host: string | null }) =>
      each.detector === detector && each.host === host
    const of = steps.find(isOf)
    const counted = shownCounts(own, of?.steps ?? 0, seen.filter(isOf))
    return [{ reason, detector, host, ...counted }]
  })
  groups.sort((a, b) => b.alarms - a.alarms || (kindOf(a) < kindOf(b) ? -1 : 1))
  // The cast holds, because stored values were validated when they were written.
  return groups as z.infer<typeof qualitySchema>[]
}

function kindOf({ reason, detector, host }: Pick<AlarmCount, 'reason' | 'detector' | 'host'>) {
  return `${reason} ${detector} ${host ?? ''}`
}

function shownCounts(counts: readonly AlarmCount[], steps: number, hosts: readonly HostSeen[]) {
  const sum = (of: (host: HostSeen) => number) => hosts.reduce((total, host) => total + of(host), 0)
  const told = { acts: sum(({ acts }) => acts), ended: sum(({ ended }) => ended) }
  const seen = hosts.length === 0 ? null : told
  const quality = qualityOf(counts, seen)
  return {
    steps,
    ...quality,
    seen: seen && { acts: seen.acts, share: seenShare(seen).share },
    per_1000_steps: perThousand(shareOf(quality.alarms, steps)),
  }
}

function perThousand(share: Share | null): Share | null {
  if (share === null) return null
  const { value, low, high } = share
  return { value: value * 1000, low: low * 1000, high: high * 1000 }
}
