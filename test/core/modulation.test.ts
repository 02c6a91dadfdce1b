import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  type Depth,
  depthNames,
  depths,
  modes,
  modulate,
  presets,
  type Role,
} from '../../src/core/runs/modulation.ts'
import { verifies } from '../verifies.ts'

const { modulation } = JSON.parse(
  readFileSync(new URL('../vectors/reference.json', import.meta.url), 'utf8'),
)

/** Every reason a verdict can have. */
const reasons = [...modes, 'grounded', 'advancing', 'excursion', 'oscillating']

const styled = (role: Role) => ({ team: 'own', role })

test('the published modes, depths and teams are the service’s own', () => {
  verifies('modulate.depths', 'templates.built-in', 'detector.vectors')
  assert.deepEqual(modes, modulation.modes)
  assert.deepEqual(Object.keys(modulation.depths), depthNames)
  assert.deepEqual(depths.deep, modulation.depths.deep)
  assert.deepEqual(depths.balanced, modulation.depths.balanced)
  assert.equal(modulation.depths.tight, 'all eight')
  assert.deepEqual([...depths.tight], modulation.modes)
  // The published file says only that a role has a text of its own.
  const published = presets.map(({ name, roles }) => ({
    name,
    roles: roles.map((role) =>
      role.return === undefined ? role : { ...role, return: typeof role.return === 'string' },
    ),
  }))
  assert.deepEqual(published, modulation.presets)
})

test('a role returns for exactly the modes it acts on, from their first sign', () => {
  verifies('modulate.depths')
  for (const recurse of depthNames) {
    for (const reason of reasons) {
      for (const drifting of [false, true]) {
        const answer = modulate({ reason, drifting }, styled({ role: 'one', recurse }))
        const isMode = (depths[recurse] as readonly string[]).includes(reason)
        const beyond = recurse === 'tight' && drifting
        assert.equal(answer.return, isMode || beyond, `${recurse} ${reason} ${drifting}`)
        assert.deepEqual([answer.basis, answer.team, answer.role], [recurse, 'own', 'one'])
        assert.notEqual(answer.advice, '')
      }
    }
  }
})

test('modes of its own stand in for the depth', () => {
  verifies('modulate.depths')
  for (const recurse of ['deep', 'tight'] satisfies Depth[]) {
    const role: Role = { role: 'critic', recurse, modes: ['stalled', 'echo-spiral'] }
    for (const reason of reasons) {
      const answer = modulate({ reason, drifting: true }, styled(role))
      assert.equal(answer.return, ['stalled', 'echo-spiral'].includes(reason), reason)
      assert.equal(answer.basis, 'modes')
    }
  }
})

test('a returning role is told its own text, the usual one, or never returns', () => {
  const verdict = { reason: 'goal-drift', drifting: true }
  const tellWith = (given: Partial<Role>) =>
    modulate(verdict, styled({ role: 'one', recurse: 'deep', ...given }))
  assert.deepEqual(tellWith({ return: 'Ask the user.' }).advice, 'Ask the user.')
  assert.equal(tellWith({ return: true }).advice, tellWith({}).advice)
  assert.deepEqual([tellWith({}).return, tellWith({ return: false }).return], [true, false])
  assert.notEqual(tellWith({ return: false }).advice, tellWith({}).advice)
})

test('without a team every drift returns, and nothing else', () => {
  verifies('modulate.unstyled')
  for (const reason of reasons) {
    for (const drifting of [false, true]) {
      const { advice, ...answer } = modulate({ reason, drifting }, null)
      assert.deepEqual(answer, { return: drifting, basis: 'unstyled', team: null, role: null })
      assert.notEqual(advice, '')
    }
  }
})
