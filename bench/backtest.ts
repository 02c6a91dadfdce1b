import { judgeSession, type Session } from '../src/core/backtest/backtest.ts'
import type { DetectorName } from '../src/core/detector/contract/detector.ts'
import type { HostEvent } from '../src/core/hosts/host-event.ts'
import { placeOfFile, transcripts } from '../src/core/transcripts/transcript.ts'
import { claudeLines, type SessionPart } from '../test/session-lines.ts'
import { englishGoal } from './goals.ts'
import { compared, type Row } from './table.ts'

const sessions = 1000
/** Steps of a session, each with what the agent says and one act. */
const stepsOfEach = 100
const began = Date.UTC(2026, 0, 1)

/**
 * Measures seconds of a back-test of 100,000 steps by words alone: from the lines of session files to verdicts. The peer
 * is the same by the published rule.
 */
export function measureBacktest(): Row[] {
  process.stderr.write('backtest\n')
  const files = Array.from({ length: sessions }, (_, nth) => linesOf(nth))
  const times: Record<DetectorName, number> = { meaning: 0, overlap: 0 }
  let steps = 0
  for (const [nth, lines] of files.entries()) {
    for (const detector of ['meaning', 'overlap'] as const) {
      const start = performance.now()
      const judged = judgeSession(sessionOf(nth, lines), { detector })
      times[detector] += performance.now() - start
      if (detector === 'meaning') steps += judged.steps.length
    }
  }
  const per100k = (ms: number) => [((ms / 1000) * 100_000) / steps]
  return [
    compared(
      '100,000 steps of session files by words alone, s',
      per100k(times.meaning),
      'the same by the published rule',
      per100k(times.overlap),
    ),
  ]
}

function linesOf(nth: number): string[] {
  const parts: SessionPart[] = [{ prompt: englishGoal(nth) }]
  for (let at = 1; at < stepsOfEach; at++) {
    const input = {
      file_path: `/home/kim/shop/src/part-${at}.js`,
      old_string: `${at}`,
      new_string: `${at + 1}`,
    }
    parts.push(
      { say: `Now I ${englishGoal(sessions + nth * stepsOfEach + at)}.` },
      { tool: 'Edit', input },
    )
  }
  return claudeLines(`session-${nth}`, parts, began).trimEnd().split('\n')
}

function sessionOf(nth: number, lines: readonly string[]): Session {
  const read = transcripts['claude-code'](placeOfFile('claude-code', `session-${nth}.jsonl`))
  const events: HostEvent[] = lines.flatMap((line) => read(JSON.parse(line)))
  return { host: 'claude-code', runId: `claude-code:session-${nth}`, events }
}
