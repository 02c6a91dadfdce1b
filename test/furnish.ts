import assert from 'node:assert/strict'
import { makeLocalLink } from '../src/operations/account/local-link.ts'
import type { Caller } from './caller.ts'
import type { Answer, App } from './harness.ts'
import { type Hook, settle } from './hook.ts'

/** A word that stands in everything that `furnish` and `furnishKeyless` have stored. */
export const marker = 'xylophone'

const errand = `buy a ${marker} today`
const astray = `sell a ${marker} tomorrow`

/** A collector of results that nobody listens at, so that all of them wait. */
export const silentCollector = 'http://127.0.0.1:1'

/** Has an account own something of every kind, by asking the service. Its webhook fails. */
export async function furnish(app: App, caller: Caller, hook: Hook): Promise<void> {
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await caller.post(path, body, headers)
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
    return answer
  }
  hook.answer(500)
  const stream = await fetch(`${app.url}/v1/stream`, { headers: caller.headers })
  await stream.body?.cancel()
  await send('/v1/alerts', { url: `${hook.url}/${marker}`, incidents: true })
  await send('/v1/alerts/secret', {})
  await send('/v1/alerts/test', {})
  await send('/v1/digest', {
    ...{ cadence: 'weekly', hour_utc: 6, weekday: 1, channel: 'webhook' },
    url: `${hook.url}/${marker}`,
  })
  await send('/v1/digest/test', {})
  await send('/v1/me/email', { email: `${marker}@reader.test` })
  for (const goal of [errand, astray, astray]) {
    await send('/v1/drift', { run_id: `${marker}-run`, goal }, { 'idempotency-key': goal })
  }
  const run_id = `${marker}-run`
  await send('/v1/drift/label', { run_id, step: 1, label: 'unclear', note: marker })
  await send('/v1/drift', { run_id, goal: errand, agent_id: marker, step_id: marker })
  const steps = ['a', 'b'].map((id) => ({ run_id: `${marker}-${id}`, goal: errand }))
  await send('/v1/drift/batch', { steps }, { 'idempotency-key': 'batch' })
  for (const position of ['low', 'high', 'loud']) {
    const turn = { conv_id: `${marker}-conv`, agent: position, position: `${errand} ${position}` }
    await send('/v1/dialogue', { ...turn, goal: errand })
  }
  await send('/v1/escalation', { run_id, reason: marker, detail: errand })
  await send('/v1/recursion-team', {
    ...{ name: marker, task: errand },
    roles: [{ role: marker, recurse: 'deep' }],
  })
  await send('/v1/self', { identity: marker, purpose: errand, note: marker })
  await send('/v1/operator/consult', {
    ...{ run_id: `${marker}-a`, kind: 'deploy', target: marker },
    ...{ reversible: false, outward: true },
  })
  await send('/v1/team/invite', { label: marker })
  await send('/v1/session', { key: caller.key })
  await app.running.store.identities.add({
    ...{ issuer: 'https://id.example', subject: marker, account: caller.account },
    created: app.running.service.now(),
  })
  await app.running.store.subscriptions.set({
    ...{ subscription: `${marker} ${caller.account}`, account: caller.account },
    ...{ customer: marker, tier: 'solo' },
    ...{ live: false, ending: false, over: true, version: 1 },
  })
  await app.running.store.subscriptions.addEvent('the one event', app.running.service.now())
  await makeLocalLink(app.running.service, caller.account, app.url)
  await send('/v1/hooks', { mode: 'advise' })
  await caller.request('PUT', '/v1/budget', { per_day: 1_000 })
  await send('/v1/hooks/vscode/UnheardOf', {})
  await send('/v1/hooks/vscode', {
    ...{ hook_event_name: 'UserPromptSubmit', session_id: marker, prompt_id: marker },
    prompt: `paint the ${marker}`,
  })
  await exportSpan(caller)
  for (const goal of [errand, `paint the ${marker}`]) {
    await callTool(app, 'reset_task', { goal }, caller.headers)
  }
  await app.get('/readyz')
  await settle(app)
}

/** Has an account export a span, which waits for the rest of its trace. */
export async function exportSpan(caller: Caller): Promise<void> {
  const attributes = [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.agent.id', value: { stringValue: marker } },
  ]
  const spans = [{ traceId: marker, spanId: marker, attributes }]
  const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] }
  const json = { 'content-type': 'application/json' }
  assert.equal((await caller.post('/v1/traces', body, json)).status, 200)
}

/** Has callers without a key leave all that they can. */
export async function furnishKeyless(app: App): Promise<void> {
  await app.get('/v1/signal')
  await app.post('/v1/check', { ground: errand, goal: astray })
  const headers = { 'mcp-session-id': await openSession(app) }
  for (const goal of [errand, astray]) {
    await callTool(app, 'check_state', { goal, progress: 'advancing', distance: 5 }, headers)
    await callTool(app, 'check_dialogue', { agent: 'a', goal, said: goal }, headers)
  }
  await callTool(app, 'reset_task', { goal: `paint the ${marker}` }, headers)
  await settle(app)
}

/** The token of a connection to the tools. */
async function openSession(app: App): Promise<string> {
  const answer = await ask(app, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  return answer.headers.get('mcp-session-id') ?? ''
}

async function callTool(
  app: App,
  name: string,
  given: object,
  headers: Record<string, string>,
): Promise<void> {
  const answer = await ask(app, 'tools/call', { name, arguments: given }, headers)
  assert.equal(answer.body?.result?.isError ?? false, false, answer.text)
}

function ask(
  app: App,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method, params },
    {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
  )
}
