// Detects steps with an injected instruction to leave the errand.

const overrides =
  /\b(ignore|disregard|forget|override|bypass|discard)\b.{0,30}\b(all|any|previous|prior|above|earlier|preceding|your|the)\b.{0,30}\b(instructions?|prompts?|rules|guidelines|directions|orders|task|errand)\b/i

/** Whether a step tells the agent to ignore its instructions, and the errand does not use such words itself. */
export function isOverride(goal: string, ground: string): boolean {
  return overrides.test(goal) && !overrides.test(ground)
}
