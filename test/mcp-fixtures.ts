import {
  completable,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { McpExtension } from '../src/surfaces/mcp/server.ts'
import { inputOptions, registerInputFixtures } from './mcp-input-fixtures.ts'

/** One red pixel, and one sample of silence. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const text = (said: string) => ({ type: 'text' as const, text: said })
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' }
const embedded = (uri: string, said: string, mimeType = 'text/plain') => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
})

/**
 * What the conformance suite looks for on a server: tools, resources and prompts of its own names,
 * beside the real ones, so that the endpoint around them can be tried. Nothing here stands for what
 * the endpoint does not do: logging, subscriptions, and asking a 2025-era client something.
 */
export const conformanceFixtures: McpExtension = {
  options: inputOptions,
  register(server) {
    registerTools(server)
    registerResources(server)
    registerPrompts(server)
    registerInputFixtures(server)
  },
}

function registerTools(server: McpServer): void {
  const answers = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio' as const, data: silence, mimeType: 'audio/wav' }],
    test_embedded_resource: [
      embedded('test://embedded-resource', 'This is an embedded resource content.'),
    ],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json'),
    ],
  }
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, { description: `Answers as ${name} of the suite does.` }, () => ({
      content,
    }))
  }
  server.registerTool('test_error_handling', { description: 'Answers an error.' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells of its progress.', inputSchema: z.object({}) },
    async (_args, context) => {
      const token = context.mcpReq._meta?.progressToken ?? 0
      for (const progress of [0, 50, 100]) {
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: token, progress, total: 100 },
        })
      }
      return { content: [text(String(token))] }
    },
  )
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Words its input in many ways.', inputSchema: fromJsonSchema(manyKeywords) },
    () => ({ content: [text('taken')] }),
  )
  server.registerTool(
    'test_header_argument',
    {
      description: 'Takes an argument that stands in a header too.',
      inputSchema: fromJsonSchema({
        type: 'object',
        properties: { region: inHeader },
        required: ['region'],
      }),
    },
    () => ({ content: [text('taken')] }),
  )
}

/** A keyword of the protocol that JSON Schema does not know. */
const inHeader: object = { type: 'string', 'x-mcp-header': 'Region' }

/** The keywords whose passage through `tools/list` the suite looks at. */
const manyKeywords = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

function registerResources(server: McpServer): void {
  const said = { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  server.registerResource('static-text', 'test://static-text', { title: 'Text' }, ({ href }) => ({
    contents: [{ uri: href, ...said }],
  }))
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { title: 'Bytes' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'image/png', blob: pixel }] }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { title: 'By id' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  )
}

function registerPrompts(server: McpServer): void {
  const says = (
    ...content: (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[]
  ) => ({
    messages: content.map((each) => ({ role: 'user' as const, content: each })),
  })
  server.registerPrompt('test_simple_prompt', { description: 'No arguments.' }, () =>
    says(text('This is a simple prompt for testing.')),
  )
  const argument = (name: string) => completable(z.string().describe(name), () => ['testing'])
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Two arguments.',
      argsSchema: z.object({ arg1: argument('First'), arg2: argument('Second') }),
    },
    ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Embeds.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      says(
        embedded(resourceUri, 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'An image.' }, () =>
    says(image, text('Please analyze the image above.')),
  )
}
