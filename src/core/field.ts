import { fnv1a } from './text.ts'
import { dayMs, isoTime, minuteMs } from './time.ts'

/**
 * The shared field: six quantities that are pushed by words and relax to a rest point that moves
 * with the seasons. With t in minutes, r the rest point of each quantity and ρ for `rotation`:
 *
 * - T (heat)      T' = (rT − T) / 45
 * - Q (moisture)  Q' = (rQ − 0.3 (T − rT) − Q) / 60       heat dries
 * - R (rain)      R' = (rain(Q) − R) / 20                 rain(Q) = max(0, 1.6 (Q − 0.45)), at most 1
 * - V (vitality)  V' = (rV + 0.4 (R − rR) − 0.5 (S − rS) − V) / 90
 * - S (stress)    S' = (rS + 0.6 |ω| − S) / 30
 * - rotation      ρ' = ω, ω' = −ρ / 12² − 0.8 ω / 12      a damped swing of about 75 minutes
 *
 * T, Q, R, V and S are shares of 0–1, ρ lies in −1…1. The equations are integrated by semi-implicit
 * Euler steps of at most a minute, from one utterance to the next: looking at the field changes
 * nothing, so the same seed and the same words at the same times give the same weather, whatever the
 * number of readers. A day without words ends every displacement.
 */
export interface Field {
  /** Milliseconds since 1970 of the last utterance. */
  at: number
  axes: Axes
  /** Change of the rotation a minute. */
  spin: number
  /** Speakers and their last time in milliseconds since 1970, oldest first, at most 256. */
  speakers: [speaker: string, at: number][]
}

/** The six quantities: T heat, Q moisture, R rain, V vitality, S stress in 0–1, rotation in −1…1. */
export interface Axes {
  T: number
  Q: number
  R: number
  V: number
  S: number
  rotation: number
}

/** The field at one time, as in the answer; numbers have four decimals. */
export interface Signal extends Axes {
  emotion: Emotion
  season: Season
  /** 0–1: how lively and at ease the field is, (1 + V − S) / 2. */
  hub_signal: number
  /** Eight hexadecimal digits; equal weather has equal signatures. */
  field_sig: string
  /** Speakers of the last 24 hours. */
  n_nodes: number
  /** ISO 8601 UTC. */
  ts: string
}

/** Number of words in an utterance. */
export const wordsRequired = 8

/** The words that move the field, by group. */
export const vocabulary = {
  ground: ['ground', 'body', 'bone', 'stone', 'soil', 'earth', 'dark', 'deep', 'cold', 'slow'],
  wind: ['breath', 'wind', 'flow', 'move', 'pass', 'reach', 'touch', 'come', 'go', 'walk'],
  form: ['form', 'edge', 'surface', 'frame', 'line', 'curve', 'arc', 'space', 'skin', 'leaf'],
  change: ['change', 'cross', 'shift', 'turn', 'break', 'fold', 'begin', 'door', 'fire', 'spark'],
} as const

/** A group of the vocabulary. */
export type WordGroup = keyof typeof vocabulary

/**
 * The effect of one word of a group: a share of the way to 1 (or, below 0, to 0) for each quantity, and an
 * impulse on the rotation. The n-th repetition of a word in an utterance has 1/n of the effect.
 */
export const pushes: Readonly<Record<WordGroup, Partial<Record<Axis, number>> & { spin: number }>> =
  {
    ground: { T: -0.04, S: -0.05, Q: 0.02, spin: 0 },
    wind: { Q: -0.03, S: 0.01, V: 0.02, spin: 0.012 },
    form: { V: 0.04, S: -0.02, spin: -0.008 },
    change: { T: 0.05, S: 0.05, R: 0.03, spin: 0.004 },
  }

/** The quantities that are shares of 0–1. */
type Axis = 'T' | 'Q' | 'R' | 'V' | 'S'

const axisNames = ['T', 'Q', 'R', 'V', 'S'] as const

/** Time constant of each quantity in minutes: it covers all but 1/e of the way to its rest point. */
export const relaxationMinutes = { T: 45, Q: 60, R: 20, V: 90, S: 30, rotation: 12 } as const

/** The four seasons, of the northern year. */
export const seasons = ['winter', 'spring', 'summer', 'autumn'] as const
export type Season = (typeof seasons)[number]

/** The moods; the field has the nearest one in heat, vitality and stress. */
export const emotions = {
  calm: { T: 0.45, V: 0.55, S: 0.1 },
  joy: { T: 0.65, V: 0.85, S: 0.15 },
  awe: { T: 0.35, V: 0.8, S: 0.4 },
  restless: { T: 0.6, V: 0.6, S: 0.6 },
  anger: { T: 0.85, V: 0.5, S: 0.85 },
  fear: { T: 0.3, V: 0.35, S: 0.8 },
  grief: { T: 0.25, V: 0.2, S: 0.45 },
  stillness: { T: 0.25, V: 0.35, S: 0.1 },
} as const satisfies Record<string, { T: number; V: number; S: number }>
export type Emotion = keyof typeof emotions

const yearMs = 365.2425 * dayMs
const longestMemoryMs = dayMs
const maxSpeakers = 256
const maxSpin = 0.25

/** Creates a field without utterances. */
export function newField(now: number, seed: string): Field {
  return { at: now, axes: restAt(now, seed), spin: 0, speakers: [] }
}

/** A parsed utterance: its words in order, or an error sentence. */
export function readUtterance(value: unknown): string[] | { fault: string } {
  const words = typeof value === 'string' ? value.split(/\s+/).filter((word) => word !== '') : value
  if (!Array.isArray(words) || words.some((word) => typeof word !== 'string')) {
    return { fault: `words: send ${wordsRequired} words of the vocabulary, as a list or a text` }
  }
  const spoken = words.map((word: string) => word.trim().toLowerCase())
  const unknown = spoken.find((word) => groupOf(word) === null)
  if (unknown !== undefined) {
    return {
      fault: `words: "${unknown.slice(0, 40)}" is not in the vocabulary; send ${wordsRequired} words of: ${Object.values(vocabulary).flat().join(' ')}`,
    }
  }
  if (spoken.length !== wordsRequired) {
    return { fault: `words: there are ${spoken.length}; send exactly ${wordsRequired}` }
  }
  return spoken
}

/** The group of a word, or null if the vocabulary lacks it. */
export function groupOf(word: string): WordGroup | null {
  for (const [group, words] of Object.entries(vocabulary)) {
    if ((words as readonly string[]).includes(word)) return group as WordGroup
  }
  return null
}

/** The field after `speaker` (any stable text) said `words` at `now`; a clock set back counts as no time. */
export function hear(
  field: Field,
  words: readonly string[],
  speaker: string,
  now: number,
  seed: string,
): Field {
  const at = Math.max(field.at, now)
  const { axes, spin } = advance(field, at, seed)
  const times = new Map<string, number>()
  let impulse = 0
  for (const word of words) {
    const group = groupOf(word)
    if (group === null) continue
    const time = (times.get(word) ?? 0) + 1
    times.set(word, time)
    const push = pushes[group]
    for (const axis of axisNames) {
      const share = (push[axis] ?? 0) / time
      axes[axis] += share > 0 ? share * (1 - axes[axis]) : share * axes[axis]
    }
    impulse += push.spin / time
  }
  const others = field.speakers.filter(
    ([name, last]) => name !== speaker && last > at - longestMemoryMs,
  )
  return {
    at,
    axes,
    spin: clamp(spin + impulse, -maxSpin, maxSpin),
    speakers: [...others.slice(-(maxSpeakers - 1)), [speaker, at]],
  }
}

/** The field at `now`; reading does not change it. */
export function signalAt(field: Field, now: number, seed: string): Signal {
  const at = Math.max(field.at, now)
  const { axes } = advance(field, at, seed)
  const shown = Object.fromEntries(
    Object.entries(axes).map(([name, value]) => [name, rounded(value)]),
  ) as unknown as Axes
  const season = seasonAt(at)
  return {
    ...shown,
    emotion: emotionOf(axes),
    season,
    hub_signal: rounded(clamp((1 + axes.V - axes.S) / 2, 0, 1)),
    field_sig: signatureOf(`${Object.values(shown).join(' ')} ${season}`),
    n_nodes: field.speakers.filter(([, last]) => last > at - longestMemoryMs).length,
    ts: isoTime(at),
  }
}

/** The rest point at a time: the weather of the season, with a daily wave from the seed. */
export function restAt(now: number, seed: string): Axes {
  const year = (2 * Math.PI * (now % yearMs)) / yearMs
  const day = (2 * Math.PI * (now % dayMs)) / dayMs
  const wave = (axis: Axis, size: number) => size * Math.sin(day + phaseOf(seed, axis))
  const T = 0.45 - 0.2 * Math.cos(year) + wave('T', 0.05)
  const Q = 0.5 + 0.12 * Math.cos(year - 0.6) + wave('Q', 0.04)
  return {
    T,
    Q,
    R: rainOf(Q),
    V: 0.5 - 0.15 * Math.cos(year - 0.4) + wave('V', 0.04),
    S: 0.2 + 0.05 * Math.cos(year) + wave('S', 0.03),
    rotation: 0,
  }
}

/** Describes a signal in one sentence. */
export function describeSignal({ T, R, V, S, rotation, emotion, season }: Signal): string {
  const heat = T < 0.33 ? 'cold' : T < 0.6 ? 'mild' : 'warm'
  const rain = R < 0.1 ? 'dry' : R < 0.35 ? 'damp' : 'raining'
  const life = V < 0.4 ? 'quiet' : V < 0.65 ? 'awake' : 'full of life'
  const ease = S < 0.3 ? 'at ease' : S < 0.6 ? 'uneasy' : 'strained'
  const turn = Math.abs(rotation) < 0.05 ? 'still' : rotation > 0 ? 'turning on' : 'turning back'
  return `It is ${season}: ${heat}, ${rain} and ${turn}; the field is ${life} and ${ease}, and feels like ${emotion}.`
}

/** Describes the effect of an utterance: the quantities that moved by more than 0.02. */
export function describeChange(before: Signal, after: Signal): string {
  const moved = changes
    .map(({ axis, up, down }) => ({ by: after[axis] - before[axis], up, down }))
    .filter(({ by }) => Math.abs(by) > 0.02)
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .map(({ by, up, down }) => (by > 0 ? up : down))
  const said = moved.length === 0 ? 'The field hardly moved.' : `The field ${listed(moved)}.`
  return `${said} ${describeSignal(after)}`
}

const changes: readonly { axis: Axis; up: string; down: string }[] = [
  { axis: 'T', up: 'grew warmer', down: 'cooled' },
  { axis: 'Q', up: 'drew moisture', down: 'dried' },
  { axis: 'R', up: 'began to rain', down: 'cleared' },
  { axis: 'V', up: 'came alive', down: 'tired' },
  { axis: 'S', up: 'tensed', down: 'eased' },
]

function listed(parts: readonly string[]): string {
  return parts.length < 2
    ? parts.join('')
    : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}

/** The quantities of `field` at `until` without further utterances. */
function advance(field: Field, until: number, seed: string): { axes: Axes; spin: number } {
  const elapsedMs = until - field.at
  if (elapsedMs >= longestMemoryMs) return { axes: restAt(until, seed), spin: 0 }
  const axes = { ...field.axes }
  let { spin } = field
  const steps = Math.ceil(elapsedMs / minuteMs)
  const minutes = steps === 0 ? 0 : elapsedMs / minuteMs / steps
  const tau = relaxationMinutes
  for (let step = 1; step <= steps; step++) {
    const rest = restAt(field.at + step * minutes * minuteMs, seed)
    axes.T += (minutes * (rest.T - axes.T)) / tau.T
    axes.Q += (minutes * (rest.Q - 0.3 * (axes.T - rest.T) - axes.Q)) / tau.Q
    axes.R += (minutes * (rainOf(axes.Q) - axes.R)) / tau.R
    axes.S += (minutes * (rest.S + 0.6 * Math.abs(spin) - axes.S)) / tau.S
    const lively = rest.V + 0.4 * (axes.R - rest.R) - 0.5 * (axes.S - rest.S)
    axes.V += (minutes * (lively - axes.V)) / tau.V
    spin -= minutes * (axes.rotation / tau.rotation ** 2 + (0.8 * spin) / tau.rotation)
    axes.rotation = clamp(axes.rotation + minutes * spin, -1, 1)
    for (const axis of axisNames) axes[axis] = clamp(axes[axis], 0, 1)
  }
  return { axes, spin }
}

function rainOf(moisture: number): number {
  return clamp(1.6 * (moisture - 0.45), 0, 1)
}

/** Meteorological quarters of the year, as the rest point has them. */
function seasonAt(now: number): Season {
  const quarter = Math.floor(((now % yearMs) / yearMs) * 4 + 1 / 3) % 4
  return seasons[quarter] ?? 'winter'
}

function emotionOf({ T, V, S }: Axes): Emotion {
  let nearest: Emotion = 'calm'
  let least = Number.POSITIVE_INFINITY
  for (const [name, at] of Object.entries(emotions)) {
    const far = (at.T - T) ** 2 + (at.V - V) ** 2 + (at.S - S) ** 2
    if (far < least) {
      least = far
      nearest = name as Emotion
    }
  }
  return nearest
}

/** An angle for one quantity, derived from the seed. */
function phaseOf(seed: string, axis: Axis): number {
  return (2 * Math.PI * (fnv1a(`${seed} ${axis}`) >>> 0)) / 2 ** 32
}

function signatureOf(text: string): string {
  return (fnv1a(text) >>> 0).toString(16).padStart(8, '0')
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

function rounded(value: number): number {
  // Adding 0 turns -0 into 0.
  return Number(value.toFixed(4)) + 0
}
