import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { logo } from '../shared/signs.ts'

/** The picture that Redoc would fetch from elsewhere. */
const foreignPicture = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const noPicture = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"

/** Lays the bundle of Redoc beside the other files, and names it in the page of the reference. */
export function buildApiReference(folder: string): void {
  const require = createRequire(import.meta.url)
  const bundle = require.resolve('redoc/bundles/redoc.standalone.js')
  const source = readFileSync(bundle, 'utf8')
  if (!source.includes(foreignPicture)) throw new Error('Redoc no longer names its picture')
  const script = source
    .replaceAll(foreignPicture, noPicture)
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
  const hash = createHash('sha256').update(script).digest('base64url').slice(0, 8)
  writeFileSync(join(folder, `assets/redoc-${hash}.js`), script)
  const licences = [require.resolve('redoc/LICENSE'), `${bundle}.LICENSE.txt`]
  writeFileSync(
    join(folder, `assets/redoc-${hash}.txt`),
    licences.map((file) => readFileSync(file, 'utf8')).join('\n'),
  )
  const page = join(folder, 'docs/api.html')
  const html = readFileSync(page, 'utf8')
    .replace('<!--logo-->', logo())
    .replace('<!--redoc-->', `<script src="/assets/redoc-${hash}.js" defer></script>`)
  writeFileSync(page, html)
}
