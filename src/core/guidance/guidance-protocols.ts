import { jsonFile, type Recipe, stepNotes } from './recipe.ts'

/** Recipes for whatever speaks a protocol. */
export const protocolRecipes = {
  mcp: (baseUrl: string): Recipe => ({
    steps: [
      'Add the server to the configuration of your host; for the best known hosts the second file has one line each. Without the header the tools work too: what they store then belongs to the session, or to the address of the connection, and is kept for a day. Where the server knows neither, nothing is kept, and the answer says so.',
      'Tell the agent in your own instructions when to call: check_state with the user’s words as ground when a task begins, then at each new step; the user’s words as user_message when the user speaks; parent_goal for a sub-task. The prompt report_step says it at length.',
      'Where no server may be reached, start the tools as a program instead: the last file. It stores nothing.',
    ],
    files: [
      jsonFile('mcp.json', {
        mcpServers: {
          plumbline: {
            type: 'http',
            url: `${baseUrl}/mcp`,
            headers: { Authorization: `Bearer ${keyPlace}` },
          },
        },
      }),
      { path: 'mcp-one-liners.sh', language: 'sh', text: oneLiners(baseUrl) },
      jsonFile('mcp-stdio.json', {
        mcpServers: { plumbline: { command: 'plumbline', args: ['mcp'] } },
      }),
    ],
    notes: [
      'With a key the state is the run mcp:SESSION of the account. A connection has a session of its own unless a call names another; where the host keeps no connection it is `default`, so agents that work side by side, and sub-agents, name a session each. A user turn puts the old ground aside; a later goal that is nearer to it takes it up again.',
      'Agents forget to call tools, so count on hooks for measuring and on the tools for asking; a run without steps is no sign that all is well.',
      'Hosts differ in the names: Gemini CLI takes httpUrl instead of url, VS Code servers instead of mcpServers, Codex `[mcp_servers.plumbline]` with url and http_headers in config.toml. `plumbline` is the command of the package; give its full path where a host does not search for it.',
      'A verdict states what was measured and gives no order. When the server is away a call fails and the agent goes on.',
    ].join(' '),
  }),

  'plain-http': (baseUrl: string): Recipe => ({
    steps: [
      'Set PLUMBLINE_KEY to a key of your account.',
      'When the user gives the errand, send it as ground with the first step; the run comes into being with it.',
      'At each new thing the agent does, send its goal in one line, with `tokens` when you know them.',
      'When the user speaks again, send the words as `user_message` with the next step: they add to the errand, correct it, replace it or do nothing. When the run is over, send its outcome.',
    ],
    files: [{ path: 'plumbline.sh', language: 'sh', text: plainHttp(baseUrl) }],
    notes: stepNotes(
      '`--max-time` bounds the wait and `|| true` keeps a failure from stopping a script. A step that may be sent twice carries `step_id`: it is logged once.',
    ),
  }),
} as const

const keyPlace = 'YOUR_KEY'

/** One line for each host that takes one. */
function oneLiners(baseUrl: string): string {
  const url = `${baseUrl}/mcp`
  const header = '"Authorization: Bearer $PLUMBLINE_KEY"'
  const entry = (name: string) =>
    JSON.stringify({
      [name]: { plumbline: { url, headers: { Authorization: `Bearer ${keyPlace}` } } },
    })
  const added = JSON.stringify({
    name: 'plumbline',
    type: 'http',
    url,
    headers: { Authorization: `Bearer ${keyPlace}` },
  })
  return `# Claude Code
claude mcp add --transport http plumbline ${url} --header ${header}
# Codex
codex mcp add plumbline --url ${url} --bearer-token-env-var PLUMBLINE_KEY
# Gemini CLI
gemini mcp add --transport http plumbline ${url} --header ${header}
# VS Code
code --add-mcp '${added}'
# Cursor: ~/.cursor/mcp.json
# ${entry('mcpServers')}
# Zed: settings.json
# ${entry('context_servers')}
# Any other host, or no server: the tools as a program
# plumbline mcp
`
}

function plainHttp(baseUrl: string): string {
  const send = (path: string, body: object) =>
    `curl -sS --max-time 2 "$PLUMBLINE_URL${path}" \\
  -H "authorization: Bearer $PLUMBLINE_KEY" -H "content-type: application/json" \\
  -d '${JSON.stringify(body)}' || true`
  return `PLUMBLINE_URL=${JSON.stringify(baseUrl)}

# The errand, in the user's own words, and the first thing that is done for it.
${send('/v1/drift', { run_id: 'run-1', ground: 'add rate limiting to the login endpoint', goal: 'write a rate limit for the login endpoint', distance: 8, tokens: 1200 })}

# A step of a sub-agent, and one that is declared to be part of a larger goal.
${send('/v1/drift', { run_id: 'run-1', agent_id: 'researcher', goal: 'compare token bucket libraries' })}
${send('/v1/drift', { run_id: 'run-1', goal: 'choose a token bucket library', parent_goal: 'rate limiting for the login endpoint' })}

# The user has spoken again.
${send('/v1/drift', { run_id: 'run-1', goal: 'write a rate limit for the signup endpoint', user_message: 'limit the signup endpoint as well' })}

${send('/v1/drift/outcome', { run_id: 'run-1', outcome: 'success' })}
`
}
