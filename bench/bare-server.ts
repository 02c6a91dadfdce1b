import { defaultDetector } from '../src/core/detector/contract/detector.ts'
// The peers of the check bench: processes on nothing but node:http. Both parse a body and send the service's
// bytes under the service's headers. One has the bytes ready. The other, with `judging`, calls the detector
// and writes the JSON, which is the least work of any server that checks.
//   node bench/bare-server.ts ANSWERS.json [judging]

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { readCheck } from '../src/core/runs/check.ts'

/** An answer of the service, and the ground in the body of its request. */
export interface KeptAnswer {
  ground: string
  headers: [name: string, value: string][]
  text: string
}

const [file = '', kind] = process.argv.slice(2)
const kept: KeptAnswer[] = JSON.parse(readFileSync(file, 'utf8'))
const texts = new Map(kept.map(({ ground, text }) => [ground, text]))
const headers = (kept[0]?.headers ?? []).filter(([name]) => name !== 'content-length').flat()
const textFor = kind === 'judging' ? judged : readyMade

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const text = textFor(JSON.parse(Buffer.concat(chunks).toString()))
    const length = String(Buffer.byteLength(text))
    response.writeHead(200, [...headers, 'content-length', length]).end(text)
  })
})
// The keep-alive timeout of the service, because a header shows it.
server.keepAliveTimeout = 72_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

function readyMade({ ground }: { ground: string }): string {
  return texts.get(ground)!
}

function judged(body: unknown): string {
  const request = readCheck(body)
  if ('error' in request) throw new Error(request.detail)
  let memory = newMemory(defaultDetector)
  const steps = request.steps.map((step) => {
    const detected = detect(memory, step)
    memory = detected.memory
    return detected.verdict
  })
  return JSON.stringify({
    ground: steps[0]!.goal,
    steps,
    verdict: steps.at(-1),
    stateless: true,
    retained: 'nothing',
  })
}
