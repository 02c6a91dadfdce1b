import type { IrreversibleKind } from './commands.ts'

const commentStart = /--|\/\*/g
const destroys = /drop|truncate|delete|remove/i

const drop =
  /^(drop|alter\s+table\s.*?\bdrop)\s+(table|database|schema|keyspace|collection|materialized\s+view|column|partition)\b/is
const truncate = /^truncate\s+(table\s+)?(only\s+)?["`[\w]/i
const emptying = /^delete\s+from\s+["`[\]\w.]+\s*$/i
const document =
  /\.(drop|dropDatabase|dropCollection)\s*\(|\.(deleteMany|remove)\s*\(\s*(\{\s*\}\s*)?\)/

/**
 * The kind of destruction if a text runs as SQL, or null: tables, databases, or all rows of a table. Each
 * statement is matched from its start, so that a mere mention does not count.
 */
export function sqlKindOf(text: string): IrreversibleKind | null {
  if (!destroys.test(text)) return null
  for (const part of withoutComments(text).split(';')) {
    const statement = part.trim()
    if (drop.test(statement)) return 'table-drop'
    if (truncate.test(statement) || emptying.test(statement)) return 'table-truncate'
  }
  return null
}

/** As `sqlKindOf`, for the input of a database client: nested statements count as well. */
export function clientKindOf(text: string): IrreversibleKind | null {
  if (!destroys.test(text)) return null
  const found = sqlKindOf(text)
  if (found !== null) return found
  const bare = withoutComments(text).replaceAll(/'(?:[^']|'')*'/g, "''")
  if (/\bdrop\s+(table|database|schema)\b/i.test(bare)) return 'table-drop'
  if (/\btruncate\s+table\b/i.test(bare)) return 'table-truncate'
  return document.test(text) ? (/drop/i.test(text) ? 'table-drop' : 'table-truncate') : null
}

/** Replaces each comment by a space. An unclosed comment is not a comment, and is searched for only once. */
function withoutComments(text: string): string {
  const lastEnd = text.lastIndexOf('*/')
  let kept = ''
  let from = 0
  for (const { index } of text.matchAll(commentStart)) {
    const isLine = text[index] === '-'
    if (index < from || (!isLine && lastEnd < index + 2)) continue
    const lineEnd = text.indexOf('\n', index)
    const end = isLine ? (lineEnd < 0 ? text.length : lineEnd) : text.indexOf('*/', index + 2) + 2
    kept += `${text.slice(from, index)} `
    from = end
  }
  return kept + text.slice(from)
}
