import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coverageOf } from '../../../src/core/hosts/coverage.ts'
import type { Act, HostEvent, HostFact } from '../../../src/core/hosts/host-event.ts'
import { observe } from '../../../src/core/hosts/observe.ts'
import { nothingObserved, type Observed } from '../../../src/core/hosts/observed.ts'
import { verifies } from '../../verifies.ts'

const errand: HostFact = { kind: 'prompt', text: 'mend the login of the shop', by: 'person' }
const second = 1000
const minute = 60 * second

type Given = HostFact | { after: number; fact: HostFact }

/** What the steps of a session show: each fact comes two seconds after the one before, or as it says. */
function shownBy(facts: readonly Given[]) {
  let observed: Observed = nothingObserved
  let at = 0
  const shown: (string | null)[] = []
  const says: string[] = []
  for (const [nth, each] of facts.entries()) {
    const { after, fact } = 'fact' in each ? each : { after: 2 * second, fact: each }
    at += after
    const event: HostEvent = { ...fact, at, runId: 'codex:shop', agentId: '', eventId: `e${nth}` }
    const next = observe(observed, event)
    observed = next.observed
    for (const step of next.steps) {
      shown.push(step.shown?.kind ?? null)
      if (step.shown !== null) says.push(step.shown.says)
    }
  }
  return { observed, shown, says, kinds: shown.filter((kind) => kind !== null) }
}

function act(change: Partial<Act>): Act {
  return {
    kind: 'act',
    family: 'run',
    tool: 'Bash',
    paths: [],
    words: 'node server.js',
    outcome: 'ok',
    argsHash: change.words ?? 'args',
    ...change,
  }
}

const check = (change: Partial<Act>) =>
  act({
    family: 'verify',
    words: 'node --test',
    outcome: 'failed',
    errorClass: 'assert',
    ...change,
  })
const edit = (from: string, to: string, path = 'src/login.js') =>
  act({
    family: 'edit',
    tool: 'Edit',
    words: '',
    paths: [path],
    edits: [{ path, from, to }],
    argsHash: from + to,
  })

describe('the acts of an agent show', () => {
  test('tests that fail alike four times while something is edited', () => {
    verifies('hosts.evidence')
    const failing = ['a', 'b']
    const rounds = [1, 2, 3, 4].flatMap((nth) => [
      edit(`t${nth}`, `t${nth + 1}`),
      check({ failing, resultHash: `r${nth}` }),
    ])
    const { kinds, says } = shownBy([errand, ...rounds])
    assert.deepEqual(kinds, ['tests-stuck'])
    assert.equal(says[0], '"node --test" failed 4 times with the same 2 tests; 3 edits in between.')
    // Fewer failing tests are progress.
    const fewer = rounds.with(5, check({ failing: ['a'], resultHash: 'r3' }))
    assert.deepEqual(shownBy([errand, ...fewer]).kinds, [])
  })

  test('one error three times while nothing changes', () => {
    verifies('hosts.evidence')
    const fails = act({ outcome: 'failed', errorClass: 'missing' })
    const { kinds, says } = shownBy([errand, fails, fails, fails])
    assert.deepEqual(kinds, ['same-error'])
    assert.match(says[0] ?? '', /"node server.js" failed 3 times with the same error, and nothing/)
    assert.deepEqual(
      shownBy([errand, fails, edit('a', 'b'), fails, edit('b', 'c'), fails]).kinds,
      [],
    )
    assert.deepEqual(shownBy([errand, fails, fails, act({}), fails, fails]).kinds, [])
    const other = act({ outcome: 'failed', errorClass: 'denied' })
    assert.deepEqual(shownBy([errand, fails, other, fails, other]).kinds, [])
  })

  test('never errors of networks, however often', () => {
    verifies('hosts.evidence.quiet')
    const limited = act({ outcome: 'failed', errorClass: 'infra' })
    assert.deepEqual(shownBy([errand, ...Array<Act>(12).fill(limited)]).kinds, [])
  })

  test('an edit that is taken back and made again', () => {
    verifies('hosts.evidence')
    const turns = [edit('a', 'b'), edit('b', 'a'), edit('a', 'b')]
    const { kinds, says } = shownBy([errand, ...turns])
    assert.deepEqual(kinds, ['back-and-forth'])
    assert.match(says[0] ?? '', /src\/login.js went back and forth between the same two texts/)
    assert.deepEqual(shownBy([errand, turns[0]!, turns[1]!, edit('a', 'c'), turns[0]!]).kinds, [])
  })

  test('never a file that moves through new texts, however often it is edited', () => {
    verifies('hosts.evidence.quiet')
    const moves = Array.from({ length: 20 }, (_, nth) => edit(`t${nth}`, `t${nth + 1}`))
    assert.deepEqual(shownBy([errand, ...moves]).kinds, [])
  })

  test('one act with one result at the fourth repeat, in whatever words it is told', () => {
    verifies('hosts.evidence')
    const list = act({ words: 'ls src', resultHash: 'same' })
    const prose = ['Look around', 'See what is there', 'Check the folder again', 'Find the file']
    const loop = prose.map((said) => ({ ...list, said }))
    const { shown } = shownBy([errand, ...loop])
    assert.deepEqual(shown, [null, null, null, null, 'same-act'])
    const [one, two, three, four] = loop as [Act, Act, Act, Act]
    const other = { ...four, resultHash: 'other' }
    assert.deepEqual(shownBy([errand, one, two, three, other]).kinds, [])
  })

  test('never a poll, which waits between its looks', () => {
    verifies('hosts.evidence.quiet')
    const poll = { after: 30 * second, fact: act({ words: 'gh run view 7', resultHash: 'queued' }) }
    const wait = act({ family: 'wait', words: 'sleep 1', resultHash: '' })
    assert.deepEqual(shownBy([errand, ...Array<Given>(10).fill(poll)]).kinds, [])
    assert.deepEqual(shownBy([errand, ...Array<Given>(10).fill(wait)]).kinds, [])
  })

  test('that nothing changes for long, once the work has begun', () => {
    verifies('hosts.evidence')
    const looks = Array.from({ length: 14 }, (_, nth) => ({
      after: 2 * minute,
      fact: act({ family: 'read', words: '', paths: [`src/part-${nth}.js`], argsHash: `${nth}` }),
    }))
    const { kinds, says } = shownBy([errand, edit('a', 'b'), ...looks])
    assert.equal(kinds[0], 'no-change')
    assert.match(says[0] ?? '', /^Nothing has changed for \d+ minutes and \d+ acts\.$/)
    assert.ok(!shownBy([errand, ...looks]).kinds.includes('no-change'))
    const plan = (state: 'open' | 'done'): Given => ({
      kind: 'plan',
      whole: true,
      items: [{ text: 'Read all parts', state }],
    })
    assert.equal(shownBy([errand, plan('open'), ...looks]).kinds[0], 'no-change', 'a plan begins')
    const moving = [errand, plan('open'), ...looks.slice(0, 8), plan('done'), ...looks.slice(8)]
    assert.ok(!shownBy(moving).kinds.includes('no-change'), 'a plan that moves on is a change')
  })

  test('that hardly any of them belongs to the errand', () => {
    verifies('hosts.evidence', 'hosts.coverage')
    const strays = Array.from({ length: 12 }, (_, nth) =>
      act({ family: 'edit', words: '', paths: [`art/hero-${nth}.css`], argsHash: `${nth}` }),
    )
    const { kinds, says, observed } = shownBy([errand, ...strays])
    assert.deepEqual([...new Set(kinds)], ['unexplained'])
    assert.match(says[0] ?? '', /^0 of the last 12 acts share a word or a file with the errand\.$/)
    assert.deepEqual(coverageOf(observed.agents['']!.doings), {
      known: true,
      acts: 12,
      skipped: 0,
      every: 1,
      share: 0,
      recent: 0,
      failed: 0,
      outcomes: 1,
    })
  })
})

test('an act is covered by a word, by its folder, or by an edit before it', () => {
  verifies('hosts.coverage')
  const covered = (facts: readonly Given[]) =>
    shownBy([errand, ...facts]).observed.agents['']?.doings.covered
  const login = edit('a', 'b', 'web/auth/loginForm.ts')
  const beside = act({ family: 'read', words: '', paths: ['web/auth/session.ts'] })
  const tests = act({ family: 'verify', words: 'npm test' })
  const commit = act({ words: 'git commit -m …' })
  assert.equal(covered([login]), 1)
  assert.equal(covered([beside]), 0)
  assert.equal(covered([login, beside]), 2)
  assert.equal(covered([tests, commit]), 0)
  assert.equal(covered([login, tests, commit]), 3)
  const plan: HostFact = {
    kind: 'plan',
    whole: true,
    items: [{ text: 'rotate the session keys', state: 'open' }],
  }
  assert.equal(covered([plan, beside]), 1)
  // What is outside the project covers nothing beside it.
  const outside = (name: string) => act({ family: 'read', words: '', paths: [`~/…/${name}`] })
  assert.equal(covered([outside('login.log'), outside('notes.txt')]), 1)
})

test('a person is seen by words, by an answer, and by a permission that was waited for', () => {
  verifies('hosts.clock')
  const at = (facts: readonly Given[]) => shownBy(facts).observed.personAt
  const wait: HostFact = { kind: 'wait', for: 'permission' }
  assert.equal(at([act({})]), null)
  assert.equal(at([errand, act({})]), 2 * second)
  assert.equal(at([errand, act({}), { kind: 'person', how: 'answer' }]), 6 * second)
  assert.equal(at([errand, wait, act({})]), 6 * second)
  // What is granted at once, no person has granted.
  assert.equal(at([errand, wait, { after: 200, fact: act({}) }]), 2 * second)
})
