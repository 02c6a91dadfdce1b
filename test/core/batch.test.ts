import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AlertConfig, readAlertConfig } from '../../src/core/alerts/alerts.ts'
import { type NumberedAlerts, numberAlerts } from '../../src/core/alerts/decide.ts'
import { nothingAllowed } from '../../src/core/alerts/public-url.ts'
import {
  type Changes,
  judgeBatch,
  type Loaded,
  type LoggedStep,
} from '../../src/core/runs/batch.ts'
import { type ReadEntry, readEntry } from '../../src/core/runs/entry.ts'
import { type DriftRequest, readDrift } from '../../src/core/runs/step-request.ts'
import { verifies } from '../verifies.ts'

const now = Date.UTC(2026, 0, 15)

function entry(account: string, fields: object, at = now): ReadEntry {
  const request = readDrift(fields) as DriftRequest
  return readEntry({ account, request, detector: 'overlap', now: at, retentionDays: 1 })
}

function configOf(fields: object): AlertConfig | null {
  return readAlertConfig({ url: 'https://hooks.example.com/', ...fields }, now, nothingAllowed)
}

/** What is stored before the first batch: nothing but the alert configs. */
const nothing: Loaded = {
  runs: new Map(),
  agents: new Map(),
  contexts: new Map(),
  openings: new Set(),
  configs: new Map([
    ['acct_each', configOf({})],
    ['acct_incidents', configOf({ incidents: true })],
    ['acct_none', null],
  ]),
  incidents: [],
  budgets: new Map(),
  heldAgents: new Set(),
}

/** Stores batches in memory, as a database would. */
function createMemory() {
  let loaded = nothing
  const last = new Map<string, number>()
  const alerts: NumberedAlerts = { events: [], log: [], incidents: [] }

  function save({ runs, agents, contexts, openings, alerts: decided }: Changes): void {
    const numbered = numberAlerts(decided, last)
    for (const [account, count] of decided.newNumbers) {
      last.set(account, (last.get(account) ?? 0) + count)
    }
    alerts.events.push(...numbered.events)
    alerts.log.push(...numbered.log)
    const keyOf = ({ account, seq }: { account: string; seq: number }) => `${account} ${seq}`
    const incidents = new Map(
      [...alerts.incidents, ...numbered.incidents].map((each) => [keyOf(each), each]),
    )
    alerts.incidents = [...incidents.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    loaded = {
      ...loaded,
      runs: new Map([...loaded.runs, ...[...runs].map(([key, { run }]) => [key, run] as const)]),
      agents: new Map([
        ...loaded.agents,
        ...[...agents].map(([key, { memory, agent }]) => {
          assert.deepEqual(JSON.parse(memory), agent.memory)
          return [key, agent] as const
        }),
      ]),
      contexts: new Map([
        ...loaded.contexts,
        ...[...contexts].map(([key, { runs, lowest }]) => [key, { runs, lowest }] as const),
      ]),
      openings: new Set([...loaded.openings, ...openings.keys()]),
      incidents: alerts.incidents.filter(({ value }) => value.closed === null),
    }
  }

  return {
    log(requests: readonly (readonly ReadEntry[])[]): LoggedStep[] {
      const { logged, changes } = judgeBatch(requests, loaded)
      save(changes)
      return logged
    },
    stored: () => ({ ...loaded, alerts, last }),
  }
}

const step = fc.record({
  account: fc.constantFrom('acct_each', 'acct_incidents', 'acct_none', 'anon_a'),
  run_id: fc.constantFrom('a', 'b'),
  agent_id: fc.constantFrom(undefined, 'sub'),
  goal: fc.constantFrom('fix the login form', 'paint the shed', 'buy milk', 'mend the login', ' '),
  progress: fc.constantFrom('advancing', 'stuck', 'circling'),
  distance: fc.nat(10),
  user_turn: fc.boolean(),
})
const requests = fc.array(
  fc
    .array(step, { minLength: 1, maxLength: 4 })
    .map((steps) => steps.map(({ account, ...fields }) => entry(account, fields))),
  { minLength: 1, maxLength: 12 },
)

test('a batch says and changes what its requests do one after the other', () => {
  verifies('drift.batch')
  fc.assert(
    fc.property(requests, fc.nat(12), (all, cut) => {
      const together = createMemory()
      const apart = createMemory()
      const halves = [all.slice(0, cut), all.slice(cut)]
      const logged = halves.flatMap((half) => together.log(half))
      assert.deepEqual(
        logged,
        all.flatMap((request) => apart.log([request])),
      )
      assert.deepEqual(together.stored(), apart.stored())
    }),
    { numRuns: 200 },
  )
})

test('a batch with a damaged agent logs nothing of its request, and all of the others', () => {
  const before = createMemory()
  before.log([[entry('acct_each', { run_id: 'a', goal: 'fix the login form' })]])
  const [[damaged] = []] = before.stored().agents
  const loaded = { ...nothing, agents: new Map([[damaged ?? '', 'damaged' as const]]) }
  const { logged, changes } = judgeBatch(
    [
      [
        entry('acct_each', { run_id: 'b', goal: 'x y' }),
        entry('acct_each', { goal: 'x', run_id: 'a' }),
      ],
      [entry('acct_each', { run_id: 'c', goal: 'fix the login form' })],
    ],
    loaded,
  )
  assert.deepEqual(logged.slice(0, 2), ['damaged', 'damaged'])
  assert.deepEqual(
    [...changes.runs.values()].map(({ run }) => run.run_id),
    ['c'],
  )
  assert.equal(changes.steps.length, 1)
})

test('an account takes only the numbers that its alerts need, and an event names its incident', () => {
  const memory = createMemory()
  const goals = ['fix the login form', 'paint the shed', 'paint the shed', 'fix the login form']
  memory.log([goals.map((goal) => entry('acct_incidents', { goal, run_id: 'a' }))])
  const { alerts, last } = memory.stored()
  assert.deepEqual(
    alerts.events.map(({ seq, value }) => [seq, value.incident?.state, value.incident?.id]),
    [
      [2, 'opened', 'inc_1'],
      [4, 'closed', 'inc_1'],
    ],
  )
  assert.deepEqual(
    alerts.log.map(({ seq, value }) => [seq, value.detail]),
    [[3, 'part of an open incident']],
  )
  assert.equal(last.get('acct_incidents'), 4)
})
