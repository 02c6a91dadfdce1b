import { type ExecFileException, execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallHost } from '../../core/hosts/install.ts'
import type { FileHost } from '../../core/hosts/install-files.ts'
import { probeEvent } from '../../core/hosts/unknown-events.ts'
import { asked, keyIn } from './hook-key.ts'
import { replaceFile } from './host-file.ts'

/**
 * What hosts run: it costs 10 ms, where a Node program costs 180. A server that does not answer in time is left alone
 * for 30 seconds, so that it holds the agent up once. A relay that is not up is started, and waited for once in 30
 * seconds. Claude Code tells its hooks in their environment whether somebody can speak. Only what looks like a JSON object, with status 200, is passed on. An exit code other than 0 would stop some
 * hosts, and a shell exits so on arithmetic with what is no number, such as a file that is half written.
 */
const shim = `#!/bin/sh
# Reports a host's event to Plumbline. Whatever fails, the host goes on. $1 host, $2 event
d="\${PLUMBLINE_HOME:-\${0%/*}}"; p="$d/pause"; e='{}'
[ "$2" = beforeSubmitPrompt ] && e='{"continue":true}'
recent() {
  [ -f "$1" ] || return 1
  t=$(cat "$1"); case $t in ''|0*|*[!0-9]*|???????????*) t=1 ;; esac
  s=$(( $(date +%s) - t ))
  [ "$s" -ge 0 ] && [ "$s" -lt 30 ]
}
q=; [ "$1/$CLAUDE_CODE_SESSION_ATTENDED" = claude-code/0 ] && q='?attended=never'
ask() {
  u="$(cat "$d/url")/v1/hooks/$1/$2$q"
  if [ -x "$d/ask" ]; then "$d/ask" "$u" 2>/dev/null
  else curl -q -s -f -K "$d/curl.conf" --data-binary @- "$u" 2>/dev/null; fi
}
if recent "$p"; then cat >/dev/null; echo "$e"; exit 0; fi
if [ -x "$d/start-relay" ]; then
  b=$(cat)
  a=$(printf '%s' "$b" | ask "$1" "$2"); c=$?
  if [ "$c" = 7 ] && ! recent "$d/starting"; then
    { date +%s >"$d/starting"; "$d/start-relay" </dev/null >/dev/null; } 2>/dev/null
    for n in 1 2 3 4; do
      sleep 0.2
      a=$(printf '%s' "$b" | ask "$1" "$2"); c=$?
      [ "$c" = 7 ] || break
    done
  fi
else
  a=$(ask "$1" "$2"); c=$?
fi
case $c in 0) ;; 28) a=; { date +%s >"$p"; } 2>/dev/null ;; *) a=; cat >/dev/null ;; esac
case $a in "{"*"}") printf '%s\\n' "$a" ;; *) echo "$e" ;; esac
exit 0
`

/** Asks as curl does, with its exit codes: 7 if nobody listens, 22 for another status, 28 if it takes too long. */
const asker = `import { readFileSync } from "node:fs"
import { argv, exit, stdout } from "node:process"
const [url, conf] = argv.slice(1)
try {
  const [, authorization] = /^header = "authorization: (.*)"$/m.exec(readFileSync(conf, "utf8"))
  const headers = { authorization, "content-type": "application/json" }
  const body = readFileSync(0)
  const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(300) })
  const text = await answer.text()
  if (!answer.ok) exit(22)
  stdout.write(text, () => exit(0))
} catch (error) {
  exit(error.name === "TimeoutError" ? 28 : error.cause?.code === "ECONNREFUSED" ? 7 : 52)
}`

/** Words of a shell's command, whatever stands in them. */
function quoted(word: string): string {
  return `'${word.replace(/'/g, `'\\''`)}'`
}

/**
 * The program that starts the relay in the background. It is a session of its own where that is possible, so that it does
 * not end with the host; a second one ends by itself. Where this program is no longer, the one on the path is taken.
 */
function starterOf(folder: string, program: readonly string[]): string {
  const script = quoted(program.at(-1) ?? '')
  return `#!/bin/sh
# Starts Plumbline's relay unless it is up.
export PLUMBLINE_HOME=${quoted(folder)}
umask 077
mkdir -p "$PLUMBLINE_HOME/relay" && cd "$PLUMBLINE_HOME" || exit 0
if [ -f ${script} ]; then set -- ${program.map(quoted).join(' ')}; else set -- plumbline; fi
if command -v setsid >/dev/null; then setsid "$@" relay </dev/null >>relay/log 2>&1 &
else nohup "$@" relay --ensure </dev/null >>relay/log 2>&1 &
fi
`
}

const probeLimitMs = 5000

/** The path of the program that hosts run. */
export function shimIn(folder: string): string {
  return join(folder, 'hook')
}

/** Writes the program that hosts run, the server's address, and the key into a file that only the user may read. */
export function writeShim(folder: string, url: string, key: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(join(folder, 'curl.conf'), confWith(key), 0o600)
  replaceFile(join(folder, 'url'), `${url}\n`, 0o600)
  replaceFile(shimIn(folder), shim, 0o755)
  rmSync(join(folder, 'pause'), { force: true })
}

/**
 * Writes the program that asks in the place of curl, where there is none; `null` removes it. It costs the start of a Node
 * program (`node`) each time.
 */
export function writeAsker(folder: string, node: string | null): void {
  const file = askerIn(folder)
  if (node === null) rmSync(file, { force: true })
  else {
    const call = `NODE_OPTIONS= NODE_USE_ENV_PROXY= exec ${quoted(node)} --input-type=module -e ${quoted(asker)}`
    const conf = quoted(join(folder, 'curl.conf'))
    replaceFile(file, `#!/bin/sh\n# Asks in the place of curl.\n${call} "$1" ${conf}\n`, 0o755)
  }
}

/** The path of the program that asks in the place of curl. */
export function askerIn(folder: string): string {
  return join(folder, 'ask')
}

/** Whether there is a curl on the path. */
export async function hasCurl(env: Probe['environment']): Promise<boolean> {
  return (await ran('curl', ['--version'], { ...env })).error === null
}

/** Writes the program that starts the relay. */
export function writeStarter(folder: string, program: readonly string[]): void {
  replaceFile(join(folder, 'start-relay'), starterOf(folder, program), 0o755)
}

/** Removes what `writeStarter` has written. */
export function removeStarter(folder: string): void {
  for (const name of ['start-relay', 'starting']) rmSync(join(folder, name), { force: true })
}

/** Removes what `writeShim` and the program have written, and the folder if it is empty then. */
export function removeShim(folder: string): boolean {
  const found = existsSync(shimIn(folder))
  for (const name of ['hook', 'curl.conf', 'url', 'pause', 'ask'])
    rmSync(join(folder, name), { force: true })
  try {
    rmdirSync(folder)
  } catch {
    // Somebody keeps other files there, or there is no folder.
  }
  return found
}

/** A proxy must not see what is meant for this machine. */
function confWith(key: string): string {
  return `max-time = 0.3
connect-timeout = 0.1
noproxy = "127.0.0.1,localhost,::1"
header = "authorization: Bearer ${key}"
header = "content-type: application/json"
`
}

/** What the probe needs. */
export interface Probe {
  host: InstallHost | FileHost
  folder: string
  url: string
  /** Who is to answer there. */
  who: 'server' | 'relay'
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * Sends an event of no effect by the program as hosts run it, and then by the curl that it uses, or from here if there is
 * none, which alone can tell who answered. Returns what came of it in one sentence.
 */
export async function probe({ host, folder, url, who, environment }: Probe): Promise<string> {
  const env = { ...environment, PLUMBLINE_HOME: folder }
  const hook = await ran(shimIn(folder), [host, probeEvent], env)
  if (hook.error !== null || !/^\{.*\}\n$/.test(hook.out)) {
    return `Probe: ${shimIn(folder)} cannot be run here (${hook.error?.message.split('\n')[0] ?? 'it printed no JSON'}).`
  }
  const address = `/v1/hooks/${host}/${probeEvent}`
  const found = existsSync(askerIn(folder))
    ? await askedHere(folder, url, address)
    : await askedByCurl(folder, url + address, env)
  if ('says' in found) {
    return `Probe: ${url} did not answer (${found.says}). The agent goes on all the same; its events are lost until a server answers there.`
  }
  const { status, note } = found
  if (status !== 200)
    return `Probe: ${url} answered with status ${status}, as a server of this release does not.`
  return note === null
    ? `Probe: the ${who} at ${url} answered.`
    : `Probe: the ${who} at ${url} answered, and took no event: ${note}.`
}

/** What the probe was answered, or why it was not. */
type Probed = { status: number; note: string | null } | { says: string }

async function askedHere(folder: string, url: string, path: string): Promise<Probed> {
  const found = await asked(url, keyIn(folder, url) ?? '', 'POST', path, {})
  return found.status === 0 ? found : { status: found.status, note: found.note }
}

async function askedByCurl(
  folder: string,
  address: string,
  env: NodeJS.ProcessEnv,
): Promise<Probed> {
  const options = ['-q', '-s', '-K', join(folder, 'curl.conf'), '-D', '-', '-o', '/dev/null']
  const { error, out } = await ran('curl', [...options, '--data-binary', '@-', address], env)
  if (error !== null) return { says: error.code === 28 ? 'not in time' : `curl says ${error.code}` }
  const status = [...out.matchAll(/^HTTP\/\S+ (\d+)/gm)].at(-1)?.[1]
  return { status: Number(status), note: /^x-plumbline-note: (.*?)\r?$/im.exec(out)?.[1] ?? null }
}

interface Output {
  error: ExecFileException | null
  out: string
}

function ran(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<Output> {
  return new Promise((resolve) => {
    const options = { env, timeout: probeLimitMs }
    const child = execFile(file, args, options, (error, out) => resolve({ error, out }))
    // A program that cannot be run reads nothing.
    child.stdin?.on('error', () => {})
    child.stdin?.end(`{"hook_event_name":"${probeEvent}"}`)
  })
}
