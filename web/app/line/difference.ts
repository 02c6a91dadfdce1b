/** Two texts without the words that both begin or end with, as `staging` and `production`. */
export function differenceOf(left: string, right: string): [string, string] {
  const [a, b] = [left.split(/\s+/), right.split(/\s+/)]
  while (a.length > 1 && b.length > 1 && isSame(a[0], b[0])) {
    a.shift()
    b.shift()
  }
  while (a.length > 1 && b.length > 1 && isSame(a.at(-1), b.at(-1))) {
    a.pop()
    b.pop()
  }
  return [a.join(' '), b.join(' ')]
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase()
}

/** The pair of a swap as a chip shows it: `staging → production`. */
export function swapText({ ground, goal }: { ground: string; goal: string }): string {
  return differenceOf(ground, goal).join(' → ')
}
