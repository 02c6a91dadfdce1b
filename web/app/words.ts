import { counted } from './time.ts'

/** Sentences that several views say, each in one form. */
export const words = {
  waitingForStep: 'Waiting for the first step. This page changes by itself.',
  undecided: 'The words do not tell. A plan or a parent goal would.',
  nobody: 'Nobody is waited for.',
  addressRefused:
    'Use an https address on a public host, or have it added to PLUMBLINE_WEBHOOK_ALLOW.',
} as const

/** What a run does that drifts. `atLeast` if its earlier steps were not read. */
export function saysOfDrift(steps: number, atLeast = false): string {
  return `Drifting for ${atLeast ? 'at least ' : ''}${counted(steps, 'step')}. The errand is still owed.`
}

/** How much of the acts has been seen, `93 % of 214 acts`. */
export function saysOfSeen({ share, acts }: { share: number; acts: number }): string {
  return `${Math.round(share * 100)} % of ${counted(acts, 'act')}`
}

/** Which name the goal has in the place of another, in parts, so that a view can mark the names. */
export function saysOfNames<Name>(goal: Name, errand: Name): (Name | string)[] {
  return ['The goal names ', goal, ' where the errand names ', errand, '.']
}

/** A text of somebody else for a sentence, without the characters that turn the words beside it around. */
export function closedIn(text: string): string {
  return text.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '')
}
