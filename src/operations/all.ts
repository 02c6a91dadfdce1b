import {
  deleteAccount,
  endKey,
  listAccounts,
  listKeys,
  makeAccount,
  makeKey,
  setTier,
} from './account/admin.ts'
import { setEmail } from './account/email.ts'
import { eraseMe, exportMe } from './account/erasure.ts'
import { createKeys, readKeys } from './account/keys.ts'
import { createKey, readMe, revokeKey, rotateKey } from './account/me.ts'
import { showFirstKey } from './account/provider-sign-in.ts'
import { readSession, signIn, signOut } from './account/session.ts'
import { listTiers } from './account/tiers.ts'
import { readUpgrade } from './account/upgrade.ts'
import { hearWords, readHistory, readSignal } from './field.ts'
import { readFleet } from './fleet.ts'
import { readGrammar } from './grammar.ts'
import { changeHookSettings, readHookSettings } from './hosts/hook-settings.ts'
import { listDeliveries, replayDeliveries } from './operating/alert-deliveries.ts'
import { deleteAlertSecret, rotateAlertSecret } from './operating/alert-secret.ts'
import {
  deleteAlerts,
  readAlertLog,
  readAlerts,
  setAlerts,
  testAlerts,
} from './operating/alerts.ts'
import { readBudget, setBudget } from './operating/budget.ts'
import { deleteDigest, readDigest, setDigest, showDigest, testDigest } from './operating/digest.ts'
import {
  decideEscalation,
  deleteEscalation,
  escalate,
  readEscalations,
} from './operating/escalation.ts'
import { listIncidents } from './operating/incidents.ts'
import { deleteSelf, readSelf, setSelf } from './operating/self.ts'
import { check } from './steps/check.ts'
import { readClock } from './steps/clock.ts'
import { readCost } from './steps/cost.ts'
import { measureData } from './steps/data.ts'
import { deleteDialogue, readDialogues, takeTurn } from './steps/dialogue.ts'
import { logDrift, logDriftBatch } from './steps/drift.ts'
import { readExperiment } from './steps/experiment.ts'
import { readGuidance } from './steps/guidance.ts'
import { exportLabels, labelStep } from './steps/labels.ts'
import { lookAtRun } from './steps/looks.ts'
import { modulateStep } from './steps/modulate.ts'
import { consultOperator } from './steps/operator.ts'
import { readQuality } from './steps/quality.ts'
import { listRuns } from './steps/run-list.ts'
import { deleteRun, exportRuns, readRun, setOutcome } from './steps/runs.ts'
import { deleteTemplate, readTemplates, storeTemplate } from './steps/templates.ts'
import { listen } from './stream.ts'
import { changeTeam, invite, joinTeam, leaveTeam, readTeam, removeMember } from './team.ts'

/** All operations. The HTTP routes, the OpenAPI description and the client come from this list. */
export const operations = [
  check,
  logDrift,
  logDriftBatch,
  setOutcome,
  readRun,
  listRuns,
  deleteRun,
  exportRuns,
  labelStep,
  lookAtRun,
  exportLabels,
  readQuality,
  readCost,
  readClock,
  readExperiment,
  measureData,
  readHookSettings,
  changeHookSettings,
  readKeys,
  createKeys,
  readMe,
  eraseMe,
  exportMe,
  createKey,
  revokeKey,
  rotateKey,
  setEmail,
  readSession,
  signIn,
  signOut,
  showFirstKey,
  readUpgrade,
  readAlerts,
  setAlerts,
  deleteAlerts,
  readAlertLog,
  testAlerts,
  rotateAlertSecret,
  deleteAlertSecret,
  listDeliveries,
  replayDeliveries,
  listIncidents,
  listen,
  readBudget,
  setBudget,
  readDigest,
  setDigest,
  deleteDigest,
  testDigest,
  showDigest,
  escalate,
  readEscalations,
  decideEscalation,
  deleteEscalation,
  takeTurn,
  readDialogues,
  deleteDialogue,
  modulateStep,
  readTemplates,
  storeTemplate,
  deleteTemplate,
  consultOperator,
  readTeam,
  changeTeam,
  invite,
  joinTeam,
  leaveTeam,
  removeMember,
  readFleet,
  readSelf,
  setSelf,
  deleteSelf,
  listTiers,
  readSignal,
  readHistory,
  hearWords,
  readGrammar,
  readGuidance,
  makeAccount,
  listAccounts,
  deleteAccount,
  setTier,
  listKeys,
  makeKey,
  endKey,
] as const
