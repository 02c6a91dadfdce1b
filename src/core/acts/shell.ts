/** One call of a program in a command line. */
export interface Call {
  /** The program and its arguments, without their quotes. */
  words: string[]
  /** Files it writes by redirection. */
  writes: string[]
  /** Texts it reads from the line itself: here-documents and here-strings. */
  inputs: string[]
}

/** A parsed command line, without expansion. */
export interface CommandLine {
  /** The calls of each pipeline, in order. */
  pipelines: Call[][]
  /** The command lines inside `$(…)` and backticks. */
  substitutions: string[]
}

/** The role of the current word: a word of the call, or the target of a redirection. */
type Role = 'word' | 'write' | 'read' | 'input' | 'document'

/**
 * Parses a POSIX command line: quotes, escapes, comments, pipes, lists, groups, redirections,
 * here-documents and substitutions. Never throws; an open quote extends to the end of the text.
 */
export function readCommandLine(text: string): CommandLine {
  const source = text.replaceAll('\r\n', '\n').replaceAll('\\\n', '')
  const pipelines: Call[][] = []
  const substitutions: string[] = []
  const documents: { call: Call; delimiter: string }[] = []
  let pipeline: Call[] = []
  let call: Call = { words: [], writes: [], inputs: [] }
  let word: string | null = null
  let role: Role = 'word'
  let at = 0

  function endWord(): void {
    if (word === null) return
    if (role === 'word') call.words.push(word)
    else if (role === 'write') call.writes.push(word)
    else if (role === 'input') call.inputs.push(word)
    else if (role === 'document') documents.push({ call, delimiter: word })
    word = null
    role = 'word'
  }

  function endCall(): void {
    endWord()
    role = 'word'
    if (call.words.length + call.writes.length + call.inputs.length > 0) pipeline.push(call)
    else if (documents.some((document) => document.call === call)) pipeline.push(call)
    call = { words: [], writes: [], inputs: [] }
  }

  function endPipeline(): void {
    endCall()
    if (pipeline.length > 0) pipelines.push(pipeline)
    pipeline = []
  }

  /** Reads to the position where `closes` matches, from `at` behind the opening; nested `opens` count. */
  function takeUntil(closes: string, opens: string): string {
    const from = at
    let depth = 1
    while (at < source.length) {
      const char = source[at]
      if (char === '\\') at++
      else if (char === "'" && closes !== "'") at = endOf(source.indexOf("'", at + 1), source)
      else if (char === closes && --depth === 0) break
      else if (char === opens) depth++
      at++
    }
    const inside = source.slice(from, at)
    at++
    return inside
  }

  function substitute(closes: string, opens: string): void {
    substitutions.push(takeUntil(closes, opens))
    word = word ?? ''
  }

  function takeDoubleQuoted(): void {
    word = word ?? ''
    while (at < source.length && source[at] !== '"') {
      if (source[at] === '\\') {
        // Within double quotes a backslash escapes only these.
        const next = source[at + 1] ?? ''
        word += '"\\$`'.includes(next) ? next : `\\${next}`
        at += 2
      } else if (source.startsWith('$(', at)) {
        at += 2
        substitute(')', '(')
      } else if (source[at] === '`') {
        at++
        substitute('`', '')
      } else {
        word += source[at++]
      }
    }
    at++
  }

  function takeDocuments(): void {
    for (const { call: reader, delimiter } of documents.splice(0)) {
      const lines: string[] = []
      while (at < source.length) {
        const end = endOf(source.indexOf('\n', at), source)
        const line = source.slice(at, end)
        at = end + 1
        if (line.replace(/^\t+/, '') === delimiter) break
        lines.push(line)
      }
      reader.inputs.push(lines.join('\n'))
    }
  }

  function redirect(next: Role, length: number): void {
    // The descriptor number, as in `2>`, is not a word.
    if (word !== null && /^\d+$/.test(word)) word = null
    endWord()
    role = next
    at += length
  }

  while (at < source.length) {
    const char = source[at] ?? ''
    const two = source.slice(at, at + 2)
    if (char === '\\') {
      word = (word ?? '') + (source[at + 1] ?? '')
      at += 2
    } else if (char === "'" || two === "$'") {
      at += two === "$'" ? 2 : 1
      const end = endOf(source.indexOf("'", at), source)
      word = (word ?? '') + source.slice(at, end)
      at = end + 1
    } else if (char === '"') {
      at++
      takeDoubleQuoted()
    } else if (two === '$(') {
      at += 2
      substitute(')', '(')
    } else if (char === '`') {
      at++
      substitute('`', '')
    } else if (source.startsWith('<<<', at)) redirect('input', 3)
    else if (two === '<<') redirect('document', source[at + 2] === '-' ? 3 : 2)
    else if (two === '&>') redirect('write', source[at + 2] === '>' ? 3 : 2)
    else if (['>>', '>|', '>&'].includes(two)) redirect('write', 2)
    else if (char === '>') redirect('write', 1)
    else if (char === '<') redirect('read', 1)
    else if (char === '#' && word === null) {
      at = endOf(source.indexOf('\n', at), source)
    } else if (char === '\n') {
      endPipeline()
      at++
      takeDocuments()
    } else if (two === '&&' || two === '||') {
      endPipeline()
      at += 2
    } else if (char === '|') {
      endCall()
      at += two === '|&' ? 2 : 1
    } else if (';&()'.includes(char)) {
      endPipeline()
      at++
    } else if (char === ' ' || char === '\t') {
      endWord()
      at++
    } else {
      word = (word ?? '') + char
      at++
    }
  }
  endPipeline()
  return { pipelines, substitutions }
}

/** An index in a text, or its end if there is none. */
function endOf(place: number, text: string): number {
  return place < 0 ? text.length : place
}
