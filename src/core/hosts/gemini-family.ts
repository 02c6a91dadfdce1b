import { digestOfValue, fieldsOf, textOf } from './fields.ts'
import type { Act } from './host-event.ts'
import { ownWords } from './speaker.ts'

/** The name of the tool that runs commands, in Gemini CLI and the hosts made from it. */
export const shellTool = 'run_shell_command'

/** What stands behind the words of a prompt that names files with `@`: their contents. */
const files = /(?:^|\n)--- Content from referenced files ---/
/** The opening of a context that was cut before its end: no words of the person are left. */
const openContext = /^<(?:hook_context|system-reminder)\b/
/** What stands before a command's output. */
const label = /^(?:Output|Stdout): /
const opening = '<untrusted_context>'
const closing = '</untrusted_context>'
/** The lines that the host puts after a command's output, from the last to the first. */
const closingLines = ['Process Group PGID', 'Background PIDs', 'Signal', 'Exit Code'] as const

/** The words of the person in a prompt, without contexts of hooks and contents of files. */
export function promptWords(prompt: unknown): string {
  if (typeof prompt !== 'string') return ''
  const own = ownWords(prompt)
  return openContext.test(own) ? '' : textOf(own.split(files, 1)[0])
}

/** What a tool told the model, as one text; undefined if it has not answered. */
export function toldBy(answer: unknown): string | undefined {
  if (typeof answer === 'string') return withoutWrapping(answer)
  if (answer === undefined || answer === null) return undefined
  const { llmContent } = fieldsOf(answer)
  const parts: readonly unknown[] = Array.isArray(llmContent) ? llmContent : [llmContent]
  const texts = parts
    .map((part) => (typeof part === 'string' ? part : fieldsOf(part).text))
    .filter((text) => typeof text === 'string')
  return texts.length === 0 ? digestOfValue(answer) : withoutWrapping(texts.join('\n'))
}

/** What a command printed, and how it ended. */
export interface ShellAnswer {
  /** Without the lines of the host, of which some differ at each call. */
  output: string
  exit: number | undefined
  /** `unknown` also if the text was cut before the lines that tell it. */
  outcome: Act['outcome']
}

/** Reads what the tool for commands told the model. */
export function shellAnswer(told: string): ShellAnswer {
  const lines = told.trimEnd().split('\n')
  const ending = endingOf(lines)
  const kept = lines.slice(0, lines.length - ending.size)
  // The longer form begins with the command and tells of an error also where there is none.
  const isLong = kept[0]?.startsWith('Command: ') === true
  const start = kept.findIndex((line) => label.test(line))
  const body = isLong ? kept.slice(Math.max(start, 1)) : kept
  const last = isLong && ending.size > 0 ? (body.at(-1) ?? '') : ''
  const hasNoError = last === 'Error: (none)'
  const code = ending.get('Exit Code') ?? ''
  const exit = /^-?\d+$/.test(code) ? Number(code) : undefined
  const didFail =
    (exit ?? 0) !== 0 ||
    (ending.get('Signal') ?? '(none)') !== '(none)' ||
    (last.startsWith('Error: ') && !hasNoError)
  const hasEnded = ending.size > 0 && code !== '(none)'
  return {
    output: (hasNoError ? body.slice(0, -1) : body).join('\n').replace(label, ''),
    exit,
    outcome: didFail ? 'failed' : hasEnded ? 'ok' : untold(lines[0] ?? ''),
  }
}

function endingOf(lines: readonly string[]): Map<string, string> {
  const ending = new Map<string, string>()
  for (const name of closingLines) {
    const line = lines.at(-1 - ending.size)
    if (line?.startsWith(`${name}: `)) ending.set(name, line.slice(name.length + 2))
  }
  return ending
}

/** How a command ended whose answer is no such form. */
function untold(first: string): Act['outcome'] {
  if (/^Command moved to background|^Background shell started/.test(first)) return 'ok'
  return /^Command (?:timed out|was automatically cancelled)/.test(first) ? 'failed' : 'unknown'
}

function withoutWrapping(text: string): string {
  const inner = text.startsWith(opening) ? text.slice(opening.length).trimStart() : text
  const trimmed = inner.trimEnd()
  return trimmed.endsWith(closing) ? trimmed.slice(0, -closing.length).trimEnd() : inner
}
