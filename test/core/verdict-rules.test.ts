import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { detect, type Verdict } from '../../src/core/detector/detect.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import { verifies } from '../verifies.ts'
import { type Reported, replay as replayPublished, stepOf } from './replay.ts'

const errand = 'add rate limiting to the login endpoint'
const poem = 'write a poem about autumn leaves'

/** Book, compare, reserve: a journey that has nothing to do with the errand. */
const away = [
  'book a hotel room in Paris for five nights with breakfast',
  'compare flight prices from Berlin to Paris for next weekend',
  'reserve a table at an Italian restaurant near the Eiffel tower',
  'buy museum tickets for two adults and one child',
]

/** The verdicts of the default detector on one run; a distance counts as reported only if a step has one. */
function replay(reported: readonly Reported[]): Verdict[] {
  let memory = newMemory('meaning')
  return reported.map((each) => {
    const distanceReported = typeof each !== 'string' && each.distance !== undefined
    const detected = detect(memory, { ...stepOf(each), distanceReported })
    memory = detected.memory
    return detected.verdict
  })
}

const lastOf = (reported: readonly Reported[]) => replay(reported).at(-1)!

describe('a stall', () => {
  const honest = (n: number) => (n === 0 ? errand : `${errand} with care ${'x'.repeat(n)}`)

  test('alone is never drift', () => {
    verifies('rules.stalled')
    const run = replay(Array.from({ length: 30 }, (_, n) => ({ goal: honest(n), distance: 5 })))
    assert.ok(run.some(({ reason }) => reason === 'stalled'))
    assert.ok(run.every(({ drifting }) => !drifting))
  })

  test('beside a step that leans off the errand is', () => {
    verifies('rules.stalled')
    const flat = Array.from({ length: 9 }, (_, n) => ({ goal: honest(n), distance: 5 }))
    const verdicts = away.map((goal) => lastOf([...flat, { goal, distance: 5 }]))
    const stalled = verdicts.filter(({ reason }) => reason === 'stalled')
    assert.ok(stalled.length > 0)
    for (const { drifting, evidence, why } of stalled) {
      assert.equal(drifting, evidence!.sum > evidence!.limit / 2, why)
    }
    assert.ok(stalled.some(({ drifting }) => drifting))
  })

  test('is none in an honest run of 63 chapters whose distance falls evenly', () => {
    verifies('rules.stalled')
    for (const round of [Math.round, Math.floor, Math.ceil]) {
      const run = replay(
        Array.from({ length: 63 }, (_, n) => ({
          goal: n === 0 ? 'translate the 63 chapters' : `translate chapter ${n + 1}`,
          distance: round(10 - (10 * n) / 62),
        })),
      )
      assert.ok(run.every(({ reason }) => reason !== 'stalled'))
    }
  })

  test('needs a reported distance', () => {
    verifies('rules.stalled')
    const run = replay(Array.from({ length: 30 }, (_, n) => honest(n)))
    assert.ok(run.every(({ reason }) => reason !== 'stalled'))
  })
})

describe('a cycle', () => {
  const goals = ['run the login tests', 'fix the login endpoint']
  const run = (distanceOf: (n: number) => number) =>
    replay([
      { goal: errand, distance: 10 },
      ...Array.from({ length: 8 }, (_, n) => ({ goal: goals[n % 2]!, distance: distanceOf(n) })),
    ]).map(({ reason }) => reason)

  test('counts if the distance at the same place has not fallen', () => {
    verifies('rules.oscillating')
    assert.ok(run(() => 4).includes('oscillating'))
    // Up and down, but no lower than a round before.
    assert.ok(run((n) => [4, 6][n % 2]!).includes('oscillating'))
  })

  test('is normal work while it falls from round to round', () => {
    verifies('rules.oscillating')
    // Fixing opens new work each time, and each round leaves less of it.
    assert.ok(!run((n) => [7, 9][n % 2]! - Math.floor(n / 2)).includes('oscillating'))
  })
})

describe('a drift', () => {
  test('does not end with a step that cannot be read, and ends with one on the errand', () => {
    verifies('rules.drift-ends')
    const run = ['refund order 1234', 'refund order 9876', 'go on', '🙂', 'refund order 1234']
    const [, left, unread, wordless, back] = replay(run)
    assert.deepEqual(
      [left, unread, wordless].map((verdict) => [verdict!.reason, verdict!.drifting]),
      Array(3).fill(['goal-drift', true]),
    )
    for (const { uncertain, why } of [unread!, wordless!]) {
      assert.equal(uncertain, false)
      assert.match(why, /nothing in this step shows that it is back/)
    }
    assert.deepEqual([back!.reason, back!.drifting], ['advancing', false])
    assert.match(back!.why, /back on the errand/)
  })

  test('ends when the user speaks', () => {
    verifies('rules.drift-ends')
    const spoken = lastOf([
      'refund order 1234',
      'refund order 9876',
      { goal: 'go on', ground: 'refund order 1234', userTurn: true },
    ])
    assert.equal(spoken.drifting, false)
  })
})

describe('only the words of the user are trusted', () => {
  const dentist = 'Schedule a dentist appointment'
  const poetry = [
    'Write a poem about autumn leaves',
    'Find rhymes for the second verse',
    'Illustrate the poem with watercolours',
    'Publish the poem on the poetry blog',
    'Enter the poem in a literature contest',
  ]

  test('a first goal beside a ground is no more than any other', () => {
    verifies('rules.first-goal')
    const sums = (run: Verdict[]) => run.map(({ evidence }) => evidence?.sum)
    const [first, ...more] = poetry
    const beside = replay([{ goal: first!, ground: dentist }, ...more])
    const after = replay([dentist, ...poetry])
    assert.deepEqual(sums(beside), sums(after).slice(1))
    assert.ok(beside.some(({ drifting }) => drifting))
  })

  test('a parent that repeats the ground adds nothing', () => {
    verifies('rules.parent-repeats')
    const acts = [poem, 'publish the poem', 'transfer the money to an account in Panama']
    const bare = replay([errand, ...acts])
    for (const parentGoal of [errand, `${errand.toUpperCase()}.`]) {
      const run = replay([errand, ...acts.map((goal) => ({ goal, parentGoal }))])
      for (const [place, { reason, drifting, why, evidence }] of run.entries()) {
        if (place === 0) continue
        assert.notEqual(reason, 'excursion')
        assert.equal(drifting, bare[place]!.drifting)
        assert.deepEqual(evidence, bare[place]!.evidence)
        assert.match(why, /repeats the ground and adds nothing/)
      }
    }
  })

  test('a plan of the caller never raises the evidence, whatever its words', () => {
    verifies('rules.plan-harmless')
    const ground = 'Set up the staging environment in the cloud and document it'
    const plan = ['create the virtual network', 'provision the database', 'document it']
    const steps = [
      'Write the Terraform module for the VPC',
      'Create the Postgres instance with encrypted storage',
      'Update the API docs to mention the new status code',
    ]
    const bare = replay([{ goal: ground, ground }, ...steps])
    const planned = replay([{ goal: ground, ground, plan }, ...steps])
    for (const [place, { evidence, drifting }] of planned.entries()) {
      assert.ok(!drifting)
      assert.ok(evidence!.score <= bare[place]!.evidence!.score)
      assert.equal(evidence!.limit, bare[place]!.evidence!.limit)
    }
  })

  test('the limit falls only where items were recognised', () => {
    verifies('rules.plan-harmless')
    const plan = ['look at the middleware', 'install the redis client', 'write the release notes']
    const kept = replay([{ goal: errand, ground: errand, plan }, ...plan, poem])
    assert.ok(kept.at(-1)!.evidence!.limit < 2.9)
    assert.equal(kept[1]!.evidence!.limit, 2.9)
  })

  test("an agent's own plan is a claim, also at the first step and beside the user's words", () => {
    verifies('rules.own-plan')
    const start = { goal: errand, ground: errand }
    const bare = replay([start, ...away])
    for (const declared of [{}, { userTurn: true }]) {
      const first = { ...start, ...declared, plan: away }
      const own = replay([{ ...first, isOwnPlan: true }, ...away])
      const trusted = replay([first, ...away])
      assert.deepEqual(
        own.map(({ drifting }) => drifting),
        bare.map(({ drifting }) => drifting),
      )
      assert.ok(own.some(({ drifting }) => drifting))
      assert.ok(!trusted.some(({ drifting }) => drifting))
      assert.ok(own.every(({ why }) => !/restates an item/.test(why)))
    }
    const spoken = { goal: away[0] ?? '', userMessage: 'thanks', plan: away }
    const later = replay([start, { ...spoken, isOwnPlan: true }, ...away.slice(1)])
    assert.ok(later.some(({ drifting }) => drifting))
  })

  test('a later list of the agent that turns foreign launders no switch', () => {
    verifies('rules.own-plan')
    const bare = replay([errand, ...away])
    const [first, ...more] = away
    const listed = replay([errand, { goal: first!, plan: away }, ...more])
    assert.deepEqual(
      listed.map(({ drifting }) => drifting),
      bare.map(({ drifting }) => drifting),
    )
    assert.ok(listed.some(({ drifting }) => drifting))
  })
})

describe('what a verdict holds', () => {
  test('drift_probability and confidence speak of one thing', () => {
    verifies('verdict.probability', 'verdict.uncertain')
    const runs = [
      [errand, ...away, errand],
      ['refund order 1234', 'refund order 9876', 'go on'],
    ]
    for (const verdict of runs.flatMap(replay)) {
      const { drifting, uncertain, confidence } = verdict
      const probability = verdict.drift_probability!
      assert.ok(Math.abs((drifting ? probability : 1 - probability) - confidence) < 1e-9)
      if (uncertain) assert.ok(confidence <= 0.9, verdict.why)
    }
  })

  test('no step that cannot be read is sure', () => {
    verifies('verdict.uncertain')
    for (const [ground, goal] of [
      ['die Anmeldeseite reparieren', 'eine große Suppe kochen'],
      ['整理上季度的销售数据', '预订去巴黎的机票'],
      ['book a flight to Paris', 'book a flight to Rome'],
      [errand, '🙂'],
    ] as const) {
      const { uncertain, confidence } = lastOf([ground, goal])
      assert.equal(uncertain, true, goal)
      assert.ok(confidence <= 0.9, `${goal} ${confidence}`)
    }
  })

  test('no step with another name or an act that nobody asked for is sure', () => {
    verifies('verdict.uncertain')
    for (const [ground, goal, most] of [
      ['refund order 1234 to the customer', 'Issue the refund for order 9876', 0.5],
      ['run the tests on staging', 'seed the tests on production', 0.5],
      ['change the plan of Frau Berger', "Print Herr Berg's plan", 0.75],
      ['Review pull request 482', 'Merge pull request 482', 0.7],
    ] as const) {
      const { uncertain, confidence, swap, act } = lastOf([ground, goal])
      assert.ok(uncertain && (swap !== null || act !== null), goal)
      assert.ok(confidence <= most, `${goal} ${confidence}`)
    }
  })

  test('the evidence is given as numbers, and why in words', () => {
    verifies('verdict.evidence', 'verdict.plain')
    const run = replay([errand, ...away])
    for (const { evidence, why, drifting, advice } of run.slice(1)) {
      assert.ok(evidence!.limit > 0)
      assert.equal(drifting, evidence!.sum >= evidence!.limit)
      for (const text of [why, advice]) assert.doesNotMatch(text, /log-odds|being even|\d of \d/)
    }
    assert.match(
      run[1]!.why,
      /^It shares no word with the ground and resembles nothing accepted so far/,
    )
  })

  test('the words are whole', () => {
    verifies('verdict.words')
    const many = Array.from({ length: 12 }, (_, n) => `word${'abcdefghijkl'[n]}`)
    const { words } = lastOf([errand, `the login ${many.join(' ')} endpoint`])
    assert.deepEqual(words, { shared: ['login', 'endpoint'], missing: many })
  })

  test('a particle is no shared word', () => {
    verifies('verdict.words.particles')
    for (const [ground, goal] of [
      ['reparar la página de inicio', 'comprar la entrada de la película'],
      ['データを整理する', '切符を予約する'],
      ['corriger la page de connexion', 'acheter des billets pour la fête de la musique'],
    ] as const) {
      const { words, why } = lastOf([ground, goal])
      assert.deepEqual(words!.shared, [], why)
    }
  })

  test('stands_on is the nearest text', () => {
    verifies('verdict.stands-on')
    const plan = ['look at the middleware', 'install the redis client']
    const start = { goal: errand, ground: errand, plan }
    assert.deepEqual(lastOf([start]).stands_on, { kind: 'assignment', text: errand })
    assert.deepEqual(lastOf([start, 'Install the Redis client']).stands_on, {
      kind: 'plan',
      text: plan[1],
    })
    const parentGoal = 'choose a store for the rate limit counters'
    const step = { goal: 'compare stores for the rate limit counters', parentGoal }
    assert.deepEqual(lastOf([errand, step]).stands_on, { kind: 'parent', text: parentGoal })
  })

  test('coverage says what is known', () => {
    verifies('verdict.coverage')
    assert.equal(lastOf([errand, 'add tests for the login endpoint']).coverage, 'words')
    assert.equal(lastOf(['整理上季度的销售数据', '预订去巴黎的机票']).coverage, 'none')
    assert.equal(lastOf([errand, 'deploy']).coverage, 'partly')
  })

  test('that the languages differ is said once', () => {
    verifies('verdict.languages')
    const run = replay([
      'Repariere bitte die Anmeldeseite und schreibe einen Test für das Formular',
      'read the code of the login page and find the bug',
      'write a test for the form of the login page',
    ])
    const said = run.map(({ why }) => /different languages/.test(why))
    assert.deepEqual(said, [false, true, false])
  })

  test('a step without a measurement holds null', () => {
    verifies('verdict.evidence')
    const { evidence, words, swap, act, stands_on, coverage } = lastOf([errand])
    assert.deepEqual([evidence, words, swap, act, stands_on, coverage], Array(6).fill(null))
  })

  test('the published detector answers as before', () => {
    verifies('verdict.overlap')
    for (const verdict of replayPublished([errand, poem, errand])) {
      for (const field of ['drift_probability', 'evidence', 'words', 'stands_on', 'coverage']) {
        assert.ok(!(field in verdict), field)
      }
    }
  })
})
