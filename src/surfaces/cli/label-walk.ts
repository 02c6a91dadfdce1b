import type { Alarm, AlarmLabel } from '../../core/backtest/backtest.ts'
import { alarmLines, counted, labelWords } from '../../core/backtest/backtest-text.ts'
import type { Label } from '../../core/evaluation/labels.ts'
import type { Terminal } from './terminal.ts'

/** What the keys of the walk say of an alarm. */
const labelKeys: Readonly<Record<string, Label>> = {
  u: 'useful',
  f: 'false_alarm',
  r: 'redirected',
  c: 'unclear',
}
const longestNote = 1_000
/** Control and C, and the end of the input, as raw terminals send them. */
const stopKeys: ReadonlySet<string | null> = new Set(['q', 'Q', '\x03', '\x04', null])

/** How the walk shows itself and where its answers go. */
export interface WalkIo {
  terminal: Terminal
  show(text: string): void
  /** Stores an answer. */
  store(alarm: Alarm, said: AlarmLabel): Promise<void>
}

/** Asks a person about one alarm after the other, one key each, and stores each answer before the next. Returns their number. */
export async function walkAlarms(
  alarms: readonly Alarm[],
  { terminal, show, store }: WalkIo,
): Promise<number> {
  show(`${counted(alarms.length, 'alarm')} without a label. Was it right to say something?

  u useful   f false alarm   r redirected: you had moved the errand   c unclear   s skip   q quit

With a capital letter (U, F, R, C) you also give a reason.
`)
  let stored = 0
  for (const [nth, alarm] of alarms.entries()) {
    show(`\n${[`${nth + 1} of ${alarms.length}`, ...alarmLines(alarm, nth + 1)].join('\n')}\n? `)
    const said = await answered(terminal, show)
    if (said === 'quit') break
    if (said === 'skip') continue
    await store(alarm, said)
    stored++
  }
  show(`\nStored ${counted(stored, 'label')}.\n\n`)
  return stored
}

async function answered(
  terminal: Terminal,
  show: WalkIo['show'],
): Promise<AlarmLabel | 'skip' | 'quit'> {
  for (;;) {
    const key = await terminal.key()
    if (stopKeys.has(key)) {
      show('quit\n')
      return 'quit'
    }
    if (key === 's' || key === 'S') {
      show('skipped\n')
      return 'skip'
    }
    const label = labelKeys[key?.toLowerCase() ?? '']
    // Any other key may be a slip.
    if (label === undefined) continue
    show(labelWords[label])
    if (key === key?.toLowerCase()) {
      show('\n')
      return { label, note: null }
    }
    show('\nreason: ')
    const note = await typedLine(terminal, show)
    return note === null ? 'quit' : { label, note: note === '' ? null : note }
  }
}

/** A line as a person types it, trimmed; null if they stop instead of ending it. */
async function typedLine(terminal: Terminal, show: WalkIo['show']): Promise<string | null> {
  const typed: string[] = []
  for (;;) {
    const key = await terminal.key()
    if (key === '\r' || key === '\n') {
      show('\n')
      return typed.join('').trim()
    }
    if (key === null || key === '\x03' || key === '\x04') {
      show('\n')
      return null
    }
    if (key === '\x7f' || key === '\b') {
      if (typed.pop() !== undefined) show('\b \b')
    } else if (!/^\p{Cc}/u.test(key) && typed.length < longestNote) {
      typed.push(key)
      show(key)
    }
  }
}
