import { z } from 'zod'
import { describeGrammar } from '../core/language/grammar.ts'
import type { Service } from './gate/context.ts'
import { open } from './gate/operation.ts'
import { type Tool, tool } from './gate/tool.ts'

const grammar = z
  .looseObject({
    version: z.string(),
    immutable: z.literal(true),
    content_hash: z.string().describe('SHA-256 of the rest as JSON, in base64url.'),
  })
  .meta({ id: 'Grammar' })

/** Returns the detector described as data. */
export const readGrammar = open({
  name: 'grammar.read',
  group: 'field',
  summary: 'The detector described as data, read from its own constants.',
  http: { method: 'GET', path: '/v1/grammar' },
  input: z.object({}),
  output: grammar,
})(async (service) => hashed(service))

/** The tool that returns the same description. */
export const driftGrammar: Tool = tool({
  name: 'drift_grammar',
  title: 'How a step is measured',
  description:
    'The detector described as data: fields, normaliser, formulas, thresholds, and the reasons in the order of their checks. Call it when a verdict surprises you.',
  hints: { readOnlyHint: true, idempotentHint: true },
  input: z.object({}),
  output: grammar,
})(hashed)

function hashed({ hash }: Pick<Service, 'hash'>): z.infer<typeof grammar> {
  const described = describeGrammar()
  return {
    ...(described as { version: string; immutable: true }),
    content_hash: hash(JSON.stringify(described)),
  }
}
