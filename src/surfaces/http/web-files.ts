import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Where the pages lie that `bin/build-web.js` builds; beside `src` in a clone and in the package. */
export const builtWeb = fileURLToPath(new URL('../../../web/dist', import.meta.url))

/** A file of the pages in memory, with the forms that were compressed when it was built. */
interface WebFile {
  bytes: Buffer
  gzip: Buffer | null
  brotli: Buffer | null
  type: string
  etag: string
}

/** The files of the pages by their address below `/`. */
export type WebFiles = ReadonlyMap<string, WebFile>

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/** The pages run their own scripts and styles and talk to this server; nothing else, and nobody frames them. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/** Redoc, which shows the reference, makes its styles while it runs; that page alone allows it. */
export const referencePolicy = pagePolicy.replace(
  "style-src 'self'",
  "style-src 'self' 'unsafe-inline'",
)

/** The addresses that the application serves by itself. */
const appAddresses = ['/app', '/app/*', '/signin', '/welcome']

/** Reads the built pages into memory; null if they are not built. */
export function readWebFiles(folder: string): WebFiles | null {
  if (!existsSync(join(folder, 'built-from'))) return null
  const files = new Map<string, WebFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const file = join(entry.parentPath, entry.name)
    const bytes = readFileSync(file)
    files.set(relative(folder, file).split(sep).join('/'), {
      bytes,
      gzip: readIfThere(`${file}.gz`),
      brotli: readIfThere(`${file}.br`),
      type,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    })
  }
  return files
}

function readIfThere(file: string): Buffer | null {
  return existsSync(file) ? readFileSync(file) : null
}

/** Serves the built pages. Files with a hash in their name never change; the others are asked for again. */
export async function webFiles(app: FastifyInstance, { web }: { web: WebFiles }): Promise<void> {
  for (const [name, file] of web) {
    const policy = name === 'docs/api.html' ? referencePolicy : pagePolicy
    const isImmutable = name.startsWith('assets/')
    for (const address of addressesOf(name)) {
      app.get(address, (request, reply) => sendFile(request, reply, file, isImmutable, policy))
    }
  }
  for (const address of ['/docs', '/docs/']) {
    app.get(address, (_request, reply) => reply.redirect('/docs/run'))
  }
}

/** A page of the docs has the address of its file without the ending; its plain text is the same with `.md`. */
function addressesOf(name: string): string[] {
  if (name === 'index.html') return ['/']
  if (name === 'app.html') return appAddresses
  return [`/${name.replace(/\.html$/, '')}`]
}

/** Sends a file in the smallest form that the caller reads. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: WebFile,
  isImmutable: boolean,
  policy = pagePolicy,
): FastifyReply {
  const { encoding, bytes } = formFor(request.headers['accept-encoding'], file)
  if (encoding !== null) reply.header('content-encoding', encoding)
  if (file.type.startsWith('text/html')) {
    reply.header('content-security-policy', policy).header('x-frame-options', 'DENY')
  }
  return reply
    .header('cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', file.etag)
    .type(file.type)
    .send(bytes)
}

function formFor(
  accepts: string | string[] | undefined,
  { bytes, gzip, brotli }: WebFile,
): { encoding: string | null; bytes: Buffer } {
  const read = String(accepts ?? '')
  if (brotli !== null && isAccepted(read, 'br')) return { encoding: 'br', bytes: brotli }
  if (gzip !== null && isAccepted(read, 'gzip')) return { encoding: 'gzip', bytes: gzip }
  return { encoding: null, bytes }
}

function isAccepted(accepts: string, encoding: string): boolean {
  return accepts.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((part) => /^q=0(\.0*)?$/.test(part))
  })
}
