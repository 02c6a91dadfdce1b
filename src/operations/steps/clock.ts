import { z } from 'zod'
import { bandsOf, fewestSteps } from '../../core/runs/clock.ts'
import { share } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'

/** The newest entries of the run index that the clock covers. */
const scannedRuns = 100

/** Returns how often the account's steps drift, by the time since a person was last there. */
export const readClock = keyed({
  name: 'clock.read',
  group: 'detector',
  summary: 'How often steps drift, by the time since a person was last there.',
  description:
    'Covers the 100 most recent runs of the index, without expired runs and runs of an earlier version. A person is there who speaks, grants, answers, labels a step, decides or looks; else the time counts from the beginning of the run.',
  http: { method: 'GET', path: '/v1/drift/clock' },
  input: z.object({}),
  output: z
    .strictObject({
      runs: z.int().min(0).max(scannedRuns),
      never_attended: z
        .int()
        .min(0)
        .describe('The runs that a program started and nobody could speak in.'),
      bands: z.array(
        z.strictObject({
          from_ms: z.int().min(0),
          to_ms: z.int().min(0).nullable().describe('Null in the last band.'),
          steps: z.int().min(0),
          drifting_steps: z.int().min(0),
          known: z.boolean().describe(`Whether the band has ${fewestSteps} steps or more.`),
          share: share.nullable().describe('Drifting steps over steps; null unless it is known.'),
        }),
      ),
    })
    .meta({ id: 'UnattendedClock' }),
})(async ({ store, account, now }) => {
  const recent = await store.runs.recent(account.id, now(), scannedRuns)
  const clocks = recent.flatMap(({ clock }) => (clock === null ? [] : [clock]))
  return {
    runs: clocks.length,
    never_attended: clocks.filter(({ isHeadless }) => isHeadless).length,
    bands: bandsOf(clocks),
  }
})
