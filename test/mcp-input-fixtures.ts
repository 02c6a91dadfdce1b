import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

/** Where a call stood when it asked, sealed so that a client cannot change it. */
const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

/** The server reads what a client brings back, and refuses it when the seal is broken. */
export const inputOptions: ServerOptions = { requestState: { verify: states.verify } }

/** A result, or what is asked for instead. */
type Answered = CallToolResult | InputRequiredResult

const noInput = z.object({})
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
const ask = (message: string, field: string, type: z.ZodType = z.string()) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: type }) })
const sample = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })

/** Tools and a prompt of the conformance suite that ask the client for something before they answer. */
export function registerInputFixtures(server: McpServer): void {
  const tool = (name: string, answer: (context: ServerContext) => Promise<Answered> | Answered) =>
    server.registerTool(
      name,
      { description: `Asks as ${name} of the suite does.`, inputSchema: noInput },
      async (_args, context) => answer(context),
    )

  tool('test_input_required_result_elicitation', ({ mcpReq: { inputResponses } }) => {
    const given = acceptedContent(inputResponses, 'user_name', z.object({ name: z.string() }))
    if (given !== undefined) return text(`Hello, ${given.name}!`)
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } })
  })
  tool('test_input_required_result_sampling', ({ mcpReq: { inputResponses } }) => {
    const given = inputResponse(inputResponses, 'capital_question')
    if (given.kind === 'sampling') return text(JSON.stringify(given.result.content))
    const capital_question = sample('What is the capital of France?')
    return inputRequired({ inputRequests: { capital_question } })
  })
  tool('test_input_required_result_list_roots', ({ mcpReq: { inputResponses } }) => {
    const given = inputResponse(inputResponses, 'client_roots')
    if (given.kind === 'roots') return text(given.roots.map(({ uri }) => uri).join(' '))
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })

  for (const name of [
    'test_input_required_result_request_state',
    'test_input_required_result_tampered_state',
  ]) {
    tool(name, async ({ mcpReq: { inputResponses, requestState } }) => {
      const given = acceptedContent(inputResponses, 'confirm', z.object({ ok: z.boolean() }))
      const state = requestState<{ round: number }>()
      if (given !== undefined && state?.round === 1) return text('state-ok')
      return inputRequired({
        inputRequests: { confirm: ask('Please confirm', 'ok', z.boolean()) },
        requestState: await states.mint({ round: 1 }),
      })
    })
  }
  tool('test_input_required_result_multi_round', async ({ mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0
    if (round === 2) return text('Done after three rounds.')
    const [key, question] =
      round === 0
        ? ['step1', ask('Step 1: What is your name?', 'name')]
        : ['step2', ask('Step 2: What is your favorite color?', 'color')]
    const requestState = await states.mint({ round: round + 1 })
    return inputRequired({
      inputRequests: { [String(key)]: question } as InputRequests,
      requestState,
    })
  })
  tool('test_input_required_result_multiple_inputs', async ({ mcpReq: { inputResponses } }) => {
    const kinds = ['user_name', 'greeting', 'client_roots'].map(
      (key) => inputResponse(inputResponses, key).kind,
    )
    if (!kinds.includes('missing')) return text(kinds.join(', '))
    return inputRequired({
      inputRequests: {
        user_name: ask('What is your name?', 'name'),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ round: 1 }),
    })
  })
  tool('test_input_required_result_capabilities', ({ mcpReq: { envelope } }) => {
    const can =
      (envelope as Record<string, object> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
    return inputRequired({
      inputRequests: {
        ...('sampling' in can ? { greeting: sample('Generate a greeting') } : {}),
        ...('elicitation' in can ? { user_name: ask('What is your name?', 'name') } : {}),
      },
    })
  })
  tool('test_missing_capability', () =>
    inputRequired({ inputRequests: { greeting: sample('Generate a greeting') } }),
  )
  tool('test_streaming_elicitation', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 2 },
    })
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } })
  })
  tool('test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'nobody asked for this')
    return text('worked in silence')
  })

  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context.' },
    ({ mcpReq: { inputResponses } }) => {
      const given = acceptedContent(
        inputResponses,
        'user_context',
        z.object({ context: z.string() }),
      )
      if (given !== undefined) {
        const content = { type: 'text' as const, text: `Regarding ${given.context}.` }
        return { messages: [{ role: 'user' as const, content }] }
      }
      const user_context = ask('What context should the prompt use?', 'context')
      return inputRequired({ inputRequests: { user_context } })
    },
  )
}
