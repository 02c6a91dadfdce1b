/** A file of a recipe. */
export interface RecipeFile {
  /** Where it goes; a name when that is the reader's to choose. */
  path: string
  language: 'javascript' | 'json' | 'python' | 'sh' | 'typescript'
  text: string
}

/** How agents of one framework report their steps. */
export interface Recipe {
  /** What to do, in order. */
  steps: readonly string[]
  /** Everything there is to paste, the main file first. */
  files: readonly [RecipeFile, ...RecipeFile[]]
  /** What goes wrong otherwise, and what was not verified. */
  notes: string
}

/** A file of JSON. */
export function jsonFile(path: string, content: object): RecipeFile {
  return { path, language: 'json', text: `${JSON.stringify(content, null, 2)}\n` }
}

/** What holds for every step that is sent by hand, then what is a recipe's own. */
export function stepNotes(own: string): string {
  return [
    'What another program, a schedule or a sub-agent says is no turn of the user, however it arrives. A sub-agent’s steps carry `agent_id`: it has a ground of its own. A sub-task of the same agent carries `parent_goal`.',
    'In the answer `drifting` is the verdict, `confidence` how sure it is, `why` the numbers that decided. Where the agent is told, tell it those as a fact, with the ground quoted; an order is easily taken for an injection.',
    own,
  ].join(' ')
}
