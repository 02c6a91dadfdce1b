import type { RecipeFile } from './recipe.ts'

/** Where the recipes of the coding hosts expect the program. */
export const hookPath = '~/.plumbline/hook.mjs'

/** How a host starts it. */
export const hookCommand = 'node "$HOME/.plumbline/hook.mjs"'

/**
 * The program that the hooks of a coding host start. It reads the host's event, reports the user's
 * words as a message of the user and the items of the agent's task list as steps, and prints one JSON object.
 */
export function hookFile(baseUrl: string): RecipeFile {
  return { path: hookPath, language: 'javascript', text: hookText(baseUrl) }
}

function hookText(baseUrl: string): string {
  return `// Reports to Plumbline what a coding host's hook says. Whatever fails, the host goes on.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";

const base = env.PLUMBLINE_URL ?? ${JSON.stringify(baseUrl)};
const tellFrom = Number(env.PLUMBLINE_TELL_FROM ?? 0.5);
const folder = join(homedir(), ".plumbline");
const read = (name) => readFileSync(join(folder, name), "utf8").trim();

let event = {};
let answer = {};
try {
  event = JSON.parse(readFileSync(0, "utf8"));
  answer = told(await report());
} catch {}
if (event.hook_event_name === "beforeSubmitPrompt") answer = { continue: true };
console.log(JSON.stringify(answer));

async function report() {
  const run_id = event.session_id ?? event.conversation_id;
  if (event.session_crons?.length) remember(run_id, event.session_crons);
  const step = event.prompt === undefined ? stepOf(event) : errandOf(event, run_id);
  if (!step?.goal) return null;
  const goal = step.goal.slice(0, 4000);
  const step_id = event.tool_use_id ?? event.prompt_id;
  return ask("POST", "/v1/drift", { ...step, goal, run_id, agent_id: event.agent_id, step_id });
}

/** The user's own words. Hosts hand over more as a prompt than what a person has typed. */
function errandOf({ prompt, agent_id }, run_id) {
  const goal = prompt.trim();
  const isCommand = /^(<|!|\\/[\\w-]+(\\s|$))/.test(goal);
  if (agent_id || isCommand || scheduled(run_id).includes(goal)) return null;
  // The server reads whether the words add to the errand, correct it, replace it or do nothing.
  return { goal, user_message: goal.slice(0, 4000), distance: 10 };
}

/** The item of its list that the agent is at, or what it has delegated. */
function stepOf({ tool_input: input, tool_response: response }) {
  const items = input?.plan ?? input?.todos;
  if (!Array.isArray(items)) {
    const goal = input?.subject ?? input?.description ?? input?.message;
    return { goal, tokens: response?.totalTokens };
  }
  const textOf = (item) => item.step ?? item.content ?? item.description;
  const current = items.find(({ status }) => status === "in_progress");
  if (current === undefined) return null;
  const left = items.filter(({ status }) => !["completed", "cancelled"].includes(status));
  const distance = Math.round((10 * left.length) / items.length);
  return { goal: textOf(current), plan: items.slice(0, 50).map(textOf), distance };
}

async function ask(method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: "Bearer " + (env.PLUMBLINE_KEY ?? read("key")) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(1000),
  });
  return response.ok ? response.json() : null;
}

/** A fact for the agent, where the verdict is sure enough; never an order. */
function told(verdict) {
  if (!verdict?.drifting || verdict.confidence < tellFrom) return {};
  const { ground, goal, why } = verdict;
  const fact = \`The errand in the user's words: "\${ground.slice(0, 1000)}". The step now: "\${goal.slice(0, 1000)}". \${why}\`;
  const hookEventName = event.hook_event_name;
  if (hookEventName === "postToolUse") return { additional_context: fact };
  return { hookSpecificOutput: { hookEventName, additionalContext: fact } };
}

function remember(run_id, crons) {
  mkdirSync(folder, { recursive: true });
  const prompts = crons.map(({ prompt }) => String(prompt).trim());
  writeFileSync(join(folder, fileOf(run_id)), JSON.stringify(prompts));
}

function scheduled(run_id) {
  try {
    return JSON.parse(read(fileOf(run_id)));
  } catch {
    return [];
  }
}

function fileOf(run_id) {
  return "scheduled-" + run_id.replace(/\\W/g, "_") + ".json";
}
`
}
