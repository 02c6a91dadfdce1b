import { readFileSync } from 'node:fs'
import { readCodex } from '../src/core/hosts/codex.ts'
import { readGeminiCli } from '../src/core/hosts/gemini-cli.ts'
import { readQwenCode } from '../src/core/hosts/qwen-code.ts'
const readers: Record<string, (e: unknown, n?: string) => unknown[]> = { codex: readCodex, gemini: readGeminiCli, qwen: readQwenCode }
for (const file of process.argv.slice(2)) {
  const read = Object.entries(readers).find(([n]) => file.includes(n))![1]
  console.log('=====', file)
  for (const line of readFileSync(`/work/shared/hosts/samples/${file}`, 'utf8').split('\n').filter(Boolean)) {
    const { event, input } = JSON.parse(line)
    const out = read(input, event)
    console.log(`${event} ${input.tool_name ?? ''}`)
    for (const each of out) console.log('    ', JSON.stringify(each, (k, v) => (k === 'runId' ? undefined : v)))
  }
}
