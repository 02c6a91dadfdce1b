import { rounded } from '../figures.ts'

/** Phrases that claim a cause or an outcome, as published. */
export const causeClaims = [
  "that['’]s why",
  'the reason',
  'must have been',
  'must be',
  'should work',
  'should fix',
  'should be',
  'should now',
  'will fix',
  'will work',
  'would fix',
  'which means',
  'this means',
  'that means',
  'caused by',
  'due to',
  'so that',
  'because',
  'therefore',
  'presumably',
  'obviously',
  'clearly',
  'probably',
  'i think',
  'i believe',
  'i expect',
  'i assume',
  'seems to',
  'appears to',
  'looks like',
  'since',
] as const

/** Phrases that report something seen, as published. */
export const observations = [
  'exit code',
  'exit 0',
  'exit 1',
  'tests passed',
  'tests failed',
  'test passed',
  'test failed',
  'output was',
  'returned',
  'printed',
  'logged',
  'the file contains',
  'grep found',
  'i read',
  'i saw',
  'i ran',
  'confirmed',
  'verified',
  'observed',
  'measured',
  'reported',
  'showed',
  'says',
] as const

/** The claims and observations of a text, by English phrases. */
export interface Claims {
  claims: number
  observations: number
  /** Observations divided by claims and observations, 0–1, two decimals; null if the text has neither. */
  grounded: number | null
}

const claimPattern = patternOf(causeClaims)
const observationPattern = patternOf(observations)

/** Counts the phrases in a text; a phrase inside a longer one does not count again. */
export function countClaims(text: string): Claims {
  const claims = text.match(claimPattern)?.length ?? 0
  const seen = text.match(observationPattern)?.length ?? 0
  return {
    claims,
    observations: seen,
    grounded: claims + seen === 0 ? null : rounded(seen / (claims + seen)),
  }
}

/** Longest first, because a regular expression takes the first matching alternative. */
function patternOf(phrases: readonly string[]): RegExp {
  const longestFirst = [...phrases].sort((a, b) => b.length - a.length)
  const spaced = longestFirst.map((phrase) => phrase.replaceAll(' ', '\\s+'))
  return new RegExp(`(?<![a-z0-9])(?:${spaced.join('|')})(?![a-z0-9])`, 'gi')
}
