// A thread that judges a share of the session files of a back-test.
import { parentPort, workerData } from 'node:worker_threads'
import { type JudgingStart, judgeGroup } from './judge-files.ts'

const start = workerData as JudgingStart
for (const group of start.groups) parentPort?.postMessage(await judgeGroup(group, start))
