import { isoTime } from '../../core/time.ts'
import { makeLocalLink } from '../../operations/account/local-link.ts'
import { accountOf } from './account.ts'
import { type CliSettings, type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { settingsFault, usageFault } from './usage-fault.ts'

/** Prints a link that signs the person at this machine in once, while the server runs. */
export const signInCommand: Command = {
  name: 'signin',
  summary: 'print a link that signs your browser on this machine in',
  usage: 'plumbline signin [--account ID] [--json]',
  details: `The link works once, within 15 minutes, in a browser on the machine of the server.
  --account ID  sign in to this account, not to the first one of the server
  --json        print the link as JSON

The server may start later. The database is the one that DATABASE_URL names, and the link leads to
the HOST and PORT of the settings.`,
  async run(args, world) {
    const { values, positionals } = parse(args, {
      account: { type: 'string' },
      json: { type: 'boolean' },
    })
    if (positionals.length > 0) throw usageFault(`unexpected argument "${positionals[0]}".`)
    const serverUrl = localUrlOf(world)
    const { account, url, expires } = await world.withService(async (service) => {
      const account = await accountOf(service.store, values.account)
      return { account, ...(await makeLocalLink(service, account, serverUrl)) }
    })
    const link = { account, url, expires: isoTime(expires) }
    world.out(
      values.json === true
        ? `${JSON.stringify(link)}\n`
        : `Open this in a browser on this machine, once and within 15 minutes:\n\n  ${url}\n`,
    )
    return exitCodes.ok
  },
}

function localUrlOf({ settings }: CliWorld): string {
  const read: CliSettings | { faults: string[] } = settings()
  if ('faults' in read) throw settingsFault(read.faults)
  if (read.localUrl !== null) return read.localUrl
  throw usageFault(
    'the link works under 127.0.0.1 only, and HOST or PORT is another place or a free port; sign in with a key.',
  )
}
