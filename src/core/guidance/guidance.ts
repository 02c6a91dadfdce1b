import { hostRecipes } from './guidance-hosts.ts'
import { protocolRecipes } from './guidance-protocols.ts'
import { pythonRecipes } from './guidance-python.ts'
import { typescriptRecipes } from './guidance-typescript.ts'
import type { Recipe } from './recipe.ts'

/** A recipe as it is answered. */
export interface Guidance extends Recipe {
  framework: Framework
  /** The text of the first file. */
  snippet: string
}

/** The recipes, each for a server at an address without a trailing slash. */
const recipes = {
  ...hostRecipes,
  ...typescriptRecipes,
  ...pythonRecipes,
  ...protocolRecipes,
} as const satisfies Record<string, (baseUrl: string) => Recipe>

export type Framework = keyof typeof recipes

/** The frameworks there is a recipe for: coding hosts, libraries, protocols. */
export const frameworks = Object.keys(recipes) as [Framework, ...Framework[]]

/** The recipe for a framework, with the address of the server in it. */
export function guidanceFor(framework: Framework, baseUrl: string): Guidance {
  const { steps, files, notes } = recipes[framework](baseUrl)
  return { framework, steps, snippet: files[0].text, files, notes }
}
