/**
 * Yields the rows of comma-separated values by RFC 4180: a quoted field may hold commas, line ends and
 * doubled quotation marks. A row ends with CRLF, LF or CR; the last line end is optional. Beyond the
 * standard, a quotation mark inside an unquoted field is literal, and so is text after a closing one.
 * Takes linear time. Returns an error in the text, or null. Rows count from 0.
 */
export function* readRows(text: string): Generator<string[], string | null> {
  let row: string[] = []
  let rows = 0
  let at = 0
  while (at < text.length) {
    let field = ''
    if (text.startsWith('"', at)) {
      const end = endOfQuoted(text, at)
      if (end < 0) return `row ${rows}: close the quotation mark that field ${row.length} opens`
      field = text.slice(at + 1, end).replaceAll('""', '"')
      at = end + 1
    }
    plain.lastIndex = at
    field += plain.exec(text)?.[0] ?? ''
    at = plain.lastIndex
    row.push(field)
    if (row.length > maxFields) return `row ${rows}: send at most ${maxFields} fields`
    if (text.startsWith(',', at)) {
      at += 1
      if (at < text.length) continue
      row.push('')
    }
    yield row
    row = []
    rows += 1
    at += text.startsWith('\r\n', at) ? 2 : 1
  }
  return null
}

// Reading one row blocks the event loop.
const maxFields = 10_000

const plain = /[^,\r\n]*/y

/** Index of the closing quotation mark for the one at `start`; −1 if there is none. */
function endOfQuoted(text: string, start: number): number {
  for (let at = start; ; at += 1) {
    at = text.indexOf('"', at + 1)
    if (at < 0 || !text.startsWith('"', at + 1)) return at
  }
}
