/** A goal with the words that the ground has underlined. */
export function GoalText({ goal, shared }: { goal: string; shared: readonly string[] }) {
  if (shared.length === 0) return <bdi>{goal}</bdi>
  const wanted = new Set(shared.map((word) => word.toLowerCase()))
  // Words and what stands between them alternate.
  const parts = goal.split(/([\p{L}\p{N}_']+)/u)
  return (
    <bdi>
      {parts.map((part, at) => (wanted.has(part.toLowerCase()) ? <u key={at}>{part}</u> : part))}
    </bdi>
  )
}
