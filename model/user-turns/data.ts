// Writes the features of labelled messages of users, and what the encoder reads of them, for `train.py` and `weigh.py`:
//   node model/user-turns/data.ts OUT FILE.jsonl …
// A file holds messages `{ standing, text, effect }`, or runs with events. One JSON line for each message.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readClauses } from '../../src/core/detector/user/clauses.ts'
import { readByTables } from '../../src/core/detector/user/effect.ts'
import type { UserEffect } from '../../src/core/detector/user/effects.ts'
import { featuresOfMessage } from '../../src/core/detector/user/features.ts'
import { hasRequest } from '../../src/core/detector/user/request.ts'
import { shippedWeights } from '../../src/encoder/encoder.ts'
import { createReads } from '../../src/encoder/reads.ts'

interface Message {
  standing: string[]
  text: string
  effect: UserEffect
}

const [out, ...files] = process.argv.slice(2)
if (out === undefined || files.length === 0) {
  console.error('Name the output and the files of messages or runs.')
  process.exit(2)
}
const reads = createReads(shippedWeights)
const rows = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .flatMap((line) => messagesOf(JSON.parse(line)))
    .map(({ standing, text, effect }) => {
      const message = readClauses(text)
      const read = readByTables(text, standing)
      const features = featuresOfMessage(message, text, standing, read)
      const request = hasRequest(message)
      const effects = reads.effects(standing.join('\n'), text)
      return { file: basename(file, '.jsonl'), text, effect, read, request, features, effects }
    }),
)
writeFileSync(out, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
console.log(`${rows.length} messages`)

function messagesOf(row: {
  standing: string | string[]
  text: string
  effect: UserEffect
  ground: string
  events?: ({ type: 'user'; text: string; effect: UserEffect } | { type: 'step' })[]
}): Message[] {
  if (row.events === undefined) return [{ ...row, standing: [row.standing].flat() }]
  let standing = [row.ground]
  const messages: Message[] = []
  for (const event of row.events) {
    if (event.type !== 'user') continue
    messages.push({ standing, text: event.text, effect: event.effect })
    if (event.effect === 'replaces') standing = [event.text]
    else if (event.effect !== 'none') standing = [...standing, event.text]
  }
  return messages
}
