import type { Recipe } from './recipe.ts'

/** Recipes for coding hosts: `plumbline init` puts their hooks in, and takes them out again. */
export const hostRecipes = {
  'claude-code': recipeFor(
    'claude-code',
    'With PLUMBLINE_KEY in the environment of the command, Claude Code calls the server itself; otherwise every event goes by a small program. The hooks were run with version 2.1.330.',
    (baseUrl) =>
      `claude mcp add --transport http plumbline ${baseUrl}/mcp --header "Authorization: Bearer $PLUMBLINE_KEY"`,
  ),
  codex: recipeFor(
    'codex',
    'Open /hooks in Codex and trust the hooks: until then none runs. Its hooks tell no exit code, so how a command ended is known only where its output names failing tests. Run with version 0.169.0.',
    (baseUrl) =>
      `codex mcp add plumbline --url ${baseUrl}/mcp --bearer-token-env-var PLUMBLINE_KEY`,
  ),
  'gemini-cli': recipeFor(
    'gemini-cli',
    'Its hooks name no sub-agent: what one does belongs to the main agent. Run with version 0.61.0.',
    (baseUrl) =>
      `gemini mcp add --transport http plumbline ${baseUrl}/mcp --header "Authorization: Bearer $PLUMBLINE_KEY"`,
  ),
  'qwen-code': recipeFor('qwen-code', 'Read from the events that version 0.24.4 sends.'),
  copilot: recipeFor('copilot', 'Run with version 1.0.102 of Copilot CLI.'),
  opencode: recipeFor('opencode', 'A plugin that the host loads. Run with version 1.18.33.'),
  cline: recipeFor(
    'cline',
    'A program for each event, read from the events that version 3.0.65 sends.',
  ),
  cursor: recipeFor(
    'cursor',
    'Read from descriptions of Cursor’s hooks by others, and not run. The address of the person, which Cursor sends, is never read.',
  ),
} as const

/** The recipe of a host; `mcp` is the command that gives it the tools as well. */
function recipeFor(host: string, own: string, mcp?: (baseUrl: string) => string) {
  return (baseUrl: string): Recipe => ({
    steps: [
      'Set PLUMBLINE_KEY to a key of your account, where you run the command.',
      `Run the snippet. It puts hooks into your own settings of ${host}, keeps a copy, makes a key that may only report events, and says whether the server answered. --dry-run shows the change.`,
      `Work as before. Each session is a run, ${host}:SESSION. \`plumbline uninstall ${host}\` makes the settings what they were.`,
      ...(mcp === undefined
        ? []
        : [
            `So that the agent can also ask by itself: \`${mcp(baseUrl)}\`. Its own checks are a run apart.`,
          ]),
    ],
    files: [
      {
        path: 'init.sh',
        language: 'sh',
        text: `npx plumbline init ${host} --server ${baseUrl}\n`,
      },
    ],
    notes: [
      'What a person typed is the errand; what a machine said, schedules and reports of sub-agents are not. A step is opened by a prompt, a new item of the agent’s list, a delegation, a new goal, or ten acts. A sub-agent is measured against its own task.',
      'A hook never stops the agent: its program always exits with 0, a server that does not answer costs 0.3 seconds once in 30, and every answer is one that the host accepts.',
      'The agent is told nothing, unless you add --advise (a fact when its run has left the errand) or --gate (commands that cannot be undone are held as well).',
      own,
    ].join(' '),
  })
}
