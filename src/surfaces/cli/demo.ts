import type { Step } from '../../core/detector/step.ts'
import { demoRun } from '../../core/runs/demo.ts'
import { isoTime } from '../../core/time.ts'
import { createClient } from '../client/client.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { settingsFault, usageFault } from './usage-fault.ts'
import { verdictText } from './verdict-text.ts'

/** Replays a recorded run against a running server. */
export const demoCommand: Command = {
  name: 'demo',
  summary: 'replay a recorded run that drifts against a running server',
  usage: 'plumbline demo [--key KEY] [--url URL]',
  details: `Logs nine steps of an agent's run, one by one, and prints each verdict as it comes: sub-tasks, a
departure from the errand, the way back, and a redirect by the user.

  --key KEY  a key of the server, which its first start prints (PLUMBLINE_KEY)
  --url URL  the address of the server (PLUMBLINE_BASE_URL, or this machine at HOST and PORT)`,
  run: runDemo,
}

async function runDemo(args: string[], world: CliWorld): Promise<number> {
  const { values } = parse(args, { key: { type: 'string' }, url: { type: 'string' } })
  const settings = world.settings()
  if ('faults' in settings) throw settingsFault(settings.faults)
  const { key = settings.key, url = settings.serverUrl } = values
  if (typeof key !== 'string') {
    throw usageFault(
      'name a --key, or set PLUMBLINE_KEY; the first start of a server prints a key, and plumbline keys create makes one.',
    )
  }
  const client = createClient({ baseUrl: String(url), key })
  const runId = `demo ${isoTime(world.now())}`
  world.out(`Run "${runId}" on ${url}\n\n`)
  for (const step of demoRun) {
    const verdict = await client.drift(bodyOf(runId, step)).catch((error: Error) => {
      throw usageFault(`${url} did not answer with a verdict: ${error.message}`)
    })
    world.out(`${step.userTurn === true ? '(the user speaks) ' : ''}${verdictText(verdict)}\n`)
  }
  world.out(`The run and its trace: GET ${url}/v1/drift/run?run_id=${encodeURIComponent(runId)}\n`)
  return exitCodes.ok
}

function bodyOf(runId: string, { goal, progress, distance, userTurn, plan }: Step) {
  return {
    run_id: runId,
    goal,
    progress: progress as 'advancing',
    distance,
    ...(userTurn === undefined ? {} : { user_turn: userTurn }),
    ...(plan === undefined ? {} : { plan: [...plan] }),
  }
}
