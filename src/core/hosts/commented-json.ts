import { parseJson } from '../text.ts'

/** A value where it stands in a text. An object's parts have keys, a list's have none. */
interface Place {
  start: number
  end: number
  value: unknown
  kind: 'object' | 'list' | 'plain'
  parts: Part[]
}

interface Part {
  key: string | null
  /** Where the key begins, or the item. */
  start: number
  at: Place
  /** Where its comma stands; null without one. */
  comma: number | null
}

/** A change of a text: what stands from `start` to `end` becomes `text`. */
interface Edit {
  start: number
  end: number
  text: string
}

const deepest = 64
const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"/]+|\S/g

const remark = /^(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/))*/

// `jsonc-parser` 3.3.1 was tried in its place and fails the tests: it overflows the stack on deep text, makes text that is
// no JSON of a list whose last item goes from between comments, and puts a new item before the remark on the last one.

/** The value of JSON with comments and commas after the last item; undefined for a text that is none. */
export function parseCommented(text: string): unknown {
  return placeIn(text)?.value
}

/**
 * The text with another value: only what differs is changed, so that comments and the form of the rest stay. The text is JSON,
 * perhaps with comments.
 */
export function editCommented(text: string, value: unknown): string {
  const place = placeIn(text)
  if (place === null) return JSON.stringify(value, null, 2)
  const [unit = '  '] = /^[ \t]+(?=\S)/m.exec(text) ?? []
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const shown = (part: unknown, depth: number) =>
    JSON.stringify(part, null, unit).replaceAll('\n', `${end}${unit.repeat(depth)}`)
  let edited = text
  const edits = editsOf(text, place, value, 0, { shown, line: (depth) => end + unit.repeat(depth) })
  for (const edit of edits.sort((one, other) => other.start - one.start || other.end - one.end)) {
    edited = edited.slice(0, edit.start) + edit.text + edited.slice(edit.end)
  }
  return edited
}

function placeIn(text: string): Place | null {
  const found = [...text.matchAll(tokens)].filter(([token]) => !/^\/[/*]/.test(token))
  let next = 0
  const peek = () => found[next]?.[0]

  function read(depth: number): Place | null {
    const token = found[next++]
    if (token === undefined || depth > deepest) return null
    const [word] = token
    const start = token.index
    if (word !== '{' && word !== '[') {
      const value = parseJson(word)
      if (value === undefined) return null
      return { start, end: start + word.length, value, kind: 'plain', parts: [] }
    }
    const isObject = word === '{'
    const parts = partsUntil(isObject ? '}' : ']', isObject, depth)
    const last = found[next++]
    if (parts === null || last === undefined) return null
    const value = isObject
      ? Object.fromEntries(parts.map(({ key, at }) => [key, at.value]))
      : parts.map(({ at }) => at.value)
    const kind = isObject ? 'object' : 'list'
    return { start, end: last.index + 1, value, kind, parts }
  }

  function partsUntil(close: string, isObject: boolean, depth: number): Part[] | null {
    const parts: Part[] = []
    while (peek() !== close) {
      if (parts.length > 0 && parts.at(-1)?.comma === null) return null
      const start = found[next]?.index ?? 0
      const key = isObject ? parseJson(found[next++]?.[0] ?? '') : null
      if (isObject && (typeof key !== 'string' || found[next++]?.[0] !== ':')) return null
      const at = read(depth + 1)
      if (at === null) return null
      const comma = peek() === ',' ? (found[next++]?.index ?? null) : null
      parts.push({ key: typeof key === 'string' ? key : null, start, at, comma })
    }
    return parts
  }

  const whole = read(0)
  return next === found.length ? whole : null
}

interface Form {
  /** A value as text, at a depth. */
  shown(value: unknown, depth: number): string
  /** The beginning of a new line, at a depth. */
  line(depth: number): string
}

function editsOf(text: string, at: Place, value: unknown, depth: number, form: Form): Edit[] {
  if (JSON.stringify(at.value) === JSON.stringify(value)) return []
  const pairs = at.kind === 'plain' ? null : pairsOf(at, value)
  if (pairs === null) {
    return [{ start: at.start, end: at.end, text: form.shown(value, depth) }]
  }
  const { kept, added } = pairs
  const left = at.parts.filter((part) => kept.has(part))
  const last = left.at(-1)
  return [
    ...left.flatMap((part) => editsOf(text, part.at, kept.get(part), depth + 1, form)),
    ...at.parts.filter((part) => !kept.has(part)).flatMap((part) => editsThatDrop(text, part)),
    ...(added.length > 0
      ? [editThatAdds(text, at, last, added, depth, form)]
      : editsBehind(last, at.parts.at(-1))),
  ]
}

function editsThatDrop(text: string, { start, at, comma }: Part): Edit[] {
  const before = text.slice(0, start).trimEnd().length
  return [{ start: before, end: at.end, text: '' }, ...editsOfComma(comma)]
}

/** A comma of the last part that stays goes, if the one behind which there was none is gone. */
function editsBehind(last: Part | undefined, before: Part | undefined): Edit[] {
  return last === undefined || last === before ? [] : editsOfComma(last.comma)
}

function editsOfComma(comma: number | null): Edit[] {
  return comma === null ? [] : [{ start: comma, end: comma + 1, text: '' }]
}

function editThatAdds(
  text: string,
  at: Place,
  last: Part | undefined,
  added: readonly [string | null, unknown][],
  depth: number,
  { shown, line }: Form,
): Edit {
  const parts = added.map(([key, part]) => {
    const named = key === null ? '' : `${JSON.stringify(key)}: `
    return `${line(depth + 1)}${named}${shown(part, depth + 1)}`
  })
  const hasComma = last !== undefined && last.comma !== null
  const start = last === undefined ? at.start + 1 : hasComma ? (last.comma ?? 0) + 1 : last.at.end
  // What is said of the last part stands behind it on its line.
  const [said = ''] = remark.exec(text.slice(start)) ?? []
  const end = start + said.length
  const isOneLine = !text.slice(end, at.end - 1).includes('\n')
  const comma = last === undefined || hasComma ? '' : ','
  const rest = isOneLine ? line(depth) : ''
  return { start, end, text: `${comma}${said}${parts.join(',')}${rest}` }
}

/** The parts that stay, with their new values, and those that are added; null if the value is of another kind. */
function pairsOf(
  { kind, parts }: Place,
  value: unknown,
): { kept: Map<Part, unknown>; added: [string | null, unknown][] } | null {
  const kept = new Map<Part, unknown>()
  if (kind === 'list') {
    if (!Array.isArray(value)) return null
    const left: unknown[] = [...value]
    const isChanged = parts.length === value.length
    for (const part of parts) {
      const isSame = JSON.stringify(part.at.value) === JSON.stringify(left[0])
      if (left.length > 0 && (isSame || isChanged)) kept.set(part, left.shift())
    }
    return { kept, added: left.map((part) => [null, part]) }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const left = new Map(Object.entries(value))
  for (const part of parts) {
    if (part.key === null || !left.has(part.key)) continue
    kept.set(part, left.get(part.key))
    left.delete(part.key)
  }
  return { kept, added: [...left] }
}
