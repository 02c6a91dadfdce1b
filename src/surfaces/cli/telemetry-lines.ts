import { usageFault } from './usage-fault.ts'

/** How hosts export their telemetry: variables of the environment, or what their settings take. */
const ways: Readonly<Record<string, (url: string) => string[]>> = {
  'claude-code': (url) => [
    'export CLAUDE_CODE_ENABLE_TELEMETRY=1 CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1',
    'export OTEL_LOGS_EXPORTER=otlp OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    'export OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1',
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}/v1/otlp`,
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer $PLUMBLINE_KEY"',
  ],
  'gemini-cli': (url) => [
    'export GEMINI_TELEMETRY_ENABLED=true GEMINI_TELEMETRY_TARGET=local GEMINI_TELEMETRY_LOG_PROMPTS=true',
    `export GEMINI_TELEMETRY_OTLP_PROTOCOL=http GEMINI_TELEMETRY_OTLP_ENDPOINT=${url}/v1/otlp`,
    'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer $PLUMBLINE_KEY"',
  ],
  codex: (url) => [
    '[otel]',
    'log_user_prompt = true',
    `exporter = { otlp-http = { endpoint = "${url}/v1/logs", protocol = "binary", headers = { authorization = "Bearer \${PLUMBLINE_KEY}" } } }`,
  ],
}

/**
 * Lines that say how a host exports its telemetry to a server on this machine, which may be told the words (`byRelay` is
 * false). Nothing is written: they name the key by its variable, and a file of settings would hold it in clear.
 */
export function telemetryLines(host: string | undefined, url: string, byRelay: boolean): string[] {
  const way = ways[host ?? '']
  if (way === undefined)
    throw usageFault(`--otel is for ${Object.keys(ways).join(', ')}; leave it out.`)
  if (byRelay)
    throw usageFault(
      `--otel would tell ${url} in words, past the relay and its level; leave it out.`,
    )
  const place = host === 'codex' ? '~/.codex/config.toml' : 'the environment that starts the agent'
  return [
    '',
    `For its telemetry too, put into ${place}:`,
    '',
    ...way(url).map((line) => `  ${line}`),
  ]
}
