import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const package_ = join(import.meta.dirname, '../clients/python')
const skip = hasPython() ? false : 'there is no Python 3.9 or newer here'

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
    return true
  } catch {
    return false
  }
}

/** Runs a program in Python and returns what it prints as JSON, and what stands on standard error. */
async function python(
  program: string,
  env: Record<string, string>,
): Promise<{ said: unknown; err: string }> {
  const child = spawn('python3', ['-c', `import json\nfrom plumbline import *\n${program}`], {
    env: { PATH: process.env.PATH ?? '', PYTHONPATH: package_, ...env },
  })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (part) => {
    texts.out += part
  })
  child.stderr.on('data', (part) => {
    texts.err += part
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, texts.err)
  return { said: JSON.parse(texts.out), err: texts.err }
}

const begin = 'import os\nclient = Client(os.environ["URL"], os.environ.get("KEY"))\n'

async function served(t: TestContext) {
  const app = await start(t)
  const caller = await newCaller(app)
  return { app, caller, env: { URL: app.url, KEY: caller.key } }
}

test('a run in Python gets its verdicts, and hands over what the user says', {
  skip,
}, async (t) => {
  verifies('python.run')
  const { caller, env } = await served(t)
  const { said } = await python(
    `${begin}run = client.run(ground="fix the login page", run_id="r", plan=["read it", "mend it"], budget_s=30)
first = run.step("read the login page", distance=7, tokens=12)
thanks = run.user_message("ok thanks, please go on")
more = run.user_message("also fix the sign-up page", goal="read the sign-up page")
sub = run.step("look at a library", agent_id="helper", ground="compare two libraries")
stored = run.outcome("success", score=0.9)
checked = client.check("refund order 1234", "refund order 9876")
try:
    client.request("GET", "/v1/drift/run", query={"run_id": "none"})
except PlumblineError as error:
    refused = [error.status, error.word]
print(json.dumps([first["step"], first["ground"], thanks["user_effect"], more["user_effect"], more["revision"], sub["ground"], stored, checked["drifting"], refused, vars(run.stats), run.latest["step"], client.close()]))`,
    env,
  )
  const stats = { sent: 5, late: 0, failed: 0, dropped: 0, waiting: 0 }
  assert.deepEqual(said, [
    1,
    'fix the login page',
    'none',
    'adds',
    2,
    'compare two libraries',
    true,
    true,
    [404, 'no_run'],
    stats,
    4,
    true,
  ])
  const { run, trace } = (await caller.get('/v1/drift/run?run_id=r')).body
  assert.deepEqual(
    [run.outcome, run.plan, run.tokens, trace.length],
    ['success', ['read it', 'mend it'], 12, 4],
  )
})

test('a client in Python delivers in order and once over an outage, and costs the agent one wait', {
  skip,
}, async (t) => {
  verifies('python.delivery')
  const folder = freshFolder(t)
  const env = { DATABASE_URL: 'sqlite:./p.db', PLUMBLINE_ENCODER: 'off', LOG_LEVEL: 'error' }
  const ready = async (port: string) => {
    const server = spawnPlumbline(t, ['serve'], { folder, env: { ...env, PORT: port } })
    while (!/http:\S+:(\d+)/.test(server.written.out))
      await new Promise((done) => setTimeout(done, 20))
    return server
  }
  const first = await ready('0')
  const url = /http:\S+:\d+/.exec(first.written.out)![0]
  const made = spawnPlumbline(t, ['keys', 'create', '--tier', 'enterprise', '--json'], {
    folder,
    env,
  })
  assert.equal(await made.ended, 0)
  const { key } = JSON.parse(made.written.out)
  const program = python(
    `${begin}import time
run = client.run(ground="fix the login page", run_id="r", budget_s=5)
run.step("step 0 of the login page")
open(os.environ["FLAG"], "w").close()
while os.path.exists(os.environ["FLAG"]): time.sleep(0.01)
run._budget_s = 0.25
began = time.monotonic()
for nth in range(1, 9): run.step(f"step {nth} of the login page")
took = time.monotonic() - began
open(os.environ["FLAG"], "w").close()
done = client.close(25)
print(json.dumps([took < 1.5, done, vars(run.stats)]))`,
    { URL: url, KEY: key, FLAG: join(folder, 'flag') },
  )
  const { existsSync, rmSync } = await import('node:fs')
  const flag = join(folder, 'flag')
  const raised = async () => {
    while (!existsSync(flag)) await new Promise((done) => setTimeout(done, 10))
  }
  await raised()
  first.child.kill('SIGKILL')
  await first.ended
  rmSync(flag)
  await raised()
  await ready(new URL(url).port)
  const { said } = await program
  assert.deepEqual(said, [true, true, { sent: 9, late: 8, failed: 0, dropped: 0, waiting: 0 }])
  const answer = await fetch(`${url}/v1/drift/run?run_id=r`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { trace } = (await answer.json()) as { trace: { goal: string }[] }
  assert.deepEqual(
    trace.map(({ goal }) => goal),
    Array.from({ length: 9 }, (_, nth) => `step ${nth} of the login page`),
  )
})

test('a client in Python never raises into the agent, and says once that its key is wrong', {
  skip,
}, async (t) => {
  verifies('python.harmless')
  const { env } = await served(t)
  const nobody = await python(
    `${begin}run = client.run(budget_s=0.05)
odd = run.step(object())
late = run.step("fix the login page")
print(json.dumps([odd, late, client.close(0.1), run.stats.failed, run.stats.late]))`,
    { URL: 'http://127.0.0.1:9' },
  )
  assert.deepEqual(nobody, { said: [null, null, false, 1, 1], err: '' })
  const wrong = { ...env, KEY: 'pl_live_wrong' }
  const refused = await python(
    `${begin}run = client.run(budget_s=30)
print(json.dumps([run.step("a"), run.step("b"), run.stats.failed]))`,
    wrong,
  )
  assert.deepEqual(refused.said, [null, null, 2])
  assert.match(refused.err, /^plumbline: http:\S+ took no step: bad_key\n$/)
  const heard = await python(
    `import os
heard = []
client = Client(os.environ["URL"], os.environ["KEY"], on_error=lambda error, lost: heard.append([error.status, lost]))
client.run(budget_s=30).step("a")
print(json.dumps(heard))`,
    wrong,
  )
  assert.deepEqual(heard, { said: [[401, 1]], err: '' })
})

test('a client in Python says once that its address is wrong', { skip }, async (t) => {
  verifies('python.harmless')
  const { env } = await served(t)
  const two =
    'run = client.run(budget_s=30)\nprint(json.dumps([run.step("a"), run.step("b"), run.stats.failed]))'
  const elsewhere = await python(begin + two, { ...env, URL: `${env.URL}/nowhere` })
  assert.deepEqual(elsewhere.said, [null, null, 2])
  assert.match(elsewhere.err, /^plumbline: http:\S+\/nowhere took no step: not_found[^\n]*\n$/)
  const none = await python(begin + two, { ...env, URL: '127.0.0.1:8787' })
  assert.deepEqual(none.said, [null, null, 2])
  assert.match(none.err, /^plumbline: 127\S+ took no step: bad_address[^\n]*\n$/)
})

test('odd arguments, a step that nobody waits for and an answer that breaks off harm no agent in Python', {
  skip,
}, async (t) => {
  verifies('python.harmless', 'python.delivery')
  const { createServer } = await import('node:http')
  const bodies: string[] = []
  const answers = [
    // It breaks off.
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"step"',
    // Not of the service.
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]',
    'nonsense',
    `HTTP/1.1 200 OK\r\ncontent-length: 26\r\n\r\n{"step": 1, "revision": 1}`,
  ]
  const server = createServer((request) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      bodies.push(JSON.parse(body).step_id)
      request.socket.end(answers.shift() ?? '')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const { said } = await python(
    `${begin}run = client.run(ground="a", plan=7, budget_s="soon")
odd = [run.step("a"), run.step("a", plan=5)]
run = client.run(ground="a", budget_s=30)
print(json.dumps([*odd, run.step("b")["step"], vars(run.stats), client.close()]))`,
    { URL: `http://127.0.0.1:${port}` },
  )
  const stats = { sent: 1, late: 0, failed: 0, dropped: 0, waiting: 0 }
  assert.deepEqual(said, [null, null, 1, stats, true])
  assert.equal(bodies.length, 4)
  assert.equal(new Set(bodies).size, 1)
})

test('a process that was forked delivers its own steps', { skip }, async (t) => {
  verifies('python.delivery')
  const { caller, env } = await served(t)
  const { said } = await python(
    `${begin}run = client.run(ground="fix the login page", run_id="r", budget_s=30)
run.step("read the login page")
child = os.fork()
if child == 0:
    told = run.step("mend the login page")
    os._exit(0 if told and client.close() else 1)
print(json.dumps(os.waitpid(child, 0)[1]))`,
    env,
  )
  assert.equal(said, 0)
  assert.equal((await caller.get('/v1/drift/run?run_id=r')).body.trace.length, 2)
})

test('a client in Python keeps at most a thousand steps, and the words of the user longest', {
  skip,
}, async () => {
  verifies('python.bounded')
  const { said } = await python(
    `${begin}run = client.run(budget_s=0)
run.user_message("also fix the sign-up page")
run.user_message("and the footer")
for nth in range(1100): run.step(f"step {nth}")
kept = [item.body["goal"] for item in client._delivery.waiting]
print(json.dumps([len(kept), kept[0], run.stats.dropped]))`,
    { URL: 'http://127.0.0.1:9' },
  )
  // The first of all is on its way.
  assert.deepEqual(said, [1000, 'and the footer', 101])
})

test('a run in asyncio is the same', { skip }, async (t) => {
  verifies('python.async')
  const { caller, env } = await served(t)
  const { said } = await python(
    `import asyncio, os
async def main():
    async with AsyncClient(os.environ["URL"], os.environ["KEY"]) as client:
        run = client.run(ground="fix the login page", run_id="a", budget_s=30)
        verdict = await run.step("read the login page")
        more = await run.user_message("also fix the sign-up page")
        await run.outcome("success")
        me = await client.request("GET", "/v1/me")
        return [verdict["step"], more["revision"], run.latest["step"], me["tier"]]
print(json.dumps(asyncio.run(main())))`,
    env,
  )
  assert.deepEqual(said, [1, 2, 2, 'enterprise'])
  assert.equal((await caller.get('/v1/drift/run?run_id=a')).body.run.outcome, 'success')
})

test('steps in asyncio keep their order, and one that is given up is delivered all the same', {
  skip,
}, async (t) => {
  verifies('python.async')
  const { caller, env } = await served(t)
  const { said, err } = await python(
    `import asyncio, os
client = AsyncClient(os.environ["URL"], os.environ["KEY"])
async def main():
    run = client.run(ground="fix the login page", run_id="a", budget_s=30)
    given_up = asyncio.ensure_future(run.step("step 0 of the login page"))
    await asyncio.sleep(0)
    given_up.cancel()
    told = await asyncio.gather(*[run.step(f"step {nth} of the login page") for nth in range(1, 40)])
    return [each["step"] for each in told]
steps = asyncio.run(main())
async def late():
    run = client.run(run_id="a", budget_s=0)
    return [await run.step("step 40 of the login page"), run.stats.late]
print(json.dumps([steps, asyncio.run(late()), asyncio.run(client.close(30))]))`,
    env,
  )
  const numbers = Array.from({ length: 39 }, (_, at) => at + 2)
  assert.deepEqual(said, [numbers, [null, 1], true])
  assert.equal(err, '')
  const { trace } = (await caller.get('/v1/drift/run?run_id=a')).body
  assert.deepEqual(
    trace.map(({ goal }: { goal: string }) => goal),
    Array.from({ length: 41 }, (_, nth) => `step ${nth} of the login page`),
  )
})
