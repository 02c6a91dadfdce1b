import { two } from '../figures.ts'
import type { Reason } from './rules.ts'
import type { Told } from './why.ts'

/**
 * The measured facts and their possible meaning. They are facts and not orders, because a host may treat
 * orders from a tool as an attack, and the agent knows the true cause better than the service.
 */
export function advise(reason: Reason, told: Told): string {
  return sentences[reason](told)
}

const sentences: Record<Reason, (told: Told) => string> = {
  ungrammatical: () =>
    'This step cannot be spelled: it needs a goal that is not blank and a progress of advancing, stuck or circling. The ground is unchanged.',
  grounded: () => 'The ground is set. Later steps are measured against it.',
  'self-report:stuck': selfReport,
  'self-report:circling': selfReport,
  excursion: ({ measured, parentOverlap }) =>
    `A sub-task (${measured?.figure}) whose declared parent serves the ground (overlap ${two(parentOverlap ?? 0)}). This is not drift; the parent is still owed.`,
  'goal-drift': ({ measured, parentOverlap }) =>
    parentOverlap === null
      ? `This goal no longer matches the ground (${measured?.figure}). There are three possible causes: the user redirected the work (which a user turn reports), this is a sub-task of it (which its parent_goal declares), or the work has left the errand and the ground is still owed.`
      : `This goal does not match the ground (${measured?.figure}), and its declared parent ${measured?.parentFigure}. Either the parent is another one, or it shares too little wording with the ground.`,
  stalled: ({ drifting, reading: { acts }, memory: { accepted, pace } }) =>
    acts?.gives === 'stalled'
      ? `${acts.says} ${drifting ? 'The step also leans off the errand, so the run counts as drifting. The ground is still owed.' : 'This alone is no drift: what blocks the work is worth stating.'}`
      : pace !== undefined
        ? `The distance stays at ${pace.lowest} or above. ${drifting ? 'The step also leans off the errand, so the run counts as drifting. The ground is still owed.' : 'This alone is no drift: what blocks the work is worth stating.'}`
        : drifting
          ? `The distance is still not falling (${accepted.recent.join(', ')}), and the step before showed a sign of drift as well. The ground is still owed.`
          : `The distance is not falling (${accepted.recent.join(', ')}). If it holds on the next step, the run counts as drifting.`,
  advancing: ({ situation: { phi }, measured, isWordless }) =>
    isWordless || measured?.uncertain === true
      ? `Whether this serves the errand cannot be told from the words (phi ${two(phi)}). The user would know.`
      : `On the errand (phi ${two(phi)}).`,
  oscillating: ({ reading: { acts }, memory: { period } }) =>
    acts?.gives === 'oscillating'
      ? `${acts.says} Another approach, or a word from the user, would end it.`
      : `The same goals return in the same order every ${period ?? 0} steps. Returning once more leads back here; a new ground from the user, or another approach, would end it.`,
}

function selfReport({ reading: { progress }, situation: { phi }, drifting }: Told): string {
  return drifting
    ? `The step reports ${progress} at ${two(phi)} from the ground, and the step before showed a sign of drift as well. The ground is still owed.`
    : `The step reports ${progress} at ${two(phi)} from the ground. If it holds on the next step, the run counts as drifting.`
}
