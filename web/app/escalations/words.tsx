import type { ComponentChildren } from 'preact'

/** A goal with the words underlined that the errand has too. */
export function GoalWords({ goal, shared }: { goal: string; shared: readonly string[] }) {
  if (shared.length === 0) return <bdi>{goal}</bdi>
  const known = new Set(shared.map((word) => word.toLowerCase()))
  const parts: ComponentChildren[] = []
  let from = 0
  for (const { 0: word, index } of goal.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!known.has(word.toLowerCase())) continue
    parts.push(
      goal.slice(from, index),
      <span key={index} class="shared-word">
        {word}
      </span>,
    )
    from = index + word.length
  }
  parts.push(goal.slice(from))
  return <bdi>{parts}</bdi>
}

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
