import { escapeHtml } from '../../src/core/html.ts'
import type { RecordedRun, RecordedStep } from '../product/recorded.ts'
import { saysOfMark } from '../shared/line.ts'
import { drawLine, type Layout, type Row, rowsOf } from '../shared/plumb-line.ts'

const wide: Layout = { x: 12, plot: 150, width: 170, step: 30, ground: 30, above: 0, end: 'bar' }
const narrow: Layout = { ...wide, plot: 76, width: 96 }

/** A recorded run as a drawing with its words. */
export function drawRun(run: RecordedRun): string {
  const rows = rowsOf(run)
  const drawn = [drawLine(rows, wide, 'for-desktop'), drawLine(rows, narrow, 'for-phone')].join('')
  return `<figure class="block run" aria-label="A recorded run with its verdicts">${drawn}<ol>${rows.map(rowHtml).join('')}</ol></figure>\n`
}

function rowHtml(row: Row<RecordedStep>): string {
  if (row.kind === 'ground') {
    const said = row.isFirst ? '' : '<span class="said">the user moved it</span>'
    return `<li class="ground"><span class="goal">${escapeHtml(row.text)}</span>${said}</li>`
  }
  if (row.kind === 'said') {
    return `<li class="quiet"><span class="goal">“${escapeHtml(row.text)}”</span><span class="said">moves nothing</span></li>`
  }
  const { step, mark } = row
  const goal = step.goal === '' ? '<em>blank</em>' : goalHtml(step)
  const name = mark === 'drift' || mark === 'unsure-drift' ? 'drift' : mark
  return `<li class="${name}"><span class="goal">${goal}</span><span class="said"><span class="visually-hidden">${saysOfMark[mark]}, </span>${sideNote(step)}</span></li>`
}

/** Words that the goal shares with the errand are underlined. */
function goalHtml({ goal, shared }: RecordedStep): string {
  const known = new Set(shared.map((word) => word.toLowerCase()))
  return goal
    .split(/([\p{L}\p{N}]+)/u)
    .map((piece) =>
      known.has(piece.toLowerCase()) ? `<u>${escapeHtml(piece)}</u>` : escapeHtml(piece),
    )
    .join('')
}

function sideNote({ reason, evidence, uncertain }: RecordedStep): string {
  const named = reason === 'advancing' || reason === 'goal-drift' ? '' : reason
  const sum = evidence === null ? '' : `evidence ${evidence.sum.toFixed(2).replace('-', '−')}`
  return [named, named === '' && uncertain ? 'uncertain' : '', sum].filter(Boolean).join(', ')
}

/** A recorded run in words, a line for each step. */
export function runInWords(run: RecordedRun): string {
  return rowsOf(run)
    .map((row) => {
      if (row.kind === 'ground')
        return `${row.isFirst ? 'the errand' : 'the user moved it'}: ${row.text}`
      if (row.kind === 'said') return `the user said, which moves nothing: ${row.text}`
      const { step, mark } = row
      const { goal, reason, phi } = step
      return `${saysOfMark[mark]} (${reason}, phi ${phi.toFixed(2)}): ${goal === '' ? '(blank)' : goal}`
    })
    .join('\n')
}
