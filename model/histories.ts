import { readFileSync, statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Example } from '../src/core/detector/adaptation-table.ts'
import { readCommits } from '../src/surfaces/git-log.ts'

/** More commits than any history has that is read here. */
const allCommits = 200_000
/** As `plumbline adapt` has it: a commit of more files tells of no errand. */
const mostFiles = 60

/**
 * The commits of a history, oldest first, with the files they changed: of a git repository, or of a
 * ChangeLog as distributions ship it, packed or not, in GNU style or as `git log --stat` writes it.
 */
export async function readHistory(path: string): Promise<Example[]> {
  if (statSync(path).isDirectory()) return (await commitsOf(path)).reverse()
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  const commits = text.startsWith('commit ') ? commitsOfStat(text) : commitsOfChangeLog(text)
  return commits
    .filter(({ errand, parts }) => errand !== '' && parts.length > 0 && parts.length <= mostFiles)
    .reverse()
}

async function commitsOf(folder: string): Promise<Example[]> {
  const log = { folder, commits: allCommits, until: null, progress: () => {} }
  const commits: Example[] = []
  for await (const commit of readCommits(log)) commits.push(commit)
  return commits
}

const subjectOfStat = /^ {4}(.+)$/m
const fileOfStat = /^ (\S.*?) +\| +(?:\d+ [+-]*|Bin .*|0)$/gm

function commitsOfStat(text: string): Example[] {
  return text.split(/^commit [0-9a-f]{40}$/m).map((commit) => ({
    errand: subjectOfStat.exec(commit)?.[1] ?? '',
    parts: [...commit.matchAll(fileOfStat)].map(([, file = '']) => file),
  }))
}

/**
 * In GNU style a paragraph begins with what was done, and its items with the files: a paragraph of items
 * alone belongs to the one before it.
 */
function commitsOfChangeLog(text: string): Example[] {
  const commits: { errand: string; parts: string[] }[] = []
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    const lines = paragraph.split('\n').filter((line) => line.startsWith('\t'))
    const [first = ''] = lines
    if (!/^\t[*+]/.test(first)) commits.push({ errand: first.trim(), parts: [] })
    for (const line of lines) {
      const files = /^\t\* ([^(:[]+)/.exec(line)?.[1] ?? ''
      const named = files.split(',').map((file) => file.trim())
      commits.at(-1)?.parts.push(...named.filter((file) => /^\S+$/.test(file)))
    }
  }
  return commits
}
