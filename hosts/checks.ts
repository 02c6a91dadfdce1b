import type { Session } from './drive.ts'
import type { Program } from './programs.ts'
import type { Report } from './report.ts'
import { errand, further, marks, plan, restyle, task, taskBehind } from './scripts.ts'
import type { Ours } from './server.ts'

/** What a check needs: where it is told, whom it asks, and whom it is of. */
export interface Checked {
  report: Report
  ours: Ours
  host: string
  program: Program
}

/** A run as the server shows it, as far as it is checked here. */
interface Run {
  run_id: string
  ground: string | null
  revision: number
  grounds: { agent_id: string; revision: number; goal: string; by: string }[]
  assignment: { text: string; stands: boolean }[]
  agents: { agent_id: string; ground: string | null; drifting_steps: number | null }[]
  plan: string[] | null
  created: string
  updated: string
  last_person_at: string | null
  unattended_ms: number
  attended: string | null
  steps: number
  drifting_steps: number
  incident: string | null
  coverage: { acts: number; failed: number; outcomes: number | null } | null
}

/** A step of it. */
interface Step {
  agent_id?: string
  goal: string
  goal_source: string | null
  reason: string
  drifting: boolean
  why: string | null
  act_evidence: { kind: string; says: string } | null
}

/** The newest run of a host, with its steps. */
export async function newestRun(ours: Ours, host: string): Promise<{ run: Run; trace: Step[] }> {
  await ours.judged()
  const { runs } = await ours.get(`/v1/drift/runs?host=${host}&limit=1`)
  const id = encodeURIComponent(runs[0]?.run_id ?? '')
  return ours.get(`/v1/drift/run?run_id=${id}`)
}

/** Checks what the server says of the session that stays on its errand, and said while it went on. */
export async function checkHonest(
  { report: { check, note }, ours, host, program }: Checked,
  session: Session,
  evidenceAt: Readonly<Record<string, readonly (string | null)[]>>,
): Promise<void> {
  const { runs } = await ours.get(`/v1/drift/runs?host=${host}`)
  check('the session is one run', runs.length === 1, runs.length)
  const { run, trace } = await newestRun(ours, host)
  const grounds = run.grounds.filter(({ agent_id }) => agent_id === '')
  check(
    'the ground is the first prompt, and the second one revises it: two revisions',
    run.revision === 2 &&
      grounds.map(({ goal }) => goal).join('|') === `${errand}|${errand}\n${further}`,
    grounds.map(({ revision, goal, by }) => [revision, goal, by]),
  )
  const texts = run.assignment.filter(({ stands }) => stands).map(({ text }) => text)
  check(
    'nothing else is heard as the user',
    texts.join('|') === `${errand}|${further}` && grounds.every(({ by }) => by !== 'machine'),
    texts,
  )
  if (program.tools.delegateBehind === undefined) {
    note('it has no sub-agents whose end comes as a prompt')
  } else {
    check('the end of a sub-agent came as a prompt, and was none of the user', session.hasNews)
  }
  checkPlan()
  checkAgents()
  checkEvidence()
  checkOutcomes()
  checkClock()
  check(
    'nothing honest is drift',
    run.drifting_steps === 0 && run.incident === null,
    trace.filter(({ drifting }) => drifting).map(({ goal, why }) => [goal, why]),
  )

  function checkPlan(): void {
    if (program.tools.plan(plan) === null) {
      const planning = [...session.offered].filter((name) => /plan|todo|task/i.test(name))
      const tools = `of its ${session.offered.size} tools these sound like one: ${planning.join(', ') || 'none'}`
      check('no plan is told', run.plan === null, run.plan)
      note('it offers no tool for a plan', tools)
      return
    }
    const items = plan.map(([text]) => text)
    check('the items of the plan are seen', run.plan?.join('|') === items.join('|'), run.plan)
    const now = trace.filter(({ goal_source }) => goal_source === 'plan').map(({ goal }) => goal)
    const [doing] = plan.find(([, isNow]) => isNow) ?? []
    check('the item in work is the goal of steps', now.includes(doing ?? ''), now)
  }

  function checkAgents(): void {
    if (program.tools.delegate(task) === null) {
      note('no sub-agent is asked for, because it may end after its turn')
      return
    }
    if (!program.showsAgents) {
      check(
        'a sub-agent has no ground, as its hooks name none',
        run.agents.length === 0,
        run.agents,
      )
      const told = trace.some(({ goal_source }) => goal_source === 'task')
      check('that it delegates is a step', told)
      return
    }
    const tasks = [task, ...(program.tools.delegateBehind === undefined ? [] : [taskBehind])]
    const own = run.agents.map(({ ground }) => ground)
    check(
      'each sub-agent has its task as its ground, and strays from nothing',
      tasks.every((each) => own.includes(each)) &&
        own.length === tasks.length &&
        run.agents.every(({ drifting_steps }) => drifting_steps === 0),
      own,
    )
  }

  function checkEvidence(): void {
    const at = (mark: string) => evidenceAt[mark] ?? ['never asked']
    check(
      'after three failing tests: same-error, not yet',
      at(marks.three).every((kind) => kind === null),
      at(marks.three),
    )
    check(
      'after the fourth: tests-stuck',
      at(marks.four)
        .filter((kind) => kind !== null)
        .join() === 'tests-stuck',
      at(marks.four),
    )
    const told = trace.flatMap(({ act_evidence, reason }) =>
      act_evidence === null ? [] : [{ ...act_evidence, reason }],
    )
    check(
      'no more is ever seen, and it is a stall of four failures',
      told.length === 1 && told[0]?.reason === 'stalled' && / failed 4 times /.test(told[0].says),
      told,
    )
  }

  function checkOutcomes(): void {
    const { acts = 0, failed = 0, outcomes = 0 } = run.coverage ?? {}
    check(
      'how its acts ended is told as it was',
      acts >= 12 && failed === 4 && (outcomes ?? 0) >= program.tells,
      run.coverage,
    )
  }

  function checkClock(): void {
    const [first, second] = session.times
    if (first === undefined || second === undefined) throw new Error('a session of two prompts')
    const personAt = Date.parse(run.last_person_at ?? '')
    const created = Date.parse(run.created)
    check(
      'a person was last seen at the second prompt',
      first.begun <= created && created <= first.ended && isWithin(personAt, second),
      { created, last_person_at: personAt, second },
    )
    check(
      'since then nobody was',
      run.unattended_ms === Date.parse(run.updated) - personAt &&
        run.unattended_ms > 0 &&
        run.unattended_ms <= second.ended - second.begun,
      run.unattended_ms,
    )
    check(
      program.tellsUnattended
        ? 'nobody could speak in it'
        : 'whether anybody could speak in it is not told',
      run.attended === (program.tellsUnattended ? 'never' : 'at_times'),
      run.attended,
    )
  }
}

/** Checks that other work is drift, and that it is not when a person has asked for it. */
export async function checkStraying(
  { report: { check }, ours, host }: Checked,
  straying: (isAsked: boolean) => Promise<Session>,
): Promise<void> {
  const before = await newestRun(ours, host)
  const strayed = await straying(false)
  const astray = await newestRun(ours, host)
  check(
    'the session that strays ends well, and is a run of its own',
    strayed.codes.join() === '0' && astray.run.run_id !== before.run.run_id,
    strayed.codes,
  )
  const foreign = astray.trace.findIndex(isOther)
  const found = astray.trace.findIndex(({ drifting }) => drifting)
  check(
    'drift is found within three steps, and opens an incident',
    foreign > 0 && found >= foreign && found < foreign + 3 && astray.run.incident !== null,
    { foreign, found, steps: astray.trace.map(({ goal, reason }) => [goal, reason]) },
  )
  const asked = await straying(true)
  const wanted = await newestRun(ours, host)
  const steps = wanted.trace.filter(isOther)
  check(
    'the same work that a person has asked for is not drift',
    asked.codes.join() === '0,0' &&
      wanted.run.run_id !== astray.run.run_id &&
      wanted.run.revision === 2 &&
      wanted.run.assignment.some(({ text }) => text === restyle) &&
      steps.length > 0 &&
      wanted.run.drifting_steps === 0 &&
      wanted.run.incident === null,
    wanted.trace.map(({ goal, reason }) => [goal, reason]),
  )
}

/** Whether a step is of the work that nobody asked for at first; a prompt opens a step too. */
function isOther({ goal, goal_source }: Step): boolean {
  return goal_source !== 'prompt' && /hero|landing|palette/.test(goal)
}

function isWithin(at: number, { begun, ended }: { begun: number; ended: number }): boolean {
  return begun <= at && at <= ended
}
