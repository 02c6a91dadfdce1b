import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Framework, frameworks, guidanceFor } from '../src/core/guidance/guidance.ts'
import { createClient } from '../src/surfaces/client/client.ts'
import { type App, start } from './harness.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const PATH = `${dirname(process.execPath)}:${process.env.PATH}`

const promised = [
  'claude-code',
  'codex',
  'cursor',
  'gemini-cli',
  'openai-agents',
  'langgraph',
  'vercel-ai-sdk',
  'mastra',
  'crewai',
  'mcp',
  'plain-http',
]

test('GET /v1/guidance lists the frameworks, with or without a key', async (t) => {
  verifies('guidance.served', 'guidance.list')
  const app = await start(t)
  const { status, body } = await app.get('/v1/guidance')
  assert.equal(status, 200)
  assert.deepEqual(body, { frameworks: [...frameworks] })
  for (const name of promised) assert.ok((frameworks as readonly string[]).includes(name), name)
  assert.deepEqual((await app.get('/v1/guidance', { authorization: 'Bearer x' })).body, body)
})

test('?framework= answers a recipe that holds the address of this server', async (t) => {
  verifies('guidance.read')
  const address = 'https://plumb.example.test/base'
  const app = await start(t, { env: { PLUMBLINE_BASE_URL: address } })
  for (const framework of frameworks) {
    const { status, body } = await app.get(`/v1/guidance?framework=${framework}`)
    assert.equal(status, 200, framework)
    assert.equal(body.framework, framework)
    assert.ok(body.steps.length > 0 && body.steps.every((step: string) => step.length > 20))
    assert.equal(body.snippet, body.files[0].text)
    assert.ok(body.notes.length > 100)
    const texts = body.files.map(({ text }: { text: string }) => text)
    assert.ok(texts.join().includes(address), framework)
    assert.ok(!JSON.stringify(body).includes('127.0.0.1'), framework)
    for (const { language, text } of body.files) if (language === 'json') JSON.parse(text)
  }
})

test('an unknown framework is 400 and names the valid ones', async (t) => {
  const app = await start(t)
  for (const framework of ['autogen', '', 'Codex']) {
    const { status, body } = await app.get(`/v1/guidance?framework=${framework}`)
    assert.deepEqual([status, body.error], [400, 'bad_request'])
    for (const name of promised) assert.ok(body.detail.includes(name), name)
  }
})

test('the client reads guidance without a key', async (t) => {
  const app = await start(t)
  const client = createClient({ baseUrl: app.url })
  assert.deepEqual(await client.guidance(), { frameworks: [...frameworks] })
  const read = await client.guidance({ framework: 'mcp' })
  assert.ok('snippet' in read && read.snippet.includes(`${app.url}/mcp`))
})

test('a host connects to /mcp by the snippet', async (t) => {
  verifies('guidance.read')
  const app = await start(t)
  const { key, headers } = await app.newAccount()
  const { plumbline } = JSON.parse(guidanceFor('mcp', app.url).snippet).mcpServers
  assert.equal(plumbline.type, 'http')
  const sent = JSON.parse(JSON.stringify(plumbline.headers).replace('YOUR_KEY', key))
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: sent }
  await client.connect(new StreamableHTTPClientTransport(new URL(plumbline.url), { requestInit }))
  t.after(() => client.close())
  await checkState(client)
  const { body } = await app.get('/v1/drift/runs', headers)
  assert.match(body.runs[0].run_id, /^mcp:[\w-]{22}$/)
})

test('a host starts the tools as a program by the last file', async (t) => {
  verifies('guidance.read')
  const stdio = guidanceFor('mcp', 'http://127.0.0.1:8787').files.at(-1)
  const { command, args } = JSON.parse(stdio?.text ?? '').mcpServers.plumbline
  const folder = freshFolder(t)
  // As `npm install --global` would put it on the path.
  const script = `#!/bin/sh\nexec node ${join(import.meta.dirname, '../bin/plumbline.js')} "$@"\n`
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'plumbline'), script, { mode: 0o755 })
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: `${join(folder, 'bin')}:${PATH}` }
  await client.connect(
    new StdioClientTransport({ command, args, env, cwd: folder, stderr: 'pipe' }),
  )
  t.after(() => client.close())
  await checkState(client)
})

async function checkState(client: Client): Promise<void> {
  const step = { goal: 'mend the roof', progress: 'advancing', distance: 8 }
  const { structuredContent } = await client.callTool({ name: 'check_state', arguments: step })
  assert.equal((structuredContent as { reason: string }).reason, 'grounded')
}

test('the curl lines of plain-http report a whole run, and let a script go on without a server', async (t) => {
  verifies('guidance.read')
  const app = await start(t)
  const { key, headers } = await app.newAccount()
  const script = guidanceFor('plain-http', app.url).snippet.replaceAll('--max-time 2', '-f')
  await run('sh', ['-ec', script], { env: { PATH, PLUMBLINE_KEY: key } })
  const { run: stored, trace } = (await app.get('/v1/drift/run?run_id=run-1', headers)).body
  assert.deepEqual(
    [stored.grounds.length, stored.agents.length, stored.tokens, stored.outcome],
    [3, 1, 1_200, 'success'],
  )
  assert.equal(stored.grounds[0].goal, 'add rate limiting to the login endpoint')
  assert.equal(trace[2].parent_goal, 'rate limiting for the login endpoint')
  await app.running.stop()
  const { snippet } = guidanceFor('plain-http', app.url)
  await run('sh', ['-ec', `${snippet}\necho went on`], { env: { PATH, PLUMBLINE_KEY: key } })
})

const python = {
  skip: await run('python3', ['--version']).then(
    () => false,
    () => 'there is no python3',
  ),
}

/** Runs a program beside the Python snippet of a framework. */
async function runPython(
  t: TestContext,
  app: App,
  framework: Framework,
  program: string,
  others: Record<string, string> = {},
) {
  const { key, headers } = await app.newAccount()
  const folder = freshFolder(t)
  const [file] = guidanceFor(framework, app.url).files
  // However busy this machine is.
  const snippet = file.text.replaceAll('client.run(', 'client.run(budget_s=30, ')
  for (const [path, text] of Object.entries({ ...others, [file.path]: snippet })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const PYTHONPATH = join(import.meta.dirname, '../clients/python')
  const env = { PATH, PYTHONPATH, PLUMBLINE_KEY: key, HOME: folder }
  const { stdout } = await run('python3', ['-B', '-c', program], { cwd: folder, env })
  const { body } = await app.get('/v1/drift/runs', headers)
  const id = body.runs[0]?.run_id
  const read = async () => (await app.get(`/v1/drift/run?run_id=${id}`, headers)).body
  return { stdout, read }
}

test(
  'the Python recipe reports a run, hands over what the user says next, and delivers what is left',
  python,
  async (t) => {
    verifies('guidance.read', 'guidance.python')
    const app = await start(t)
    const program = `
from measured import client, hear, work
errand = "add rate limiting to the login endpoint"
def agent(words):
    yield "write the rate limit for login"
    yield "remove rate limiting from the login endpoint"
run, run_id = work(agent, errand)
print(run_id == run.run_id, run.latest["reason"], run.step("read the docs", agent_id="sub")["reason"])
print(work(lambda words: ["paint the shed"], "also paint the shed", run)[0] is run, run.latest["revision"])
def fails(words):
    raise OSError("the agent's own")
try:
    work(fails, "and again", run)
except OSError as error:
    print(error)
# Delivered when the program ends.
run._budget_s = 0
run.step("the last step")`
    const { stdout, read } = await runPython(t, app, 'python', program)
    assert.match(stdout, /^The wording .*\nTrue goal-drift grounded\nTrue 2\n/)
    assert.match(stdout, /\nthe agent's own\n$/)
    const { run: stored, trace } = await read()
    assert.deepEqual([stored.outcome, stored.agents.length], ['failure', 1])
    assert.equal(trace.at(-1).goal, 'the last step')
    assert.equal(
      trace.find(({ goal }: { goal: string }) => goal === 'also paint the shed').user_message,
      'also paint the shed',
    )
  },
)

// TaskStartedEvent and the bus in the shape of crewai.events, version 1.15: handlers get the source and
// the event, which carries the task and the role of its agent.
const crewaiEvents = `
class TaskStartedEvent:
    def __init__(self, task, agent_role):
        self.task, self.task_name, self.agent_role = task, None, agent_role


class _Bus:
    def __init__(self):
        self._handlers = []

    def on(self, event_type):
        return lambda handler: self._handlers.append((event_type, handler)) or handler

    def emit(self, source, event):
        for event_type, handler in self._handlers:
            if isinstance(event, event_type):
                handler(source, event)


crewai_event_bus = _Bus()
`

test('the CrewAI listener reports each task of a crew', python, async (t) => {
  verifies('guidance.read', 'guidance.python')
  const app = await start(t)
  const program = `
from types import SimpleNamespace as Task
from crewai.events import TaskStartedEvent, crewai_event_bus
import plumbline_crew
class Crew:
    def kickoff(self, inputs=None):
        for description in inputs:
            crewai_event_bus.emit(None, TaskStartedEvent(Task(description=description), "writer"))
        return "done"
Crew().kickoff(["Before it began"])
tasks = ["Write the rate limit for the login endpoint", "Remove rate limiting from the login endpoint"]
result, run, run_id = plumbline_crew.kickoff(Crew(), "add rate limiting to the login endpoint", inputs=tasks)
print(result, run_id == run.run_id)
plumbline_crew.kickoff(Crew(), "also paint the shed", run, inputs=["Paint the shed"])`
  const { stdout, read } = await runPython(t, app, 'crewai', program, {
    'crewai/__init__.py': '',
    'crewai/events.py': crewaiEvents,
  })
  assert.equal(stdout, 'done True\n')
  const { run: stored, trace } = await read()
  assert.deepEqual(
    trace.map(({ goal, drifting }: { goal: string; drifting: boolean }) => [goal, drifting]),
    [
      ['Write the rate limit for the login endpoint', false],
      ['Remove rate limiting from the login endpoint', true],
      ['also paint the shed', false],
      ['Paint the shed', false],
    ],
  )
  assert.equal(stored.revision, 2)
  assert.equal(stored.outcome, 'success')
})
