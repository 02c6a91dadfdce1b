import { z } from 'zod'
import { irreversibleKinds } from '../../core/acts/commands.ts'
import { irreversibleIn } from '../../core/acts/irreversible.ts'
import { actWindowMs, consult } from '../../core/acts/operator.ts'
import { badRequest } from '../gate/declaration.ts'
import { idField, textField } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { reasonSchema } from './verdict.ts'

const flagFault = 'send true or false'

const consultAnswer = z
  .strictObject({
    allow: z.boolean(),
    reason: z.union([z.enum(['escalated', 'unchecked', 'duplicate', 'clear']), reasonSchema]),
    detail: z.string(),
    checked: z.strictObject({
      drift: reasonSchema.nullable().describe('The last reason of the run.'),
      group: z
        .int()
        .min(0)
        .describe('How many other runs with acts in the last ten minutes were compared.'),
      command: z
        .enum(irreversibleKinds)
        .nullable()
        .describe(
          'Why the command is irreversible. `unreadable` means that it nests too deep or repeats itself too often to be read.',
        ),
    }),
  })
  .meta({ id: 'ActVerdict' })

/** Decides whether an irreversible act should proceed. */
export const consultOperator = keyed({
  name: 'operator.consult',
  group: 'detector',
  summary: 'Ask whether an irreversible act should proceed.',
  description:
    'An act that is reversible and not outward always passes. A command on the irreversible list makes the act irreversible whatever you declare. An allowed consult begins the act: for ten minutes the server refuses the same kind on the same target to other runs of the account or team.',
  http: { method: 'POST', path: '/v1/operator/consult' },
  input: z.object({
    run_id: idField(),
    kind: idField().describe('The kind of the act, such as `deploy` or `shell`.'),
    target: textField().min(1, 'name the target of the act').describe('The target of the act.'),
    reversible: z.boolean(flagFault).describe('Whether the act can be undone.'),
    outward: z.boolean(flagFault).describe('Whether others see the act.'),
    command: textField().nullish().describe('The command line or SQL of the act.'),
    group: idField()
      .nullish()
      .describe(
        'A name shared by runs that work on the same things. The server does not compare runs of other groups.',
      ),
  }),
  output: consultAnswer,
  refusals: [badRequest],
})(({ store, account, now, hash }, input) => {
  const { run_id, kind, target, reversible, outward } = input
  const command = irreversibleIn(input.command ?? '')
  const group = input.group ?? null
  const act = hash(JSON.stringify([kind.trim().toLowerCase(), target.trim()]))
  const self = { account: account.id, run_id }
  const at = now()
  return store.tx(async ({ runs, escalations, teams, acts }) => {
    const members = await teams.membersOf(account.id)
    // With the lock, the second of two concurrent consults sees the act that the first has begun.
    await acts.lock(members)
    const run = await runs.find(account.id, run_id, at)
    const others = await acts.ofOthers(members, self, act, group, at - actWindowMs)
    const verdict = consult({
      reversible,
      outward,
      command,
      escalated: await escalations.blocking(account.id, run_id),
      lastReason: run?.last_reason ?? null,
      drifting: run?.drifting ?? false,
      begunBy:
        others.same === null ? null : others.same.account === account.id ? 'account' : 'team',
    })
    if (verdict.allow) await acts.begin(self, act, group, at)
    // The cast holds, because the stored reason of a run was validated when it was written.
    return {
      ...verdict,
      checked: { drift: run?.last_reason ?? null, group: others.runs, command },
    } as z.infer<typeof consultAnswer>
  })
})
