const mostPaths = 8

/** Places of files as they may be kept: relative to the project, and of those outside only the last part. */
export function placesOf(paths: readonly unknown[], root: string): string[] {
  const places = paths.flatMap((path) =>
    typeof path === 'string' && path.trim() !== '' ? [placeOf(path.trim(), root)] : [],
  )
  return [...new Set(places)].slice(0, mostPaths)
}

/** The place of one file relative to the folder `root`; a place outside it is `~/…/` and its last part. */
export function placeOf(path: string, root: string): string {
  const given = withSlashes(path.replace(/^file:\/\//, ''))
  const plain = resolved(given)
  const folder = resolved(withSlashes(root))
  if (folder !== '' && plain === folder) return '.'
  if (folder !== '' && plain.startsWith(`${folder}/`)) return plain.slice(folder.length + 1)
  const isAbsolute = /^(?:\/|~|[a-z]:\/)/i.test(given)
  const leaves = plain === '..' || plain.startsWith('../')
  if (!isAbsolute && !leaves) return plain || '.'
  const name = plain.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return `~/…/${name}`
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/')
}

const hasOddPart = /\/\.{0,2}(?:\/|$)|^\.{1,2}(?:\/|$)/

/** The path without `.`, without `..` after a folder, and without a slash at its end. */
function resolved(path: string): string {
  if (!hasOddPart.test(path)) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    const last = parts.at(-1) ?? ''
    if (part === '..' && !['', '..', '~'].includes(last)) parts.pop()
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part)
  }
  return parts.join('/')
}
