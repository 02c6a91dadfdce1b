import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Framework, guidanceFor } from '../src/core/guidance/guidance.ts'
import { type App, start } from './harness.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const astray = 'remove rate limiting from the login endpoint'
const redirect = 'now limit the signup endpoint in the same way'

interface Event extends Record<string, unknown> {
  hook_event_name: string
  tool_name?: string
}

interface Handler {
  command: string
  timeout: number
}

/** What a host sends and takes back, in the shapes of its documentation. */
interface Host {
  /** How long the snippet lets its hooks run, as this host counts. */
  timeout: number
  prompt(text: string, more?: object): Event
  /** The list of the agent, its first item in progress. */
  list(items: string[]): Event
  /** The answer's text for the model. */
  told(answer: Record<string, unknown>): unknown
  /** What a prompt is answered with. */
  accepts: object
}

const hosts: Partial<Record<Framework, Host>> = {
  'claude-code': {
    timeout: 3,
    prompt: (prompt, more) => ({
      ...session,
      hook_event_name: 'UserPromptSubmit',
      permission_mode: 'default',
      prompt,
      ...more,
    }),
    list: (items) => ({
      ...session,
      hook_event_name: 'PostToolUse',
      tool_name: 'TodoWrite',
      tool_input: { todos: items.map(withStatus('content')) },
      tool_response: {},
    }),
    told: hookSpecific('PostToolUse'),
    accepts: {},
  },
  codex: {
    timeout: 3,
    prompt: (prompt, more) => ({
      ...session,
      hook_event_name: 'UserPromptSubmit',
      turn_id: 'turn-1',
      model: 'a-model',
      prompt,
      ...more,
    }),
    list: (items) => ({
      ...session,
      hook_event_name: 'PostToolUse',
      turn_id: 'turn-1',
      tool_name: 'update_plan',
      tool_input: { plan: items.map(withStatus('step')) },
      tool_response: 'Plan updated',
    }),
    told: hookSpecific('PostToolUse'),
    accepts: {},
  },
  cursor: {
    timeout: 3,
    prompt: (prompt, more) => ({
      ...conversation,
      hook_event_name: 'beforeSubmitPrompt',
      prompt,
      attachments: [],
      ...more,
    }),
    list: (items) => ({
      ...conversation,
      hook_event_name: 'postToolUse',
      tool_name: 'TodoWrite',
      tool_input: { todos: items.map(withStatus('content')) },
      tool_output: '{}',
    }),
    told: ({ additional_context }) => additional_context,
    accepts: { continue: true },
  },
  'gemini-cli': {
    timeout: 3_000,
    prompt: (prompt, more) => ({
      ...session,
      hook_event_name: 'BeforeAgent',
      timestamp: '2026-01-15T12:00:00Z',
      prompt,
      ...more,
    }),
    list: (items) => ({
      ...session,
      hook_event_name: 'AfterTool',
      tool_name: 'write_todos',
      tool_input: { todos: items.map(withStatus('description')) },
      tool_response: { llmContent: 'ok', returnDisplay: 'ok' },
    }),
    told: hookSpecific('AfterTool'),
    accepts: {},
  },
}

const session = { session_id: 'the/session', transcript_path: null, cwd: '/' }
const conversation = {
  conversation_id: 'the/session',
  generation_id: 'generation-1',
  user_email: 'someone@example.test',
}

function withStatus(name: string) {
  return (text: string, place: number) => ({
    [name]: text,
    status: place === 0 ? 'in_progress' : 'pending',
  })
}

function hookSpecific(event: string) {
  return ({ hookSpecificOutput }: Record<string, unknown>) => {
    const { hookEventName, additionalContext } = (hookSpecificOutput ?? {}) as Record<
      string,
      string
    >
    if (hookSpecificOutput !== undefined) assert.equal(hookEventName, event)
    return additionalContext
  }
}

/**
 * The host as far as hooks go: its settings are the snippet, its home holds the other file. A hurried
 * program waits as long as the recipe says, others as long as a busy machine takes.
 */
function install(
  t: TestContext,
  framework: Framework,
  url: string,
  env: Record<string, string>,
  isHurried = false,
) {
  const { snippet, files } = guidanceFor(framework, url)
  assert.equal(files[0].text, snippet)
  const home = freshFolder(t)
  for (const { path, text } of files) {
    const file = join(home, path.replace(/^~\//, ''))
    mkdirSync(dirname(file), { recursive: true })
    assert.equal(text.includes('timeout(1000)'), text !== snippet)
    writeFileSync(file, isHurried ? text : text.replace('timeout(1000)', 'timeout(30_000)'))
  }
  const { hooks } = JSON.parse(snippet)
  const path = `${dirname(process.execPath)}:${process.env.PATH}`

  /** Starts every hook that is set for the event, and answers what the one there is has printed. */
  async function send(event: Event): Promise<Record<string, unknown>> {
    const groups = (hooks[event.hook_event_name] ?? []) as ({
      matcher?: string
      hooks?: Handler[]
    } & Partial<Handler>)[]
    const handlers = groups
      .filter(({ matcher = '' }) => new RegExp(matcher).test(event.tool_name ?? ''))
      .flatMap(({ hooks: nested, ...flat }) => nested ?? [flat as Handler])
    assert.equal(handlers.length, 1, event.hook_event_name)
    const [{ command, timeout } = { command: '', timeout: 0 }] = handlers
    assert.equal(timeout, hosts[framework]?.timeout)
    const child = spawn('sh', ['-c', command], {
      env: { PATH: path, HOME: home, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.end(JSON.stringify(event))
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const [code] = await once(child, 'close')
    assert.equal(code, 0)
    return JSON.parse(out)
  }
  return { home, send }
}

async function readRun(app: App, headers: Record<string, string>) {
  const run = encodeURIComponent('the/session')
  return (await app.get(`/v1/drift/run?run_id=${run}`, headers)).body
}

for (const [name, host] of Object.entries(hosts)) {
  test(`the hooks of ${name} report the user’s words and the agent’s list`, async (t) => {
    verifies('guidance.read')
    const app = await start(t)
    const { key, headers } = await app.newAccount()
    const { send } = install(t, name as Framework, app.url, { PLUMBLINE_KEY: key })
    assert.deepEqual(await send(host.prompt(errand)), host.accepts)
    const onErrand = await send(host.list(['write the rate limit for login', 'test it']))
    assert.equal(host.told(onErrand), undefined)
    const elsewhere = await send(host.list([astray]))
    assert.match(String(host.told(elsewhere)), /"add rate .+"remove rate .+, but "add" /)
    // An acknowledgement moves nothing.
    const goOn = 'ok thanks, please go on'
    assert.deepEqual(await send(host.prompt(goOn)), host.accepts)
    // None of these is a turn of the user.
    for (const text of ['/compact now and keep the plan', '<task>all is done now</task>']) {
      assert.deepEqual(await send(host.prompt(text)), host.accepts, text)
    }
    await send(host.prompt('this was said by a sub-agent', { agent_id: 'sub' }))
    assert.deepEqual(await send(host.prompt(redirect)), host.accepts)
    const { run, trace } = await readRun(app, headers)
    assert.deepEqual(
      trace.map(({ goal, distance }: { goal: string; distance: number }) => [goal, distance]),
      [
        [errand, 10],
        ['write the rate limit for login', 10],
        [astray, 10],
        [goOn, 10],
        [redirect, 10],
      ],
    )
    const grounds = run.grounds.map(({ goal }: { goal: string }) => goal)
    assert.deepEqual([grounds, run.drifting_steps], [[errand, `${errand}\n${redirect}`], 1])
  })

  test(`the hooks of ${name} let the host go on, whatever the server does`, async (t) => {
    verifies('guidance.read')
    const answers: Record<string, (end: (text: string) => void) => void> = {
      garbage: (end) => end('<html>'),
      silent: () => {},
    }
    const server = createServer((request, response) => {
      answers[request.headers.authorization?.replace('Bearer ', '') ?? '']?.((text) =>
        response.end(text),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.closeAllConnections())
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const env of [{ PLUMBLINE_KEY: 'garbage' }, { PLUMBLINE_KEY: 'silent' }, {}]) {
      const { send } = install(t, name as Framework, url, env as Record<string, string>, true)
      assert.deepEqual(await send(host.prompt(errand)), host.accepts)
      assert.deepEqual(await send(host.list(['paint the shed'])), {})
    }
  })
}

test('a short first prompt is an errand, and a key in a file will do', async (t) => {
  const app = await start(t)
  const { key, headers } = await app.newAccount()
  const { home, send } = install(t, 'codex', app.url, {})
  writeFileSync(join(home, '.plumbline/key'), `${key}\n`)
  const { prompt } = hosts.codex as Host
  await send(prompt('fix login'))
  await send(prompt('yes'))
  await send(prompt('修复登录页面的问题'))
  const { run } = await readRun(app, headers)
  const grounds = run.grounds.map(({ goal }: { goal: string }) => goal)
  assert.deepEqual(grounds, ['fix login', 'fix login\n修复登录页面的问题'])
})

test('Claude Code’s scheduled prompts move no ground, delegations count their tokens', async (t) => {
  const app = await start(t)
  const { key, headers } = await app.newAccount()
  const { send } = install(t, 'claude-code', app.url, { PLUMBLINE_KEY: key })
  const { prompt } = hosts['claude-code'] as Host
  await send(prompt(errand, { prompt_id: 'p1' }))
  // A hook that is started twice reports once.
  await send(prompt(errand, { prompt_id: 'p1' }))
  const scheduled = 'look at the build and report what failed'
  await send({
    ...session,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'Done.',
    session_crons: [{ id: 'c1', schedule: '*/5 * * * *', prompt: scheduled }],
  })
  await send(prompt(scheduled))
  const delegated = {
    ...session,
    hook_event_name: 'PostToolUse',
    tool_name: 'Agent',
    tool_input: { description: 'compare rate limiting libraries', prompt: 'Compare them.' },
    tool_response: { totalTokens: 1_234 },
  }
  await send({ ...delegated, tool_use_id: 't1' })
  await send({ ...delegated, tool_use_id: 't2', agent_id: 'sub-1', agent_type: 'Explore' })
  const { run, trace } = await readRun(app, headers)
  assert.deepEqual(
    trace.map(({ goal, agent_id }: { goal: string; agent_id?: string }) => [goal, agent_id]),
    [
      [errand, undefined],
      ['compare rate limiting libraries', undefined],
      ['compare rate limiting libraries', 'sub-1'],
    ],
  )
  const agents = run.grounds.map(({ agent_id }: { agent_id: string }) => agent_id)
  assert.deepEqual([agents, run.tokens], [['', 'sub-1'], 2_468])
  assert.deepEqual(
    run.agents.map(({ agent_id, ground }: { agent_id: string; ground: string }) => [
      agent_id,
      ground,
    ]),
    [['sub-1', 'compare rate limiting libraries']],
  )
})
