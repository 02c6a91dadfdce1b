import { z } from 'zod'
import { isoTime } from '../../core/time.ts'
import { badRequest } from '../gate/declaration.ts'
import { idField, time } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { noRun, unknownRun } from './runs.ts'

/** Records that a person looks at a run, so that it does not count as unattended. */
export const lookAtRun = keyed({
  name: 'runs.look',
  group: 'detector',
  summary: 'Say that a person looks at a run.',
  description:
    'Moves `last_person_at` of the run to now, as a label of one of its steps and a decision on it do. The dashboard sends it while somebody has the run on the screen. It adds no step, moves no ground and does not extend the retention.',
  http: { method: 'POST', path: '/v1/drift/look' },
  input: z.object({ run_id: idField() }),
  output: z.strictObject({ ok: z.literal(true), last_person_at: time }),
  refusals: [badRequest, noRun],
})(async ({ store, account, now }, { run_id }) => {
  const at = now()
  const found = await store.tx(({ runs }) => runs.meet(account.id, run_id, at))
  if (!found) throw unknownRun()
  return { ok: true as const, last_person_at: isoTime(at) }
})
