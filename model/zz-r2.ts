import { readFileSync } from 'node:fs'
import { readCline } from '../src/core/hosts/cline.ts'
import { readCopilot } from '../src/core/hosts/copilot.ts'
import { readOpencode } from '../src/core/hosts/opencode.ts'
const at = '/work/shared/hosts/samples/'
const lines = (f: string) => readFileSync(at + f, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l.replaceAll('@CWD@', '/w/shop')))
for (const l of lines('copilot-cli-1.0.102.jsonl')) console.log(l.event, JSON.stringify(readCopilot(l.input, l.event)))
console.log('-----')
for (const l of lines('opencode-1.18.33-plugin.jsonl')) console.log(l.hook, l.input?.type ?? '', JSON.stringify(readOpencode(l)))
console.log('-----')
for (const l of lines('cline-cli-3.0.65.jsonl')) console.log(l.event, JSON.stringify(readCline(l.input, l.event)))
