import { z } from 'zod'

/**
 * An input that has the description and the type of `schema` but accepts any value. `core` then reads it
 * by the lenient rules of the interface, which no schema can express.
 */
export function lenient<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodType<unknown, z.input<Schema>> {
  const anything = z.unknown().meta(z.toJSONSchema(schema, { io: 'input' }))
  return anything as z.ZodType<unknown, z.input<Schema>>
}
