import { hookCommand, hookFile, hookPath } from './guidance-hook.ts'
import { jsonFile, type Recipe } from './recipe.ts'

/** Recipes for coding hosts: their hooks start one small program. */
export const hostRecipes = {
  'claude-code': (baseUrl: string): Recipe => ({
    steps: [
      ...installation,
      'Merge the snippet into ~/.claude/settings.json, or .claude/settings.json of one project. `/hooks` shows what is active.',
      `So that the agent can also ask by itself: \`claude mcp add --transport http plumbline ${baseUrl}/mcp --header "Authorization: Bearer $PLUMBLINE_KEY"\`. Its own checks are a run apart.`,
    ],
    files: [
      jsonFile('~/.claude/settings.json', {
        hooks: {
          UserPromptSubmit: [{ hooks: [command({ timeout: 3 })] }],
          PostToolUse: [
            { matcher: 'TaskCreate|TodoWrite|Agent|Task', hooks: [command({ timeout: 3 })] },
          ],
          Stop: [{ hooks: [command({ timeout: 3 })] }],
        },
      }),
      hookFile(baseUrl),
    ],
    notes: notes(
      'UserPromptSubmit also fires for scheduled tasks and /loop, for reports of background sub-agents and for messages of other sessions; none of these is a turn of the user. The program skips prompts that begin with a tag or a slash command and, as Stop names them in session_crons, the prompts of scheduled tasks. Another message that reads like a person’s is taken for one.',
      'An Agent call is reported with the tokens its answer names. Adding Bash to the matcher reports the description of every command: a finer trace, with more steps that share no word with the errand.',
      'The fields follow the hooks reference of October 2026. Not verified here: how the tools TaskCreate and TodoWrite name their fields in your version, and what an automatic message begins with.',
    ),
  }),

  codex: (baseUrl: string): Recipe => ({
    steps: [
      ...installation,
      'Put the snippet in ~/.codex/hooks.json, or merge it into what is there.',
      'Start Codex and trust the hooks in `/hooks`; until then they are skipped.',
    ],
    files: [
      jsonFile('~/.codex/hooks.json', {
        hooks: {
          UserPromptSubmit: [{ hooks: [command({ timeout: 3 })] }],
          PostToolUse: [
            { matcher: '^(update_plan|spawn_agent|Agent)$', hooks: [command({ timeout: 3 })] },
          ],
        },
      }),
      hookFile(baseUrl),
    ],
    notes: notes(
      'The plan the agent keeps with update_plan is declared as the plan of the errand, and its item in progress is the step.',
      'Hooks of type mcp_tool would need no program, but a verdict as such is no hook output: Codex refuses output with unknown fields, and PostToolUse a reason without a decision.',
      'The fields follow the hooks documentation and the schemas in openai/codex. Not verified here: the argument of spawn_agent that holds the task (message is read).',
    ),
  }),

  cursor: (baseUrl: string): Recipe => ({
    steps: [
      ...installation,
      'Put the snippet in ~/.cursor/hooks.json, or .cursor/hooks.json of one project, and restart Cursor.',
    ],
    files: [
      jsonFile('~/.cursor/hooks.json', {
        version: 1,
        hooks: {
          beforeSubmitPrompt: [{ command: hookCommand, timeout: 3 }],
          postToolUse: [{ matcher: 'TodoWrite|Task', command: hookCommand, timeout: 3 }],
        },
      }),
      hookFile(baseUrl),
    ],
    notes: notes(
      'beforeSubmitPrompt is always answered with continue, whatever happens to the report. Cursor sends user_email with each event; the program passes on neither that nor the text of files.',
      'The fields follow descriptions of Cursor’s hooks by others. Not verified here: the names of the to-do tool and of its fields (todos with content and status are read), and whether timeout is heeded.',
    ),
  }),

  'gemini-cli': (baseUrl: string): Recipe => ({
    steps: [
      ...installation,
      'Merge the snippet into ~/.gemini/settings.json, or .gemini/settings.json of one project.',
    ],
    files: [
      jsonFile('~/.gemini/settings.json', {
        hooks: {
          BeforeAgent: [{ hooks: [command({ name: 'plumbline', timeout: 3_000 })] }],
          AfterTool: [
            {
              matcher: '^write_todos$',
              hooks: [command({ name: 'plumbline', timeout: 3_000 })],
            },
          ],
        },
      }),
      hookFile(baseUrl),
    ],
    notes: notes(
      'Timeouts are milliseconds here. Only the item of write_todos in progress is a step; a session without a list reports the user’s words alone.',
      'The fields follow docs/hooks/reference.md and docs/tools/todos of gemini-cli. Not verified here: a running Gemini CLI. Where hooks are off by default, turn them on in its settings.',
    ),
  }),
} as const

const installation = [
  `Save the program as ${hookPath}. It needs Node 18 or newer and nothing else.`,
  'Put a key where it finds one: the variable PLUMBLINE_KEY of the host’s environment, or the file ~/.plumbline/key that only you can read.',
]

/** What holds for every host, then what is its own. */
function notes(...own: string[]): string {
  return [
    'The first prompt of a session becomes the ground, in the user’s own words; later prompts add to it, correct it or replace it, and thanks, questions and “go on” leave it. A step is reported when the agent begins an item of its task list or delegates one: each item is a goal, while single tool calls are not.',
    'A sub-agent’s steps carry its agent_id where the host names it: it has a ground of its own, its first goal, and cannot touch the session’s.',
    'The agent is told of a drift only where the verdict is at least half sure (PLUMBLINE_TELL_FROM sets another confidence; 2 tells nothing), as a fact with the numbers that decided; every verdict is kept under the session’s id. Text in the shape of orders is what hosts take for an injection.',
    'The program waits a second at most, always exits with 0 and prints one JSON object, so a server that is down, slow or wrong never stops the agent.',
    ...own,
  ].join(' ')
}

function command(more: { name?: string; timeout: number }) {
  return { type: 'command', command: hookCommand, ...more }
}
