import { readFileSync } from 'node:fs'
import type { Share } from '../../src/core/figures.ts'
import { guidanceFor } from '../../src/core/guidance/guidance.ts'
import { escapeHtml } from '../../src/core/html.ts'
import { drawLine, type Layout, type Row, rowsOf } from '../shared/plumb-line.ts'
import { icon, logo } from '../shared/signs.ts'
import { figures, kindsInWords } from './figures.ts'
import { hangingRows, hangLayout } from './hanging.ts'
import type { RecordedRun, RecordedStep } from './recorded.ts'
import { type Said, saidOf } from './verdict.ts'

/** The address in the commands of the page. The script of the page puts its own in. */
const address = 'http://127.0.0.1:8787'

const recorded = {
  run: read<RecordedRun>('recorded-run.json'),
  others: read<Record<string, RecordedRun>>('../docs/recorded-runs.json'),
}

function read<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}

/** Fills the page at `/` with what is known when it is built: the recorded run, the figures and the commands. */
export function productPage(html: string): string {
  const parts: Record<string, string> = {
    logo: logo(),
    copy: icon('copy'),
    hero: hero(),
    try: tryIt(),
    quality: quality(),
    connect: connect(),
  }
  return html.replaceAll(/<!--(\w+)-->/g, (mark, name: string) => parts[name] ?? mark)
}

const desktop: Layout = {
  x: 20,
  plot: 168,
  width: 180,
  step: 40,
  ground: 44,
  above: 125,
  end: 'bob',
}
const phone: Layout = { x: 10, plot: 92, width: 112, step: 31, ground: 36, above: 0, end: 'bob' }

function hero(): string {
  const rows = rowsOf(recorded.run)
  return `<figure class="run" id="run" aria-label="A recorded run, step by step">
<div class="plot">${drawLine(rows, desktop, 'for-desktop')}${drawLine(rows, phone, 'for-phone')}</div>
<ol class="steps">${rows.map(heroRow).join('')}</ol>
<figcaption>A recorded run with its real verdicts <button type="button" id="replay" class="link" hidden>Replay</button></figcaption>
</figure>`
}

function heroRow(row: Row<RecordedStep>): string {
  if (row.kind !== 'step') {
    const chip = row.kind === 'ground' && row.isFirst ? 'the errand' : 'the user moved it'
    return `<li class="ground"><span class="goal">${escapeHtml(row.text)}</span> <span class="chip ground">${chip}</span></li>`
  }
  const { step, isBack } = row
  const said = step.drifting
    ? `drifting${step.shared.length === 0 ? ': shares no word' : ''}`
    : isBack
      ? 'back on the errand'
      : step.uncertain
        ? 'uncertain'
        : ''
  return `<li${step.drifting ? ' class="drift"' : ''}><span class="goal">${escapeHtml(step.goal)}</span> <span class="said">${said}</span></li>`
}

/** The examples of the try-it, by their buttons. */
const examples: { name: string; ground: string; goal: string }[] = [
  {
    name: 'A sub-task',
    ground: 'add rate limiting to the login endpoint',
    goal: 'write a token bucket for the login endpoint',
  },
  {
    name: 'The opposite',
    ground: 'add rate limiting to the login endpoint',
    goal: 'remove rate limiting from the login endpoint',
  },
  {
    name: 'Something else',
    ground: 'add rate limiting to the login endpoint',
    goal: 'book a flight to Paris',
  },
]

function tryIt(): string {
  const [step] = recorded.others.try ?? []
  if (step === undefined) throw new Error('the recorded runs lack the one of the try-it')
  const buttons = examples.map(
    ({ name, ground, goal }) =>
      `<button type="button" class="button" data-ground="${escapeHtml(ground)}" data-goal="${escapeHtml(goal)}">${name}</button>`,
  )
  const field = (name: string, label: string, value: string) =>
    `<div class="field"><label class="label" for="try-${name}">${label}</label><div class="words"><div class="mirror" id="mirror-${name}" aria-hidden="true"></div><input class="input" id="try-${name}" value="${escapeHtml(value)}" maxlength="4000" autocomplete="off" autocapitalize="off" spellcheck="false"></div></div>`
  return `<div class="try-head"><h2 id="try-title">Try it</h2> <p class="phone-hidden">No key. Change a word and watch the distance.</p><p class="phone-only">no key needed</p>
<div class="examples" role="group" aria-label="Examples" hidden><span aria-hidden="true">Examples</span>${buttons.join('')}</div></div>
<div class="pair">${field('ground', 'The errand', step.asked ?? '')}${field('goal', 'What the agent says it is doing', step.goal)}</div>
<noscript><p class="small">Asking this server from here needs JavaScript. What stands below is its recorded answer.</p></noscript>
<div class="answer">
<div class="hang" id="hang">${drawLine(hangingRows(saidOf(step)), hangLayout)}</div>
<div class="verdict" id="verdict" aria-live="polite" aria-atomic="true">${verdictHtml(saidOf(step))}</div>
</div>`
}

function verdictHtml({ word, isDrift, sentence, numbers }: Said): string {
  return `<p class="sentence"><strong class="${isDrift ? 'drift-text' : ''}">${word}</strong> ${escapeHtml(sentence)}</p><p class="numbers">${escapeHtml(numbers)}</p>`
}

function quality(): string {
  const { falseAlarmsPer1000: alarms, authored, precisionAt10Percent } = figures
  return `<h2 id="quality-title">How often it is right</h2>
<p class="lead">Measured on ${figures.errands} errands that neither training nor the choice of its limit has seen. It stays quiet most of the time and pays for that by missing things. Both, with 95 % intervals:</p>
<div class="columns">
<div><h3>False alarms in 1,000 clean steps: ${alarms.value}</h3><p class="under">Plumbline, between ${alarms.low} and ${alarms.high}</p>${dots(alarms.value)}</div>
<div><h3>Word overlap, the published rule: ${figures.publishedFalseAlarmsPer1000}</h3><p class="under">on the same steps; can be chosen as <code>overlap</code></p>${dots(figures.publishedFalseAlarmsPer1000)}</div>
<div><h3>What it finds within three steps</h3><p class="under">the rest of each bar is what it misses</p><dl class="found">${Object.entries(
    figures.foundWithin3,
  )
    .map(([kind, found]) => bar(kindsInWords[kind] ?? kind, found))
    .join('')}</dl></div>
</div>
<p class="fine">Where one step in ten drifts, ${percent(precisionAt10Percent)} of its alarms are right. On ${authored.runs} runs written whole, with plans and users who interrupt, it does worse: ${authored.falseAlarmsPer1000.value} false alarms in 1,000 clean steps, ${percent(authored.precisionAt10Percent.value)} of the alarms right (between ${percent(authored.precisionAt10Percent.low)} and ${percent(authored.precisionAt10Percent.high)}), and ${percent(authored.foundWithin3.value)} of all drift found within three steps. It reads English; elsewhere most steps stay uncertain. Measure it on your own runs before you rely on an alarm.</p>
<p class="fine"><code>npm run model:eval -- FOLDER</code> prints this table; <code>plumbline eval FILE</code> prints one for your labels.</p>`
}

/** A thousand dots in rows of fifty, of which so many are alarms. */
function dots(count: number): string {
  const full = Math.floor(count / 50)
  const rest = Math.round(count) % 50
  const square = (x: number, y: number) => `M${x * 8} ${y * 8}h6v6h-6z`
  const row = (y: number, from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => square(from + at, y)).join('')
  let alarms = ''
  let calm = ''
  for (let y = 0; y < 20; y++) {
    const marked = y < full ? 50 : y === full ? rest : 0
    alarms += row(y, 0, marked)
    calm += row(y, marked, 50)
  }
  return `<svg class="dots" viewBox="0 0 398 158" aria-hidden="true" focusable="false"><path class="alarm" d="${alarms}"/><path class="calm" d="${calm}"/></svg>`
}

function bar(name: string, { value, low, high }: Share): string {
  const width = (share: number) => Math.round(share * 3200) / 10
  return `<div><dt>${name}</dt><dd>${percent(value)}<span class="visually-hidden">, between ${percent(low)} and ${percent(high)}</span></dd><svg class="share" viewBox="0 0 320 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><path class="all" d="M0 3h320v4h-320z"/><path class="within" d="M${width(low)} 0H${width(high)}v10H${width(low)}z"/><path class="value" d="M0 3h${width(value)}v4h-${width(value)}z"/></svg></div>`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** The tabs: their names, and what a person does. */
function tabs(): { id: string; name: string; says: string; code: string; more: string }[] {
  const host = (id: 'claude-code' | 'codex' | 'cursor' | 'gemini-cli', name: string) => ({
    id,
    name,
    says: `Set <code>PLUMBLINE_KEY</code> to your key and run this where the server’s package is. ${name} then reports by its own hooks; a hook never stops the agent.`,
    code: command(guidanceFor(id, address).snippet),
    more: `<code>npx plumbline uninstall ${id}</code> makes the settings what they were.`,
  })
  const library = (id: 'openai-agents' | 'langgraph', name: string) => ({
    id,
    name,
    says: 'Save this beside your agent and hand it the user’s own words as the errand. A step waits 250 ms at most and never throws.',
    code: command(guidanceFor(id, address).snippet),
    more: 'The package with <code>plumbline/client</code> is made by <code>npm run build</code>.',
  })
  return [
    host('claude-code', 'Claude Code'),
    host('codex', 'Codex'),
    host('cursor', 'Cursor'),
    host('gemini-cli', 'Gemini CLI'),
    library('openai-agents', 'OpenAI Agents'),
    library('langgraph', 'LangGraph'),
    {
      id: 'plain-http',
      name: 'Plain HTTP',
      says: 'Send the errand with the first step, then one line for each new thing the agent does.',
      code: plainHttp(),
      more: 'Sub-agents, plans, outcomes and a batch are in <a href="/docs/connect">Connect an agent</a>.',
    },
    {
      id: 'mcp',
      name: 'MCP',
      says: 'Sixteen tools at <code>/mcp</code>. Agents forget to call tools: count on hooks for measuring, and on the tools for asking.',
      code: command(guidanceFor('mcp', address).snippet),
      more: 'Without a server and without a key: <code>npx plumbline mcp</code>.',
    },
  ]
}

function command(snippet: string): string {
  return `<code>${escapeHtml(snippet.trim())}</code>`
}

function plainHttp(): string {
  const [step] = recorded.others['plain-http'] ?? []
  if (step?.asked == null) throw new Error('the recorded runs lack the one of plain HTTP')
  const { asked, goal, drifting, uncertain, phi, why } = step
  const [first = ''] = why.split('. ')
  const said = first.replace(' and ', '\n           and ')
  return `<code>curl -s ${address}/v1/drift \\
  -H "authorization: Bearer $PLUMBLINE_KEY" \\
  -d '{"run_id": "invoice-fix",
       "ground": "<span class="ground-text">${escapeHtml(asked)}</span>",
       "goal":   "${escapeHtml(goal)}"}'</code>

<samp><span class="quiet-text">→</span> {"drifting": ${drifting}, "uncertain": ${uncertain}, "phi": ${phi},
   "why": "${escapeHtml(said)}. …"}</samp>`
}

function connect(): string {
  const all = tabs()
  const links = all.map(({ id, name }) => `<a href="#connect-${id}" id="tab-${id}">${name}</a>`)
  const panels = all.map(
    ({
      id,
      name,
      says,
      code,
      more,
    }) => `<section class="panel" id="connect-${id}" aria-label="${name}">
<h3 class="panel-title">${name}</h3><p class="says">${says}</p>
<div class="block code"><pre tabindex="0" aria-label="What to paste for ${name}">${code}</pre><button type="button" class="copy" aria-label="Copy" hidden>${icon('copy')}</button></div>
<p class="more">${more}</p></section>`,
  )
  return `<h2 id="connect-title">Connect an agent</h2>
<div class="hosts"><nav class="tabs" aria-label="Hosts and libraries">${links.join('')}</nav>
<div class="panels">${panels.join('')}</div>
<div class="tips">
<p><strong>Send the errand in the user’s own words.</strong> It helps more than any setting.</p>
<p><strong>Declare a plan</strong> when the agent has one: a step that fits an item of it is on the errand.</p>
<p><strong>Hand over what the user says.</strong> Only the user moves the line.</p>
</div></div>`
}
