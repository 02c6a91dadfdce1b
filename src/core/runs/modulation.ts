import { wellFormed } from '../text.ts'

/** The drift modes a role can act on. */
export const modes = [
  'ungrammatical',
  'topic-drift',
  'echo-spiral',
  'deliberation-stall',
  'goal-drift',
  'stalled',
  'self-report:stuck',
  'self-report:circling',
] as const

export type Mode = (typeof modes)[number]

/** The modes that each depth acts on; it sets how readily a role returns to the ground. */
export const depths = {
  deep: ['ungrammatical', 'topic-drift', 'goal-drift'],
  balanced: [
    'ungrammatical',
    'topic-drift',
    'goal-drift',
    'echo-spiral',
    'self-report:stuck',
    'self-report:circling',
  ],
  tight: modes,
} as const satisfies Record<string, readonly Mode[]>

export type Depth = keyof typeof depths

/** The names of the depths, loosest first. */
export const depthNames = Object.keys(depths) as [Depth, ...Depth[]]

/** One role of a team. */
export interface Role {
  role: string
  recurse: Depth
  /** Modes that replace those of its depth. */
  modes?: Mode[]
  /** The sentence for a returning role; true for the default sentence, false if it never returns. */
  return?: string | boolean
}

/** A team and its roles. */
export interface Template {
  name: string
  /** The purpose of the team. */
  task: string
  roles: Role[]
}

/** The published teams. */
export const presets: readonly Template[] = [
  {
    name: 'deep-search',
    task: 'Search far from the goal, with one role that holds what was found against it.',
    roles: [
      { role: 'explorer', recurse: 'deep' },
      {
        role: 'checker',
        recurse: 'tight',
        return:
          'The last step has not been held against the goal yet: stated anew, the goal says whether it serves.',
      },
    ],
  },
  {
    name: 'iterative-refinement',
    task: 'Improve a draft, turn by turn, against a critic.',
    roles: [
      { role: 'drafter', recurse: 'balanced' },
      {
        role: 'critic',
        recurse: 'balanced',
        modes: ['echo-spiral', 'topic-drift', 'ungrammatical'],
        return:
          'Draft and critique agree without getting better: one concrete flaw, named and changed, is owed.',
      },
    ],
  },
  {
    name: 'adversarial-deliberation',
    task: 'Argue two sides of a question and decide it.',
    roles: [
      { role: 'advocate-a', recurse: 'deep' },
      { role: 'advocate-b', recurse: 'deep' },
      {
        role: 'synthesizer',
        recurse: 'tight',
        return:
          'The sides repeat themselves: the one decision that settles the shared goal is owed.',
      },
    ],
  },
]

/** The reaction of a role to a verdict. */
export interface Modulation {
  /** Whether the role must return to the ground now. */
  return: boolean
  advice: string
  /** The source of the decision: the depth of the role, its listed modes, or `unstyled` without a team. */
  basis: Depth | 'modes' | 'unstyled'
  team: string | null
  role: string | null
}

/**
 * Decides how a role of a team reacts to a verdict; an agent without a team (null) returns whenever it
 * drifts. A role acts on its modes from their first sign, drifting or not. A tight role also acts on drift
 * of other reasons, such as an oscillation.
 */
export function modulate(
  verdict: { reason: string; drifting: boolean },
  styled: { team: string; role: Role } | null,
): Modulation {
  const { reason, drifting } = verdict
  if (styled === null) {
    const advice = drifting ? usualReturn : `Nothing to return from (${reason}).`
    return { return: drifting, advice, basis: 'unstyled', team: null, role: null }
  }
  const { team, role } = styled
  const listed: readonly string[] = role.modes ?? depths[role.recurse]
  const isTight = role.modes === undefined && role.recurse === 'tight'
  const acts = role.return !== false && (listed.includes(reason) || (isTight && drifting))
  return {
    return: acts,
    advice: acts ? returnOf(role) : staying(role, reason, drifting),
    basis: role.modes === undefined ? role.recurse : 'modes',
    team,
    role: role.role,
  }
}

const usualReturn = 'The ground is still owed; the step that serves it most directly leads back.'

function returnOf(role: Role): string {
  return typeof role.return === 'string' ? role.return : usualReturn
}

function staying({ role }: Role, reason: string, drifting: boolean): string {
  const isMode = (modes as readonly string[]).includes(reason) || drifting
  return isMode
    ? `The role ${role} does not return for ${reason}.`
    : `Nothing to return from (${reason}).`
}

/**
 * Reads the team and role of a body; null if it has none. A value that is not a text reads as an unknown
 * name.
 */
export function readStyle(fields: Readonly<Record<string, unknown>>): {
  team: string | null
  role: string | null
} {
  return { team: nameOf(fields.team), role: nameOf(fields.role) }
}

function nameOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? wellFormed(value) : ''
}
