import { Marked, type Tokens } from 'marked'
import type { Share } from '../../src/core/figures.ts'
import { escapeHtml } from '../../src/core/html.ts'
import { figures } from '../product/figures.ts'
import type { RecordedRun } from '../product/recorded.ts'
import type { Mark } from '../shared/line.ts'
import { drawMark } from '../shared/plumb-line.ts'
import { icon } from '../shared/signs.ts'
import { drawRun, runInWords } from './run-figure.ts'

/** A page made of Markdown. */
export interface Rendered {
  title: string
  /** The text without marks, for the description of the page. */
  lead: string
  html: string
  headings: { id: string; text: string }[]
  /** The parts that a search finds, each under its heading. */
  sections: { id: string; heading: string; text: string }[]
  /** The page as plain text in Markdown. */
  text: string
}

/** The marks that stand before the headings of reasons. */
const markOfHeading: Record<string, Mark> = {
  ungrammatical: 'unreadable',
  'goal-drift': 'drift',
  advancing: 'on',
  'Uncertain is no reason': 'uncertain',
}

/** Each mark with what it says, in the words of the legend. */
const legend: [Mark, string, string][] = [
  ['on', 'On the errand', 'a disc'],
  ['uncertain', 'Uncertain', 'a ring: the words do not tell; never an alarm'],
  ['name', 'A name differs', 'a square: another number, name or place'],
  ['drift', 'Drifting', 'a diamond: the verdict'],
  [
    'unsure-drift',
    'Drifting, confidence below 0.5',
    'an outline: a rule fired, the words alone would not',
  ],
  ['unreadable', 'Unreadable step', 'a cross, at the distance of the step before'],
]

/** Renders the Markdown of a page. The runs are the recorded ones that it may draw. */
export function renderPage(source: string, runs: Readonly<Record<string, RecordedRun>>): Rendered {
  const filled = source.replaceAll(/\{\{([\w.]+)\}\}/g, (_, path: string) => figureText(path))
  const [, title = '', rest = ''] = /^# (.+)\n([\s\S]*)$/.exec(filled) ?? []
  const [lead = ''] = rest.trim().split('\n\n')
  const headings: Rendered['headings'] = []
  const runOf = (name: string): RecordedRun => {
    const run = runs[name]
    if (run === undefined) throw new Error(`no recorded run is called ${name}`)
    return run
  }

  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const inside = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${inside}</h1>\n`
        const id = idOf(text)
        headings.push({ id, text })
        const mark = markOfHeading[text]
        const sign = mark === undefined ? '' : drawMark(mark)
        return `<h${depth} id="${id}">${sign}<a href="#${id}">${inside}</a></h${depth}>\n`
      },
      code({ text, lang = '' }: Tokens.Code) {
        const [kind, name = ''] = lang.split(' ')
        if (kind === 'run') return drawRun(runOf(name))
        if (kind === 'marks') return marksList()
        return `<div class="block code"><pre tabindex="0" aria-label="Code"><code>${escapeHtml(text)}</code></pre><button type="button" class="copy" aria-label="Copy" hidden>${icon('copy')}</button></div>\n`
      },
      table(token: Tokens.Table) {
        const cell = (tag: string) => (each: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`
        const head = token.header.some(({ text }) => text !== '')
          ? `<thead><tr>${token.header.map(cell('th')).join('')}</tr></thead>`
          : ''
        const rows = token.rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`).join('')
        return `<div class="table" role="group" aria-label="Table" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
    },
  })
  const html = marked.parse(filled, { async: false }).replace('<p>', '<p class="lead">')
  return {
    title,
    lead: plain(lead),
    html,
    headings,
    sections: sectionsOf(title, rest),
    text: asText(filled, runOf),
  }
}

function marksList(): string {
  const rows = legend.map(
    ([mark, name, says]) =>
      `<li>${drawMark(mark)}<span><strong>${name}</strong> ${says}</span></li>`,
  )
  return `<ul class="legend">${rows.join('')}</ul>\n`
}

/** The plain-text twin: drawings are told in words, and links lead to the twins of other pages. */
function asText(source: string, runOf: (name: string) => RecordedRun): string {
  return source
    .replaceAll(
      /```run ([\w-]+)\n```/g,
      (_, name: string) => `\`\`\`text\n${runInWords(runOf(name))}\n\`\`\``,
    )
    .replaceAll(/```marks\n```/g, () =>
      legend.map(([, name, says]) => `- ${name}: ${says}`).join('\n'),
    )
    .replaceAll(
      /\]\(\/docs\/(?!api\b)([\w-]+)(#[\w-]+)?\)/g,
      (_, name: string) => `](/docs/${name}.md)`,
    )
}

function sectionsOf(title: string, rest: string): Rendered['sections'] {
  return `## ${title}\n${rest}`
    .split(/^## /m)
    .slice(1)
    .map((part, at) => {
      const [heading = '', ...lines] = part.split('\n')
      return { id: at === 0 ? '' : idOf(heading), heading, text: plain(lines.join('\n')) }
    })
}

/** A text without the marks of Markdown. */
function plain(text: string): string {
  return text
    .replaceAll(/```(run|marks)[^`]*```/g, ' ')
    .replaceAll(/^```\w*$/gm, ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\|[ |-]+\|$/gm, ' ')
    .replaceAll(/[`*]/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** A figure by its path, with its interval. */
function figureText(path: string): string {
  let found: unknown = figures
  for (const name of path.split('.')) found = (found as Record<string, unknown>)[name]
  if (typeof found === 'number') return shown(found)
  const { value, low, high } = (found ?? {}) as Share
  if (value === undefined) throw new Error(`no figure is called ${path}`)
  return `${shown(value)} (${shown(low)} to ${shown(high)})`
}

function shown(value: number): string {
  return value > 0 && value < 1 ? `${Math.round(value * 100)} %` : String(value)
}
