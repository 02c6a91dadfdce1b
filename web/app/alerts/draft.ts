import type { api } from '../api.ts'

type Alerts = Awaited<ReturnType<typeof api.alerts>>

/** The saved configuration of the account's alerts. */
export type AlertConfig = NonNullable<Alerts['alert']>
export type Mode = Alerts['modes'][number]['reason']
export type Severity = Alerts['modes'][number]['default_severity']

/** The settings of one mode as they are being edited; an empty text is that of the account. */
export interface ModeDraft {
  on: boolean
  severity: Severity
  min_phi: string
  url: string
}

/** The settings as they are being edited. */
export interface Draft {
  url: string
  min_phi: string
  incidents: boolean
  /** 0 is never. */
  renotify_minutes: number
  /** When to tell that an agent works alone: 0 minutes is never. */
  unattended: { minutes: number; acts: string }
  modes: Record<string, ModeDraft>
}

/** What the modes of the interface are called, in the order of the table. */
export const modeNames: readonly (readonly [Mode, string])[] = [
  ['goal-drift', 'The goal left the ground'],
  ['self-report:stuck', 'The agent says it is stuck'],
  ['self-report:circling', 'The agent says it goes in circles'],
  ['stalled', 'The distance stopped falling'],
  ['ungrammatical', 'The step could not be read'],
]

const firstFloor = 0.2
const firstRenotifyMinutes = 360
const firstActs = '20'

/** The draft of what is saved, or of what a new account would begin with. */
export function draftOf({ alert, modes }: Alerts): Draft {
  return {
    url: alert?.url ?? '',
    min_phi: (alert?.min_phi ?? firstFloor).toFixed(2),
    incidents: alert === null ? true : alert.incidents === true,
    renotify_minutes: alert === null ? firstRenotifyMinutes : (alert.renotify_minutes ?? 0),
    unattended: {
      minutes: alert?.unattended?.minutes ?? 0,
      acts: String(alert?.unattended?.acts ?? firstActs),
    },
    modes: Object.fromEntries(
      modes.map(({ reason, default_severity }) => {
        const saved = alert?.modes?.[reason]
        return [
          reason,
          {
            on: saved?.on ?? true,
            severity: saved?.severity ?? default_severity,
            min_phi: saved?.min_phi === undefined ? '' : saved.min_phi.toFixed(2),
            url: saved?.url ?? '',
          },
        ]
      }),
    ),
  }
}

/** What is sent: only the modes that differ from what they are by default. */
export function bodyOf(draft: Draft, { modes }: Pick<Alerts, 'modes'>) {
  const changed = modes.flatMap(({ reason, default_severity }) => {
    const mode = draft.modes[reason]
    if (mode === undefined) return []
    const { on, severity, min_phi, url } = mode
    if (on && severity === default_severity && min_phi === '' && url === '') return []
    const floor = min_phi === '' ? {} : { min_phi: Number(min_phi) }
    return [[reason, { on, severity, ...floor, ...(url === '' ? {} : { url }) }] as const]
  })
  return {
    url: draft.url.trim(),
    min_phi: Number(draft.min_phi),
    incidents: draft.incidents,
    ...(draft.incidents && draft.renotify_minutes > 0
      ? { renotify_minutes: draft.renotify_minutes }
      : {}),
    ...(draft.unattended.minutes === 0
      ? {}
      : {
          unattended: {
            minutes: draft.unattended.minutes,
            acts: Number(draft.unattended.acts),
          },
        }),
    ...(changed.length === 0 ? {} : { modes: Object.fromEntries(changed) }),
  }
}

/** Whether a text is a number of acts: 1 or more. */
export function isActs(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text.trim())
}

/** Whether a text is a phi: a number from 0 to 1. */
export function isPhi(text: string): boolean {
  return text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1
}
