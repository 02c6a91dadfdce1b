// Steps that carry somebody else's instruction to leave the errand.

const overrides =
  /\b(ignore|disregard|forget|override|bypass|discard)\b.{0,30}\b(all|any|previous|prior|above|earlier|preceding|your|the)\b.{0,30}\b(instructions?|prompts?|rules|guidelines|directions|orders|task|errand)\b/i

/** Whether a step says to set the instructions aside, and the errand does not speak of such words itself. */
export function isOverride(goal: string, ground: string): boolean {
  return overrides.test(goal) && !overrides.test(ground)
}
