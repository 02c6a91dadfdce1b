import { cutTo } from '../text.ts'
import { isoTime } from '../time.ts'
import type { Alarm, Backtest, BacktestStep, JudgedSession } from './backtest.ts'
import {
  type BacktestTitle,
  counted,
  labelText,
  numbered,
  percent,
  perThousand,
  summary,
} from './backtest-text.ts'

/** Most steps that the drawing of a session shows: those around its alarms come first. */
const mostDrawn = 60
/** Displacements from here on stand at the edge of a drawing. */
const widestPhi = 0.7
const width = 240
const rowHeight = 20

/** The report as one page of HTML that needs no other file. Texts of sessions are only ever shown as text. */
export function backtestPage(
  found: Backtest,
  sessions: readonly JudgedSession[],
  title: BacktestTitle,
): string {
  const { alarms, rate, uncertain, quality } = found
  const big = [
    ['sessions', numbered(found.sessions)],
    ['steps', numbered(found.steps)],
    ['alarms', numbered(alarms.length)],
    ['of 1,000 steps', rate === null ? '–' : perThousand(rate)],
    ['uncertain', uncertain === null ? '–' : percent(uncertain)],
    ...(quality.precision === null ? [] : [['precision', percent(quality.precision)]]),
  ]
  const drawn = [...new Set(alarms.map(({ runId }) => runId))].slice(0, 40)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>What Plumbline would have said</title>
<style>${styles}</style>
<main>
<h1>What Plumbline would have said</h1>
<p class="lead">${escaped(summary(found, title)[0] ?? '')}.</p>
<dl class="figures">${big.map(([name, value]) => `<div><dd>${escaped(value ?? '')}</dd><dt>${escaped(name ?? '')}</dt></div>`).join('')}</dl>
<ul>${summary(found, title)
    .slice(1)
    .map((line) => `<li>${escaped(line)}</li>`)
    .join('')}</ul>
${alarms.length === 0 ? '<p class="lead">Nothing would have alarmed.</p>' : ''}
${drawn
  .map((runId) => {
    const session = sessions.find((each) => each.runId === runId)
    const own = alarms.filter((alarm) => alarm.runId === runId)
    return session === undefined ? '' : section(session, own)
  })
  .join('\n')}
<footer>Each session hangs from its errand: the further right, the further from it. A filled diamond drifts, a ring is uncertain.
Read on this machine; nothing was sent anywhere.</footer>
</main>
</html>
`
}

function section({ runId, began, steps }: JudgedSession, alarms: readonly Alarm[]): string {
  const first = alarms[0]
  if (first === undefined) return ''
  const when = began === null ? '' : `${isoTime(began).slice(0, 16).replace('T', ' ')} · `
  const agent = steps.filter(({ agentId }) => agentId === first.agentId)
  const from = Math.max(0, agent.findIndex(({ step }) => step === first.step) - 24)
  return `<section>
<h2>${escaped(cutTo(first.errand.replace(/\s+/g, ' '), 160))}</h2>
<p class="meta">${escaped(`${when}${runId} · ${counted(agent.length, 'step')}`)}</p>
${thread(agent.slice(from, from + mostDrawn))}
${alarms.map(alarm).join('\n')}
</section>`
}

function alarm(shown: Alarm): string {
  const { step, why, doing } = shown
  const label = labelText(shown)
  const did =
    doing.length === 0
      ? ''
      : `<br><span class="did">${escaped(cutTo(doing.join('; '), 300))}</span>`
  const said = label === null ? '' : `<br><span class="said">Labelled ${escaped(label)}</span>`
  return `<p class="why"><b>Step ${step}</b> ${escaped(why)}${did}${said}</p>`
}

/** The steps as they hang from the line of the errand. */
function thread(steps: readonly BacktestStep[]): string {
  const x = ({ phi }: BacktestStep) => 8 + (Math.min(phi, widestPhi) / widestPhi) * (width - 16)
  const y = (at: number) => at * rowHeight + rowHeight / 2
  const height = steps.length * rowHeight
  const line = steps.map((step, at) => `${x(step).toFixed(1)},${y(at)}`).join(' ')
  const marks = steps.map((step, at) => mark(step, x(step), y(at))).join('')
  const rows = steps
    .map(
      ({ goal, drifting, step }) =>
        `<li${drifting ? ' class="off"' : ''}><i>${step}</i>${escaped(cutTo(goal.replace(/\s+/g, ' '), 140))}</li>`,
    )
    .join('')
  return `<div class="run"><svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true"><line class="ground" x1="8" x2="8" y1="0" y2="${height}"/><polyline points="${line}"/>${marks}</svg><ol>${rows}</ol></div>`
}

function mark({ drifting, uncertain }: BacktestStep, x: number, y: number): string {
  if (drifting)
    return `<rect class="off" x="${x - 4}" y="${y - 4}" width="8" height="8" transform="rotate(45 ${x} ${y})"/>`
  return `<circle class="${uncertain ? 'ring' : 'on'}" cx="${x}" cy="${y}" r="3.4"/>`
}

function escaped(text: string): string {
  const marks: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  // Marks that turn the direction of writing would move what stands beside them.
  const plain = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
  return plain.replace(/[&<>"']/g, (mark) => marks[mark] ?? mark)
}

const styles = `
:root{color-scheme:light dark;--bg:#fafaf7;--ink:#191c1f;--ink2:#4c5257;--ink3:#686e74;--line:#e5e5de;--ground:#1c4f9c;--drift:#b93a16;--mark:#d2481f;--arm:#c9cccb}
@media(prefers-color-scheme:dark){:root{--bg:#121416;--ink:#ecedeb;--ink2:#b3b9be;--ink3:#8d949a;--line:#2a2f34;--ground:#8ab4f8;--drift:#ff8f6b;--mark:#ff7a50;--arm:#3a4147}}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/20px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:900px;margin:0 auto;padding:44px 20px}
h1{font-size:28px;line-height:36px;font-weight:640;letter-spacing:-.02em;margin:0 0 8px}
h2{font-size:20px;line-height:28px;font-weight:640;letter-spacing:-.02em;margin:0;overflow-wrap:anywhere}
.lead{font-size:16px;line-height:26px;color:var(--ink2)}
.figures{display:flex;flex-wrap:wrap;gap:28px;margin:20px 0}
.figures div{display:flex;flex-direction:column}
dd{margin:0;font-size:20px;line-height:28px;font-weight:600}dt{color:var(--ink3);font-size:12px}
ul{padding-left:16px;color:var(--ink2)}
section{border-top:1px solid var(--line);padding:28px 0}
.meta{color:var(--ink3);font:12px/16px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.run{display:flex;gap:16px;align-items:flex-start;overflow-x:auto}
.run svg{flex:none}
.run ol{list-style:none;margin:0;padding:0;min-width:0}
.run li{height:${rowHeight}px;line-height:${rowHeight}px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:560px}
.run i{font-style:normal;color:var(--ink3);display:inline-block;width:32px}
.run .off{color:var(--drift);font-weight:520}
.ground{stroke:var(--ground);stroke-width:2}
polyline{fill:none;stroke:var(--arm);stroke-width:1.4}
.on{fill:var(--ink2)}.ring{fill:var(--bg);stroke:var(--ink2);stroke-width:1.4}rect.off{fill:var(--mark)}
.why{color:var(--ink2);overflow-wrap:anywhere}.why b{color:var(--drift)}.did{color:var(--ink3)}.said{color:var(--ink);font-weight:520}
footer{border-top:1px solid var(--line);padding-top:16px;color:var(--ink3);font-size:12px}
@media(max-width:600px){.run svg{width:115px}.run li{max-width:320px}}
`
