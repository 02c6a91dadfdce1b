import type { Verdict } from '../../core/detector/detect.ts'

/** What a person at the command line reads of a verdict. */
export type ToldVerdict = Pick<
  Verdict,
  'goal' | 'drifting' | 'uncertain' | 'reason' | 'phi' | 'confidence' | 'why' | 'advice'
> & { judgment?: Verdict['judgment'] | undefined }

/** A verdict as three lines or four: what it is, why, what it can mean, and what the whole run shows. */
export function toldVerdict(verdict: ToldVerdict): string {
  const { goal, drifting, uncertain, reason, phi, confidence, why, advice, judgment } = verdict
  const word = drifting ? 'DRIFTING' : uncertain ? 'uncertain' : 'on the errand'
  const run =
    judgment === undefined ? '' : `  ${judgment.verdict}: ${judgment.because} ${judgment.counsel}\n`
  return `${word}: ${reason} (phi ${phi.toFixed(2)}, confidence ${confidence.toFixed(2)})  ${goal}\n  ${why}\n  ${advice}\n${run}`
}
