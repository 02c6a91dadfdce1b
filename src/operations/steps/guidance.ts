import { z } from 'zod'
import { frameworks, guidanceFor } from '../../core/guidance/guidance.ts'
import { badRequest } from '../gate/declaration.ts'
import { open } from '../gate/operation.ts'

const framework = z.enum(frameworks, `send one of ${frameworks.join(', ')}`)

const file = z.strictObject({
  path: z.string().describe('The path of the file. Only its name if you choose the folder.'),
  language: z.enum(['javascript', 'json', 'python', 'sh', 'typescript']),
  text: z.string(),
})

const guidance = z
  .strictObject({
    framework,
    steps: z.array(z.string()).min(1).describe('The steps to take, in order.'),
    snippet: z.string().describe('The text of the first file.'),
    files: z.array(file).min(1).describe('All files to paste, the main file first.'),
    notes: z.string().describe('Common mistakes, and the parts that were not verified.'),
  })
  .meta({ id: 'Guidance' })

/** Returns the code with which agents of a framework report their steps. Needs no key. */
export const readGuidance = open({
  name: 'guidance.read',
  group: 'detector',
  summary: 'The frameworks that have guidance, or the guidance for one of them.',
  description: 'Snippets contain the address of this server and read the key from PLUMBLINE_KEY.',
  http: { method: 'GET', path: '/v1/guidance' },
  input: z.object({ framework: framework.optional() }),
  output: z.union([z.strictObject({ frameworks: z.array(z.string()) }), guidance]),
  refusals: [badRequest],
})(async ({ settings }, input) => {
  if (input.framework === undefined) return { frameworks: [...frameworks] }
  const { files, steps, ...rest } = guidanceFor(input.framework, settings.baseUrl())
  return { ...rest, steps: [...steps], files: [...files] }
})
