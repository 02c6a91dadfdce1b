import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DetectorName } from '../src/core/detector/contract/detector.ts'
import { judgeFiles, threadsFor } from '../src/surfaces/cli/judge-files.ts'
import { claudeLines, type SessionPart } from '../test/session-lines.ts'
import { englishGoal } from './goals.ts'
import { compared, type Row } from './table.ts'

const sessions = 1000
/** Steps of a session, each with what the agent says and one act. */
const stepsOfEach = 100
const rounds = 3
const began = Date.UTC(2026, 0, 1)

/**
 * Measures seconds of a back-test of 100,000 steps by words alone, as `plumbline backtest` does it: from session files to
 * verdicts, on all cores and on one. The peer is the same by the published rule.
 */
export async function measureBacktest(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  try {
    const paths: string[] = []
    for (let nth = 0; nth < sessions; nth++) {
      const path = join(folder, `session-${nth}.jsonl`)
      await writeFile(path, linesOf(nth))
      paths.push(path)
    }
    const cores = threadsFor('claude-code', paths, availableParallelism())
    return [await measured('on all cores', paths, cores), await measured('on one core', paths, 1)]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function measured(where: string, paths: string[], threads: number): Promise<Row> {
  const times: Record<DetectorName, number[]> = { meaning: [], overlap: [] }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`backtest, ${where}, round ${round}\n`)
    for (const detector of ['meaning', 'overlap'] as const) {
      const task = { host: 'claude-code', since: 0, judges: [{ detector }] } as const
      const start = performance.now()
      const judged = await judgeFiles(paths, task, threads, () => {})
      const steps = judged.flat().reduce((sum, session) => sum + session.steps.length, 0)
      times[detector].push((((performance.now() - start) / 1000) * 100_000) / steps)
    }
  }
  return compared(
    `100,000 steps of session files by words alone, ${where}, s`,
    times.meaning,
    'the same by the published rule',
    times.overlap,
  )
}

function linesOf(nth: number): string {
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
  return claudeLines(`session-${nth}`, parts, began)
}
