/** What a message of the user can do to the assignment. */
export const userEffects = ['none', 'refines', 'adds', 'replaces'] as const

/** The effect of a message of the user on the requests that stand. */
export type UserEffect = (typeof userEffects)[number]
