import { type RequirementId, requirements } from './spec.ts'

/** Says in a test which requirements it verifies; throws for one that test/spec.ts does not list. */
export function verifies(id: RequirementId, ...more: RequirementId[]): void {
  for (const each of [id, ...more]) {
    if (!Object.hasOwn(requirements, each))
      throw new Error(`test/spec.ts has no requirement ${each}`)
  }
}
