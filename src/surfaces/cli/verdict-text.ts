import type { Verdict } from '../../core/detector/detect.ts'

/** The fields of a verdict that a person at the command line reads. */
export type PrintedVerdict = Pick<
  Verdict,
  'goal' | 'drifting' | 'uncertain' | 'reason' | 'phi' | 'confidence' | 'why' | 'advice'
> & { judgment?: Verdict['judgment'] | undefined }

/**
 * Returns a verdict as three or four lines: the result, the reason, the advice, and the judgment of the
 * whole run.
 */
export function verdictText(verdict: PrintedVerdict): string {
  const { goal, drifting, uncertain, reason, phi, confidence, why, advice, judgment } = verdict
  const word = drifting ? 'DRIFTING' : uncertain ? 'uncertain' : 'on the errand'
  const run =
    judgment === undefined ? '' : `  ${judgment.verdict}: ${judgment.because} ${judgment.counsel}\n`
  return `${word}: ${reason} (phi ${phi.toFixed(2)}, confidence ${confidence.toFixed(2)})  ${goal}\n  ${why}\n  ${advice}\n${run}`
}
