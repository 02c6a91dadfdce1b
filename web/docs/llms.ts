import { contents, type Page } from './contents.ts'
import type { Rendered } from './markdown.ts'

/** The text of /llms.txt: what this is, and where each page lies as plain text. */
export function llmsText(rendered: readonly [Page, Rendered][]): string {
  const leads = new Map(rendered.map(([{ name }, { lead }]) => [name, lead]))
  const groups = contents.map(({ group, pages }) => {
    const lines = pages.flatMap(({ name, title }) => {
      const lead = leads.get(name)
      return lead === undefined ? [] : `- [${title}](/docs/${name}.md): ${lead}`
    })
    return `## ${group}\n\n${lines.join('\n')}`
  })
  return `# Plumbline

> Plumbline tells an AI agent, its people and its tools whether the agent is still on its errand. An agent reports its goal at
> each step; the server measures it against the ground, the errand as the user gave it, and answers drifting or not, how far
> (phi, 0 to 1), how sure (confidence), and why.

Only the user moves the ground. POST /v1/check judges two texts without a key; POST /v1/drift logs a step of a run with one.

${groups.join('\n\n')}

## Interface

- [OpenAPI 3.1](/v1/openapi.json): every route, its fields and its refusals
- [Recipes](/v1/guidance): how agents and frameworks report, ready to paste; ?framework=NAME answers one
- [The detector as data](/v1/grammar): fields, formula, thresholds, reasons in the order they are asked
- [MCP](/docs/mcp.md): sixteen tools at /mcp
`
}
