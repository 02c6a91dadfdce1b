import type { setEmail } from '../../operations/account/email.ts'
import type { eraseMe } from '../../operations/account/erasure.ts'
import type { createKey, readMe, revokeKey, rotateKey } from '../../operations/account/me.ts'
import type { showFirstKey } from '../../operations/account/provider-sign-in.ts'
import type { readSession, signIn, signOut } from '../../operations/account/session.ts'
import type { listTiers } from '../../operations/account/tiers.ts'
import type { readUpgrade } from '../../operations/account/upgrade.ts'
import type { hearWords, readHistory, readSignal } from '../../operations/field.ts'
import type { readFleet } from '../../operations/fleet.ts'
import type { Operation } from '../../operations/gate/declaration.ts'
import type { readGrammar } from '../../operations/grammar.ts'
import type { changeHookSettings, readHookSettings } from '../../operations/hosts/hook-settings.ts'
import type {
  listDeliveries,
  replayDeliveries,
} from '../../operations/operating/alert-deliveries.ts'
import type {
  deleteAlertSecret,
  rotateAlertSecret,
} from '../../operations/operating/alert-secret.ts'
import type {
  deleteAlerts,
  readAlertLog,
  readAlerts,
  setAlerts,
  testAlerts,
} from '../../operations/operating/alerts.ts'
import type { readBudget, setBudget } from '../../operations/operating/budget.ts'
import type {
  deleteDigest,
  readDigest,
  setDigest,
  showDigest,
  testDigest,
} from '../../operations/operating/digest.ts'
import type {
  decideEscalation,
  deleteEscalation,
  escalate,
  readEscalations,
} from '../../operations/operating/escalation.ts'
import type { listIncidents } from '../../operations/operating/incidents.ts'
import type { deleteSelf, readSelf, setSelf } from '../../operations/operating/self.ts'
import type { check } from '../../operations/steps/check.ts'
import type { readClock } from '../../operations/steps/clock.ts'
import type { readCost } from '../../operations/steps/cost.ts'
import type { measureData } from '../../operations/steps/data.ts'
import type { deleteDialogue, readDialogues, takeTurn } from '../../operations/steps/dialogue.ts'
import type { logDrift, logDriftBatch } from '../../operations/steps/drift.ts'
import type { readExperiment } from '../../operations/steps/experiment.ts'
import type { readGuidance } from '../../operations/steps/guidance.ts'
import type { labelStep } from '../../operations/steps/labels.ts'
import type { lookAtRun } from '../../operations/steps/looks.ts'
import type { modulateStep } from '../../operations/steps/modulate.ts'
import type { consultOperator } from '../../operations/steps/operator.ts'
import type { readQuality } from '../../operations/steps/quality.ts'
import type { listRuns } from '../../operations/steps/run-list.ts'
import type { deleteRun, readRun, setOutcome } from '../../operations/steps/runs.ts'
import type {
  deleteTemplate,
  readTemplates,
  storeTemplate,
} from '../../operations/steps/templates.ts'
import type {
  changeTeam,
  invite,
  joinTeam,
  leaveTeam,
  readTeam,
  removeMember,
} from '../../operations/team.ts'
import type { Request } from './calls.ts'

/** The operations that take a JSON body. */
export interface Posted {
  /**
   * Judges two goals, or a sequence of steps. It needs no key and stores nothing.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787' })
   * const { verdict } = await client.check({
   *   steps: [
   *     { goal: 'book a flight to Rome', progress: 'advancing', distance: 9 },
   *     { goal: 'compare flights to Rome', progress: 'advancing', distance: 7 },
   *     { goal: 'cancel the flight to Rome', progress: 'advancing', distance: 7 },
   *   ],
   * })
   * console.log(verdict.goal, verdict.drifting) // → cancel the flight to Rome true
   * ```
   */
  check: typeof check
  /**
   * Logs one step of a run. In an agent's loop, `run` is easier.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page', distance: 8 })
   * const { step, drifting } = await client.drift({
   *   run_id: 'first',
   *   goal: 'read the code of the login page',
   *   distance: 7,
   * })
   * console.log(step, drifting) // → 2 false
   * ```
   */
  drift: typeof logDrift
  /**
   * Logs up to 500 steps at once: all of them, or none.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const goals = ['fix the login page', 'read the login page', 'test the login page']
   * const { results } = await client.driftBatch({
   *   steps: goals.map((goal) => ({ run_id: 'first', goal })),
   * })
   * console.log(results.map(({ step }) => step).join(' ')) // → 1 2 3
   * ```
   */
  driftBatch: typeof logDriftBatch
  /** Sets the outcome of a run. */
  outcome: typeof setOutcome
  /** Says that a person looks at a run. */
  look: typeof lookAtRun
  /** Measures a corpus against its own first window. The service stores none of it. */
  data: typeof measureData
  /** Changes how the hooks of hosts are answered, of the account or of a run. */
  setHooks: typeof changeHookSettings
  /** Creates another key. Only this answer shows it. */
  createKey: typeof createKey
  /** Speaks eight vocabulary words into the field. */
  hear: typeof hearWords
  /** Replaces a key. The old key stays valid for a while. */
  rotateKey: typeof rotateKey
  /** Submits one agent’s turn of a conversation. */
  dialogue: typeof takeTurn
  /** Logs one step of a run and gets its verdict with the return policy of a role. */
  modulate: typeof modulateStep
  /** Stores a recursion-team template. It replaces your own template of the same name. */
  storeTemplate: typeof storeTemplate
  /**
   * Asks whether an irreversible act should proceed.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'free space on the build server' })
   * const { allow, checked } = await client.consult({
   *   run_id: 'first',
   *   kind: 'shell',
   *   target: 'build server',
   *   reversible: true,
   *   outward: false,
   *   command: 'rm -rf build',
   * })
   * console.log(allow, checked.command) // → true recursive-force-delete
   * ```
   */
  consult: typeof consultOperator
  /** Sets how many alarms the account is willing to hear, or removes the limit with null. */
  setBudget: typeof setBudget
  /** Says whether an alarm was useful, or that one was missing. */
  label: typeof labelStep
  /** Sets the mail address of the account, or removes it. A new address gets a link to confirm it. */
  setEmail: typeof setEmail
  /** Sets up a daily or weekly digest, in place of the previous one. */
  setDigest: typeof setDigest
  /** Sends the digest now and reports the result. */
  testDigest: typeof testDigest
  /**
   * Sets the webhook that receives drift alerts. It replaces all previous settings.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.setAlerts({ url: 'https://hooks.example.com/drift', min_phi: 0.5 })
   * const { alert } = await client.alerts()
   * console.log(alert?.min_phi) // → 0.5
   * ```
   */
  setAlerts: typeof setAlerts
  /** Sends a test event and reports the result. */
  testAlerts: typeof testAlerts
  /** Signs this browser in with a key. */
  signIn: typeof signIn
  /** The first key of an account that signing in has made. Only one answer shows it. */
  firstKey: typeof showFirstKey
  /** Creates or replaces the secret that signs events. Only this answer shows it. */
  rotateAlertSecret: typeof rotateAlertSecret
  /** Sends an event again, or all events that failed since a time. */
  replayDeliveries: typeof replayDeliveries
  /**
   * Asks a person to decide on a persistent drift. `awaitDecision` waits for the decision.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const { esc_id, status } = await client.escalate({
   *   run_id: 'first',
   *   reason: 'goal-drift',
   *   detail: 'Five steps in a row have left the errand.',
   * })
   * console.log(esc_id.startsWith('esc_'), status) // → true pending
   * ```
   */
  escalate: typeof escalate
  /** Records a decision on an escalation, once. */
  decideEscalation: typeof decideEscalation
  /** Changes the name of the team, its sharing of goals, or your own label. */
  changeTeam: typeof changeTeam
  /** Creates a code that gives one account a seat. Only this answer shows it. */
  invite: typeof invite
  /** Takes the seat that an invite code gives. */
  joinTeam: typeof joinTeam
  /** Gives up your seat. */
  leaveTeam: typeof leaveTeam
  /** Removes a member from your team. */
  removeMember: typeof removeMember
  /** Sets the given fields of the persisted self, and logs them. */
  setSelf: typeof setSelf
}

/** The operations that take query parameters. */
export interface Queried {
  /**
   * One run and a page of its trace, oldest step first.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page' })
   * const { run, trace } = await client.readRun({ run_id: 'first', limit: 100 })
   * console.log(run.ground, trace.length) // → fix the login page 1
   * ```
   */
  readRun: typeof readRun
  /** A page of the most recent runs, newest first. */
  listRuns: typeof listRuns
  /** Deletes a run and its steps. */
  deleteRun: typeof deleteRun
  /** How many alarms the account is willing to hear. */
  budget: typeof readBudget
  /** How good the alarms of the account were, and the figures of the repository. */
  quality: typeof readQuality
  /** The tokens that the most recent runs reported. */
  cost: typeof readCost
  /** How often steps drift, by the time since a person was last there. */
  clock: typeof readClock
  /** The paired token costs of treatment and control. */
  experiment: typeof readExperiment
  /**
   * The account of this key, with its keys, its tier and the usage of today.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const { tier, keys } = await client.me()
   * console.log(tier, keys.length) // → enterprise 1
   * ```
   */
  me: typeof readMe
  /** Deletes the account of this key and all its data. `confirm` is the id of the account. */
  deleteMe: typeof eraseMe
  /** Whether this browser is signed in, and how to sign in. */
  session: typeof readSession
  /** Where a person pays for a higher tier. */
  upgrade: typeof readUpgrade
  /** Signs this browser out. */
  signOut: typeof signOut
  /** Revokes a key at once. */
  revokeKey: typeof revokeKey
  /** The current signal of the shared field. */
  signal: typeof readSignal
  /** The signal of the last day, one sample a minute, oldest first. */
  signalHistory: typeof readHistory
  /** The webhook that receives drift alerts, and the drift modes. */
  alerts: typeof readAlerts
  /** Stops drift alerts. */
  deleteAlerts: typeof deleteAlerts
  /** The results of the last 50 events, newest first. */
  alertLog: typeof readAlertLog
  /** Deletes the secret. The events are unsigned again. */
  deleteAlertSecret: typeof deleteAlertSecret
  /** A page of the events of the last 30 days with their attempts, newest first. */
  deliveries: typeof listDeliveries
  /** A page of the incidents of the last 30 days, the last opened first. */
  incidents: typeof listIncidents
  /** The digest of the account, or null. */
  digest: typeof readDigest
  /** What a digest would say that is sent now. */
  previewDigest: typeof showDigest
  /** Deletes the digest. */
  deleteDigest: typeof deleteDigest
  /** One escalation, or a page of the queue, newest first. */
  readEscalations: typeof readEscalations
  /** Deletes an escalation. */
  deleteEscalation: typeof deleteEscalation
  /** A page of the conversations, newest first, or one conversation with a page of its turns. */
  readDialogues: typeof readDialogues
  /** Deletes a conversation and its turns. */
  deleteDialogue: typeof deleteDialogue
  /** The recursion-team templates, or one by name. */
  templates: typeof readTemplates
  /** Deletes a recursion-team template of your own. */
  deleteTemplate: typeof deleteTemplate
  /** The team of this account with its seats, or null. */
  team: typeof readTeam
  /** The runs of the team's members, and where they collide. */
  fleet: typeof readFleet
  /** The persisted self of an identity and its log, newest entry first. */
  self: typeof readSelf
  /** Erases the persisted self of an identity and its log. */
  deleteSelf: typeof deleteSelf
  /** The detector described as data. */
  grammar: typeof readGrammar
  /** The frameworks that have guidance, or the guidance for one of them. */
  guidance: typeof readGuidance
  /** How the hooks of hosts are answered, of the account or of a run. */
  hooks: typeof readHookSettings
  /** The tiers with their daily limits and prices. */
  tiers: typeof listTiers
}

/** The route of a method, and whether the method sends the key. */
export type Route = Pick<Request, 'method' | 'path' | 'keyed'>

/** The route of every method that is one request and one answer. */
export const routes: Record<keyof Posted | keyof Queried, Route> = {
  check: { method: 'POST', path: '/v1/check', keyed: false },
  drift: { method: 'POST', path: '/v1/drift', keyed: true },
  driftBatch: { method: 'POST', path: '/v1/drift/batch', keyed: true },
  outcome: { method: 'POST', path: '/v1/drift/outcome', keyed: true },
  look: { method: 'POST', path: '/v1/drift/look', keyed: true },
  readRun: { method: 'GET', path: '/v1/drift/run', keyed: true },
  listRuns: { method: 'GET', path: '/v1/drift/runs', keyed: true },
  deleteRun: { method: 'DELETE', path: '/v1/drift/run', keyed: true },
  label: { method: 'POST', path: '/v1/drift/label', keyed: true },
  quality: { method: 'GET', path: '/v1/quality', keyed: true },
  budget: { method: 'GET', path: '/v1/budget', keyed: true },
  setBudget: { method: 'PUT', path: '/v1/budget', keyed: true },
  cost: { method: 'GET', path: '/v1/cost', keyed: true },
  clock: { method: 'GET', path: '/v1/drift/clock', keyed: true },
  experiment: { method: 'GET', path: '/v1/experiment', keyed: true },
  data: { method: 'POST', path: '/v1/data', keyed: true },
  hooks: { method: 'GET', path: '/v1/hooks', keyed: true },
  setHooks: { method: 'POST', path: '/v1/hooks', keyed: true },
  me: { method: 'GET', path: '/v1/me', keyed: true },
  deleteMe: { method: 'DELETE', path: '/v1/me', keyed: true },
  createKey: { method: 'POST', path: '/v1/me/keys', keyed: true },
  revokeKey: { method: 'DELETE', path: '/v1/me/keys', keyed: true },
  rotateKey: { method: 'POST', path: '/v1/me/keys/rotate', keyed: true },
  setEmail: { method: 'POST', path: '/v1/me/email', keyed: true },
  session: { method: 'GET', path: '/v1/session', keyed: false },
  signIn: { method: 'POST', path: '/v1/session', keyed: false },
  firstKey: { method: 'POST', path: '/v1/session/first-key', keyed: true },
  upgrade: { method: 'GET', path: '/v1/upgrade', keyed: true },
  signOut: { method: 'DELETE', path: '/v1/session', keyed: false },
  alerts: { method: 'GET', path: '/v1/alerts', keyed: true },
  setAlerts: { method: 'POST', path: '/v1/alerts', keyed: true },
  deleteAlerts: { method: 'DELETE', path: '/v1/alerts', keyed: true },
  alertLog: { method: 'GET', path: '/v1/alerts/log', keyed: true },
  testAlerts: { method: 'POST', path: '/v1/alerts/test', keyed: true },
  rotateAlertSecret: { method: 'POST', path: '/v1/alerts/secret', keyed: true },
  deleteAlertSecret: { method: 'DELETE', path: '/v1/alerts/secret', keyed: true },
  deliveries: { method: 'GET', path: '/v1/alerts/deliveries', keyed: true },
  replayDeliveries: { method: 'POST', path: '/v1/alerts/deliveries/replay', keyed: true },
  incidents: { method: 'GET', path: '/v1/alerts/incidents', keyed: true },
  digest: { method: 'GET', path: '/v1/digest', keyed: true },
  setDigest: { method: 'POST', path: '/v1/digest', keyed: true },
  deleteDigest: { method: 'DELETE', path: '/v1/digest', keyed: true },
  testDigest: { method: 'POST', path: '/v1/digest/test', keyed: true },
  previewDigest: { method: 'GET', path: '/v1/digest/preview', keyed: true },
  escalate: { method: 'POST', path: '/v1/escalation', keyed: true },
  readEscalations: { method: 'GET', path: '/v1/escalation', keyed: true },
  deleteEscalation: { method: 'DELETE', path: '/v1/escalation', keyed: true },
  decideEscalation: { method: 'POST', path: '/v1/escalation/decide', keyed: true },
  dialogue: { method: 'POST', path: '/v1/dialogue', keyed: true },
  readDialogues: { method: 'GET', path: '/v1/dialogue', keyed: true },
  deleteDialogue: { method: 'DELETE', path: '/v1/dialogue', keyed: true },
  modulate: { method: 'POST', path: '/v1/modulate', keyed: true },
  templates: { method: 'GET', path: '/v1/recursion-team', keyed: true },
  storeTemplate: { method: 'POST', path: '/v1/recursion-team', keyed: true },
  deleteTemplate: { method: 'DELETE', path: '/v1/recursion-team', keyed: true },
  consult: { method: 'POST', path: '/v1/operator/consult', keyed: true },
  team: { method: 'GET', path: '/v1/team', keyed: true },
  changeTeam: { method: 'POST', path: '/v1/team', keyed: true },
  invite: { method: 'POST', path: '/v1/team/invite', keyed: true },
  joinTeam: { method: 'POST', path: '/v1/team/join', keyed: true },
  leaveTeam: { method: 'POST', path: '/v1/team/leave', keyed: true },
  removeMember: { method: 'POST', path: '/v1/team/seat', keyed: true },
  fleet: { method: 'GET', path: '/v1/team/fleet', keyed: true },
  self: { method: 'GET', path: '/v1/self', keyed: true },
  setSelf: { method: 'POST', path: '/v1/self', keyed: true },
  deleteSelf: { method: 'DELETE', path: '/v1/self', keyed: true },
  tiers: { method: 'GET', path: '/v1/tiers', keyed: false },
  grammar: { method: 'GET', path: '/v1/grammar', keyed: false },
  guidance: { method: 'GET', path: '/v1/guidance', keyed: false },
  signal: { method: 'GET', path: '/v1/signal', keyed: false },
  signalHistory: { method: 'GET', path: '/v1/history', keyed: false },
  hear: { method: 'POST', path: '/v1/hear', keyed: false },
}

/** The input of an operation, as a caller sends it. */
export type Sent<O> = O extends Operation<infer _Input, infer _Output, infer S> ? S : never

/** The answer of an operation. */
export type Output<O> =
  O extends Operation<infer _Input, infer Answer, infer _Sent> ? Answer : never

/** The verdict on a logged step. */
export type Verdict = Output<typeof logDrift>

/** A run as the service stores it. */
export type StoredRun = Output<typeof readRun>['run']

/** A run in a list, with its state and its course. */
export type ListedRun = Output<typeof listRuns>['runs'][number]

/** A step as the service stores it. */
export type StoredStep = Output<typeof readRun>['trace'][number]

/** A question to a person, with the decision once there is one. */
export type Escalation = Output<typeof decideEscalation>
