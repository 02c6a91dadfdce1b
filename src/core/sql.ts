import type { IrreversibleKind } from './commands.ts'

const comments = /--[^\n]*|\/\*[\s\S]*?\*\//g

const drop =
  /^(drop|alter\s+table\s.*?\bdrop)\s+(table|database|schema|keyspace|collection|materialized\s+view|column|partition)\b/is
const truncate = /^truncate\s+(table\s+)?(only\s+)?["`[\w]/i
const emptying = /^delete\s+from\s+["`[\]\w.]+\s*$/i
const document =
  /\.(drop|dropDatabase|dropCollection)\s*\(|\.(deleteMany|remove)\s*\(\s*(\{\s*\})?\s*\)/

/**
 * What a text destroys when it is run as SQL, or null: tables, databases, or all rows of a table.
 * Every statement is looked at from its beginning, so that a text that only speaks of one does not count.
 */
export function sqlKindOf(text: string): IrreversibleKind | null {
  for (const part of text.replaceAll(comments, ' ').split(';')) {
    const statement = part.trim()
    if (drop.test(statement)) return 'table-drop'
    if (truncate.test(statement) || emptying.test(statement)) return 'table-truncate'
  }
  return null
}

/** As `sqlKindOf`, for what a database's own client is given: statements inside others count as well. */
export function clientKindOf(text: string): IrreversibleKind | null {
  const found = sqlKindOf(text)
  if (found !== null) return found
  const bare = text.replaceAll(comments, ' ').replaceAll(/'(?:[^']|'')*'/g, "''")
  if (/\bdrop\s+(table|database|schema)\b/i.test(bare)) return 'table-drop'
  if (/\btruncate\s+table\b/i.test(bare)) return 'table-truncate'
  return document.test(text) ? (/drop/i.test(text) ? 'table-drop' : 'table-truncate') : null
}
