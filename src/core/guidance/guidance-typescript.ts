import type { Recipe } from './recipe.ts'

/** Recipes for TypeScript libraries: the loop's own hooks report what the model says it is doing. */
export const typescriptRecipes = {
  'openai-agents': (baseUrl: string): Recipe => ({
    steps: typescriptSteps,
    files: [typescript('openai-agents.ts', openaiAgents(baseUrl))],
    notes: notes(
      'Checked against @openai/agents-core 0.20. The filter sees every model call of the run, those of agents that were handed over to as well; each agent’s steps are measured against the errand of the run. Where agents get tasks of their own, report through `run.spawn(agent.name, { ground: task })`. The filter’s changed instructions hold for one call. The tokens of the whole run come with its last report.',
    ),
  }),

  langgraph: (baseUrl: string): Recipe => ({
    steps: typescriptSteps,
    files: [typescript('langgraph.ts', langgraph(baseUrl))],
    notes: notes(
      'wrapModelCall is the hook of langchain 1.5 (read in its declarations, not run here); it also works where the agent is a node of a LangGraph graph. For a graph without createAgent, call `run.step` in the node that asks the model. In Python, take the recipe python and call `run.step` in `@after_model`.',
    ),
  }),

  'vercel-ai-sdk': (baseUrl: string): Recipe => ({
    steps: typescriptSteps,
    files: [typescript('vercel-ai-sdk.ts', vercelAiSdk(baseUrl))],
    notes: notes(
      'Checked against ai 7.0. generateText and streamText take the same prepareStep and onStepEnd. The instructions are set at every step because an override carries forward to later ones. A tool that runs another agent gives it `run.spawn(name, { ground: task })`.',
    ),
  }),

  mastra: (baseUrl: string): Recipe => ({
    steps: [
      ...typescriptSteps,
      'Make one processor per run, `const run = await hear(errand)` and `const measured = measure(run)`, and give it to the call: `agent.generate(errand, { inputProcessors: [measured], outputProcessors: [measured] })`.',
    ],
    files: [typescript('mastra.ts', mastra(baseUrl))],
    notes: notes(
      'The processor’s shape follows the declarations of @mastra/core 1.71; it was not run here inside Mastra.',
    ),
  }),
} as const

const typescriptSteps = [
  'Install the package: `npm run build` in the server’s repository makes it in dist, and `npm install PATH/dist` adds it to your project.',
  'Set PLUMBLINE_KEY to a key of your account.',
  'Save the snippet beside your agent and call it with the user’s own words as the errand: they are the ground.',
]

/** What holds for every library with the client, then what is its own. */
function notes(own: string): string {
  return [
    'The instructions ask the model to say what it is doing; that sentence is the goal of the step, and a model call without one is counted with the next.',
    'A drifting verdict adds a fact to the next instructions: the errand and the numbers that decided, never an order. Only verdicts that are at least half sure are told.',
    'When the user writes again in the same conversation, `hear(words, run)` hands the words over as `user_message`, and so does `work` where it is given the run: the service reads whether they add to the errand, correct it, replace it or do nothing. A tool’s answer or another agent’s message is not the user’s. What the model is to remember of the conversation you hand over yourself.',
    'The run is stored as `run.runId`; without `onError` a wrong key or address is said once on standard error. The client is closed, and delivers what is left, when the process has nothing else to do; before you call `exit` await `plumbline.close()` yourself.',
    '`run.step` waits 250 ms at most and never throws: while the server is away the agent goes on, and the steps are delivered later, in order and once.',
    own,
  ].join(' ')
}

function typescript(path: string, text: string) {
  return { path, language: 'typescript' as const, text }
}

/** What the snippets have in common: the client, the narration, and the fact a drift is told as. */
function preamble(baseUrl: string): string {
  return `import node from "node:process";
import { createClient, type RunHandle } from "plumbline/client";

export const plumbline = createClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  key: node.env["PLUMBLINE_KEY"],
});
// Delivers what is left when the process has nothing else to do.
node.once("beforeExit", () => plumbline.close());

/**
 * Takes what the user says: the first words are the errand of a new run, later ones go to the run before. The service
 * keeps it as \`runId\`.
 */
export async function hear(words: string, before?: RunHandle): Promise<RunHandle> {
  if (before === undefined) return plumbline.run({ ground: words });
  await before.userMessage(words);
  return before;
}

const narration = "Before each tool call, say in one line what you are doing now.";

/** The line of a model's answer that says what it is doing; "" when there is none. */
const lineOf = (text: string) => text.trim().split("\\n")[0]?.slice(0, 500) ?? "";

/** What was measured, where the last step drifted and the verdict is more likely right than not. */
function factOf({ latest }: RunHandle): string {
  if (!latest?.drifting || latest.confidence < 0.5) return "";
  return \`The errand in the user's words: "\${latest.ground}". The last step: "\${latest.goal}". \${latest.why}\`;
}
`
}

function openaiAgents(baseUrl: string): string {
  return `import { type Agent, type AgentInputItem, Runner } from "@openai/agents";
${preamble(baseUrl)}
/**
 * Runs an agent on what the user says and reports each thing it says it is doing. When the user goes on, give the run that
 * was returned.
 */
export async function work(
  agent: Agent,
  words: string,
  before?: RunHandle,
): Promise<{ text: string; run: RunHandle; runId: string }> {
  const run = await hear(words, before);
  let reported = "";
  const runner = new Runner({
    async callModelInputFilter({ modelData: { input, instructions = "" } }) {
      const goal = lineOf(lastWords(input));
      if (goal !== "" && goal !== reported) {
        reported = goal;
        await run.step({ goal });
      }
      const added = [instructions, narration, factOf(run)].filter((text) => text !== "");
      return { input, instructions: added.join("\\n\\n") };
    },
  });
  try {
    const { finalOutput = "", rawResponses } = await runner.run(agent, words);
    const tokens = rawResponses.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
    await run.step({ goal: lineOf(finalOutput), distance: 0, tokens });
    await run.outcome("success");
    return { text: finalOutput, run, runId: run.runId };
  } catch (error) {
    await run.outcome("failure");
    throw error;
  }
}

/** The newest text of the model among the items of a run. */
function lastWords(items: AgentInputItem[]): string {
  for (const item of items.toReversed()) {
    if (!("role" in item) || item.role !== "assistant") continue;
    for (const part of item.content) if (part.type === "output_text") return part.text;
  }
  return "";
}
`
}

function langgraph(baseUrl: string): string {
  return `import { createMiddleware } from "langchain";
${preamble(baseUrl)}
/**
 * Middleware for a run: createAgent({ model, tools, middleware: [measured(await hear(errand))] }). When the user goes on:
 * await hear(words, run).
 */
export function measured(run: RunHandle) {
  let unreported = 0;
  return createMiddleware({
    name: "Plumbline",
    async wrapModelCall(request, handler) {
      const fact = factOf(run);
      const added = fact === "" ? narration : narration + "\\n\\n" + fact;
      const systemMessage = request.systemMessage.concat("\\n\\n" + added);
      const answer = await handler({ ...request, systemMessage });
      if ("usage_metadata" in answer) unreported += answer.usage_metadata?.total_tokens ?? 0;
      const goal = "text" in answer ? lineOf(answer.text) : "";
      if (goal !== "") {
        await run.step({ goal, tokens: unreported });
        unreported = 0;
      }
      return answer;
    },
  });
}
`
}

function vercelAiSdk(baseUrl: string): string {
  return `import { type LanguageModel, type ToolSet, ToolLoopAgent } from "ai";
${preamble(baseUrl)}
/**
 * Has an agent work on what the user says and reports each thing it says it is doing. When the user goes on, give the run
 * that was returned.
 */
export async function work(
  model: LanguageModel,
  tools: ToolSet,
  words: string,
  before?: RunHandle,
): Promise<{ text: string; run: RunHandle; runId: string }> {
  const run = await hear(words, before);
  let unreported = 0;
  const agent = new ToolLoopAgent({
    model,
    tools,
    prepareStep: () => ({
      instructions: [narration, factOf(run)].filter((text) => text !== "").join("\\n\\n"),
    }),
    async onStepEnd({ text, usage }) {
      unreported += usage.totalTokens ?? 0;
      const goal = lineOf(text);
      if (goal === "") return;
      await run.step({ goal, tokens: unreported });
      unreported = 0;
    },
  });
  try {
    const { text } = await agent.generate({ prompt: words });
    await run.outcome("success");
    return { text, run, runId: run.runId };
  } catch (error) {
    await run.outcome("failure");
    throw error;
  }
}
`
}

function mastra(baseUrl: string): string {
  return `import type { Processor } from "@mastra/core/processors";
${preamble(baseUrl)}
/** A processor for a run: measure(await hear(errand)). When the user goes on: await hear(words, run). */
export function measure(run: RunHandle) {
  let unreported = 0;
  return {
    id: "plumbline",
    processInputStep({ systemMessages }) {
      const content = [narration, factOf(run)].filter((text) => text !== "").join("\\n\\n");
      return { systemMessages: [...systemMessages, { role: "system", content }] };
    },
    async processOutputStep({ messages, text = "", usage }) {
      unreported += usage.totalTokens ?? 0;
      const goal = lineOf(text);
      if (goal !== "") {
        await run.step({ goal, tokens: unreported });
        unreported = 0;
      }
      return messages;
    },
  } satisfies Processor;
}
`
}
