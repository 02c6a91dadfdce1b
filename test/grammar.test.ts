import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { evidenceKinds, evidenceLimits } from '../src/core/hosts/evidence.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

test('GET /v1/grammar describes the detector without a key', async (t) => {
  verifies('grammar.served', 'grammar.no-key', 'grammar.contents')
  const app = await start(t)
  const { status, body } = await app.get('/v1/grammar')
  assert.equal(status, 200)
  for (const field of [
    'version',
    'immutable',
    'fields',
    'progress_enum',
    'distance',
    'normaliser',
    'spelling',
    'phi',
    'thresholds',
    'reasons',
    'judgments',
    'modulation',
    'word_lists',
    'content_hash',
  ]) {
    assert.ok(Object.hasOwn(body, field), field)
  }
  const { content_hash, ...rest } = body
  const hash = createHash('sha256').update(JSON.stringify(rest)).digest('base64url')
  assert.equal(content_hash, hash)
  assert.equal((await app.get('/v1/grammar', { authorization: 'Bearer x' })).status, 200)
})

test('the grammar holds the rules by which acts are evidence', async (t) => {
  verifies('hosts.evidence.grammar')
  const app = await start(t)
  const { version, gives, limits } = (await app.get('/v1/grammar')).body.act_evidence
  assert.equal(version, 'evidence/1')
  assert.deepEqual(gives, evidenceKinds)
  assert.deepEqual(limits, evidenceLimits)
})

test('the grammar holds what is published of it', async (t) => {
  verifies('grammar.contents')
  const app = await start(t)
  const { body } = await app.get('/v1/grammar')
  const published = JSON.parse(
    readFileSync(new URL('./vectors/reference.json', import.meta.url), 'utf8'),
  )
  assert.equal(typeof body.version, 'string')
  assert.equal(body.immutable, true)
  assert.deepEqual(body.progress_enum, ['advancing', 'stuck', 'circling'])
  for (const field of ['goal', 'progress', 'distance', 'parent_goal']) {
    assert.equal(typeof body.fields[field], 'string', field)
  }
  assert.deepEqual(body.measured, ['goal', 'progress', 'distance'])
  assert.deepEqual([...body.carried].sort(), ['blocked', 'doing', 'next', 'parent_goal'])
  const { normaliser, calibration, word_lists, modulation } = published
  assert.equal(body.normaliser.token_pattern, normaliser.token_pattern)
  assert.deepEqual(body.normaliser.stopwords, normaliser.stopwords)
  assert.equal(body.normaliser.stem_min_length, normaliser.stem_min_length)
  assert.equal(body.normaliser.stem_pattern, normaliser.stem_pattern)
  assert.equal(body.thresholds.goal_floor, calibration.goal_min)
  assert.equal(body.thresholds.self_report_floor, calibration.self_report_min)
  assert.equal(body.thresholds.stall_window, calibration.stall_window)
  assert.equal(body.thresholds.echo_floor, calibration.echo_min)
  assert.equal(body.thresholds.dialogue_window, calibration.dialogue_window)
  assert.deepEqual(Object.values(body.phi.weights), Object.values(calibration.weights))
  assert.deepEqual(body.word_lists.cause_claims, word_lists.cause_claims)
  assert.deepEqual(body.word_lists.observations, word_lists.observations)
  assert.deepEqual([...body.modulation.modes].sort(), [...modulation.modes].sort())
  assert.deepEqual(
    body.reasons.map(({ reason }: { reason: string }) => reason),
    [
      'ungrammatical',
      'grounded',
      'self-report:stuck',
      'self-report:circling',
      'excursion',
      'goal-drift',
      'stalled',
      'advancing',
    ],
  )
})

/** The goal floor and the verdict of a program whose constants say `floor`. */
function withFloor(floor: string): { told: number; drifting: boolean } {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context)
        if (!url.endsWith('/core/detector/contract/constants.ts')) return loaded
        const source = String(loaded.source)
        const changed = source.replace('goalFloor = 0.3', 'goalFloor = ${floor}')
        if (changed === source && '${floor}' !== '0.3') throw new Error('no such constant')
        return { ...loaded, source: changed }
      },
    })
    const { describeGrammar } = await import('./src/core/language/grammar.ts')
    const { detect } = await import('./src/core/detector/detect.ts')
    const { newMemory } = await import('./src/core/detector/memory.ts')
    const step = (goal) => ({ goal, progress: 'advancing', distance: 5 })
    const { memory } = detect(newMemory('overlap'), step('mend roof barn door'))
    const { verdict } = detect(memory, step('mend roof tile gutter'))
    const { thresholds } = describeGrammar()
    console.log(JSON.stringify({ told: thresholds.goal_floor, drifting: verdict.drifting }))`
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: new URL('..', import.meta.url),
  })
  return JSON.parse(out.toString())
}

test('changing a constant changes the grammar and the detector', () => {
  verifies('grammar.same-constants')
  // The two goals overlap by 2 of 6 words.
  assert.deepEqual(withFloor('0.3'), { told: 0.3, drifting: false })
  assert.deepEqual(withFloor('0.4'), { told: 0.4, drifting: true })
})
