import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { demoRun } from '../../../src/core/runs/demo.ts'
import { api, faultOf } from '../api.ts'
import { CopyBlock } from '../copy.tsx'
import { listen } from '../live.ts'
import { go } from '../router.ts'
import { Top } from '../shell.tsx'

const ways = [
  { name: 'Claude Code', command: 'npm run -s plumbline -- init claude-code' },
  { name: 'Codex', command: 'npm run -s plumbline -- init codex' },
  { name: 'Cursor', command: 'npm run -s plumbline -- init cursor' },
  { name: 'Gemini CLI', command: 'npm run -s plumbline -- init gemini-cli' },
  { name: 'Copilot CLI', command: 'npm run -s plumbline -- init copilot' },
  { name: 'opencode', command: 'npm run -s plumbline -- init opencode' },
  { name: 'Client', command: null },
  { name: 'MCP', command: null },
  { name: 'curl', command: null },
] as const

/**
 * What the list shows before any agent has reported: how to connect one, and a recorded run to replay. Whom the link of
 * the first start has led here sees that run at once.
 */
export function Onboarding() {
  const chosen = useSignal<(typeof ways)[number]>(ways[0])
  const says = useSignal('')
  const show = () =>
    replay().catch((error) => {
      says.value = faultOf(error).says
    })
  useEffect(() => {
    if (hasArrived()) void show()
  }, [])
  useEffect(
    () =>
      listen((events) => {
        const first = events.find(({ event }) => event === 'step')
        if (first?.event === 'step') go(`/app/runs/${encodeURIComponent(first.data.run_id)}`)
      }),
    [],
  )
  return (
    <>
      <Top title={<h1>Runs</h1>} live />
      <div class="onboarding">
        <svg
          class="onboarding-line"
          viewBox="0 0 140 510"
          width="140"
          height="510"
          aria-hidden="true"
        >
          <path class="line-ground" d="M10 0v455" />
          {[34, 22, 46, 30, 118, 126, 26, 20].map((x, at) => (
            <g key={x}>
              <path class="line-arm" d={`M10 ${94 + at * 35}h${x - 4}`} />
              <circle class="line-ghost" cx={10 + x} cy={94 + at * 35} r="3.5" />
            </g>
          ))}
          <path class="line-bob" d="M0 455h20l-4 22-6 30-6-30z" />
        </svg>
        <div>
          <h2>No agent has reported yet</h2>
          <p class="lead">Each step an agent reports will hang from this line.</p>
          <ul class="tabs" aria-label="How an agent reports">
            {ways.map((way) => (
              <li key={way.name}>
                <button
                  type="button"
                  class="tab"
                  aria-pressed={chosen.value.name === way.name}
                  onClick={() => {
                    chosen.value = way
                  }}
                >
                  {way.name}
                </button>
              </li>
            ))}
          </ul>
          <Steps way={chosen.value} />
          <div class="waiting">
            <span class="live">
              <i class="live-dot" />
              Waiting for the first step
            </span>
            <span class="quiet-text">this page changes by itself</span>
            <button type="button" class="button" onClick={show}>
              Replay a recorded run
            </button>
          </div>
          {says.value === '' ? null : (
            <p class="fault" role="alert">
              {says.value}
            </p>
          )}
        </div>
      </div>
    </>
  )
}

function Steps({ way }: { way: (typeof ways)[number] }) {
  if (way.command !== null) {
    return (
      <ol class="how">
        <li>
          <h3>In the folder of this server, connect {way.name}</h3>
          <CopyBlock text={way.command} />
          <p class="hint">
            It merges its hooks into the settings of {way.name}, and <code>uninstall</code> takes
            them out again, byte for byte.
          </p>
        </li>
        <li>
          <h3>Give {way.name} an errand</h3>
          <p class="hint">The first prompt is the ground. Only you move it.</p>
        </li>
      </ol>
    )
  }
  if (way.name === 'MCP') {
    return (
      <ol class="how">
        <li>
          <h3>Add this server to the tools of your agent</h3>
          <CopyBlock text={`${location.origin}/mcp`} />
          <p class="hint">
            Streamable HTTP. With a key in the authorization header its runs appear here.
          </p>
        </li>
      </ol>
    )
  }
  if (way.name === 'Client') {
    return (
      <ol class="how">
        <li>
          <h3>Log each goal of the agent</h3>
          <CopyBlock
            text={`import { createClient } from 'plumbline/client'

const client = createClient({ baseUrl: '${location.origin}', key: process.env.PLUMBLINE_KEY })
await client.drift({ run_id: 'first', ground: 'what the user asked for', goal: 'what the agent does now' })`}
          />
        </li>
      </ol>
    )
  }
  return (
    <ol class="how">
      <li>
        <h3>Send a first step</h3>
        <CopyBlock
          text={`curl -s ${location.origin}/v1/drift \\
  -H "authorization: Bearer $PLUMBLINE_KEY" \\
  -d '{"run_id":"first","ground":"write the getting started guide","goal":"list the commands of the client"}'`}
        />
        <p class="hint">
          <a href="/app/keys">Keys</a> makes a key.
        </p>
      </li>
    </ol>
  )
}

const arrived = 'plumbline_arrived'

/** Whether a link of this machine has led here just now. It is said once. */
function hasArrived(): boolean {
  const has = document.cookie.split('; ').includes(`${arrived}=1`)
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not there over plain HTTP
  document.cookie = `${arrived}=; Path=/app; Max-Age=0; SameSite=Strict`
  return has
}

/** The beginning of the ids of replayed runs, as `plumbline demo` writes them. */
const recordedPrefix = 'demo '

/** Whether a run is a replayed one. */
export function isRecorded({ run_id }: { run_id: string }): boolean {
  return run_id.startsWith(recordedPrefix)
}

/** Logs the recorded run step by step, so that it is seen as it comes, and opens it. */
async function replay(): Promise<void> {
  const run_id = `${recordedPrefix}${new Date().toISOString().slice(0, 19).replace('T', ' ')}`
  const [first, ...rest] = demoRun.map(({ goal, distance, userTurn, plan }) => ({
    run_id,
    goal,
    distance,
    ...(userTurn === undefined ? {} : { user_turn: userTurn }),
    ...(plan === undefined ? {} : { plan: [...plan] }),
  }))
  if (first === undefined) return
  await api.drift(first)
  go(`/app/runs/${encodeURIComponent(run_id)}`)
  for (const step of rest) {
    await new Promise((resolve) => setTimeout(resolve, 700))
    await api.drift(step)
  }
}
