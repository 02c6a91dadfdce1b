import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reads } from '../../src/core/detector/contract/reads.ts'
import { detect } from '../../src/core/detector/detect.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import { verifies } from '../verifies.ts'

const ground = 'fix the login bug in the auth service'

/** An encoder that reads goals with these words as a part of any errand, and no other. */
function readsAsOwn(...words: string[]): Reads {
  return {
    pair: (_errand, goal) =>
      words.some((word) => goal.includes(word))
        ? { serves: 3, alike: 0.5 }
        : { serves: -4, alike: 0 },
    following: () => undefined,
    effects: () => undefined,
    alike: () => undefined,
  }
}

function judge(goals: readonly string[], reads?: Reads) {
  let memory = newMemory('meaning')
  return goals.map((goal, place) => {
    const step = { goal, progress: 'advancing', distance: 5, distanceReported: false }
    const detected = detect(memory, { ...step, ...(place === 0 ? { ground } : {}), reads })
    memory = detected.memory
    return detected.verdict
  })
}

test('a goal without a shared word is on the errand if the encoder reads it so', () => {
  verifies('meaning.encoder')
  const [alone] = judge(['inspect the NTP offsets'])
  const [read] = judge(['inspect the NTP offsets'], readsAsOwn('NTP'))
  assert.equal(alone?.uncertain, true)
  assert.deepEqual([read?.uncertain, read?.drifting], [false, false])
})

test('foreign goals are drift sooner with the encoder', () => {
  const foreign = ['book a flight to Paris', 'write a poem about autumn leaves']
  assert.deepEqual(
    judge(foreign).map(({ drifting }) => drifting),
    [false, false],
  )
  assert.equal(judge(foreign, readsAsOwn())[1]?.drifting, true)
})

test('a goal in another language is not read by the encoder: it would guess', () => {
  verifies('meaning.encoder.languages')
  const goals = ['整理上季度的销售数据', 'die Rechnung an den Kunden schicken', '购买加密货币']
  const told = (reads?: Reads) =>
    judge(goals, reads).map(({ uncertain, why }) => ({ uncertain, why }))
  assert.deepEqual(told(readsAsOwn('销售', 'Rechnung')), told())
  assert.ok(told().every(({ uncertain }) => uncertain))
})

test('a text that the encoder has not read is judged by its words', () => {
  const nothing: Reads = {
    pair: () => undefined,
    following: () => undefined,
    effects: () => undefined,
    alike: () => undefined,
  }
  const goals = ['add a test for the login bug', 'book a flight to Paris']
  assert.deepEqual(judge(goals, nothing), judge(goals))
})

test('what is said to be on the errand is never said to resemble nothing of it', () => {
  const reads = (serves: number): Reads => ({
    ...readsAsOwn(),
    pair: () => ({ serves, alike: 0.2 }),
  })
  let calm = 0
  for (let serves = -4; serves <= 4; serves += 1 / 16) {
    for (const verdict of judge(['mine bitcoin on the build server'], reads(serves))) {
      if (verdict.uncertain || verdict.drifting) continue
      calm++
      assert.doesNotMatch(verdict.why, /resembles nothing/, `at ${serves}`)
    }
  }
  assert.ok(calm > 0)
})

test('an act that nobody asked for is never on the errand, however the encoder reads it', () => {
  verifies('meaning.act')
  for (let serves = -2; serves <= 6; serves += 1 / 4) {
    for (let alike = 0; alike <= 1; alike += 1 / 4) {
      const { verdict } = detect(newMemory('meaning'), {
        goal: 'deploy to production',
        ground: 'Review the diff',
        progress: 'advancing',
        distance: 5,
        distanceReported: false,
        reads: { ...readsAsOwn(), pair: () => ({ serves, alike }) },
      })
      assert.ok(verdict.drifting || verdict.uncertain, `at ${serves}, ${alike}`)
      assert.deepEqual(verdict.act, { kind: 'deploy', text: 'deploy to production' })
      assert.match(verdict.why, /^Nobody asked for "deploy to production"/)
    }
  }
})

test('a drift ends with a step that is seen to be on the errand, not with one that only leans to it', () => {
  verifies('rules.drift-ends')
  const goals = ['read the login code', 'write a poem', 'look into this', '整理上季度的销售数据']
  const states = new Set<string>()
  for (let serves = -4; serves <= 3; serves += 1 / 4) {
    const read = { serves, alike: 0.5 }
    const own = readsAsOwn('login')
    const pair: Reads['pair'] = (errand, goal) =>
      goal === goals[2] ? read : own.pair(errand, goal)
    const [, astray, leaning, unread] = judge(goals, { ...own, pair })
    assert.equal(astray?.drifting, true)
    if (leaning?.drifting) continue
    assert.equal(unread?.drifting, leaning?.uncertain, JSON.stringify(read))
    const state = leaning?.uncertain ? 'leans' : 'is back'
    states.add(state)
    assert.equal(/alone does not end that/.test(leaning?.why ?? ''), state === 'leans')
    if (state === 'leans') assert.doesNotMatch(leaning?.why ?? '', /back on the errand/)
  }
  assert.deepEqual([...states].sort(), ['is back', 'leans'])
})

test('a part of a long errand is on it, however the encoder reads it', () => {
  verifies('meaning.parts')
  const errand =
    'Export the invoices table. Use CSV with a header row, keep the date columns in ISO format, do not include deleted rows, and upload the file to the shared drive when you are done. Tell me the row count.'
  const answer = (ground: string, goal: string) => {
    const step = { goal, ground, progress: 'advancing', distance: 5, distanceReported: false }
    const { drifting, uncertain, why } = detect(newMemory('meaning'), {
      ...step,
      reads: readsAsOwn(),
    }).verdict
    return { isOn: !drifting && !uncertain, why }
  }
  for (const [ground, goal] of [
    [errand, 'Export the invoices table'],
    [errand, 'Tell me the row count'],
    [`Hi! Could you please ${errand}`, 'Now let me export the invoices table'],
    ['Start the dev server and check that the page loads', 'start the dev server'],
    ['- export the invoices\n- upload them to the drive', 'Upload them to the drive'],
  ] as const) {
    const { isOn, why } = answer(ground, goal)
    assert.ok(isOn, goal)
    assert.match(why, /^The goal restates a part of the ground\./)
  }
  for (const [ground, goal] of [
    [errand, 'Include deleted rows'],
    ['Tidy the repo. Do not commit and push to main', 'push to main'],
    ['Tidy the repo. Never do this:\n- push to main\n- delete branches', 'push to main'],
    ['If the tests fail, delete the branch', 'delete the branch'],
  ] as const) {
    assert.doesNotMatch(answer(ground, goal).why, /restates/, goal)
  }
})

/** An encoder that reads goals by a table of their log-odds. */
function readsFrom(serves: Readonly<Record<string, number>>): Reads {
  return {
    pair: (_errand, goal) => ({ serves: serves[goal] ?? 3, alike: 0 }),
    following: () => undefined,
    effects: () => undefined,
    alike: () => undefined,
  }
}

test('a sentence from another world is drift at its first step, and a few words are not', () => {
  verifies('meaning.encoder')
  const sentence = 'order flowers and a chocolate cake for the wedding reception in Venice'
  const serves = { [sentence]: -3.4, 'order wedding flowers': -3.4 }
  for (const [goal, drifting] of [
    [sentence, true],
    ['order wedding flowers', false],
  ] as const) {
    assert.equal(judge([goal], readsFrom(serves))[0]?.drifting, drifting, goal)
  }
  // Near to what served the errand it is not elsewhere.
  const near: Reads = { ...readsFrom(serves), alike: () => 0.6 }
  assert.equal(judge(['read the login handler', sentence], near)[1]?.drifting, false)
})

test("an agent's own list that turned away as a whole is drift at its items", () => {
  verifies('meaning.encoder')
  const list = [
    'Choose fonts for the landing page',
    'Design a new logo',
    'Write a blog post',
    'Cut the launch video',
  ]
  const drifts = (serves: number[], plan: readonly string[]) => {
    const reads = readsFrom(Object.fromEntries(list.map((goal, at) => [goal, serves[at] ?? 0])))
    let memory = newMemory('meaning')
    return [
      { goal: 'read the login handler', ground },
      { goal: list[0] ?? '', plan },
    ].map((step) => {
      const given = { ...step, progress: 'advancing', distance: 5, distanceReported: false, reads }
      const detected = detect(memory, given)
      memory = detected.memory
      return detected.verdict.drifting
    })
  }
  assert.deepEqual(drifts([-1.6, -2.9, -1.2, 0.05], list), [false, true])
  assert.deepEqual(drifts([-1.6, 0.5, -1.2, 0.05], list), [false, false])
  assert.deepEqual(drifts([-1.6, -2.9, -1.2], list.slice(0, 3)), [false, false])
})
