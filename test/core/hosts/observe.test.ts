import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Act,
  actFamilies,
  type HostEvent,
  type HostFact,
  type PlanItem,
} from '../../../src/core/hosts/host-event.ts'
import { observe } from '../../../src/core/hosts/observe.ts'
import { mostKept, nothingObserved, type Observed } from '../../../src/core/hosts/observed.ts'
import type { ObservedStep } from '../../../src/core/hosts/opened-step.ts'
import { actTold, firstSentence } from '../../../src/core/hosts/step-goal.ts'
import { verifies } from '../../verifies.ts'

const person: HostFact = { kind: 'prompt', text: 'mend the pump', by: 'person' }

test('a prompt of a person opens a step with the words', () => {
  verifies('hosts.steps')
  for (const by of ['person', 'unknown'] as const) {
    const { steps, observed } = told([{ ...person, by }])
    assert.equal(steps.length, 1)
    assert.deepEqual(steps[0], {
      agentId: '',
      parentAgentId: null,
      goal: 'mend the pump',
      source: 'prompt',
      ground: null,
      userMessage: 'mend the pump',
      isUnsure: by === 'unknown',
      parentGoal: null,
      plan: null,
      distance: null,
      progress: null,
      userTurn: null,
      tokens: null,
      shown: null,
      acts: 0,
      failedActs: 0,
      doing: [],
      span: null,
      responseId: null,
    })
    assert.equal(observed.errand, 'mend the pump')
  }
})

test('prompts of machines, and those that were announced, open none', () => {
  verifies('hosts.steps', 'hosts.who-spoke')
  const end: HostFact = { kind: 'turnEnd', expects: ['look at the gauge'] }
  const { goals, observed } = told([
    person,
    { kind: 'prompt', text: 'a task is over', by: 'machine' },
    end,
    { kind: 'prompt', text: 'look at the gauge', by: 'unknown' },
    { kind: 'prompt', text: 'look at the valve', by: 'unknown' },
  ])
  assert.deepEqual(goals, ['mend the pump', 'look at the valve'])
  assert.equal(observed.errand, 'look at the valve')
})

test('words that a machine spoke are no errand again, in whatever order that comes out', () => {
  verifies('hosts.who-spoke.settled')
  const texts = ['mend the pump', 'look at the gauge', 'look at the valve']
  const prompt = (nth: number, by: 'person' | 'machine' | 'unknown'): HostEvent => ({
    kind: 'prompt',
    text: texts[nth]!,
    by,
    at: nth * 60_000,
    runId: 'codex:r',
    agentId: '',
    eventId: `p-${nth}`,
  })
  for (const order of [
    [1, 2],
    [2, 1],
  ]) {
    const events = [prompt(0, 'person'), prompt(1, 'unknown'), prompt(2, 'unknown')]
    const all = [...events, ...order.map((nth) => prompt(nth, 'machine'))]
    const known = all.reduce((before, event) => observe(before, event).observed, nothingObserved)
    assert.deepEqual([known.errand, known.personAt, known.unsettled], [texts[0], 0, []])
  }
})

test('what a machine says under the id of a prompt tells nothing of that prompt', () => {
  verifies('hosts.who-spoke.settled')
  const prompt = (text: string, by: 'person' | 'machine' | 'unknown', nth: number): HostEvent => ({
    kind: 'prompt',
    text,
    by,
    at: nth * 60_000,
    runId: 'claude-code:r',
    agentId: '',
    eventId: `p-${nth}`,
  })
  const note = '<task-notification>the gauge is read</task-notification>'
  const events = [
    prompt('mend the pump', 'unknown', 0),
    prompt('look at the gauge', 'unknown', 1),
    prompt(note, 'machine', 1),
  ]
  const known = events.reduce((before, event) => observe(before, event).observed, nothingObserved)
  assert.equal(known.errand, 'look at the gauge')
  const still = known.unsettled?.map(({ text }) => text)
  assert.deepEqual(still, ['mend the pump', 'look at the gauge'])
  // Who spoke it may still come out.
  const settled = observe(known, prompt('look at the gauge', 'machine', 1))
  assert.deepEqual([settled.observed.errand, settled.settles?.by], ['mend the pump', 'machine'])
})

test('an event counts once among the newest, whether its session is kept or was read again', () => {
  verifies('hosts.once')
  let kept = nothingObserved
  let read = nothingObserved
  for (let at = 0; at < 3 * mostKept.seen; at++) {
    // Every third is told a second time: some at once, and some when they are forgotten.
    const nth = at % 3 === 2 ? at - (at % 2 === 0 ? 2 : mostKept.seen) : at
    const event = placed(edit(`${nth}.ts`), `use-${nth}`)
    kept = observe(kept, event).observed
    read = observe(JSON.parse(JSON.stringify(read)), event).observed
    assert.deepEqual(kept, read)
  }
  const before = kept
  const next = placed(edit('next.ts'), 'next')
  observe(kept, next)
  assert.deepEqual(observe(before, next).observed, observe(read, next).observed)
})

test('the same event counts once, by whichever hook it comes', () => {
  verifies('hosts.once')
  const event = placed(edit('a.ts'), 'use-1')
  const first = observe(nothingObserved, event)
  assert.equal(first.steps.length, 1)
  assert.deepEqual(observe(first.observed, event), { observed: first.observed, steps: [] })
  const failed = { ...event, outcome: 'failed' as const, tool: 'other' }
  assert.deepEqual(observe(first.observed, failed), { observed: first.observed, steps: [] })
  const other = observe(first.observed, { ...event, agentId: 'a1' })
  assert.equal(other.observed.agents.a1?.acts, 1)
})

test('the goal is the item in work, the intent, what was said, the description, or the act', () => {
  verifies('hosts.goal', 'hosts.steps')
  const plan = planned(['drain', 'done'], ['swap the seal', 'now'], ['test', 'open'])
  const intent: HostFact = { kind: 'intent', text: 'a dry floor' }
  const say: HostFact = { kind: 'say', text: 'I will look for cracks. Then I go on.\nLater.' }
  const act = { ...edit('pump.ts'), said: 'Tighten the bolts' }
  for (const [facts, goal, source] of [
    [[plan, intent, say, act], 'swap the seal', 'plan'],
    [[intent, say, act], 'a dry floor', 'intent'],
    [[say, act], 'I will look for cracks', 'narration'],
    [[{ kind: 'say', text: 'Fine.' }, act], 'Tighten the bolts', 'description'],
    [[act], 'Tighten the bolts', 'description'],
    [[edit('pump.ts')], 'edit pump.ts', 'act'],
  ] satisfies [HostFact[], string, string][]) {
    const { steps } = told([person, ...facts])
    assert.equal(steps.length, 2)
    assert.deepEqual([steps[1]?.goal, steps[1]?.source], [goal, source])
  }
})

test('a step says the plan, how much of it is left, and the item that it serves', () => {
  verifies('hosts.goal')
  const plan = planned(['drain', 'done'], ['swap the seal', 'now'], ['test', 'open'])
  const { steps } = told([plan, edit('pump.ts'), delegation('count the bolts')])
  const list = { plan: ['drain', 'swap the seal', 'test'], distance: 7 }
  for (const [at, goal, parentGoal] of [
    [0, 'swap the seal', null],
    [1, 'count the bolts', 'swap the seal'],
  ] as const) {
    const { goal: told, parentGoal: parent, plan, distance } = steps[at]!
    assert.deepEqual({ told, parent, plan, distance }, { told: goal, parent: parentGoal, ...list })
  }
})

test('each change of the item in work opens one step', () => {
  verifies('hosts.steps', 'hosts.goal')
  const { goals } = told([
    planned(['drain', 'now'], ['test', 'open']),
    edit('a.ts'),
    edit('b.ts'),
    planned(['drain', 'done'], ['test', 'now']),
    edit('c.ts'),
    planned(['drain', 'done'], ['test', 'done']),
    edit('d.ts'),
  ])
  assert.deepEqual(goals, ['drain', 'test', 'edit d.ts'])
})

test('tasks that were made without numbers are changed by their places', () => {
  verifies('hosts.goal')
  const make = (text: string) => changed({ text, state: 'open' })
  const change = (id: string, state: PlanItem['state'], text = '') => changed({ id, text, state })
  const { goals, observed } = told([
    make('drain'),
    make('test'),
    make('test'),
    change('2', 'now'),
    edit('a.ts'),
    change('2', 'done'),
    change('1', 'now', 'drain it all'),
    edit('b.ts'),
    change('9', 'now'),
    edit('c.ts'),
  ])
  assert.deepEqual(goals, ['test', 'drain it all'])
  assert.deepEqual(observed.agents['']?.plan, [
    { id: '1', text: 'drain it all', state: 'now' },
    { id: '2', text: 'test', state: 'done' },
  ])
})

test('what was said serves one act, an intent until a person speaks', () => {
  verifies('hosts.goal')
  const say: HostFact = { kind: 'say', text: 'Now I find the leak' }
  assert.deepEqual(told([say, edit('a.ts'), edit('b.ts')]).goals, [
    'Now I find the leak',
    'edit b.ts',
  ])
  const intent: HostFact = { kind: 'intent', text: 'a dry floor' }
  assert.deepEqual(told([intent, edit('a.ts'), edit('b.ts'), person, edit('c.ts')]).goals, [
    'a dry floor',
    'mend the pump',
    'edit c.ts',
  ])
})

test('reading alone opens no step but the first since a person spoke', () => {
  verifies('hosts.steps')
  const looks = (['read', 'search', 'wait'] as const).map((family) => acted(family, 'x.ts'))
  const { goals } = told([person, edit('a.ts'), ...looks, acted('read', 'y.ts')])
  assert.deepEqual(goals, ['mend the pump', 'edit a.ts'])
  assert.deepEqual(told([person, acted('read', 'y.ts'), ...looks]).goals, [
    'mend the pump',
    'read y.ts',
  ])
})

test('an act that was a goal before opens no step again', () => {
  verifies('hosts.steps')
  const { goals } = told([edit('a.ts'), edit('b.ts'), edit('a.ts'), edit('b.ts')])
  assert.deepEqual(goals, ['edit a.ts', 'edit b.ts'])
  const said = { ...edit('a.ts'), said: 'Oil it' }
  assert.deepEqual(told([said, edit('b.ts'), said]).goals, ['Oil it', 'edit b.ts'])
})

test('the tenth act under one goal opens a step again', () => {
  verifies('hosts.steps')
  const plan = planned(['drain', 'now'])
  const acts = Array.from({ length: 21 }, (_, nth) => edit(`${nth}.ts`))
  assert.deepEqual(told([plan, ...acts]).goals, ['drain', 'drain', 'drain'])
  assert.deepEqual(told([plan, ...acts.slice(0, 10)]).goals, ['drain'])
  // A new turn counts from the beginning.
  const end: HostFact = { kind: 'turnEnd', expects: [] }
  const broken = [...acts.slice(0, 9), end, ...acts.slice(9, 17)]
  assert.deepEqual(told([plan, ...broken]).goals, ['drain'])
})

test('a delegation opens one step, though it is told before and after', () => {
  verifies('hosts.steps', 'hosts.agents')
  const task = delegation('count the bolts. Write them down.')
  const { steps } = told([task, { ...task, child: 'a1' }, task])
  assert.equal(steps.length, 1)
  assert.deepEqual(
    [steps[0]?.agentId, steps[0]?.goal, steps[0]?.source],
    ['', 'count the bolts', 'task'],
  )
  assert.equal(told([{ ...task, label: 'Bolts' }]).goals[0], 'Bolts')
})

test('a sub-agent has its task as its ground with its first step, and its parent', () => {
  verifies('hosts.agents')
  const task = delegation('count the bolts')
  const start: HostFact = { kind: 'agent', child: 'a1', parent: '', state: 'start' }
  const own = placed({ ...task, child: 'a1' }, 'own', 'a1')
  const work = [placed(edit('a.ts'), 'one', 'a1'), placed(edit('b.ts'), 'two', 'a1')]
  for (const before of [
    [placed(task, 't'), placed(start, 's')],
    [placed({ ...task, child: 'a1' }, 't')],
    [placed(task, 't'), own],
    [placed(task, 't'), placed(start, 's'), own, placed({ ...task, child: 'a1' }, 'u')],
    [own],
  ]) {
    const steps = folded([...before, ...work]).steps.filter(({ agentId }) => agentId === 'a1')
    assert.deepEqual(
      steps.map(({ goal, ground }) => [goal, ground]),
      [
        ['edit a.ts', 'count the bolts'],
        ['edit b.ts', null],
      ],
    )
    assert.deepEqual(
      steps.map(({ parentAgentId }) => parentAgentId),
      [null, null],
    )
  }
})

test('a sub-agent of a sub-agent has that one as its parent', () => {
  verifies('hosts.agents')
  const { steps } = folded([
    placed(delegation('count the bolts'), 't', 'a1'),
    placed({ kind: 'agent', child: 'a2', parent: '', state: 'start' }, 's'),
    placed(edit('a.ts'), 'one', 'a2'),
  ])
  assert.deepEqual(
    steps.map(({ agentId, parentAgentId, ground }) => [agentId, parentAgentId, ground]),
    [
      ['a1', null, null],
      ['a2', 'a1', 'count the bolts'],
    ],
  )
})

test('a step of a sub-agent is under what the agent above it is at', () => {
  verifies('hosts.agents.parent-goal')
  const plan: HostFact = {
    kind: 'plan',
    whole: true,
    items: [{ text: 'sort the bolts', state: 'now' }],
  }
  const intent: HostFact = { kind: 'intent', text: 'tidy the shed' }
  for (const [before, above] of [
    [[], null],
    [[placed(edit('x.ts'), 'x')], 'edit x.ts'],
    [[placed(intent, 'i')], 'tidy the shed'],
    [[placed(intent, 'i'), placed(plan, 'p')], 'sort the bolts'],
  ] as const) {
    const { steps } = folded([
      ...before,
      placed({ ...delegation('count the bolts'), child: 'a1' }, 't'),
      placed(edit('a.ts'), 'one', 'a1'),
      placed({ ...delegation('weigh the bolts'), child: 'a2' }, 'u', 'a1'),
      placed(edit('b.ts'), 'two', 'a2'),
    ])
    const of = (id: string) =>
      steps.filter(({ agentId }) => agentId === id).map(({ parentGoal }) => parentGoal)
    assert.deepEqual([...new Set(of('a1'))], [above])
    assert.deepEqual(of('a2'), ['edit a.ts'])
  }
})

test('a sub-agent takes the oldest task of its kind', () => {
  verifies('hosts.agents')
  const { steps } = folded([
    placed({ ...delegation('count'), agentType: 'clerk' }, 't1'),
    placed({ ...delegation('paint'), agentType: 'painter' }, 't2'),
    placed({ ...delegation('sand'), agentType: 'painter' }, 't3'),
    placed({ kind: 'agent', child: 'a1', parent: '', state: 'start', agentType: 'painter' }, 's1'),
    placed({ kind: 'agent', child: 'a2', parent: '', state: 'start', agentType: 'painter' }, 's2'),
    placed({ kind: 'agent', child: 'a3', parent: '', state: 'start', agentType: 'smith' }, 's3'),
    ...['a1', 'a2', 'a3'].map((id) => placed(edit('a.ts'), `e-${id}`, id)),
    // Its task may be told after its first acts.
    placed(edit('b.ts'), 'f', 'a3'),
    placed(edit('c.ts'), 'g', 'a3'),
  ])
  const grounds = steps.slice(3).map(({ agentId, ground }) => [agentId, ground])
  assert.deepEqual(grounds, [
    ['a1', 'paint'],
    ['a2', 'sand'],
    ['a3', null],
  ])
})

test('a cleared session forgets its agents, what else happens changes nothing', () => {
  verifies('hosts.steps')
  const { observed } = told([person, edit('a.ts')])
  const clear = observe(observed, placed({ kind: 'session', source: 'clear' }, 'c'))
  assert.deepEqual(clear.observed.agents, {})
  for (const fact of [
    { kind: 'session', source: 'resume' },
    { kind: 'wait', for: 'permission' },
    { kind: 'person', how: 'answer' },
    { kind: 'runEnd', reason: 'over' },
    { kind: 'compact' },
    { kind: 'tokens', count: 4 },
  ] satisfies HostFact[]) {
    const after = observe(observed, placed(fact, 'x'))
    assert.deepEqual(after.steps, [])
    assert.deepEqual({ ...after.observed, seen: observed.seen }, observed)
  }
})

test('a session is the same after it was stored as JSON', () => {
  verifies('hosts.once')
  const { observed } = told([person, planned(['drain', 'now']), edit('a.ts')])
  assert.deepEqual(JSON.parse(JSON.stringify(observed)), observed)
})

test('an act in words', () => {
  verifies('hosts.goal')
  const paths = ['a', 'b', 'c', 'd']
  for (const [change, words] of [
    [{ family: 'search', words: 'leak', paths: ['src'] }, 'search "leak" in src'],
    [{ family: 'search' }, 'search'],
    [{ family: 'read', paths }, 'read a b c'],
    [{ family: 'edit', words: 'leak' }, 'edit leak'],
    [{ family: 'edit' }, 'edit Tool'],
    [{ family: 'run', words: 'npm start', paths }, 'run npm start'],
    [{ family: 'verify', paths: ['a'] }, 'run a'],
    [{ family: 'web' }, 'look up Tool'],
    [{ family: 'wait', words: 'sleep 3' }, 'wait sleep 3'],
    [{ family: 'other', words: 'leak', paths: ['a'] }, 'Tool leak a'],
  ] satisfies [Partial<Act>, string][]) {
    assert.equal(actTold({ ...acted('other', 'x'), paths: [], ...change }), words)
  }
  assert.equal(actTold({ ...acted('run', 'x'), words: 'y'.repeat(900) }).length, 300)
  assert.equal(firstSentence('\n \nSee v1.2 first! Then go'), 'See v1.2 first')
  assert.equal(firstSentence('w'.repeat(900)).length, 200)
  assert.equal(firstSentence(''), '')
})

test('what is kept of a session is bounded, and no event throws', () => {
  verifies('hosts.bounded')
  // Texts of hosts are at most 4,000 characters, ids 200; here one in eight is longer.
  const long = fc.nat(7).map((n) => 'w'.repeat(n === 0 ? 9000 : 3990))
  const text = fc.tuple(long, fc.nat(3000)).map(([words, nth]) => `${nth} ${words}`)
  const id = fc.oneof(fc.nat(3000).map(String), fc.constantFrom('', '__proto__', 'constructor'))
  const state = fc.constantFrom<PlanItem['state'][]>('open', 'now', 'done')
  const item = fc.record({ id, text, state }, { requiredKeys: ['text', 'state'] })
  const fact = fc.oneof<fc.Arbitrary<HostFact>[]>(
    fc.record({ kind: fc.constant('prompt'), text, by: fc.constantFrom('person', 'machine') }),
    fc.record({
      kind: fc.constant('plan'),
      items: fc.array(item, { maxLength: 70 }),
      whole: fc.boolean(),
    }),
    fc.record(
      { kind: fc.constant('delegate'), task: text, child: id },
      { requiredKeys: ['kind', 'task'] },
    ),
    fc.record({
      kind: fc.constant('agent'),
      child: id,
      parent: id,
      state: fc.constantFrom('start', 'stop'),
    }),
    fc.record({ kind: fc.constantFrom('say', 'intent'), text }),
    fc.record({ kind: fc.constant('turnEnd'), expects: fc.array(text, { maxLength: 30 }) }),
    fc
      .tuple(text, fc.constantFrom(...actFamilies))
      .map(([said, family]): Act => ({ ...acted(family, 'x'), said: said.slice(0, 400) })),
  )
  const events = fc.array(fc.tuple(fact, id), { minLength: 100, maxLength: 100 })
  let observed = nothingObserved
  let count = 0
  fc.assert(
    fc.property(events, (some) => {
      for (const [each, agentId] of some) {
        observed = observe(observed, placed(each, `e${count++}`, agentId)).observed
      }
      assertBounded(observed)
    }),
    { numRuns: 50, endOnFailure: true },
  )
  assert.equal(count, 5000)
})

function assertBounded({ agents, seen, tasks, expects, ...rest }: Observed): void {
  assert.ok(Object.keys(agents).length <= mostKept.agents)
  assert.ok(seen.length <= mostKept.seen)
  assert.ok(tasks.length <= mostKept.tasks)
  assert.ok(expects.length <= mostKept.expects)
  const longest = 4100
  // A plan, the goals before, and a task, an intent, words and a goal.
  const ofAgent = (mostKept.plan + mostKept.done + 5) * longest
  for (const agent of Object.values(agents)) assert.ok(JSON.stringify(agent).length < ofAgent)
  const others = JSON.stringify({ seen, tasks, expects, ...rest })
  assert.ok(others.length < (mostKept.tasks + mostKept.expects + 4) * longest)
}

function told(facts: readonly HostFact[]) {
  return folded(facts.map((fact, nth) => placed(fact, `e${nth}`)))
}

function folded(events: readonly HostEvent[]) {
  let observed = nothingObserved
  const steps: ObservedStep[] = []
  for (const event of events) {
    const next = observe(observed, event)
    observed = next.observed
    steps.push(...next.steps)
  }
  return { observed, steps, goals: steps.map(({ goal }) => goal) }
}

function placed<Fact extends HostFact>(fact: Fact, eventId: string, agentId = '') {
  return { ...fact, runId: 'codex:pump', agentId, eventId }
}

function planned(...items: [string, PlanItem['state']][]): HostFact {
  return { kind: 'plan', whole: true, items: items.map(([text, state]) => ({ text, state })) }
}

function changed(item: PlanItem): HostFact {
  return { kind: 'plan', whole: false, items: [item] }
}

function delegation(task: string): HostFact & { kind: 'delegate' } {
  return { kind: 'delegate', task }
}

function edit(path: string): Act {
  return acted('edit', path)
}

function acted(family: Act['family'], path: string): Act {
  const base = { kind: 'act', tool: 'Tool', words: '', outcome: 'ok' } as const
  return { ...base, family, paths: [path], argsHash: '0'.repeat(16) }
}
