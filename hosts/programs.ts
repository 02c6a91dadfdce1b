import type { Call } from './stand-in.ts'

/** What the agent says at the end of its first prompt. */
export const ended = 'The login route now has a limit of five tries a minute; one test still fails.'

/** An item of a plan, and whether the agent is at it. */
export type PlanItem = readonly [text: string, isNow: boolean]

/** What it says at the end of its second. */
export const endedAgain = 'Signup is limited too.'

/** A host as npm has it, and how it is run without its cloud. */
export interface Program {
  /** The package and its version. */
  package: string
  bin: string
  /** Files in the home of the user that make the host run offline, by their names. */
  files(project: string, model: string): Record<string, string>
  env(model: string): Record<string, string>
  /** The arguments for the `nth` prompt, 0 or 1; `before` is what the first run has printed. */
  args(nth: number, prompt: string, before: string): string[]
  /** The words that the agent ends with, out of what the host has printed. */
  result(printed: string): string
  /** Acts as calls of the host's tools; several ways where the host offers one of several tools. */
  tools: {
    /** Several calls one after another; null if the host offers no tool for a plan. */
    plan(items: readonly PlanItem[]): Call[][] | null
    run(command: string, description: string): Call[]
    read(path: string): Call[]
    write(path: string, content: string): Call[]
    delegate(task: string): Call[] | null
    /** Delegates and goes on; the end of the sub-agent comes as a prompt. Absent if the host has no such thing. */
    delegateBehind?(task: string): Call[]
    /** Waits for a sub-agent; null if delegating waits. */
    wait: Call[] | null
  }
  /** Whether the host says what a sub-agent was asked and does. */
  showsAgents: boolean
  /** The least share of acts of which the host tells how they ended, 0–1. */
  tells: number
  /** Whether the host tells its hooks that nobody can speak in the session, which is so in each of these. */
  tellsUnattended: boolean
}

/** Settings as a person may have written them, with notes and with a line end of their own. */
function commented(settings: object): string {
  const text = JSON.stringify(settings, null, 2)
  return `// Mine, not to be touched.\n${text.replace('{', '{ // see the wiki').replace(/\n\}$/, '\n  /* the end */\n}')}\n\n`
}

const quiet = { LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' }

export const programs: Readonly<Record<string, Program>> = {
  'claude-code': {
    package: '@anthropic-ai/claude-code@2.1.330',
    bin: 'claude',
    files: (project) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        projects: { [project]: { hasTrustDialogAccepted: true } },
      }),
      '.claude/settings.json': `${JSON.stringify({ theme: 'dark', hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } }, null, 2)}\n`,
    }),
    env: (model) => ({
      ...quiet,
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'stand-in',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    args: (nth, prompt) => [
      '-p',
      ...(nth === 0 ? [] : ['--continue']),
      prompt,
      '--allowedTools',
      'Bash,Write,Edit,Read,Agent,Task,TodoWrite,TaskCreate,TaskUpdate',
      '--output-format',
      'json',
    ],
    result: (printed) => JSON.parse(printed).result,
    tools: {
      // Its tools for tasks are offered only after the agent has looked for them.
      plan: (items) => [
        [
          {
            name: 'ToolSearch',
            args: { query: 'select:TaskCreate,TaskUpdate', max_results: 5 },
          },
        ],
        ...items.map(([subject]) => [
          { name: 'TaskCreate', args: { subject, description: subject }, loader: 'ToolSearch' },
        ]),
        ...items.flatMap(([, isNow], nth) =>
          isNow
            ? [
                [
                  {
                    name: 'TaskUpdate',
                    args: { taskId: `${nth + 1}`, status: 'in_progress' },
                    loader: 'ToolSearch',
                  },
                ],
              ]
            : [],
        ),
      ],
      run: (command, description) => [{ name: 'Bash', args: { command, description } }],
      read: (path) => [{ name: 'Read', args: { file_path: path } }],
      write: (path, content) => [{ name: 'Write', args: { file_path: path, content } }],
      delegate: (prompt) => {
        const args = {
          description: 'Compare token buckets',
          prompt,
          subagent_type: 'general-purpose',
          run_in_background: false,
        }
        return [{ name: 'Agent', args }]
      },
      delegateBehind: (prompt) => {
        const args = {
          description: 'Compare sliding windows',
          prompt,
          subagent_type: 'general-purpose',
          run_in_background: true,
        }
        return [{ name: 'Agent', args }]
      },
      wait: null,
    },
    showsAgents: true,
    tells: 0.9,
    tellsUnattended: true,
  },
  codex: {
    package: '@openai/codex@0.169.0',
    bin: 'codex',
    files: (project, model) => ({
      '.codex/hooks.json': `${JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } }, null, 1)}`,
      '.codex/config.toml': `# Mine, not to be touched.
model = "gpt-6.1-sol"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.local]
name = "local"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."${project}"]
trust_level = "trusted"
`,
    }),
    env: () => ({ ...quiet, LOCAL_KEY: 'stand-in', RUST_LOG: 'error' }),
    args(nth, prompt, before) {
      const begin = ['exec', '--dangerously-bypass-hook-trust', '--skip-git-repo-check', '--json']
      // The newest thread may be a sub-agent's, so the session is named.
      const id = /"thread_id":"([\w-]+)"/.exec(before)?.[1] ?? ''
      return nth === 0 ? [...begin, prompt] : [...begin, 'resume', id, prompt]
    },
    result(printed) {
      const items = printed.split('\n').flatMap((line) => {
        const found = /^\{/.test(line) ? JSON.parse(line).item : undefined
        return found?.type === 'agent_message' ? [found.text] : []
      })
      return items.at(-1) ?? ''
    },
    tools: {
      // `exec` offers no `update_plan` for the models that were tried.
      plan: () => null,
      run: (command) => [
        { name: 'exec_command', args: { cmd: command } },
        { name: 'shell_command', args: { command } },
        { name: 'shell', args: { command: ['sh', '-c', command] } },
        {
          name: 'exec',
          args: {},
          input: `const r = await tools.exec_command(${JSON.stringify({ cmd: command })}); text(r.output);`,
        },
      ],
      read: (path) => programs.codex?.tools.run(`cat ${path}`, '') ?? [],
      write: (path, content) => {
        const lines = content
          .trimEnd()
          .split('\n')
          .map((line) => `+${line}\n`)
        const patch = `*** Begin Patch\n*** Add File: ${path}\n${lines.join('')}*** End Patch\n`
        return [
          { name: 'apply_patch', args: { input: patch }, input: patch },
          {
            name: 'exec',
            args: {},
            input: `const r = await tools.apply_patch(${JSON.stringify(patch)}); text(String(r));`,
          },
        ]
      },
      delegate: (message) => [
        { name: 'spawn_agent', args: { task_name: 'compare_buckets', message } },
      ],
      // Its own `wait_agent` waits for what comes from then on, for 10 seconds at least.
      wait: [{ name: 'sleep', args: { duration_ms: 3_000 } }],
    },
    showsAgents: true,
    // Its hooks tell no exit code: a command that prints no failing test has an unknown end.
    tells: 0.6,
    // Its notices name the client, which init leaves to the person, and its session files, which only a relay reads.
    tellsUnattended: false,
  },
  'gemini-cli': {
    package: '@google/gemini-cli@0.61.0',
    bin: 'gemini',
    files: () => ({
      '.gemini/settings.json': commented({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        // Older names for these two it changes by itself.
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
        useWriteTodos: true,
        tools: { sandbox: false },
        hooks: { AfterAgent: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      }),
    }),
    env: (model) => ({
      ...quiet,
      GEMINI_API_KEY: 'stand-in',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_NO_RELAUNCH: 'true',
    }),
    args: (nth, prompt) => [
      '--yolo',
      '-m',
      'gemini-2.5-flash',
      ...(nth === 0 ? [] : ['--resume', 'latest']),
      '--output-format',
      'json',
      '-p',
      prompt,
    ],
    result: (printed) => JSON.parse(printed.slice(printed.indexOf('{'))).response,
    tools: {
      plan: (items) => {
        const todos = items.map(([description, isNow]) => ({
          description,
          status: isNow ? 'in_progress' : 'pending',
        }))
        return [[{ name: 'write_todos', args: { todos } }]]
      },
      run: (command, description) => [
        { name: 'run_shell_command', args: { command, description } },
      ],
      read: (path) => [{ name: 'read_file', args: { file_path: path } }],
      write: (path, content) => [{ name: 'write_file', args: { file_path: path, content } }],
      delegate: (prompt) => [
        { name: 'invoke_agent', args: { agent_name: 'codebase_investigator', prompt } },
      ],
      wait: null,
    },
    showsAgents: false,
    tells: 0.9,
    tellsUnattended: false,
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code@0.24.4',
    bin: 'qwen',
    files: () => ({
      '.qwen/settings.json': commented({
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      }),
    }),
    env: (model) => ({
      ...quiet,
      OPENAI_BASE_URL: `${model}/v1`,
      OPENAI_API_KEY: 'stand-in',
      OPENAI_MODEL: 'stand-in',
    }),
    args: (nth, prompt) => ['-p', prompt, ...(nth === 0 ? [] : ['--continue']), '--yolo'],
    result: (printed) => [ended, endedAgain].find((each) => printed.includes(each)) ?? printed,
    tools: {
      // Its `todo_write` is not among the tools that it offers.
      plan: () => null,
      run: (command, description) => [
        { name: 'run_shell_command', args: { command, description, is_background: false } },
      ],
      read: (path) => [{ name: 'read_file', args: { file_path: path, absolute_path: path } }],
      write: (path, content) => [{ name: 'write_file', args: { file_path: path, content } }],
      // Its sub-agents may end after the turn that they are of.
      delegate: () => null,
      wait: null,
    },
    showsAgents: false,
    tells: 0.9,
    tellsUnattended: false,
  },
  copilot: {
    package: '@github/copilot@1.0.102',
    bin: 'copilot',
    files: (project) => ({
      '.copilot/settings.json': commented({
        theme: 'dark',
        hooks: { agentStop: [{ type: 'command', bash: 'true' }] },
      }),
      '.copilot/config.json': JSON.stringify({
        trusted_folders: [project],
        trustedFolders: [project],
      }),
    }),
    env: (model) => ({
      ...quiet,
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: 'stand-in',
      COPILOT_MODEL: 'stand-in',
    }),
    args: (nth, prompt) => [
      '-p',
      prompt,
      ...(nth === 0 ? [] : ['--continue']),
      '--allow-all-tools',
      '--no-auto-update',
    ],
    result: (printed) => [ended, endedAgain].find((each) => printed.includes(each)) ?? printed,
    tools: {
      plan: (items) => {
        const rows = items.map(
          ([title, isNow], nth) =>
            `('t${nth}','${title}','${title}','${isNow ? 'in_progress' : 'pending'}')`,
        )
        const query = `INSERT INTO todos (id,title,description,status) VALUES ${rows.join(',')}`
        return [[{ name: 'sql', args: { description: 'Plan the work', query } }]]
      },
      run: (command, description) => [
        { name: 'bash', args: { command, description, mode: 'sync', sessionId: 's1' } },
      ],
      read: (path) => [{ name: 'view', args: { path } }],
      write: (path, content) => [{ name: 'create', args: { path, file_text: content } }],
      delegate: (prompt) => {
        const args = {
          agent_type: 'explore',
          name: 'compare-buckets',
          description: 'Compare token buckets',
          prompt,
          mode: 'sync',
        }
        return [{ name: 'task', args }]
      },
      wait: null,
    },
    showsAgents: true,
    tells: 0.9,
    tellsUnattended: false,
  },
  opencode: {
    package: 'opencode-ai@1.18.33',
    bin: 'opencode',
    files: (_project, model) => ({
      '.config/opencode/plugin/mine.js': '// Mine.\nexport const Mine = async () => ({})\n',
      '.config/opencode/opencode.jsonc': commented({
        autoupdate: false,
        share: 'disabled',
        model: 'local/stand-in',
        small_model: 'local/stand-in',
        permission: { '*': 'allow' },
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            name: 'local',
            options: { baseURL: `${model}/v1`, apiKey: 'stand-in' },
            models: {
              'stand-in': {
                name: 'stand-in',
                tool_call: true,
                limit: { context: 100_000, output: 8_000 },
              },
            },
          },
        },
      }),
    }),
    env: () => ({
      ...quiet,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      npm_config_fetch_retries: '0',
    }),
    args: (nth, prompt) => ['run', ...(nth === 0 ? [] : ['--continue']), prompt],
    result: (printed) => [ended, endedAgain].find((each) => printed.includes(each)) ?? printed,
    tools: {
      plan: (items) => {
        const todos = items.map(([content, isNow], nth) => ({
          id: `${nth}`,
          content,
          status: isNow ? 'in_progress' : 'pending',
          priority: 'high',
        }))
        return [[{ name: 'todowrite', args: { todos } }]]
      },
      run: (command, description) => [{ name: 'bash', args: { command, description } }],
      read: (path) => [{ name: 'read', args: { filePath: path } }],
      write: (path, content) => [{ name: 'write', args: { filePath: path, content } }],
      delegate: (prompt) => [
        {
          name: 'task',
          args: { description: 'Compare token buckets', prompt, subagent_type: 'general' },
        },
      ],
      wait: null,
    },
    showsAgents: true,
    tells: 0.9,
    tellsUnattended: false,
  },
}
