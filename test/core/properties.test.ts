import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { progressValues, rememberedSpellings } from '../../src/core/detector/contract/constants.ts'
import { detectorNames } from '../../src/core/detector/contract/detector.ts'
import { type Detected, detect, type Verdict } from '../../src/core/detector/detect.ts'
import { type Memory, newMemory } from '../../src/core/detector/memory.ts'
import type { Step } from '../../src/core/detector/step.ts'
import { hasContent } from '../../src/core/detector/user/effect.ts'
import { verifies } from '../verifies.ts'
import { commands } from './commands.ts'

// Few goals, so that runs return to them and every reason comes up; and any text at all.
const usualGoal = fc.constantFrom(
  'build the csv parser',
  'Parser: build csv!',
  'build csv parser tests',
  'water garden plants',
  'the',
  '修复登录页面',
  '',
)
const anyText = fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => {
  return String.fromCharCode(...units)
})
const goal = fc.oneof({ weight: 8, arbitrary: usualGoal }, anyText)
const usualStep: fc.Arbitrary<Step> = fc.record(
  {
    goal: usualGoal,
    progress: fc.oneof({ weight: 8, arbitrary: fc.constant('advancing') }, goal, progress()),
    distance: fc.integer({ min: 4, max: 6 }),
    parentGoal: fc.constantFrom('build csv parser', 'anything else', ' '),
  },
  { requiredKeys: ['goal', 'progress', 'distance'] },
)
const anyStep: fc.Arbitrary<Step> = fc.record(
  {
    goal,
    progress: fc.oneof(progress(), anyText),
    distance: fc.oneof(
      fc.integer({ min: 0, max: 10 }),
      fc.double({ min: 0, max: 10, noNaN: true }),
    ),
    distanceReported: fc.boolean(),
    parentGoal: goal,
    userTurn: fc.boolean(),
    ground: goal,
    plan: fc.array(goal, { maxLength: 5 }),
    earlier: fc.record({ runs: fc.nat(5), lowest: fc.option(fc.integer({ min: 0, max: 10 })) }),
  },
  { requiredKeys: ['goal', 'progress', 'distance'] },
)
const steps = fc.oneof(
  fc.array(usualStep, { minLength: 1, maxLength: 30 }),
  fc.array(anyStep, { minLength: 1, maxLength: 15 }),
)

const driftReasons = ['ungrammatical', 'goal-drift', 'oscillating']
const warningReasons = ['stalled', 'self-report:stuck', 'self-report:circling']

for (const name of detectorNames) {
  describe(`any run judged by ${name}`, () => {
    test('has a verdict for every text', () => {
      verifies('reason.ungrammatical')
      always(fc.array(anyStep, { maxLength: 8 }), (run) => {
        assert.equal(verdictsOf(run).length, run.length)
      })
    })

    test('moves the ground with a user turn only', () => {
      verifies('reason.ground-frozen')
      always(steps, (run) => {
        for (const { before, step, after } of judge(run)) {
          if (before.ground === null || step.userTurn) continue
          assert.deepEqual(after.memory.ground, before.ground)
          assert.equal(after.verdict.ground, before.ground.goal)
          assert.equal(after.memory.revision, before.revision)
        }
      })
    })

    test('has scores from 0 to 1, of two decimals at most', () => {
      verifies('check.rounded')
      always(steps, (run) => {
        for (const { after } of judge(run)) {
          const { phi, goal_score, confidence, parent_overlap } = after.verdict
          for (const score of [phi, goal_score, confidence, parent_overlap ?? 0]) {
            assert.ok(score >= 0 && score <= 1)
            assert.equal(score, Number(score.toFixed(2)))
          }
          assert.ok(after.score >= 0 && after.score <= 1)
        }
      })
    })

    test('drifts for a drift reason, and never while uncertain', () => {
      verifies('check.result.additive')
      always(steps, (run) => {
        for (const { step, after } of judge(run)) {
          const { reason, drifting, uncertain, progress } = after.verdict
          assert.ok(!(uncertain && drifting))
          if (driftReasons.includes(reason)) assert.ok(drifting, reason)
          else if (!warningReasons.includes(reason)) assert.ok(!drifting, reason)
          if (reason.startsWith('self-report:')) assert.equal(reason, `self-report:${progress}`)
          assert.equal(progress, step.progress)
        }
      })
    })

    test('is spelled unless it is ungrammatical, and counts its spellings', () => {
      verifies('detector.repetition')
      always(steps, (run) => {
        const written: string[] = []
        for (const { step, after } of judge(run)) {
          const { svcscore, repetition, goal } = after.verdict
          assert.equal(goal, step.goal.trim())
          const known = progressValues.some((value) => value === step.progress)
          assert.equal(svcscore === null, goal === '' || !known)
          if (svcscore !== null) written.push(svcscore)
          const times = written.filter((line) => line === svcscore).length
          assert.equal(repetition, times > 1 ? times : undefined)
        }
      })
    })

    test('says why in sentences that command nothing', () => {
      verifies('check.result.additive')
      always(steps, (run) => {
        for (const { after } of judge(run)) {
          const { advice, why, judgment } = after.verdict
          for (const text of [advice, why, judgment?.because ?? '.', judgment?.counsel ?? '.']) {
            assert.match(text, /\.$/)
            assert.ok(text.isWellFormed())
          }
          assert.deepEqual(commands(`${advice} ${judgment?.counsel ?? ''}`), [])
        }
      })
    })

    test('is its steps, each with the memory of the one before, sent as JSON', () => {
      always(steps, (run) => {
        const whole = verdictsOf(run)
        let sent = JSON.stringify(newMemory(name))
        run.forEach((step, place) => {
          const { verdict, memory } = detect(JSON.parse(sent), step)
          sent = JSON.stringify(memory)
          assert.deepEqual(verdict, whole[place])
        })
      })
    })

    test('gives the same bytes again, and changes nothing it was given', () => {
      verifies('check.same-bytes')
      always(steps, (run) => {
        let memory = deepFreeze(newMemory(name))
        for (const step of deepFreeze(run)) {
          const once = detect(memory, step)
          assert.equal(JSON.stringify(detect(memory, step)), JSON.stringify(once))
          memory = deepFreeze(once.memory)
        }
      })
    })

    test('is the same in every normal form of Unicode', () => {
      verifies('meaning.same-bytes')
      always(steps, (run) => {
        const forms = (['NFC', 'NFD'] as const).map((form) =>
          verdictsOf(run.map((step) => ({ ...step, goal: step.goal.normalize(form) }))),
        )
        assert.deepEqual(forms[0]!.map(withoutTexts), forms[1]!.map(withoutTexts))
      })
    })

    // What reads the order of words, as from one place to another, cannot have the first property, and
    // what reads only words not the second.
    if (name === 'overlap') {
      test('is the same for the words of its goals in any order', () => {
        verifies('detector.tokens.set')
        always(shuffledRuns(), (pairs) => {
          const one = verdictsOf(pairs.map(([step]) => step))
          const other = verdictsOf(pairs.map(([, step]) => step))
          assert.deepEqual(one.map(withoutTexts), other.map(withoutTexts))
        })
      })
    } else {
      test('says nothing against a goal that restates the ground', () => {
        verifies('meaning.three-way')
        always(steps, (run) => {
          const { memory } = judge(run).at(-1)!.after
          if (memory.ground === null) return
          const { goal } = memory.ground
          const again = detect(memory, { goal, progress: 'advancing', distance: 5 })
          assert.notEqual(again.verdict.reason, 'goal-drift')
        })
      })
    }

    test('keeps a memory of some kilobytes of the longest texts and plans', () => {
      const longest = (letter: string, item: number) => `${item} ${`${letter} `.repeat(2_000)}`
      const plan = Array.from({ length: 50 }, (_, item) => longest('é', item).slice(0, 4_000))
      const long = (place: number): Step => ({
        goal: longest('goal', place).slice(0, 4_000),
        progress: 'advancing',
        distance: 5,
        parentGoal: longest('parent', place).slice(0, 4_000),
        plan: place % 2 === 0 ? plan : plan.slice(0, 20),
        userTurn: place === 5,
      })
      // The ground, its words, and the assignment with what no longer stands.
      const ground = 4_000 + 2_000 + 2 * 4_000
      for (const length of memoryLengths(Array.from({ length: 20 }, (_, place) => long(place)))) {
        assert.ok(length <= 10_000 + ground, `${length} characters`)
      }
    })

    test('keeps a bounded memory of any number of messages of the user', () => {
      verifies('memory.assignment-bound')
      const effects = ['adds', 'refines', 'adds', 'replaces', 'adds'] as const
      const messages = Array.from(
        { length: 60 },
        (_, place): Step => ({
          goal: `request ${place}`,
          progress: 'advancing',
          distance: 5,
          userMessage: `${place} ${'word '.repeat(place % 7 === 0 ? 10 : 780)}`,
          userEffect: effects[place % (place < 40 ? 3 : 5)] ?? 'adds',
        }),
      )
      for (const length of memoryLengths(messages)) assert.ok(length <= 45_000, `${length}`)
    })

    test('leaves a memory that does not grow with it', () => {
      const lengths = memoryLengths(fc.sample(usualOrNewStep(), { numRuns: 5_000, seed: 2 }))
      const early = Math.max(...lengths.slice(500, 2_000))
      const late = Math.max(...lengths.slice(2_000))
      assert.ok(late <= early + countersGrowth, `${early} characters, then ${late}`)
      assert.ok(late <= 6_000)
      const moved = memoryLengths(fc.sample(anyStep, { numRuns: 5_000, seed: 3 }))
      assert.ok(Math.max(...moved) <= 10_000)
    })

    /** Every step of the run with the memory before it and what was answered. */
    function judge(run: readonly Step[]): { before: Memory; step: Step; after: Detected }[] {
      let before = newMemory(name)
      return run.map((step) => {
        const judged = { before, step, after: detect(before, step) }
        before = judged.after.memory
        return judged
      })
    }

    function verdictsOf(run: readonly Step[]): Verdict[] {
      return judge(run).map(({ after }) => after.verdict)
    }

    function memoryLengths(run: readonly Step[]): number[] {
      return judge(run).map(({ after }) => JSON.stringify(after.memory).length)
    }
  })
}

// The counts in the memory gain a digit now and then.
const countersGrowth = 2 * rememberedSpellings + 20

function always<T>(inputs: fc.Arbitrary<T>, holds: (input: T) => void): void {
  fc.assert(fc.property(inputs, holds), { numRuns: 300 })
}

function progress(): fc.Arbitrary<string> {
  return fc.constantFrom(...progressValues)
}

/** Steps without a user turn, half of them with a goal of their own. */
function usualOrNewStep(): fc.Arbitrary<Step> {
  const newGoal = fc.nat().map((number) => `build csv parser ${number}`)
  return fc.oneof(
    usualStep,
    fc.tuple(usualStep, newGoal).map(([step, goal]) => ({ ...step, goal })),
  )
}

/** Runs of two steps each that differ in the order of their words only. */
function shuffledRuns(): fc.Arbitrary<[Step, Step][]> {
  const words = ['build', 'csv', 'parser', 'the', 'Tests', '登录', 'café', 'water', 'plants']
  const orders = fc
    .subarray(words, { minLength: 1 })
    .filter((picked) => picked.join() !== 'the')
    .chain((picked) => fc.tuple(shuffled(picked), shuffled(picked)))
  const step = fc.tuple(usualStep, orders, orders, fc.boolean())
  return fc.array(
    step.map(([usual, [goal, otherGoal], [parentGoal, otherParent], userTurn]) => [
      { ...usual, goal, parentGoal, userTurn },
      { ...usual, goal: otherGoal, parentGoal: otherParent, userTurn },
    ]),
    { minLength: 1, maxLength: 15 },
  )
}

function shuffled(words: string[]): fc.Arbitrary<string> {
  const all = { minLength: words.length, maxLength: words.length }
  return fc.shuffledSubarray(words, all).map((order) => order.join(' '))
}

describe('meaning beside overlap', () => {
  test('tells the words, their overlap and what repeats in the same way', () => {
    verifies('meaning.lexical-fields')
    always(steps.map(withoutEmptyTurns), (run) => {
      const [meaning, overlap] = (['meaning', 'overlap'] as const).map((name) => {
        let memory = newMemory(name)
        return run.map((step) => {
          const { verdict, memory: next } = detect(memory, step)
          memory = next
          const { goal_score, svcscore, context, repetition, ground, parent_overlap } = verdict
          return { goal_score, svcscore, context, repetition, ground, parent_overlap }
        })
      })
      assert.deepEqual(meaning, overlap)
    })
  })
})

/** Under `meaning`, a user turn without content moves nothing. */
function withoutEmptyTurns(run: readonly Step[]): Step[] {
  return run.map((step) => {
    const isEmpty = !hasContent(step.ground?.trim() ? step.ground : step.goal)
    return isEmpty ? { ...step, userTurn: false } : step
  })
}

function withoutTexts(verdict: Verdict): Partial<Verdict> {
  const { goal, ground, ...rest } = verdict
  return rest
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
