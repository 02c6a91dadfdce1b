import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildApiReference } from './docs/api-reference.ts'
import { buildDocs } from './docs/build.ts'
import { productPage } from './product/page.ts'

/** Writes into the folder that Vite has built what stands on the pages without any script. */
export async function buildPages(folder: string): Promise<void> {
  const index = join(folder, 'index.html')
  writeFileSync(index, productPage(readFileSync(index, 'utf8')))
  buildDocs(folder)
  buildApiReference(folder)
}
