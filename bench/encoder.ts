// Measures what the encoder costs a step:  npm run bench:encoder [-- FILE]
// FILE holds weights; without it, those that ship. Beside it stands the round trip to an embeddings endpoint on
// loopback that answers at once, which an endpoint with a model cannot beat.

import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { DetectorName } from '../src/core/detector/contract/detector.ts'
import type { Reads } from '../src/core/detector/contract/reads.ts'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { createEncoder, shippedWeights } from '../src/encoder/encoder.ts'
import { createNetwork } from '../src/encoder/network.ts'
import { createReads } from '../src/encoder/reads.ts'
import { readWeights } from '../src/encoder/weights.ts'
import { createEmbeddings } from '../src/outbound/embeddings.ts'
import { englishGoal } from './goals.ts'
import { median } from './median.ts'
import { type Row, tableOf } from './table.ts'

const rounds = 200
const waitMs = 10_000

const [file = fileURLToPath(shippedWeights)] = process.argv.slice(2)
if (!existsSync(file)) {
  process.stderr.write(`encoder: there is no file ${file}; name one\n`)
  process.exit(2)
}

/** The middle of the times of all rounds but the first quarter, in milliseconds. */
async function timed(work: (round: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work(round)
    times.push(performance.now() - start)
  }
  return median(times.slice(rounds / 4))
}

const errand =
  'Fix the login bug in the auth service of the shop, so that users whose password has expired reach ' +
  'the reset page instead of an endless redirect, and add a test for it'
const errandOf = (round: number) => `${englishGoal(round)}, and ${errand}`
const goalOf = (round: number) => `${englishGoal(round)} of the shop`

const weights = readWeights(readFileSync(file))
const network = createNetwork(weights)
/** The same arithmetic as it runs where there is no addon. */
const inWasm = createNetwork(weights, 'relaxed')
const ofErrand = network.readErrand(errand)
const ofGoal = network.readGoal(goalOf(0))
const inThread = {
  errand: await timed((round) => network.readErrand(errandOf(round))),
  goal: await timed((round) => network.readGoal(goalOf(round))),
  serves: await timed(() => network.readBeside(ofErrand, ofGoal)),
  follows: 0,
}
const ofWasm = {
  errand: await timed((round) => inWasm.readErrand(errandOf(round))),
  goal: await timed((round) => inWasm.readGoal(goalOf(round))),
  serves: await timed(() => inWasm.readBeside(ofErrand, ofGoal)),
}
const before = [1, 2].map((at) => network.readBeside(ofErrand, network.readGoal(goalOf(at))))
inThread.follows = await timed(() => network.readBeside(ofErrand, ofGoal, before))

const encoder = createEncoder(file, {
  ready() {},
  failed: (reason) => process.stderr.write(`encoder: ${reason}\n`),
})
async function read(errandText: string, goal: string, earlier: string[] = []): Promise<void> {
  const asked = encoder.listen()
  asked.reads.pair(errandText, goal)
  if (earlier.length > 0) asked.reads.following(errandText, earlier, goal)
  await asked.learn(waitMs)
}
await read(errand, '')
const served = {
  firstGoal: await timed((round) => read(errand, goalOf(round + rounds))),
  newGoal: await timed((round) =>
    read(errand, goalOf(round), [goalOf(round - 2), goalOf(round - 1)]),
  ),
  known: await timed(() => read(errand, goalOf(1))),
  newErrand: await timed((round) => read(errandOf(round), goalOf(round))),
}
await encoder.close()

/** Milliseconds of a whole step, with its verdict: each goal is new to the process. */
async function stepOf(detector: DetectorName, part: string, reads?: Reads): Promise<number> {
  let memory = newMemory(detector)
  return timed((round) => {
    const goal = `${goalOf(round)}, ${part}`
    const step = {
      ground: errand,
      goal,
      progress: 'advancing',
      distance: 5,
      ...(reads && { reads }),
    }
    memory = detect(memory, step).memory
  })
}
const step = {
  encoder: await stepOf('meaning', 'part one', createReads(file)),
  words: await stepOf('meaning', 'part two'),
  overlap: await stepOf('overlap', 'part three'),
}

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const { input } = JSON.parse(text)
  const embedding = Array.from({ length: 384 }, (_, at) => Math.sin(at + text.length))
  response.end(
    JSON.stringify({ data: input.map((_: string, index: number) => ({ index, embedding })) }),
  )
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const embeddings = createEmbeddings(
  { url: `http://127.0.0.1:${port}/v1`, key: null, model: 'none' },
  { now: Date.now, failed: (reason) => process.stderr.write(`embeddings: ${reason}\n`) },
)
const endpoint = await timed((round) =>
  embeddings.learn([{ ground: errand, goal: goalOf(round) }], waitMs),
)
embeddings.close()
server.close()
server.closeAllConnections()

const wasmName = 'in WebAssembly'
const endpointName = 'an embeddings endpoint without a model, on loopback'
const row = (
  measured: string,
  ours: number,
  peer: number | null = null,
  name = endpointName,
): Row => ({
  measured,
  ours,
  against: peer === null ? '' : name,
  peer,
  ratios: peer === null ? [] : [ours / peer],
  target: '',
})
process.stdout.write(
  tableOf([
    row(
      'a step with a new goal, by the encoder, in one thread, ms',
      step.encoder,
      step.words,
      'by the words alone',
    ),
    row(
      'a step with a new goal, by the words alone, ms',
      step.words,
      step.overlap,
      'the published rule',
    ),
    row('new goal under a known errand, first of its run, ms', served.firstGoal, endpoint),
    row('new goal under a known errand, after others, ms', served.newGoal, endpoint),
    row('known goal under a known errand, ms', served.known),
    row('new goal under a new errand, ms', served.newErrand),
    row(
      `of it, an errand of ${ofErrand.count} tokens read alone, ms`,
      inThread.errand,
      ofWasm.errand,
      wasmName,
    ),
    row(
      `of it, a goal of ${ofGoal.count} tokens read alone, ms`,
      inThread.goal,
      ofWasm.goal,
      wasmName,
    ),
    row('of it, a read goal beside a read errand, ms', inThread.serves, ofWasm.serves, wasmName),
    row('of it, the same beside two goals before too, ms', inThread.follows),
  ]),
)
