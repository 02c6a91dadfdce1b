// Written by `npm run model:eval -- FOLDER --write`.
import type { JudgedSet } from './judged-set.ts'

export const publishedModel = 'd6658e0b4dc3'

export const publishedRows: JudgedSet[] = [
  {
    runs: 'runs, as written',
    clean_runs: 520,
    alarmed: { value: 0.09, low: 0.07, high: 0.12 },
    false_alarms_per_1000: { value: 11.7, low: 8.2, high: 15.4 },
    precision_at_10_percent: 0.79,
    found: [
      {
        kind: 'foreign',
        runs: 520,
        within_1: { value: 0.15, low: 0.12, high: 0.18 },
        within_2: { value: 0.35, low: 0.31, high: 0.39 },
        within_3: { value: 0.48, low: 0.43, high: 0.52 },
      },
      {
        kind: 'neighbour',
        runs: 517,
        within_1: { value: 0.21, low: 0.17, high: 0.24 },
        within_2: { value: 0.21, low: 0.17, high: 0.24 },
        within_3: { value: 0.21, low: 0.17, high: 0.24 },
      },
      {
        kind: 'creep',
        runs: 520,
        within_1: { value: 0.38, low: 0.34, high: 0.42 },
        within_2: { value: 0.38, low: 0.34, high: 0.42 },
        within_3: { value: 0.38, low: 0.34, high: 0.42 },
      },
      {
        kind: 'entity',
        runs: 520,
        within_1: { value: 0.04, low: 0.03, high: 0.06 },
        within_2: { value: 0.04, low: 0.03, high: 0.06 },
        within_3: { value: 0.04, low: 0.03, high: 0.06 },
      },
      {
        kind: 'opposite',
        runs: 517,
        within_1: { value: 0.1, low: 0.07, high: 0.12 },
        within_2: { value: 0.12, low: 0.09, high: 0.15 },
        within_3: { value: 0.12, low: 0.09, high: 0.15 },
      },
      {
        kind: 'hijack',
        runs: 137,
        within_1: { value: 0.23, low: 0.17, high: 0.31 },
        within_2: { value: 0.23, low: 0.17, high: 0.31 },
        within_3: { value: 0.23, low: 0.17, high: 0.31 },
      },
      {
        kind: 'rabbit',
        runs: 516,
        within_1: { value: 0.24, low: 0.21, high: 0.28 },
        within_2: { value: 0.24, low: 0.21, high: 0.28 },
        within_3: { value: 0.24, low: 0.21, high: 0.28 },
      },
    ],
  },
  {
    runs: 'authored runs, with their plans and messages of users',
    clean_runs: 89,
    alarmed: { value: 0.09, low: 0.04, high: 0.16 },
    false_alarms_per_1000: { value: 17.5, low: 10.3, high: 24.9 },
    precision_at_10_percent: 0.46,
    found: [
      {
        kind: 'neighbour',
        runs: 26,
        within_1: { value: 0.13, low: 0.03, high: 0.26 },
        within_2: { value: 0.27, low: 0.1, high: 0.43 },
        within_3: { value: 0.33, low: 0.17, high: 0.48 },
      },
      {
        kind: 'opposite',
        runs: 30,
        within_1: { value: 0.06, low: 0, high: 0.17 },
        within_2: { value: 0.12, low: 0.03, high: 0.22 },
        within_3: { value: 0.15, low: 0.06, high: 0.28 },
      },
      {
        kind: 'creep',
        runs: 9,
        within_1: { value: 0, low: 0, high: 0 },
        within_2: { value: 0.33, low: 0.11, high: 0.67 },
        within_3: { value: 0.33, low: 0.11, high: 0.67 },
      },
      {
        kind: 'rabbit',
        runs: 7,
        within_1: { value: 0, low: 0, high: 0 },
        within_2: { value: 0, low: 0, high: 0 },
        within_3: { value: 0.14, low: 0, high: 0.43 },
      },
      {
        kind: 'foreign',
        runs: 12,
        within_1: { value: 0.08, low: 0, high: 0.25 },
        within_2: { value: 0.25, low: 0, high: 0.5 },
        within_3: { value: 0.33, low: 0.08, high: 0.58 },
      },
      {
        kind: 'entity',
        runs: 18,
        within_1: { value: 0, low: 0, high: 0 },
        within_2: { value: 0.06, low: 0, high: 0.17 },
        within_3: { value: 0.06, low: 0, high: 0.17 },
      },
      {
        kind: 'hijack',
        runs: 9,
        within_1: { value: 0.11, low: 0, high: 0.33 },
        within_2: { value: 0.22, low: 0, high: 0.56 },
        within_3: { value: 0.22, low: 0, high: 0.56 },
      },
      {
        kind: 'any kind',
        runs: 111,
        within_1: { value: 0.07, low: 0.03, high: 0.11 },
        within_2: { value: 0.18, low: 0.1, high: 0.24 },
        within_3: { value: 0.22, low: 0.14, high: 0.3 },
      },
    ],
  },
]
