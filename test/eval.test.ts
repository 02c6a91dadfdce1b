import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type EvalOptions, evaluate } from '../src/surfaces/cli/eval.ts'
import { verifies } from './verifies.ts'

const ground = 'Add rate limiting to the login endpoint'
const onErrand = 'Add rate limiting to login'
const offErrand = 'Redesign the logo'

const pairs = [
  { ground, goal: onErrand, label: 'same', source: 'ours' },
  { ground, goal: 'Write a test', label: 'same', source: 'ours' },
  { ground, goal: offErrand, label: 'drift', source: 'theirs' },
]
const runs = [
  {
    ground,
    steps: [
      { goal: onErrand, label: 'same' },
      { goal: offErrand, label: 'drift', progress: 'advancing', distance: 4 },
    ],
  },
  { ground, steps: [{ goal: ground, label: 'same' }] },
]

const measures = [
  'precision',
  'recall',
  'false_alarms_per_1000',
  'auc',
  'uncertain_share',
  'noticed',
  'precision_at_10_percent',
]
const runMeasures = [
  'found_within_1',
  'found_within_2',
  'found_within_3',
  'mean_delay_steps',
  'clean_runs_alarmed',
]

test('pairs and runs of one file are measured apart, each measure with its interval', async (t) => {
  verifies('command.eval.pairs', 'command.eval.runs', 'command.eval.measures')
  const report = JSON.parse(
    await printed({ file: write(t, lines([...pairs, ...runs])), json: true }),
  )
  assert.equal(report.detector, 'overlap')
  assert.equal(report.resamples, 500)
  for (const name of measures) {
    assert.deepEqual(Object.keys(report.pairs[name]), ['value', 'low', 'high'], name)
  }
  for (const name of [...measures, ...runMeasures]) {
    assert.deepEqual(Object.keys(report.runs[name]), ['value', 'low', 'high'], name)
    assert.deepEqual(
      Object.keys(report.runs_after_first_step[name]),
      ['value', 'low', 'high'],
      name,
    )
  }
  assert.equal(report.pairs.items, 3)
  assert.equal(report.pairs.precision.value, 1 / 2)
  assert.equal(report.pairs.recall.value, 1)
  assert.equal(report.pairs.false_alarms_per_1000.value, 500)
  assert.equal(report.pairs.auc.value, 0.75)
  assert.deepEqual(
    report.pairs.sources.map(({ source }: { source: string }) => source),
    ['ours', 'theirs'],
  )
  assert.equal(report.runs.items, 3)
  assert.equal(report.runs.switches, 1)
  assert.equal(report.runs.found_within_1.value, 1)
  assert.equal(report.runs.mean_delay_steps.value, 0)
  assert.equal(report.runs.clean_runs_alarmed.value, 0)
  assert.equal(report.runs_after_first_step.items, 1)
})

test('the table names every measure in words, with the interval behind it', async (t) => {
  const table = await printed({ file: write(t, lines([...pairs, ...runs])) })
  assert.match(table, /^pairs judged by overlap: 3 \(1 drift, 2 same\)$/m)
  assert.match(table, /^ {2}precision +0\.50 \[0\.\d\d, 1\.00\]$/m)
  assert.match(table, /^ {2}false alarms per 1,000 clean +500 \[0\.0, 1,000\]$/m)
  assert.match(table, /^ {2}ours +2 +0 +– +0\.00 +– +500$/m)
  assert.match(
    table,
    /^runs judged by overlap: 2 \(1 clean\), switches: 1, steps: 3 \(1 drift, 2 same\)$/m,
  )
  assert.match(table, /^ +every step +after the first$/m)
  assert.match(
    table,
    /^ {2}switches found on the 1st drifted step +1\.00 \[1\.00, 1\.00\] +1\.00 /m,
  )
  assert.match(table, /95 % interval from 500 resamples/)
})

test('a file without sources prints no table of sources', async (t) => {
  assert.doesNotMatch(await printed({ file: write(t, lines(runs)) }), /source/)
})

test('gzip, a byte order mark, other line ends and blank lines change nothing', async (t) => {
  const plain = lines([...pairs, ...runs])
  const expected = await printed({ file: write(t, plain) })
  const others = [
    gzipSync(plain),
    Buffer.concat([gzipSync(plain.slice(0, 300)), gzipSync(plain.slice(300))]),
    `\uFEFF${plain}`,
    plain.replaceAll('\n', '\r\n'),
    plain.replaceAll('\n', '\n\n'),
    plain.trimEnd(),
  ]
  for (const text of others) assert.equal(await printed({ file: write(t, text) }), expected)
})

test('a line longer than a chunk and texts beyond ASCII arrive whole', async (t) => {
  const long = { ground, goal: `${onErrand} ${'žluťoučký kůň '.repeat(20_000)}`, label: 'same' }
  const file = write(t, lines([...pairs, long, ...runs]))
  assert.equal(JSON.parse(await printed({ file, json: true })).pairs.items, 4)
})

test('predictions stand in input order, each with its line and step', async (t) => {
  verifies('command.eval.predictions')
  const file = write(t, `\n${lines([...runs, ...pairs])}`)
  const predictions = join(folder(t), 'out.jsonl')
  await printed({ file, predictions })
  const rows = readFileSync(predictions, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    rows.map(({ line, step, drifting }) => [line, step, drifting]),
    [
      [2, 1, false],
      [2, 2, true],
      [3, 1, false],
      [4, undefined, false],
      [5, undefined, true],
      [6, undefined, true],
    ],
  )
  const { confidence, ...rest } = rows[5]
  assert.deepEqual(rest, { line: 6, drifting: true, uncertain: false, phi: 0.5, score: 1 })
  assert.ok(confidence > 0.1 && confidence < 0.3, 'no shared word is weak evidence')
  assert.deepEqual(Object.keys(rows[0]), [
    'line',
    'step',
    'drifting',
    'uncertain',
    'confidence',
    'phi',
    'score',
  ])
})

test('many predictions are all written', async (t) => {
  const many = Array.from({ length: 5000 }, () => pairs).flat()
  const predictions = join(folder(t), 'out.jsonl')
  await printed({ file: write(t, lines(many)), predictions, resamples: 2 })
  const rows = readFileSync(predictions, 'utf8').trimEnd().split('\n')
  assert.equal(rows.length, 15_000)
  assert.equal(JSON.parse(rows.at(-1) ?? '').line, 15_000)
})

test('a bad line is named with its field, and leaves the predictions of before alone', async (t) => {
  const predictions = join(folder(t), 'out.jsonl')
  writeFileSync(predictions, 'of before')
  const cases: [text: string, says: string][] = [
    [
      `${lines(pairs)}{"ground":"a","goal":"b","label":"maybe"}\n`,
      ' line 4: label must be "same" or "drift"',
    ],
    [
      `${lines(pairs)}\n{"ground":"a"}\n`,
      ' line 5: needs a goal (a pair), steps or events (a run)',
    ],
    [
      `${lines(runs)}{"ground":"a","steps":[{"goal":"b"}]}`,
      ' line 3: label of step 1 must be "same" or "drift"',
    ],
    ['not JSON\n', ' line 1: is not JSON'],
    ['\n \n', ' holds no pair and no run'],
    ['', ' holds no pair and no run'],
  ]
  for (const [text, says] of cases) {
    const file = write(t, text)
    await assert.rejects(printed({ file, predictions }), { message: `${file}${says}` })
  }
  assert.equal(readFileSync(predictions, 'utf8'), 'of before')
})

test('a file that cannot be read is named', async (t) => {
  const missing = join(folder(t), 'none.jsonl')
  await assert.rejects(printed({ file: missing }), { message: `${missing} does not exist` })
  const directory = folder(t)
  await assert.rejects(printed({ file: directory }), { message: `${directory} is a folder` })
  const cut = write(t, gzipSync(lines(pairs)).subarray(0, 60))
  await assert.rejects(printed({ file: cut }), {
    message: `${cut} cannot be read: unexpected end of file`,
  })
})

test('predictions never overwrite the data', async (t) => {
  const file = write(t, lines(pairs))
  await assert.rejects(printed({ file, predictions: file }), /would overwrite/)
  assert.equal(readFileSync(file, 'utf8'), lines(pairs))
})

test('quick work says nothing about its progress', async (t) => {
  const file = write(t, lines(pairs))
  const said: string[] = []
  const io = { out: () => {}, progress: (text: string) => said.push(text), isTty: true }
  await evaluate({ file, detector: 'overlap', json: true }, io)
  assert.deepEqual(said, [])
})

test('longer work says how far it is, on one line of a terminal', async (t) => {
  const file = write(t, lines(pairs))
  t.mock.timers.enable({ apis: ['setInterval'] })
  const saidWhen = async (isTty: boolean) => {
    const said: string[] = []
    const io = { out: () => {}, progress: (text: string) => said.push(text), isTty }
    const done = evaluate({ file, detector: 'overlap', json: true }, io)
    for (let second = 0; second < 3; second++) t.mock.timers.tick(1000)
    await done
    return said
  }
  const counted = '\r0 items judged\x1b[K'
  assert.deepEqual(await saidWhen(true), [
    counted,
    counted,
    counted,
    '\r3 items judged, drawing 500 resamples\x1b[K',
    '\r\x1b[K',
  ])
  assert.deepEqual(await saidWhen(false), [
    '0 items judged\n',
    '3 items judged, drawing 500 resamples\n',
  ])
})

const withMessages = {
  ground: 'refund order 1234 to the customer',
  plan: ['look up the order', 'send the money back'],
  events: [
    { type: 'step', goal: 'look up order 1234', label: 'on' },
    { type: 'user', text: 'thanks', effect: 'none' },
    { type: 'user', text: 'please also write a note to the courier', effect: 'adds' },
    { type: 'step', goal: 'write a note to the courier', label: 'on' },
    { type: 'step', goal: 'refund order 9876 to the customer', label: 'off', kind: 'entity' },
    { type: 'step', goal: 'ask whether that one was meant', label: 'unclear' },
    { type: 'user', text: 'go on' },
  ],
}

test('runs with messages of the user are measured by kind and by effect', async (t) => {
  verifies('command.eval.events')
  const predictions = join(folder(t), 'out.jsonl')
  const clean = { ...withMessages, events: withMessages.events.slice(0, 1) }
  const file = write(t, lines([withMessages, clean]))
  const options = { file, detector: 'meaning' as const, resamples: 10 }
  const report = JSON.parse(await printed({ ...options, predictions, json: true }))
  assert.deepEqual(
    [report.runs.runs, report.runs.items, report.runs.drift, report.runs.clean_runs],
    [2, 4, 1, 1],
  )
  const one = { value: 1, low: 1, high: 1 }
  assert.deepEqual(report.kinds, [
    {
      kind: 'entity',
      runs: 1,
      steps: 1,
      recall: 1,
      noticed: 1,
      found_within_1: one,
      found_within_2: one,
      found_within_3: one,
    },
  ])
  const effect = (stated: string) =>
    report.user_effects.find((each: { stated: string }) => each.stated === stated)
  assert.deepEqual(effect('adds'), {
    stated: 'adds',
    messages: 1,
    read: { none: 0, refines: 0, adds: 1, replaces: 0 },
  })
  assert.equal(effect('replaces').messages, 0)
  const rows = readFileSync(predictions, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    rows.map(({ line, event, drifting, user_effect }) => [line, event, drifting ?? user_effect]),
    [
      [1, 1, false],
      [1, 2, 'adds'],
      [1, 3, 'adds'],
      [1, 4, false],
      [1, 5, true],
      [1, 6, rows[5].drifting],
      [1, 7, 'none'],
      [2, 1, false],
    ],
  )
  const table = await printed(options)
  assert.match(table, /^ {2}entity +1 +1\.00 +1\.00 +1 +1\.00 \[/m)
  assert.match(table, /^ {2}adds +1 +0 +0 +1 +0$/m)
  const unnamed = await printed({ ...options, file: write(t, lines([clean])) })
  assert.doesNotMatch(unnamed, /by kind|by what was read/)
})

test('a fault in an event is named with its field', async (t) => {
  verifies('command.eval.events')
  const step = { type: 'step', goal: 'b', label: 'on' }
  const cases: [events: unknown, says: string][] = [
    ['step', 'events must be a list'],
    [[], 'events must have at least one step'],
    [[{ type: 'user', text: 'go on' }], 'events must have at least one step'],
    [[step, { type: 'agent' }], 'type of event 2 must be "step" or "user"'],
    [[{ ...step, label: 'same' }], 'label of event 1 must be "on", "off" or "unclear"'],
    [[{ ...step, label: 'toString' }], 'label of event 1 must be "on", "off" or "unclear"'],
    [[{ ...step, goal: 1 }], 'goal of event 1 must be a text'],
    [[{ ...step, kind: 1 }], 'kind of event 1 must be a text'],
    [[{ type: 'user', text: 1 }], 'text of event 1 must be a text'],
    [
      [{ type: 'user', text: 'a', effect: 'moves' }],
      'effect of event 1 must be one of none, refines, adds, replaces',
    ],
  ]
  for (const [events, says] of cases) {
    const file = write(t, lines([{ ground: 'a', events }]))
    await assert.rejects(printed({ file }), { message: `${file} line 1: ${says}` })
  }
})

test('a limit that a budget has printed keeps to that budget', async (t) => {
  verifies('settings.limit')
  const errand = 'Fix the failing login test in the auth service'
  const goals = ['Fix the login test', 'Run the auth tests', 'Check the clock of the auth host']
  const others = ['Book a flight to Paris', 'Paint the shed', 'Write a poem about autumn leaves']
  const items = [
    ...goals.map((goal) => ({ ground: errand, goal, label: 'same' })),
    ...others.map((goal) => ({ ground: errand, goal, label: 'drift' })),
  ]
  const options = { file: write(t, lines(items)), detector: 'meaning' as const, json: true }
  const measured = async (more: object) =>
    JSON.parse(await printed({ ...options, resamples: 0, ...more }))
  const { threshold, recall } = (await measured({ budget: 0 })).budget.pairs
  assert.ok(threshold > 0, String(threshold))
  const { pairs } = await measured({ hints: { limit: threshold } })
  assert.equal(pairs.false_alarms_per_1000.value, 0)
  assert.equal(pairs.recall.value, recall.value)
})

/** What `evaluate` prints for a file. */
async function printed(options: Partial<EvalOptions> & { file: string }): Promise<string> {
  let text = ''
  const out = (more: string) => {
    text += more
  }
  await evaluate(
    { detector: 'overlap', json: false, ...options },
    { out, progress() {}, isTty: false },
  )
  return text
}

function lines(items: readonly object[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}

function write(t: TestContext, content: string | Uint8Array): string {
  const file = join(folder(t), 'labelled.jsonl')
  writeFileSync(file, content)
  return file
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'plumbline-eval-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

test('a budget picks the threshold that keeps to it, and says what recall that leaves', async (t) => {
  verifies('command.eval.budget')
  const goals = [
    'login',
    'login endpoint',
    'rate limiting',
    'rate limiting to login',
    'the endpoint',
  ]
  const clean = goals.map((goal) => ({ ground, goal, label: 'same' }))
  const drift = ['login', 'paint a shed', 'water plants'].map((goal) => ({
    ground,
    goal,
    label: 'drift',
  }))
  const run = { ground, steps: [...clean, ...drift] }
  const file = write(t, lines([...clean, ...drift, run]))
  const at = async (budget: number) =>
    JSON.parse(await printed({ file, json: true, resamples: 20, budget })).budget
  for (const [budget, falseAlarms, recall] of [
    [0, 0, 2 / 3],
    [199, 0, 2 / 3],
    [400, 400, 1],
    [1000, 1000, 1],
  ] as const) {
    const { per_1000, pairs, runs } = await at(budget)
    assert.equal(per_1000, budget)
    for (const measured of [pairs, runs]) {
      assert.equal(measured.false_alarms_per_1000.value, falseAlarms, `${budget}`)
      assert.equal(measured.recall.value, recall, `${budget}`)
      assert.ok(measured.recall.low <= recall && recall <= measured.recall.high)
    }
  }
  const text = await printed({ file, budget: 0, resamples: 20 })
  assert.match(text, /runs with at most 0 alarms per 1,000 clean steps, a score above \d\.\d{4}/)
  assert.match(text, /at most … alarms per 1,000 clean +score above +alarms +recall/)
  assert.match(text, /expected calibration error \d\.\d{3}/)
})

test('a run may declare its plan, of the data or of its own steps', async (t) => {
  verifies('command.eval.runs')
  const goals = ['read the middleware', 'install redis', 'open the wiki']
  const steps = goals.map((goal) => ({ goal, label: 'same' }))
  const away = { goal: 'open the wiki', label: 'drift' }
  const detector = 'meaning'
  const noticed = async (run: object, declarePlan?: 'all' | 'half') => {
    const file = write(t, lines([run]))
    const options = declarePlan === undefined ? {} : { declarePlan }
    const report = JSON.parse(
      await printed({ file, detector, json: true, resamples: 0, ...options }),
    )
    return report.runs.uncertain_share.value
  }
  const run = { ground, steps: [...steps, away] }
  assert.equal(await noticed(run, 'all'), 0)
  assert.equal(await noticed({ ...run, plan: goals }), 0)
  assert.ok(
    (await noticed({ ...run, steps: [...steps, { goal: 'mia_li_3668', label: 'drift' }] })) > 0,
  )
  assert.ok((await noticed(run, 'half')) <= (await noticed(run)))
  const refused = printed({ file: write(t, lines([{ ...run, plan: 'all' }])) })
  await assert.rejects(refused, /line 1: plan must be a list of texts/)
})

test('the command names the detector and answers JSON on request', async (t) => {
  verifies('command.eval.options')
  const file = join(mkdtempSync(join(tmpdir(), 'plumbline-eval-')), 'pairs.jsonl')
  t.after(() => rmSync(dirname(file), { recursive: true }))
  const pairs = [
    { ground: 'fix the login', goal: 'fix the login page', label: 'same' },
    { ground: 'fix the login', goal: 'paint a shed', label: 'drift' },
  ]
  writeFileSync(file, pairs.map((pair) => `${JSON.stringify(pair)}\n`).join(''))
  const command = ['bin/plumbline.js', 'eval', file]
  const run = promisify(execFile)
  const asked = await run(process.execPath, [...command, '--detector', 'overlap', '--json'])
  const report = JSON.parse(asked.stdout)
  assert.equal(report.detector, 'overlap')
  assert.equal(report.pairs.recall.value, 1)
  const refused = await run(process.execPath, [...command, '--detector', 'guess']).catch(
    (error) => error,
  )
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--detector is "guess"; send .*overlap/)
})
