import {
  deleteAccount,
  endKey,
  listAccounts,
  listKeys,
  makeAccount,
  makeKey,
  setTier,
} from './admin.ts'
import { listDeliveries, replayDeliveries } from './alert-deliveries.ts'
import { deleteAlertSecret, rotateAlertSecret } from './alert-secret.ts'
import { deleteAlerts, readAlertLog, readAlerts, setAlerts, testAlerts } from './alerts.ts'
import { check } from './check.ts'
import { readCost } from './cost.ts'
import { measureData } from './data.ts'
import { deleteDialogue, readDialogues, takeTurn } from './dialogue.ts'
import { deleteDigest, readDigest, setDigest, testDigest } from './digest.ts'
import { logDrift, logDriftBatch } from './drift.ts'
import { setEmail } from './email.ts'
import { eraseMe, exportMe } from './erasure.ts'
import { decideEscalation, deleteEscalation, escalate, readEscalations } from './escalation.ts'
import { readExperiment } from './experiment.ts'
import { hearWords, readHistory, readSignal } from './field.ts'
import { readFleet } from './fleet.ts'
import { readGrammar } from './grammar.ts'
import { readGuidance } from './guidance.ts'
import { listIncidents } from './incidents.ts'
import { createKeys, readKeys } from './keys.ts'
import { createKey, readMe, revokeKey, rotateKey } from './me.ts'
import { modulateStep } from './modulate.ts'
import { consultOperator } from './operator.ts'
import { deleteRun, exportRuns, listRuns, readRun, setOutcome } from './runs.ts'
import { deleteSelf, readSelf, setSelf } from './self.ts'
import { changeTeam, invite, joinTeam, leaveTeam, readTeam, removeMember } from './team.ts'
import { deleteTemplate, readTemplates, storeTemplate } from './templates.ts'
import { listTiers } from './tiers.ts'

/** Everything that can be asked. The HTTP routes, the description and the client are made from this list. */
export const operations = [
  check,
  logDrift,
  logDriftBatch,
  setOutcome,
  readRun,
  listRuns,
  deleteRun,
  exportRuns,
  readCost,
  readExperiment,
  measureData,
  readKeys,
  createKeys,
  readMe,
  eraseMe,
  exportMe,
  createKey,
  revokeKey,
  rotateKey,
  setEmail,
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
  readDigest,
  setDigest,
  deleteDigest,
  testDigest,
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
