// Drives one host, in a network that has only this machine: node hosts/scenario.ts HOST BIN

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createTcp, type Server as Tcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startWithKey } from '../bench/server.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import {
  contentsOf,
  copyOf,
  drive,
  install,
  newPerson,
  type Person,
  runPlumbline,
  type Session,
} from './drive.ts'
import { ended, programs } from './programs.ts'
import { errand, further, honestScript, restyle, strayingScript, task } from './scripts.ts'

const [host = '', bin = ''] = process.argv.slice(2)
const program = programs[host]
if (program === undefined) throw new Error(`there is no host ${host}`)

/** How much longer a session may take when nobody answers: the machine's own noise, and one pause of the hooks. */
const slower = 1.15
const noiseMs = 1_000

let failures = 0
function check(name: string, holds: boolean, seen: unknown = ''): void {
  if (!holds) failures++
  console.log(
    `${holds ? 'ok  ' : 'FAIL'} ${host}: ${name}${holds && seen === '' ? '' : `  ${typeof seen === 'string' ? seen : JSON.stringify(seen)}`}`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'plumbline-hosts-server-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const weights = { PLUMBLINE_ENCODER: fileURLToPath(shippedWeights) }
const { server, key } = await startWithKey('sqlite:./plumbline.db', folder, weights)
const port = new URL(server.url).port

// biome-ignore lint/suspicious/noExplicitAny: answers of the server, whose shapes its own tests check
async function get(path: string): Promise<any> {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })
  return answer.json()
}

/** The newest run of the host, with its steps. */
async function newestRun() {
  const { runs } = await get(`/v1/drift/runs?host=${host}&limit=1`)
  return get(`/v1/drift/run?run_id=${encodeURIComponent(runs[0]?.run_id ?? '')}`)
}

// A person who has the host puts the hooks in; what was there before is kept aside.
const person = newPerson()
install(person, program, 'http://127.0.0.1:9')
const before = contentsOf(person.home)
const said = await runPlumbline(person, 'init', host, '--key', key, '--server', server.url)
check('init reaches the server', said.includes('answered.'), said.split('\n').at(-2))

const healthy = await honest(copyOf(person))
check(
  'the host ends well',
  healthy.codes.every((code) => code === 0),
  healthy.codes,
)
check('the agent says what it was to say', healthy.results[0] === ended, healthy.results)
const { run, trace } = await newestRun()
check('the ground is the first prompt', run?.grounds?.[0]?.goal === errand, run?.grounds?.[0])
const texts = (run?.assignment ?? [])
  .filter((each: { stands: boolean }) => each.stands)
  .map(({ text }: { text: string }) => text)
check(
  'the second prompt is heard, and nothing else of the user',
  texts.join('\n') === `${errand}\n${further}`,
  texts,
)
check(
  'failing tests are seen at the fourth failure',
  (trace ?? []).some(
    (each: { act_evidence: { kind: string } | null }) => each.act_evidence?.kind === 'tests-stuck',
  ),
  (trace ?? []).map((each: { act_evidence: unknown }) => each.act_evidence),
)
check(
  'a person was seen at the second prompt',
  Date.parse(run?.last_person_at ?? '') > Date.parse(run?.created ?? ''),
  run?.last_person_at,
)
check('how its acts ended is told', run?.coverage?.outcomes >= program.tells, run?.coverage)
check(
  'nothing honest is drift',
  run?.drifting_steps === 0,
  (trace ?? [])
    .filter((each: { drifting: boolean }) => each.drifting)
    .map(({ goal, why }: { goal: string; why: string }) => [goal, why]),
)
if (program.showsAgents) {
  const own = (run?.agents ?? []).find((each: { ground: string }) => each.ground === task)
  check('the sub-agent has its task as its ground', own !== undefined, run?.agents)
}

const strayed = await straying(copyOf(person), false)
check('the session that strays ends well', strayed.codes[0] === 0, strayed.codes)
const astray = await newestRun()
const firstForeign = astray.trace.findIndex(({ goal }: { goal: string }) => /hero/.test(goal))
const found = astray.trace.findIndex(({ drifting }: { drifting: boolean }) => drifting)
check(
  'drift is found within three steps',
  firstForeign >= 0 && found >= firstForeign && found < firstForeign + 3,
  { firstForeign, found, goals: astray.trace.map(({ goal }: { goal: string }) => goal) },
)
const asked = await straying(copyOf(person), true)
const wanted = await newestRun()
check(
  'the same work that was asked for is not drift',
  asked.codes.every((code) => code === 0) && wanted.run.drifting_steps === 0,
  wanted.trace.map(({ goal, drifting }: { goal: string; drifting: boolean }) => [goal, drifting]),
)

// A server that is gone, that hangs, and that talks nonsense: the host works as if nobody had been asked.
await server.stop()
for (const [name, begin] of [
  ['gone', async () => null],
  ['hung', hanging],
  ['talking nonsense', nonsense],
] as const) {
  const other = await begin()
  const isAsFast = ({ ms }: Session) => ms <= slower * healthy.ms + noiseMs
  const session = await honest(copyOf(person))
  check(
    `with the server ${name}: same exit codes`,
    `${session.codes}` === `${healthy.codes}`,
    session.codes,
  )
  check(
    `with the server ${name}: same result`,
    `${session.results}` === `${healthy.results}` && session.files === healthy.files,
    session.results,
  )
  // A busy machine may be slow once; a hook that waits is slow each time.
  const timed = isAsFast(session) ? session : await honest(copyOf(person))
  const ratio = timed.ms / healthy.ms
  check(
    `with the server ${name}: as fast`,
    isAsFast(timed),
    `${(timed.ms / 1000).toFixed(1)} s, healthy ${(healthy.ms / 1000).toFixed(1)} s, ratio ${ratio.toFixed(2)}`,
  )
  await other?.close()
}

await runPlumbline(person, 'uninstall', host)
const after = contentsOf(person.home)
check(
  'after uninstall every byte is as it was',
  JSON.stringify(after) === JSON.stringify(before),
  Object.keys(after),
)
process.exit(failures === 0 ? 0 : 1)

function straying(who: Person, isAsked: boolean): Promise<Session> {
  if (program === undefined) throw new Error('no host')
  const prompts = isAsked ? [errand, restyle] : [errand]
  return drive(who, program, bin, strayingScript(program, who.project, isAsked), prompts)
}

function honest(who: Person): Promise<Session> {
  if (program === undefined) throw new Error('no host')
  return drive(who, program, bin, honestScript(program, who.project), [errand, further])
}

async function hanging() {
  const tcp: Tcp = createTcp((socket) => void socket.on('error', () => {}))
  tcp.listen(Number(port), '127.0.0.1')
  await once(tcp, 'listening')
  return { close: async () => void tcp.close() }
}

async function nonsense() {
  const http = createHttp((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>{"decision":"block"</html>')
  })
  http.listen(Number(port), '127.0.0.1')
  await once(http, 'listening')
  return { close: async () => void http.close() }
}
