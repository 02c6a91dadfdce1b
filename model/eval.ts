// Measures the checked-in detector on errands as agents work on them:
//   npm run model:eval -- FOLDER [--write | --development | --words | --runs | --messages]
// It measures the errands of the files that no training saw, and all runs with messages of users. --write renews
// the tables of model/README.md and docs/detector.md and the figures that the server publishes (then npm run format),
// --development measures the other errands, --words judges without the encoder, --runs measures only the authored runs,
// --messages only the messages of users in them.

import { readFileSync, writeFileSync } from 'node:fs'
import type { DetectorName } from '../src/core/detector/contract/detector.ts'
import { packagedModel } from '../src/core/detector/meaning/model.ts'
import { userEffects } from '../src/core/detector/user/effects.ts'
import { type Estimate, measurePairs, measureRuns } from '../src/core/evaluation/evaluation.ts'
import { measureEffects, measureKinds } from '../src/core/evaluation/kinds.ts'
import type { Judged, JudgedRun, Label } from '../src/core/evaluation/labelled.ts'
import {
  type Judging,
  labelledSteps,
  predict,
  predictEvents,
} from '../src/core/evaluation/predict.ts'
import { thresholdFor } from '../src/core/evaluation/ranking.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { createReads } from '../src/encoder/reads.ts'
import { type Errand, isKeptBack, offKinds, readAuthoredRuns, readErrands } from './authored.ts'
import { publishedIn } from './published.ts'

const [folder, option] = process.argv.slice(2)
const options = ['--write', '--development', '--words', '--runs', '--messages']
if (folder === undefined || (option !== undefined && !options.includes(option))) {
  console.error(
    `Name the folder of the errands: npm run model:eval -- FOLDER [${options.join(' | ')}]`,
  )
  process.exit(2)
}
/** The files that no training and no choice of a limit may see. */
const heldOut = ['code2', 'desk2']
const measured: Judge = {
  detector: 'meaning',
  hints: option === '--words' ? {} : { reads: createReads(shippedWeights) },
}
const resamples = 200
const blockSteps = 3
const printed: string[] = []
const errands = readErrands(folder).filter(
  ({ file }) => heldOut.includes(file) !== (option === '--development'),
)
/** The fewest errands of a language that are measured. */
const fewestErrands = 4
/** Errands of the development files in other languages that the training of the encoder kept back. */
const errandsInLanguages = readErrands(folder).filter(
  ({ file, id, lang }) => lang !== 'en' && !heldOut.includes(file) && isKeptBack(id),
)
const authoredRuns = readAuthoredRuns(folder)
const judgedEvents = authoredRuns.map((run) => predictEvents('meaning', run, measured.hints))
/** For each errand, another one of its file and of another domain: the same voice, a foreign errand. */
const foreign = pairedErrands()

print(
  `model ${packagedModel().version} ${option === '--words' ? 'without the encoder' : 'with the encoder'}; ${errands.length} errands of ${[...new Set(errands.map(({ file }) => file))].join(', ')}, ${judgedEvents.length} runs with messages of users`,
)
if (option !== '--messages' && option !== '--runs') {
  printPairs()
  printBothSides()
  printStyle()
  printRuns()
  printNoticed()
  printLanguages()
}
if (option !== '--messages') {
  printAuthoredRuns()
  printPlans()
}
printUserEffects()
if (option === '--write') renew()

/** What judges: a detector, and what it has beside the texts. */
interface Judge {
  detector: DetectorName
  hints: Judging
}

/** A goal that is judged against one request. */
interface Pair {
  ground: string
  goal: string
}

function printPairs(): void {
  print('\ngoals under their errand         pairs  AUC                   recall at 1 %  at 5 %')
  const honest = honestPairs().map((pair) => judged(pair, 'same'))
  const kinds: [string, Pair[]][] = [
    ['foreign', foreignPairs()],
    ...offKinds.map((kind): [string, Pair[]] => [kind, offPairs(kind)]),
  ]
  for (const [kind, pairs] of kinds) {
    const off = pairs.map((pair) => judged(pair, 'drift'))
    const { auc } = measurePairs([...honest, ...off], resamples)
    const at = (perThousand: number) => recallAbove(off, thresholdFor(honest, perThousand))
    row(kind, pairs.length, interval(auc), share(at(10)), share(at(50)))
  }
}

/** Each goal stands on both sides, so that its style tells nothing. */
function printBothSides(): void {
  print(
    '\ngoals on both sides              pairs  AUC                   the right request is nearer',
  )
  const sides = (name: string, of: Sides[]) => {
    const right = of.map((pair) => judged(pair.right, 'same'))
    const wrong = of.map((pair) => judged(pair.wrong, 'drift'))
    const { auc } = measurePairs([...right, ...wrong], resamples)
    const nearer = right.filter((each, place) => scoreOf(each) < scoreOf(wrong[place]))
    row(name, of.length, interval(auc), share(nearer.length / of.length), '')
  }
  sides('foreign', foreignSides())
  sides('the kinds together', askedSides(offKinds))
  for (const kind of offKinds) sides(kind, askedSides([kind]))
}

/** A goal beside the request that it serves, and beside another. */
interface Sides {
  right: Pair
  wrong: Pair
}

function foreignSides(): Sides[] {
  const grounds = foreignGrounds()
  return honestPairs().map((right, place) => ({
    right,
    wrong: { ground: grounds[place] ?? '', goal: right.goal },
  }))
}

function askedSides(kinds: readonly string[]): Sides[] {
  return errands.flatMap(({ ground, off }) =>
    off.flatMap(({ kind, goal, asked }) =>
      asked === null || !kinds.includes(kind)
        ? []
        : { right: { ground: asked, goal }, wrong: { ground, goal } },
    ),
  )
}

/**
 * Off goals against honest steps where both are foreign, and where both serve the request. A goal that says more of its
 * errand is surer on either side; a style that tells is one that errs to the same side in both.
 */
function printStyle(): void {
  print('\nstyle alone: off goals against honest steps')
  const foreignGoals = errands.flatMap((errand) => {
    const ground = foreign.get(errand)?.ground ?? ''
    return [
      ...errand.steps.map((goal) => judged({ ground, goal }, 'same')),
      ...errand.off.map(({ goal }) => judged({ ground, goal }, 'drift')),
    ]
  })
  const servingGoals = [
    ...honestPairs().map((pair) => judged(pair, 'same')),
    ...askedSides(offKinds).map(({ right }) => judged(right, 'drift')),
  ]
  const areas = [foreignGoals, servingGoals].map((pairs) => measurePairs(pairs, resamples).auc)
  const [neither, both] = areas as [Estimate, Estimate]
  print(`  under a foreign errand, where neither belongs: AUC ${interval(neither)}`)
  print(`  under a request that each serves: AUC ${interval(both)}`)
  print(
    `  the mean, .50 if style tells nothing: ${shown(((neither.value ?? 0) + (both.value ?? 0)) / 2)}`,
  )
}

/** A run made of an errand: honest steps, then steps that leave it. */
interface MadeRun {
  errand: Errand
  honest: string[]
  off: string[]
}

/** Clean runs, and for each kind those that leave their errand so. The same each time. */
function madeRuns(): { clean: MadeRun[]; sets: [string, MadeRun[]][] } {
  const random = createRandom(seed)
  const cut = (steps: readonly string[]) => steps.slice(0, 2 + Math.floor(random() * 5))
  const clean: MadeRun[] = errands.map((errand) => ({ errand, honest: errand.steps, off: [] }))
  const sets: [string, MadeRun[]][] = [
    [
      'foreign',
      errands.map((errand) => {
        const other = foreign.get(errand)?.steps ?? []
        const from = Math.floor(random() * (other.length - blockSteps))
        return { errand, honest: cut(errand.steps), off: other.slice(from, from + blockSteps) }
      }),
    ],
    ...offKinds.map((kind): [string, MadeRun[]] => [
      kind,
      errands.flatMap((errand) => {
        const off = errand.off.filter((each) => each.kind === kind).map(({ goal }) => goal)
        return off.length === 0 ? [] : [{ errand, honest: cut(errand.steps), off }]
      }),
    ]),
  ]
  return { clean, sets }
}

function printRuns(): void {
  const { clean, sets } = madeRuns()
  const variants: [string, (run: MadeRun) => boolean, Options][] = [
    ['as written', () => true, {}],
    ['not in English', ({ errand }) => errand.lang !== 'en', {}],
    ['with a plan, without it', ({ errand }) => errand.plan !== null, {}],
    ['with a plan, declared', ({ errand }) => errand.plan !== null, { plans: true }],
    ['greetings and narration', () => true, { chatty: true }],
  ]
  for (const [name, takes, options] of variants) {
    if (!clean.some(takes)) continue
    print(`\nruns, ${name}`)
    const calm = clean.filter(takes).map((run) => judgedRun(run, options))
    const all = measureRuns(calm, resamples)
    print(`  clean runs ${calm.length}, alarmed ${interval(all.clean_runs_alarmed)}`)
    print(`  false alarms per 1,000 clean steps ${interval(all.false_alarms_per_1000, 1)}`)
    print(`  clean steps uncertain ${interval(all.uncertain_share)}`)
    print('                                  runs  found within 1        2                     3')
    for (const [kind, runs] of sets) {
      const drifting = runs.filter(takes).map((run) => judgedRun(run, options))
      const measured = measureRuns(drifting, resamples)
      row(
        kind,
        drifting.length,
        interval(measured.found_within_1),
        interval(measured.found_within_2),
        interval(measured.found_within_3),
      )
    }
    const together = measureRuns(
      [
        ...calm,
        ...sets.flatMap(([, runs]) => runs.filter(takes).map((run) => judgedRun(run, options))),
      ],
      0,
    )
    print(`  precision at 10 % drift ${shown(together.precision_at_10_percent.value)}`)
  }
}

interface Options {
  plans?: boolean
  chatty?: boolean
}

function judgedRun(
  { errand, honest, off }: MadeRun,
  { plans, chatty }: Options,
  { detector, hints } = measured,
): JudgedRun {
  const step = (label: Label) => (goal: string) => ({
    goal: chatty === true ? `Now let me ${goal.charAt(0).toLowerCase()}${goal.slice(1)}` : goal,
    label,
    progress: 'advancing',
    distance: null,
  })
  const ground =
    chatty === true
      ? `Hi! Could you please help me with something? ${errand.ground} Thanks a lot, let me know when you're done!`
      : errand.ground
  const steps = predict(
    detector,
    {
      kind: 'run',
      ground,
      steps: [...honest.map(step('same')), ...off.map(step('drift'))],
      source: errand.file,
      ...(plans === true && errand.plan !== null ? { plan: errand.plan } : {}),
    },
    hints,
  )
  return { source: errand.file, steps }
}

/** What is said of the first step that leaves its errand, after honest ones. */
function printNoticed(): void {
  print(
    '\nthe first step that leaves         runs  drift                  noticed: drift or uncertain',
  )
  const { clean, sets } = madeRuns()
  const told = (name: string, steps: readonly Judged[]) =>
    row(
      name,
      steps.length,
      share(steps.filter(({ drifting }) => drifting).length / steps.length),
      share(steps.filter((step) => step.drifting || step.uncertain).length / steps.length),
    )
  for (const [kind, runs] of sets) {
    told(
      kind,
      runs.flatMap((run) => judgedRun(run, {}).steps[run.honest.length] ?? []),
    )
  }
  told(
    'honest steps of clean runs',
    clean.flatMap((run) => judgedRun(run, {}).steps),
  )
}

/** What is said of clean and of foreign steps by language, on development errands that no training saw. */
function printLanguages(): void {
  print('\nother languages, errands kept back from the training of the encoder')
  print(
    '                               errands  honest: drift uncertain  foreign: drift uncertain  AUC',
  )
  const byLanguage = Map.groupBy(errandsInLanguages, ({ lang }) => lang)
  const known = [...byLanguage].sort(([, one], [, other]) => other.length - one.length)
  for (const [lang, own] of known) {
    if (own.length < fewestErrands) continue
    const runs = own.map((errand, place) => {
      const other = own[(place + 1) % own.length] ?? errand
      const honest = judgedRun({ errand, honest: errand.steps, off: [] }, {})
      const away = judgedRun({ errand, honest: errand.steps.slice(0, 3), off: other.steps }, {})
      return { honest: honest.steps, foreign: away.steps.slice(3) }
    })
    const told = (steps: readonly Judged[]) => [
      share(steps.filter(({ drifting }) => drifting).length / steps.length),
      share(steps.filter(({ uncertain }) => uncertain).length / steps.length),
    ]
    const [honest, away] = [runs.flatMap((run) => run.honest), runs.flatMap((run) => run.foreign)]
    const pairs = [...honest, ...away].map((step) => ({ source: null, steps: [step] }))
    const cells = [...told(honest), ...told(away)].map((cell) => cell.padEnd(11))
    row(lang, own.length, cells.join(' '), interval(measurePairs(pairs, resamples).auc))
  }
}

function printAuthoredRuns(): void {
  const runs = judgedEvents.map((events) => ({ source: null, steps: labelledSteps(events) }))
  const all = measureRuns(runs, resamples)
  print('\nauthored runs, with their plans and messages of users')
  print(`  clean runs ${all.clean_runs}, alarmed ${interval(all.clean_runs_alarmed)}`)
  print(`  false alarms per 1,000 clean steps ${interval(all.false_alarms_per_1000, 1)}`)
  print(`  steps uncertain ${interval(all.uncertain_share)}`)
  print(`  precision at 10 % drift ${interval(all.precision_at_10_percent)}`)
  print('                                  runs  found within 1        2                     3')
  for (const found of measureKinds(judgedEvents, resamples) ?? []) {
    row(
      found.kind,
      found.runs,
      interval(found.found_within_1),
      interval(found.found_within_2),
      interval(found.found_within_3),
    )
  }
  const { found_within_1, found_within_2, found_within_3 } = all
  row(
    'any kind',
    all.runs - all.clean_runs,
    interval(found_within_1),
    interval(found_within_2),
    interval(found_within_3),
  )
}

/** The authored runs with a plan, judged with it and without it. */
function printPlans(): void {
  const planned = authoredRuns.filter(({ plan }) => plan !== undefined)
  print('\nauthored runs with a plan')
  print(
    '                                  runs  false alarms per 1,000  found within 3        uncertain',
  )
  for (const [name, runs] of [
    ['with it', planned],
    ['without it', planned.map(({ plan: _, ...run }) => run)],
  ] as const) {
    const judged = runs.map((run) => ({
      source: null,
      steps: labelledSteps(predictEvents('meaning', run, measured.hints)),
    }))
    const found = measureRuns(judged, resamples)
    row(
      name,
      judged.length,
      interval(found.false_alarms_per_1000, 1),
      interval(found.found_within_3),
      interval(found.uncertain_share),
    )
  }
}

/** What the service reads out of the messages of users, beside what they meant. */
function printUserEffects(): void {
  print('\nmessages of users: meant, by what was read')
  print(`${''.padEnd(30)}messages  ${userEffects.map((effect) => effect.padEnd(22)).join('')}`)
  for (const { stated, messages, read } of measureEffects(judgedEvents) ?? []) {
    row(stated, messages, ...userEffects.map((effect) => share(read[effect] / messages)))
  }
  const messages = authoredRuns.flatMap(({ events }, run) =>
    events.flatMap((event, at) => {
      const judged = judgedEvents[run]?.[at]
      return event.type === 'user' && judged?.type === 'user'
        ? [{ ...event, read: judged.read }]
        : []
    }),
  )
  const isShort = ({ text }: { text: string }) =>
    !/[?？]/.test(text) && text.trim().split(/\s+/).length <= 6
  const short = messages.filter((message) => message.effect === 'none' && isShort(message))
  const moved = short.filter(({ read }) => read !== 'none').length
  print(
    `  none in up to six words, no question: ${short.length}, of which ${moved} moved the errand`,
  )
  const additions = messages.filter(({ effect }) => effect === 'adds')
  const kept = additions.filter(({ read }) => read === 'adds' || read === 'refines').length
  print(`  additions whose words and the request both stand: ${kept} of ${additions.length}`)
}

function honestPairs(): Pair[] {
  return errands.flatMap(({ ground, steps }) => steps.map((goal) => ({ ground, goal })))
}

function foreignPairs(): Pair[] {
  return errands.flatMap((errand) =>
    (foreign.get(errand)?.steps ?? []).map((goal) => ({ ground: errand.ground, goal })),
  )
}

/** The foreign ground of each honest pair. */
function foreignGrounds(): string[] {
  return errands.flatMap((errand) => errand.steps.map(() => foreign.get(errand)?.ground ?? ''))
}

function offPairs(kind: string): Pair[] {
  return errands.flatMap(({ ground, off }) =>
    off.filter((each) => each.kind === kind).map(({ goal }) => ({ ground, goal })),
  )
}

function pairedErrands(): Map<Errand, Errand> {
  const paired = new Map<Errand, Errand>()
  for (const same of Map.groupBy(errands, ({ file, lang }) => `${file} ${lang}`).values()) {
    for (const [place, errand] of same.entries()) {
      const others = [...same.slice(place + 7), ...same.slice(0, place + 7)]
      const other = others.find(({ domain }) => domain !== errand.domain)
      if (other !== undefined) paired.set(errand, other)
    }
  }
  return paired
}

function judged({ ground, goal }: Pair, label: Label, { detector, hints } = measured): JudgedRun {
  const step = { goal, label, progress: 'advancing', distance: null }
  return {
    source: null,
    steps: predict(detector, { kind: 'pair', ground, steps: [step], source: null }, hints),
  }
}

/** The figures by which detectors are compared. */
function headlineOf(judge: Judge): [name: string, value: string][] {
  const areaOf = (pairs: Sides[]) => {
    const sides = pairs.flatMap(({ right, wrong }) => [
      judged(right, 'same', judge),
      judged(wrong, 'drift', judge),
    ])
    return shown(measurePairs(sides, 0).auc.value)
  }
  const { clean, sets } = madeRuns()
  const calm = clean.map((run) => judgedRun(run, {}, judge))
  const away = sets.map(([, runs]) => runs.map((run) => judgedRun(run, {}, judge)))
  const all = measureRuns(calm, 0)
  const foreign = measureRuns(away[0] ?? [], 0)
  const together = measureRuns([...calm, ...away.flat()], 0)
  const events = authoredRuns.map((run) => predictEvents(judge.detector, run, judge.hints))
  const authored = measureRuns(
    events.map((each) => ({ source: null, steps: labelledSteps(each) })),
    0,
  )
  const ofForeign = measureKinds(events, 0)?.find(({ kind }) => kind === 'foreign')
  return [
    ['goals on both sides: area, foreign', areaOf(foreignSides())],
    ['goals on both sides: area, the other kinds', areaOf(askedSides(offKinds))],
    ['made runs: false alarms per 1,000 clean steps', shown(all.false_alarms_per_1000.value, 0)],
    ['made runs: clean runs alarmed', shown(all.clean_runs_alarmed.value)],
    ['made runs: clean steps uncertain', shown(all.uncertain_share.value)],
    ['made runs: foreign work found within 1 step', shown(foreign.found_within_1.value)],
    ['made runs: foreign work found within 3 steps', shown(foreign.found_within_3.value)],
    ['made runs: precision at 10 % drift', shown(together.precision_at_10_percent.value)],
    [
      'authored runs: false alarms per 1,000 clean steps',
      shown(authored.false_alarms_per_1000.value, 0),
    ],
    ['authored runs: clean runs alarmed', shown(authored.clean_runs_alarmed.value)],
    [
      'authored runs: foreign work found within 3 steps',
      shown(ofForeign?.found_within_3.value ?? null),
    ],
    ['authored runs: any drift found within 3 steps', shown(authored.found_within_3.value)],
    ['authored runs: precision at 10 % drift', shown(authored.precision_at_10_percent.value)],
  ]
}

function scoreOf(run: JudgedRun | undefined): number {
  return (run?.steps[0] as Judged | undefined)?.score ?? 0
}

function recallAbove(off: readonly JudgedRun[], threshold: number): number {
  return off.filter((each) => scoreOf(each) > threshold).length / off.length
}

function row(name: string, count: number, ...cells: string[]): void {
  const columns = cells.map((cell) => cell.padEnd(22)).join('')
  print(`${name.padEnd(30)}${String(count).padStart(8)}  ${columns}`)
}

function interval({ value, low, high }: Estimate, digits = 2): string {
  if (value === null) return '–'
  return `${shown(value, digits)} [${shown(low, digits)}, ${shown(high, digits)}]`
}

function share(value: number): string {
  return shown(value, 3)
}

function shown(value: number | null, digits = 2): string {
  return value === null ? '–' : value.toFixed(digits)
}

function print(line: string): void {
  printed.push(...line.split('\n').map((each) => each.trimEnd()))
  console.log(line.trimEnd())
}

function renew(): void {
  writeRows()
  replaceIn('model/README.md', ['```text', ...printed, '```'].join('\n'))
  const judges: [name: string, judge: Judge][] = [
    ['published rule', { detector: 'overlap', hints: {} }],
    ['words alone', { detector: 'meaning', hints: {} }],
    ['meaning', measured],
  ]
  const columns = judges.map(([, judge]) => headlineOf(judge))
  const head = `| on errands that no training saw | ${judges.map(([name]) => name).join(' | ')} |`
  const rows = (columns[0] ?? []).map(
    ([name], place) => `| ${name} | ${columns.map((column) => column[place]?.[1]).join(' | ')} |`,
  )
  replaceIn('docs/detector.md', [head, '| --- | --: | --: | --: |', ...rows].join('\n'))
}

/** Writes what the server publishes of the table, which `npm run format` then lays out. */
function writeRows(): void {
  const { model, rows } = publishedIn(printed.join('\n'))
  const lines = [
    '// Written by `npm run model:eval -- FOLDER --write`.',
    "import type { JudgedSet } from './judged-set.ts'",
    '',
    `export const publishedModel = ${JSON.stringify(model)}`,
    '',
    `export const publishedRows: JudgedSet[] = ${JSON.stringify(rows)}`,
    '',
  ]
  writeFileSync('src/core/evaluation/published-rows.ts', lines.join('\n'))
}

/** Replaces what stands between the marks of this table. */
function replaceIn(file: string, table: string): void {
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split('<!-- authored begins -->')
  const after = rest?.split('<!-- authored ends -->')[1]
  if (after === undefined) throw new Error(`${file} has no marks of this table`)
  writeFileSync(
    file,
    `${before}<!-- authored begins -->\n\n${table}\n\n<!-- authored ends -->${after}`,
  )
}
