import { z } from 'zod'

/**
 * An input that `core` reads leniently: documented and typed as `schema`, but anything passes. The
 * reading rules of the interface cannot be said in a schema, and a stricter gate would break them.
 */
export function lenient<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodType<unknown, z.input<Schema>> {
  const anything = z.unknown().meta(z.toJSONSchema(schema, { io: 'input' }))
  return anything as z.ZodType<unknown, z.input<Schema>>
}
