import { z } from 'zod'
import { depthNames, modes, presets, type Template } from '../../core/runs/modulation.ts'
import { maxTextLength, wellFormed } from '../../core/text.ts'
import type { Store } from '../../storage/store.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { idField, okAnswer, textField } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

/** The most templates of one account. */
const maxTemplates = 100

/** The most roles of one team. */
const maxRoles = 20

const roleSchema = z
  .strictObject({
    role: idField(),
    recurse: z
      .enum(depthNames, `send ${depthNames.join(', ')}`)
      .describe('How readily the role returns: `deep` last, `tight` first.'),
    modes: z
      .array(z.enum(modes, `send modes among ${modes.join(', ')}`))
      .min(1, 'send at least one mode, or leave it out')
      .max(modes.length)
      .optional()
      .describe('The drift modes that the role acts on, instead of those of its depth.'),
    return: z
      .union(
        [z.string().max(maxTextLength).overwrite(wellFormed), z.boolean()],
        `send a text of at most ${maxTextLength} characters, true or false`,
      )
      .optional()
      .describe(
        'The advice when the role returns. true is the usual sentence; false means that it never returns.',
      ),
  })
  .meta({ id: 'TeamRole' })

const templateSchema = z
  .strictObject({
    name: z.string(),
    task: z.string(),
    roles: z.array(roleSchema),
    built_in: z.boolean(),
  })
  .meta({ id: 'TeamTemplate' })

const noTemplate = describeRefusal(404, 'no_template', 'There is no template with this name.')

const conflict = describeRefusal(
  409,
  'conflict',
  `The name belongs to a built-in template, or the account already has ${maxTemplates} templates.`,
)

/** Lists the built-in templates and the account's own, or returns one of them. */
export const readTemplates = keyed({
  name: 'templates.read',
  group: 'detector',
  summary: 'The recursion-team templates, built-in ones first, or one by name.',
  http: { method: 'GET', path: '/v1/recursion-team' },
  input: z.object({ name: idField().optional() }),
  output: z.union([
    z.strictObject({ templates: z.array(templateSchema) }),
    z.strictObject({ template: templateSchema }),
  ]),
  refusals: [badRequest, noTemplate],
})(async ({ store, account }, { name }) => {
  if (name === undefined) {
    const own = await store.templates.list(account.id)
    return { templates: [...presets, ...own].map(shownTemplate) }
  }
  const template = await findTemplate(store, account.id, name)
  if (template === null) throw unknownTemplate()
  return { template: shownTemplate(template) }
})

/** Stores a template of the account. */
export const storeTemplate = keyed({
  name: 'templates.store',
  group: 'detector',
  summary: 'Store a recursion-team template. It replaces your own template of the same name.',
  http: { method: 'POST', path: '/v1/recursion-team' },
  input: z.object({
    name: idField(),
    task: textField(),
    roles: z
      .array(roleSchema.strip(), `send a list of 1 to ${maxRoles} roles`)
      .min(1, `send 1 to ${maxRoles} roles`)
      .max(maxRoles, `send 1 to ${maxRoles} roles`)
      .refine(
        (roles) => new Set(roles.map(({ role }) => role)).size === roles.length,
        'send each role once',
      ),
  }),
  output: z.strictObject({ ok: z.literal(true), template: templateSchema }),
  status: 201,
  refusals: [badRequest, conflict],
})(async ({ store, account }, input) => {
  if (isBuiltIn(input.name)) throw builtIn(input.name)
  const template: Template = { ...input, roles: input.roles.map(roleOf) }
  const stored = await store.tx(({ templates }) =>
    templates.put(account.id, template, maxTemplates),
  )
  if (!stored) {
    throw new Refusal(409, 'conflict', {
      detail: `An account holds at most ${maxTemplates} templates; delete one first.`,
    })
  }
  return { ok: true as const, template: shownTemplate(template) }
})

/** Deletes a template of the account. */
export const deleteTemplate = keyed({
  name: 'templates.delete',
  group: 'detector',
  summary: 'Delete a recursion-team template of your own.',
  http: { method: 'DELETE', path: '/v1/recursion-team' },
  input: z.object({ name: idField() }),
  output: okAnswer,
  refusals: [badRequest, noTemplate, conflict],
})(async ({ store, account }, { name }) => {
  if (isBuiltIn(name)) throw builtIn(name)
  if (!(await store.templates.remove(account.id, name))) throw unknownTemplate()
  return { ok: true as const }
})

/** Finds a built-in template or one of the account's own; null if there is none. */
export async function findTemplate(
  store: Store,
  account: string,
  name: string,
): Promise<Template | null> {
  return presets.find((preset) => preset.name === name) ?? store.templates.find(account, name)
}

function isBuiltIn(name: string): boolean {
  return presets.some((preset) => preset.name === name)
}

function builtIn(name: string): Refusal {
  return new Refusal(409, 'conflict', {
    detail: `${name} is a built-in template, which you cannot change. Choose another name.`,
  })
}

function unknownTemplate(): Refusal {
  return new Refusal(404, 'no_template', {
    detail: 'There is no such template. GET /v1/recursion-team lists all templates.',
  })
}

/** Copies a role without the fields that are undefined. */
function roleOf({
  role,
  recurse,
  ...given
}: z.infer<typeof roleSchema>): Template['roles'][number] {
  return {
    role,
    recurse,
    ...(given.modes === undefined ? {} : { modes: given.modes }),
    ...(given.return === undefined ? {} : { return: given.return }),
  }
}

function shownTemplate({ name, task, roles }: Template): z.infer<typeof templateSchema> {
  return { name, task, roles, built_in: isBuiltIn(name) }
}
