import { eraseSlice } from '../../jobs/erase.ts'
import { eraseAccount } from '../../operations/account/erasure.ts'
import { type Command, exitCodes, parse } from './command.ts'
import { usageFault } from './usage-fault.ts'

/** Deletes accounts in the configured database, also while the server runs. */
export const accountsCommand: Command = {
  name: 'accounts',
  summary: 'delete an account and all its data',
  usage: 'plumbline accounts delete ID --yes [--json]',
  details: `delete erases the account, its keys, and all its rows. You cannot undo it. A team that the
account owns ends. A subscription at the payment provider goes on until you end it there.
  --yes   confirm; without it the command deletes nothing
  --json  print the result as JSON

A running server refuses the keys within 5 seconds. Within a minute it erases the rows that its
requests in flight still wrote. The database is the one that DATABASE_URL names.`,
  async run([action, ...args], world) {
    if (action !== 'delete') {
      const said = action === undefined ? '' : `there is no "accounts ${action}"; `
      throw usageFault(`${said}use accounts delete.`)
    }
    const { values, positionals } = parse(args, {
      yes: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const [id, ...more] = positionals
    if (id === undefined) throw usageFault('name the ID of an account, from plumbline keys list.')
    if (more.length > 0) throw usageFault(`unexpected argument "${more[0]}".`)
    if (values.yes !== true) {
      throw usageFault(`this erases ${id} and all its data for good; add --yes to do it.`)
    }
    const answer = await world.withService(async (service) => {
      const erased = await eraseAccount(service, id, { byOperator: true })
      // The command erases the rows itself, because no server may be running.
      while (erased !== null && (await eraseSlice(service.store, id)));
      return erased
    })
    if (answer === null) throw usageFault(`there is no account "${id}"; see plumbline keys list.`)
    if (values.json === true) {
      world.out(`${JSON.stringify(answer)}\n`)
      return exitCodes.ok
    }
    const counts = Object.entries(answer.erased).map(([what, count]) => `${what} ${count}`)
    world.out(`Erased ${id}: ${counts.join(', ')}.\n`)
    for (const subscription of answer.unended_subscriptions) {
      world.err(`The subscription ${subscription} goes on: end it at the payment provider.\n`)
    }
    return exitCodes.ok
  },
}
