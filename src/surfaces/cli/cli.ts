import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { progressValues } from '../../core/detector/contract/constants.ts'
import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { defaultDetector, detectorNames } from '../../core/detector/contract/detector.ts'
import { detect, type Verdict } from '../../core/detector/detect.ts'
import { newMemory } from '../../core/detector/memory.ts'
import { isLimit, type Step } from '../../core/detector/step.ts'
import { type DeclaredPlan, declaredPlans } from '../../core/evaluation/labelled.ts'
import type { Judging } from '../../core/evaluation/predict.ts'
import { type CheckFault, readCheck, readCheckStep } from '../../core/runs/check.ts'
import { parseJson } from '../../core/text.ts'
import { accountsCommand } from './accounts.ts'
import { adaptCommand, readAdaptation } from './adapt.ts'
import { backtestCommand } from './backtest.ts'
import { readBudget } from './budget-option.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { demoCommand } from './demo.ts'
import { evaluate } from './eval.ts'
import { initCommand } from './init.ts'
import { keysCommand } from './keys.ts'
import { mcpCommand } from './mcp.ts'
import { relayCommand } from './relay.ts'
import { signInCommand } from './signin.ts'
import { backupCommand, doctorCommand, restoreCommand } from './store.ts'
import { uninstallCommand } from './uninstall.ts'
import { isUsageFault, sentenceOf, settingsFault, usageFault } from './usage-fault.ts'
import { verdictText } from './verdict-text.ts'
import { watchCommand } from './watch.ts'

/** Runs one command line (without the name of the program) and returns its exit code. */
export async function runCommand(argv: readonly string[], world: CliWorld): Promise<number> {
  const [first = 'help', ...others] = argv
  // "help check" is "check --help".
  const [name = 'help', ...rest] = first === 'help' && others.length > 0 ? [...others, '-h'] : argv
  if (['version', '--version', '-v'].includes(name)) {
    world.out(`${world.version}\n`)
    return exitCodes.ok
  }
  const command = commands.find((known) => known.name === name)
  if (command === undefined || rest.includes('--help') || rest.includes('-h')) {
    const known = command !== undefined || ['help', '--help', '-h'].includes(name)
    const text = command === undefined ? helpText() : commandHelp(command, world)
    if (known) world.out(text)
    else world.err(`plumbline: there is no command "${name}".\n\n${text}`)
    return known ? exitCodes.ok : exitCodes.usage
  }
  try {
    return await command.run(rest, world)
  } catch (error) {
    if (!isUsageFault(error)) throw error
    world.err(`plumbline ${name}: ${sentenceOf(error)}\n`)
    return exitCodes.usage
  }
}

const commands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'serve the API (what npm start does)',
    usage: 'plumbline serve',
    details: ({ settingNames }) =>
      `Settings come from the environment and a .env file; plumbline doctor checks them.\n\n${inLines(settingNames)}`,
    async run(args, world) {
      parse(args, {})
      await world.serve()
      return exitCodes.ok
    },
  },
  {
    name: 'check',
    summary: 'print a verdict, or one for every step of a file; needs no server and no key',
    usage:
      'plumbline check --ground TEXT --goal TEXT [--distance N] [--progress P] [--json]\n  plumbline check --steps FILE [--json]',
    details: `  --ground TEXT     the errand
  --goal TEXT       the agent's current goal
  --distance N      how far the agent is from done, 0 to 10 (5)
  --progress P      advancing, stuck or circling (advancing)
  --steps FILE      JSON lines of { "goal", "progress"?, "distance"?, "user_message"? }; the first goal is
                    the ground; any length; - reads standard input
  --detector NAME   ${detectorNames.join(' or ')}
  --adaptation FILE a table that plumbline adapt wrote
  --json            print the verdicts as JSON, one a line

The server's settings count: PLUMBLINE_ENCODER=off judges by words alone, and PLUMBLINE_LIMIT moves
the limit. Exits with 0 when the (last) step is on the errand, 1 when it drifts, 2 on bad usage, and
3 when the verdict is uncertain.`,
    run: runCheck,
  },
  {
    name: 'eval',
    summary: 'measure a detector on labelled data',
    usage:
      'plumbline eval FILE [--detector NAME] [--adaptation FILE] [--budget N] [--limit S] [--declare-plan all|half] [--predictions OUT] [--json]',
    details: `FILE holds JSON lines, plain or gzipped: pairs { ground, goal, label: "same" | "drift", source? }
or runs { ground, plan?, steps: [{ goal, progress?, distance?, label }] }, or runs with messages of
the user { ground, plan?, events: [{ type: "step", goal, label: "on" | "off" | "unclear", kind? } |
{ type: "user", text, effect? }] }.

  --detector NAME    ${detectorNames.join(' or ')}
  --adaptation FILE  a table that plumbline adapt wrote, from work older than this data
  --budget N         also measure the recall with the threshold that keeps alarms at or below N per
                     1,000 clean steps (or pairs) of this data; N/1000 says the same
  --limit S          call a step drift if its score is above S; --budget prints scores, and the
                     server takes one as PLUMBLINE_LIMIT
  --declare-plan P   let each run without a plan declare its own on-errand steps at its first
                     step, word for word: all of them, or half
  --predictions OUT  write every prediction to OUT, in input order
  --json             print the measures as JSON`,
    async run(args, world) {
      const { values, positionals } = parse(args, {
        detector: { type: 'string' },
        adaptation: { type: 'string' },
        budget: { type: 'string' },
        limit: { type: 'string' },
        'declare-plan': { type: 'string' },
        predictions: { type: 'string' },
        json: { type: 'boolean' },
      })
      const [file, ...more] = positionals
      if (file === undefined || more.length > 0) throw usageFault('name one FILE to measure on.')
      const detector = readDetectorName(values.detector)
      await evaluate(
        {
          file,
          detector,
          json: values.json === true,
          ...(typeof values.predictions === 'string' ? { predictions: values.predictions } : {}),
          hints: {
            ...readAdaptation(values.adaptation),
            ...judgingOf(detector, world),
            ...readLimit(values.limit),
          },
          ...(values.budget === undefined ? {} : { budget: readBudget(values.budget) }),
          ...readDeclaredPlan(values['declare-plan']),
        },
        { out: world.out, progress: world.err, isTty: world.isTerminal },
      )
      return exitCodes.ok
    },
  },
  adaptCommand,
  keysCommand,
  signInCommand,
  accountsCommand,
  demoCommand,
  backtestCommand,
  watchCommand,
  initCommand,
  uninstallCommand,
  relayCommand,
  mcpCommand,
  {
    name: 'migrate',
    summary: 'bring the configured database to the current schema',
    usage: 'plumbline migrate',
    details:
      'The server does the same when it starts. Safe to run twice and on several nodes at once.',
    async run(args, world) {
      parse(args, {})
      world.out(`${await world.migrate()}\n`)
      return exitCodes.ok
    },
  },
  backupCommand,
  restoreCommand,
  doctorCommand,
  {
    name: 'openapi',
    summary: 'print the description of the interface (OpenAPI 3.1)',
    usage: 'plumbline openapi',
    details: 'The same document a server answers at /v1/openapi.json.',
    async run(args, world) {
      parse(args, {})
      world.out(world.openapi())
      return exitCodes.ok
    },
  },
]

function helpText(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Plumbline: is the agent still on its errand?

  plumbline check --ground "refund order 1234 to the customer" --goal "refund order 9876 to the customer"

Commands
${rows.join('\n')}

plumbline help COMMAND describes one command. plumbline version prints the version.
`
}

function commandHelp({ summary, usage, details }: Command, world: CliWorld): string {
  const text = typeof details === 'string' ? details : details(world)
  return `${summary}\n\n  ${usage}\n\n${text}\n`
}

/** Puts names one after another, in lines that fit a terminal. */
function inLines(names: readonly string[]): string {
  const lines = ['']
  for (const [place, name] of names.entries()) {
    const word = place === names.length - 1 ? name : `${name}, `
    if (`${lines.at(-1)}${word}`.trimEnd().length > 76) lines.push('')
    lines.push(`${lines.pop()}${word}`)
  }
  return lines.map((line) => `  ${line.trimEnd()}`).join('\n')
}

function readLimit(value: unknown): { limit?: number } {
  if (value === undefined) return {}
  const limit = value === '' ? Number.NaN : Number(value)
  if (!isLimit(limit)) {
    throw usageFault(`--limit is "${value}"; send a score above 0 and below 0.99.`)
  }
  return { limit }
}

/** What the settings give a detector beside the texts, as on the server. */
function judgingOf(detector: DetectorName, world: CliWorld): Judging {
  const settings = world.settings()
  if ('faults' in settings) throw settingsFault(settings.faults)
  if (detector === 'overlap') return {}
  return { limit: settings.limit ?? undefined, reads: world.reads() ?? undefined }
}

function readDeclaredPlan(value: unknown): { declarePlan?: DeclaredPlan } {
  if (value === undefined) return {}
  const declarePlan = declaredPlans.find((known) => known === value)
  if (declarePlan === undefined) {
    throw usageFault(`--declare-plan is "${value}"; send ${declaredPlans.join(' or ')}.`)
  }
  return { declarePlan }
}

function readDetectorName(value: unknown): DetectorName {
  if (value === undefined) return defaultDetector
  const name = detectorNames.find((known) => known === value)
  if (name === undefined) {
    throw usageFault(`--detector is "${value}"; send ${detectorNames.join(' or ')}.`)
  }
  return name
}

async function runCheck(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    ground: { type: 'string' },
    goal: { type: 'string' },
    distance: { type: 'string' },
    progress: { type: 'string' },
    steps: { type: 'string' },
    detector: { type: 'string' },
    adaptation: { type: 'string' },
    json: { type: 'boolean' },
  })
  if (positionals.length > 0) {
    throw usageFault(`unexpected argument "${positionals[0]}"; put quotes around texts.`)
  }
  const detector = readDetectorName(values.detector)
  const hints = { ...readAdaptation(values.adaptation), ...judgingOf(detector, world) }
  const print = values.json === true ? printJson : printVerdict
  let memory = newMemory(detector)
  let last: Verdict | null = null
  const judge = (step: Step) => {
    const detected = detect(memory, { ...step, ...hints })
    memory = detected.memory
    last = detected.verdict
    return detected.verdict
  }
  if (typeof values.steps === 'string') {
    for (const option of ['ground', 'goal', 'distance', 'progress'] as const) {
      if (values[option] !== undefined) {
        throw usageFault(`--${option} does not go with --steps; put it into the file.`)
      }
    }
    for await (const step of readSteps(values.steps, world)) print(judge(step), world)
    if (last === null) throw usageFault(`${values.steps} has no steps.`)
  } else {
    const { ground, goal, distance, progress } = values
    if (ground === undefined || goal === undefined) {
      throw usageFault('name --ground and --goal, or --steps FILE.')
    }
    readProgressOption(progress)
    const request = readCheck({ ground, goal, distance, progress })
    if ('error' in request) throw usageFault(request.detail)
    for (const step of request.steps) judge(step)
    if (last !== null) print(last, world)
  }
  return exitCodeOf(last)
}

function exitCodeOf(verdict: Verdict | null): number {
  if (verdict?.drifting) return exitCodes.drifting
  return verdict?.uncertain ? exitCodes.uncertain : exitCodes.ok
}

/** Refuses a progress that the detector would call ungrammatical: here it is the caller's slip. */
function readProgressOption(value: unknown): void {
  if (value !== undefined && !progressValues.some((known) => known === value)) {
    throw usageFault(`--progress is "${value}"; send ${progressValues.join(', ')}.`)
  }
}

async function* readSteps(file: string, world: CliWorld): AsyncGenerator<Step> {
  const input = file === '-' ? world.input : createReadStream(file)
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const entry = parseJson(line)
    if (entry === undefined) {
      throw usageFault(`${file} line ${number} is not JSON; send one { "goal": … } a line.`)
    }
    const step = readCheckStep(entry, `${file} line ${number}`)
    if (isFault(step)) throw usageFault(step.detail)
    yield step
  }
}

function isFault(step: Step | CheckFault): step is CheckFault {
  return 'error' in step
}

function printJson(verdict: Verdict, { out }: CliWorld): void {
  out(`${JSON.stringify(verdict)}\n`)
}

function printVerdict(verdict: Verdict, { out }: CliWorld): void {
  out(verdictText(verdict))
}
