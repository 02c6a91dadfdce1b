import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { type JudgedSession, limitFor } from '../src/core/backtest/backtest.ts'
import { shareOf } from '../src/core/figures.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { createReads } from '../src/encoder/reads.ts'
import { judgeFiles, threadsFor } from '../src/surfaces/cli/judge-files.ts'
import { runHere } from './command.ts'
import { claudeLines, strayingSession } from './session-lines.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const began = Date.UTC(2026, 10, 22, 12)

/** A home with sessions of Claude Code in it, and the command line as their person runs it. */
function homeWith(t: TestContext, sessions: Record<string, string>) {
  const home = freshFolder(t)
  const folder = join(home, '.claude', 'projects', '-home-kim-shop')
  mkdirSync(folder, { recursive: true })
  for (const [name, lines] of Object.entries(sessions))
    writeFileSync(join(folder, `${name}.jsonl`), lines)
  const run = (...args: string[]) =>
    runHere(['backtest', '--from', 'claude-code', ...args], {
      environment: { HOME: home },
      now: () => began + 3 * 86_400_000,
    })
  return { home, folder, run }
}

const stray = claudeLines('stray', strayingSession(), began)
const asked = claudeLines(
  'asked',
  strayingSession('now restyle the hero section of the landing page, brighter'),
  began + 3_600_000,
)

test('plumbline backtest says what would have alarmed in the sessions of a person, and why', async (t) => {
  verifies('hosts.backtest')
  const { run, home } = homeWith(t, { stray, asked })
  const { code, out } = await run('--words')
  assert.equal(code, 0)
  const lines = out.split('\n')
  assert.match(
    lines[0]!,
    /^claude-code: 2 sessions \(2026-11-22 to 2026-11-22\), 19 steps from 16 acts, judged by words alone$/,
  )
  assert.match(lines[1]!, /^1 alarm in 1 session: 52\.6 \(95 %: 9\.3 to 246\.4\) of 1,000 steps$/)
  assert.match(out, /^1\. 2026-11-22 12:00 {2}claude-code:stray {2}step 7$/m)
  assert.match(out, /^ {3}errand {2}add rate limiting to the login endpoint$/m)
  assert.match(out, /^ {3}goal {4}The brand colours of the landing page look dull/m)
  assert.match(out, /^ {3}did {5}edit landing\/hero\.css$/m)
  assert.equal((await run('--words')).out, out, 'the same input gives the same bytes')
  const json = JSON.parse(
    (await run('--words', '--json', '--against', 'overlap', '--budget', '500')).out,
  )
  assert.deepEqual([json.sessions, json.steps, json.alarms[0].run_id], [2, 19, 'claude-code:stray'])
  assert.ok(json.against.alarms > 1 && json.budget.threshold > 0)
  const page = join(home, 'report.html')
  assert.equal((await run('--words', '--html', page)).code, 0)
  assert.match(readFileSync(page, 'utf8'), /<h2>add rate limiting to the login endpoint<\/h2>/)
})

test('a budget finds its limit, and says what it adds to the alarms and takes away', async (t) => {
  verifies('hosts.backtest.budget', 'command.eval.budget')
  const { run, home } = homeWith(t, { stray, asked })
  const { budget, alarms } = JSON.parse((await run('--words', '--json', '--budget', '900')).out)
  assert.deepEqual([budget.per_1000, budget.lacks], [900, null])
  assert.equal(budget.alarms, alarms.length + budget.added - budget.removed)
  assert.ok(budget.added > 0)
  assert.match(
    (await run('--words', '--budget', '900/1000')).out,
    new RegExp(
      `^PLUMBLINE_LIMIT=${budget.threshold} keeps to 900 alarms of 1,000 steps, if later work is like this; here it gives ${budget.alarms} alarms: ${budget.added} added, ${budget.removed} removed$`,
      'm',
    ),
  )
  // What the limit gives is what a back-test with that limit finds.
  const limited = await runHere(['backtest', '--from', 'claude-code', '--words', '--json'], {
    environment: { HOME: home },
    settings: () => readConfig({ PLUMBLINE_LIMIT: String(budget.threshold) }),
  })
  assert.equal(JSON.parse(limited.out).alarms.length, budget.alarms)
  const pairs = join(home, 'pairs.jsonl')
  writeFileSync(pairs, '{"ground":"fix the login","goal":"fix the login","label":"same"}\n')
  const args = ['eval', pairs, '--detector', 'overlap', '--json', '--budget']
  const measured = await runHere([...args, '5/1000'])
  assert.equal(JSON.parse(measured.out).budget.per_1000, 5)
  assert.match((await runHere([...args, 'few'])).err, /--budget is "few"; send a number from 0/)
})

test('any number of threads finds the same, also in a session that several files hold', async (t) => {
  verifies('hosts.backtest')
  const folder = freshFolder(t)
  const later = began + 7_200_000
  const files = {
    stray,
    asked,
    // The host has gone on with a session in a file of another name, with some of its ids.
    'asked-again': claudeLines('stray', strayingSession('now restyle the landing page'), later),
    quiet: claudeLines('quiet', [{ prompt: 'translate the handbook' }], began),
    alike: claudeLines('alike', strayingSession(), began),
  }
  const paths = Object.entries(files).map(([name, lines]) => {
    writeFileSync(join(folder, `${name}.jsonl`), lines)
    return join(folder, `${name}.jsonl`)
  })
  const task = {
    host: 'claude-code',
    since: 0,
    judges: [{ detector: 'meaning' }, { detector: 'overlap' }],
  } as const
  const alone = await judgeFiles(paths, task, 1, () => {})
  assert.deepEqual(
    alone.map(([own]) => [own?.runId, own?.steps.length]),
    [
      ['claude-code:alike', 9],
      ['claude-code:quiet', 1],
      ['claude-code:stray', 13],
      ['claude-code:asked', 10],
    ],
  )
  for (const threads of [2, 3, 5, 9]) {
    const together = await judgeFiles(paths, task, threads, () => {})
    assert.equal(JSON.stringify(together), JSON.stringify(alone), `${threads} threads`)
  }
  assert.equal(threadsFor('claude-code', paths, 8), 1, 'few bytes are not worth a thread')
})

test('a line of a session file ends at a line feed, whatever ends of lines its texts hold', async (t) => {
  verifies('hosts.backtest')
  const told = stray.replace('The brand colours', 'The\u2028brand colours')
  for (const lines of [told, told.replaceAll('\n', '\r\n')]) {
    const { out } = await homeWith(t, { stray: lines }).run('--words', '--json')
    assert.match(JSON.parse(out).alarms[0].goal, /^The\sbrand colours of the landing page/)
  }
})

test('a file that a thread cannot read ends the back-test', async (t) => {
  verifies('hosts.backtest')
  const folder = freshFolder(t)
  writeFileSync(join(folder, 'stray.jsonl'), stray)
  mkdirSync(join(folder, 'folder.jsonl'))
  const paths = ['stray', 'folder'].map((name) => join(folder, `${name}.jsonl`))
  const task = { host: 'claude-code', since: 0, judges: [{ detector: 'meaning' }] } as const
  await assert.rejects(
    judgeFiles(paths, task, 2, () => {}),
    /EISDIR/,
  )
})

test('with the encoder, work that nobody asked for alarms within three steps, and what was asked for does not', async (t) => {
  verifies('hosts.backtest')
  const { home } = homeWith(t, { stray, asked })
  const reads = createReads(shippedWeights)
  const ran = await runHere(['backtest', '--from', 'claude-code', '--json'], {
    environment: { HOME: home },
    reads: () => reads,
  })
  const { alarms } = JSON.parse(ran.out)
  assert.deepEqual(
    alarms.map(({ run_id }: { run_id: string }) => run_id),
    ['claude-code:stray'],
  )
  // The first foreign step is the sixth.
  assert.ok(alarms[0].step >= 6 && alarms[0].step <= 8)
})

test('texts of a session are only text in the page', async (t) => {
  verifies('hosts.backtest')
  const parts = strayingSession()
  const evil = '<script>alert(1)</script>\u202e "onload='
  const { run, home } = homeWith(t, {
    evil: claudeLines(
      'evil',
      [{ prompt: `${evil} add rate limiting to the login endpoint` }, ...parts.slice(1)],
      began,
    ),
  })
  const page = join(home, 'report.html')
  await run('--words', '--html', page)
  const html = readFileSync(page, 'utf8')
  assert.doesNotMatch(html, /<script>alert|\u202e/)
  assert.match(html, /&lt;script&gt;alert\(1\)&lt;\/script&gt; &quot;onload=/)
})

test('only sessions that changed lately are read, and what cannot be used is said', async (t) => {
  verifies('hosts.backtest')
  const { run, folder } = homeWith(t, { stray, asked })
  const day = (days: number) => began / 1000 + days * 86_400
  utimesSync(join(folder, 'stray.jsonl'), day(0), day(0))
  utimesSync(join(folder, 'asked.jsonl'), day(2.5), day(2.5))
  assert.match((await run('--words', '--since', '1d')).out, /^claude-code: 1 session/)
  appendFileSync(join(folder, 'asked.jsonl'), 'no json\n\n{"type":"unheard-of"}\n')
  assert.match((await run('--words', '--since', '2')).out, /10 steps/)
  for (const [args, fault] of [
    [['--since', 'soon'], /--since: send a number of days/],
    [['--budget', '5/100'], /--budget is "5\/100"; send a number from 0 to 1000 of 1,000 steps/],
    [['--budget', '5', '--detector', 'overlap'], /--budget: a limit moves the detector meaning/],
    [['--detector', 'x'], /--detector: name meaning or overlap/],
    [['nowhere.jsonl'], /nowhere\.jsonl does not exist/],
  ] as const) {
    const ran = await run(...args)
    assert.equal(ran.code, 2)
    assert.match(ran.err, fault)
  }
  const other = await runHere(['backtest', '--from', 'emacs'], { environment: { HOME: folder } })
  assert.match(other.err, /--from: name claude-code, codex, copilot, gemini-cli/)
  const none = await runHere(['backtest', '--from', 'codex'], { environment: { HOME: folder } })
  assert.match(none.err, /there are no session files of codex in/)
})

test('plumbline backtest reads the database of opencode, and leaves it as it is', async (t) => {
  verifies('hosts.backtest')
  const home = freshFolder(t)
  const folder = join(home, '.local', 'share', 'opencode')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'opencode.db')
  const database = new DatabaseSync(file)
  database.exec(`CREATE TABLE session (id, parent_id, directory, time_created, time_updated);
    CREATE TABLE message (id, session_id, time_created, time_updated, data);
    CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)`)
  const put = (at: number, id: string, message: object, parts: object[]) => {
    database
      .prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)')
      .run(id, 'ses_1', at, at, JSON.stringify(message))
    for (const [nth, part] of parts.entries())
      database
        .prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)')
        .run(`${id}p${nth}`, id, 'ses_1', at, at, JSON.stringify(part))
  }
  database
    .prepare('INSERT INTO session VALUES (?, NULL, ?, ?, ?)')
    .run('ses_1', '/home/kim/shop', began, began + 9_000)
  put(began, 'm1', { role: 'user', agent: 'build', time: { created: began } }, [
    { type: 'text', text: 'add rate limiting to the login endpoint' },
  ])
  const state = {
    status: 'completed',
    input: { filePath: '/home/kim/shop/src/login.js' },
    output: 'Edit applied successfully.',
    time: { end: began + 5_000 },
  }
  put(began + 5_000, 'm2', { role: 'assistant' }, [
    { type: 'tool', tool: 'edit', callID: 'c1', state },
  ])
  database.close()
  const bytes = readFileSync(file)
  const run = (...args: string[]) =>
    runHere(['backtest', '--from', 'opencode', '--words', ...args], {
      environment: { HOME: home },
      now: () => began + 86_400_000,
    })
  assert.match((await run()).out, /^opencode: 1 session \(2026-11-22 .*\), 2 steps from 1 act,/)
  assert.deepEqual(readFileSync(file), bytes)
  utimesSync(file, began / 1000 + 86_000, began / 1000 + 86_000)
  assert.match((await run('--since', '0.5d')).out, /^opencode: 0 sessions/)
  writeFileSync(file, 'no database')
  const broken = await run()
  assert.equal(broken.code, 2)
  assert.match(broken.err, /cannot be read as sessions of opencode/)
})

test('shares have Wilson intervals, and a limit keeps to a budget', () => {
  verifies('hosts.backtest')
  const share = shareOf(7, 9)
  assert.deepEqual(
    [share?.value, share?.low, share?.high].map((value) => Math.round(100 * (value ?? -1))),
    [78, 45, 94],
  )
  assert.equal(shareOf(0, 0), null)
  const steps = Array.from({ length: 1_000 }, (_, at) => ({ couldOpen: true, score: at / 2_000 }))
  const session = { steps } as unknown as JudgedSession
  const { limit } = limitFor([session], 10)
  assert.equal(steps.filter(({ score }) => score > (limit ?? 0)).length, 9)
  const few = { ...session, steps: session.steps.slice(0, 50) }
  assert.deepEqual(limitFor([few], 10), { limit: null, lacks: 'steps' })
  const sure = { ...session, steps: session.steps.map((step) => ({ ...step, score: 0.99 })) }
  assert.deepEqual(limitFor([sure], 10), { limit: null, lacks: 'any' })
  assert.deepEqual(limitFor([session], 1_000), { limit: 0.0001, lacks: null })
})

test('plumbline watch prints each step of a session as the agent works', async (t) => {
  verifies('hosts.watch')
  const { home, folder } = homeWith(t, {})
  const file = join(folder, 'stray.jsonl')
  const lines = stray.trimEnd().split('\n')
  writeFileSync(file, `${lines.slice(0, 8).join('\n')}\n`)
  const watched = spawnPlumbline(t, ['watch', 'claude-code', '--words'], { env: { HOME: home } })
  const until = async (found: () => boolean) => {
    while (!found()) await pause(20)
  }
  await until(() => watched.written.err.includes('watching'))
  // A line that is still being written comes with its end.
  const rest = `${lines.slice(8).join('\n')}\n`
  appendFileSync(file, rest.slice(0, 400))
  appendFileSync(file, rest.slice(400))
  await until(() => watched.written.out.includes('parallax'))
  assert.doesNotMatch(watched.written.out, /add rate limiting to the login endpoint\n/)
  assert.match(watched.written.out, /^12:00 DRIFT {2}claude-code:stray {2}The brand colours/m)
  assert.match(watched.written.out, /^12:00 ok {5}claude-code:stray {2}Run the login tests/m)
})
