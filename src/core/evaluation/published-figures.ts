import type { JudgedSet } from './judged-set.ts'
import { publishedModel, publishedRows } from './published-rows.ts'

/**
 * The figures of model/README.md for the default detector at the limit that ships, on data that neither training nor
 * the choice of a limit has seen.
 */
export const publishedFigures: {
  data: string
  command: string
  model: string
  rows: JudgedSet[]
} = {
  data: 'errands and runs written for this project, in model/README.md',
  command: 'npm run model:eval -- FOLDER',
  model: publishedModel,
  rows: publishedRows,
}
