/** The hosts whose events are read; `otlp` are agents of any kind that export spans. */
export const hostNames = [
  'claude-code',
  'codex',
  'gemini-cli',
  'qwen-code',
  'copilot',
  'vscode',
  'cursor',
  'opencode',
  'cline',
  'otlp',
] as const

export type HostName = (typeof hostNames)[number]

/** Kinds of acts. `verify` are tests, checks and builds; `wait` only passes time. */
export const actFamilies = [
  'read',
  'search',
  'edit',
  'run',
  'verify',
  'web',
  'wait',
  'other',
] as const

export type ActFamily = (typeof actFamilies)[number]

/** An item of the agent's own list. */
export interface PlanItem {
  /** The host's id of the item; absent where it has none. */
  id?: string
  text: string
  state: 'open' | 'now' | 'done'
}

/** What an agent did with one tool. It holds no file content and no output, only their hashes. */
export interface Act {
  kind: 'act'
  family: ActFamily
  /** The host's name of the tool. */
  tool: string
  /** Relative to the folder of the project; a place outside it is `~/…/` and its last part. */
  paths: string[]
  /** What can be compared with the errand: a command's programs, subcommands and flags, a query, a pattern. */
  words: string
  /** The agent's own description of the act. */
  said?: string
  outcome: 'ok' | 'failed' | 'unknown'
  exit?: number
  /** Equal for equal errors; `infra` for those of networks and rate limits. Absent unless it failed. */
  errorClass?: string
  /** Equal for equal arguments of one tool. */
  argsHash: string
  /** Equal for equal results. */
  resultHash?: string
  /** Hashes of the names of the tests that failed, sorted. */
  failing?: string[]
  /** Hashes of the text before and after. */
  edits?: { path: string; from: string; to: string }[]
  /** Milliseconds that it took. */
  ms?: number
  /** Whether its tool, its paths and its words are hashes, which can be compared only with each other. */
  isHidden?: boolean
  /**
   * Whether the errand explains it, as somebody has found who knows its words; null if they could not tell. Absent if
   * its own words say so.
   */
  isExplained?: boolean | null
}

/** What an agent reports of a step itself, as the fields of `POST /v1/drift` do; an absent field is not reported. */
export interface Report {
  goal?: string
  ground?: string
  plan?: readonly string[]
  /** One of the known values. */
  progress?: string
  /** 0–10. */
  distance?: number
  userTurn?: boolean
}

/** What one event of a host says, without where it belongs. */
export type HostFact =
  | { kind: 'session'; source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork' }
  | {
      kind: 'prompt'
      /** '' if it only says who spoke the prompt that was told before under the same id. */
      text: string
      by: 'person' | 'machine' | 'unknown'
      /** Set if a program handed the words over and nobody waits for the answer. */
      isHeadless?: true
    }
  /** `whole`: the items are the list, not changes of it. */
  | { kind: 'plan'; items: PlanItem[]; whole: boolean }
  | {
      kind: 'delegate'
      task: string
      /** Tells the task from others where its words are kept back. */
      taskHash?: string
      label?: string
      agentType?: string
      /** Absent until the host says which agent took the task. */
      child?: string
    }
  | {
      kind: 'agent'
      child: string
      parent: string
      state: 'start' | 'stop'
      agentType?: string
      said?: string
    }
  | Act
  /** A call of a tool begins; its act has the same id. */
  | { kind: 'begin' }
  /** A prompt that no machine spoke stands in the session file, and no hook has told it. */
  | { kind: 'unheard' }
  | { kind: 'say'; text: string }
  | { kind: 'intent'; text: string }
  | ({ kind: 'report' } & Report)
  | { kind: 'wait'; for: 'permission' | 'answer' }
  | { kind: 'person'; how: 'permission' | 'answer' }
  /** `expects`: prompts that no person will have typed. */
  | { kind: 'turnEnd'; said?: string; expects: string[] }
  | { kind: 'runEnd'; reason: string }
  | { kind: 'compact' }
  | { kind: 'tokens'; count: number }

/** A span of OpenTelemetry, in hexadecimal digits. */
export interface EventSpan {
  traceId: string
  spanId: string
}

/** A fact with its place in a run. */
export type HostEvent = HostFact & {
  /** Milliseconds since 1970; absent if the host does not say. */
  at?: number
  /** `HOST:` and the host's id of the session. */
  runId: string
  /** '' is the main agent. */
  agentId: string
  /** The same for the same thing, however often and by whichever way it arrives. */
  eventId: string
  /** How it arrived; absent for a hook, and for a session file whose ids are those of the hooks. */
  way?: 'log' | 'span' | 'file'
  /** The span that shows it; absent if it came another way. */
  span?: EventSpan
  /** Set for words in a span of which those around it have not arrived: an agent may have spoken them to another one. */
  isPartial?: true
  /** The id of the answer of the model in which it was shown; absent if that is not told. */
  responseId?: string
}

/**
 * Reads an event of a host. Total: it never throws, and what it does not know is no event. `name` is the name of the
 * event where the body does not hold it.
 */
export type ReadHost = (event: unknown, name?: string) => HostEvent[]
