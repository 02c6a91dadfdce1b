/** The lines of two texts, those that only the first has after `-` and those that only the second has after `+`. */
export function lineDiff(before: string, after: string): string {
  const old = linesOf(before)
  const young = linesOf(after)
  const common = longestCommon(old, young)
  const lines: string[] = []
  let [at, to] = [0, 0]
  const goesFirst = () => (common[at + 1]?.[to] ?? 0) >= (common[at]?.[to + 1] ?? 0)
  while (at < old.length || to < young.length) {
    const [gone, come] = [old[at], young[to]]
    if (gone !== undefined && gone === come) {
      lines.push(`  ${gone}`)
      at++
      to++
    } else if (gone !== undefined && (come === undefined || goesFirst())) {
      lines.push(`- ${gone}`)
      at++
    } else {
      lines.push(`+ ${come}`)
      to++
    }
  }
  return shortened(lines)
    .map((line) => `${line}\n`)
    .join('')
}

const linesAround = 2

/** Leaves out equal lines that are far from a change. */
function shortened(lines: readonly string[]): string[] {
  const isNear = (at: number) =>
    lines
      .slice(Math.max(0, at - linesAround), at + linesAround + 1)
      .some((line) => !line.startsWith(' '))
  return lines.flatMap((line, at) => {
    if (isNear(at)) return [line]
    return at === 0 || isNear(at - 1) ? ['  …'] : []
  })
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

/** For each pair of places, the number of lines that the rests of the texts share in order. */
function longestCommon(old: readonly string[], young: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(young.length + 1))
  for (let at = old.length - 1; at >= 0; at--) {
    const [row, below] = [rows[at], rows[at + 1]]
    if (row === undefined || below === undefined) continue
    for (let to = young.length - 1; to >= 0; to--) {
      const isSame = old[at] === young[to]
      row[to] = isSame ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0)
    }
  }
  return rows
}
