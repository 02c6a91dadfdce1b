// Judges the runs that the pages draw, as a server does that is reached over HTTP, with the encoder and offline:
//   node web/product/record.ts
// It writes web/product/recorded-run.json, the run of `plumbline demo`, and web/docs/recorded-runs.json, those that
// the docs explain; `npm run format` then gives both their form.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config.ts'
import { demoRun } from '../../src/core/runs/demo.ts'
import { createAccount } from '../../src/operations/account/accounts.ts'
import { type Running, realWorld, startService } from '../../src/service.ts'
import { createClient, type Verdict } from '../../src/surfaces/client/client.ts'
import { type Examples, exampleRuns, type Sent } from './examples.ts'
import type { RecordedRun, RecordedStep } from './recorded.ts'

/** The files of the recorded runs. */
export const recordedFiles = {
  product: fileURLToPath(new URL('recorded-run.json', import.meta.url)),
  docs: fileURLToPath(new URL('../docs/recorded-runs.json', import.meta.url)),
}

/** Judges the run of the product page and those of the docs on a running service. */
export async function recordRuns(
  running: Running,
): Promise<{ product: RecordedRun; docs: Record<keyof Examples, RecordedRun> }> {
  const { key } = (await createAccount(running.service, 'enterprise', null)).key
  const client = createClient({ baseUrl: running.url, key })
  const demo = demoRun.map(
    ({ goal, distance, plan, userTurn }): Sent => ({
      goal,
      ...(typeof distance === 'number' ? { distance } : {}),
      ...(plan === undefined ? {} : { plan: [...plan] }),
      ...(userTurn === true ? { user_turn: true } : {}),
    }),
  )
  const judge = async (run_id: string, steps: readonly Sent[]): Promise<RecordedRun> => {
    const recorded: RecordedStep[] = []
    for (const step of steps) recorded.push(kept(step, await client.drift({ run_id, ...step })))
    return recorded
  }
  const docs: [string, RecordedRun][] = []
  for (const [name, steps] of Object.entries(exampleRuns))
    docs.push([name, await judge(name, steps)])
  return {
    product: await judge('demo', demo),
    docs: Object.fromEntries(docs) as Record<keyof Examples, RecordedRun>,
  }
}

/** What a page draws and says of a step. */
function kept(sent: Sent, verdict: Verdict): RecordedStep {
  const { goal, reason, drifting, uncertain, confidence, phi, revision, why } = verdict
  const { evidence = null, words = null, swap = null } = verdict
  return {
    goal,
    asked: sent.ground ?? sent.user_message ?? null,
    reason,
    drifting,
    uncertain,
    confidence,
    phi,
    revision,
    why,
    evidence,
    shared: words?.shared ?? [],
    swap,
  }
}

/** Starts a service in memory with the encoder that ships. */
export async function startRecorder(): Promise<Running> {
  const config = readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' })
  if ('faults' in config) throw new Error(config.faults.join('; '))
  return startService(config, { ...realWorld, webFolder: null })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const running = await startRecorder()
  const { product, docs } = await recordRuns(running)
  await running.stop()
  writeFileSync(recordedFiles.product, `${JSON.stringify(product, null, 2)}\n`)
  writeFileSync(recordedFiles.docs, `${JSON.stringify(docs, null, 2)}\n`)
}
