import { readFileSync, statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Example } from '../src/core/detector/meaning/adaptation-table.ts'
import { mostFiles, readCommits } from '../src/surfaces/cli/git-log.ts'

/** More commits than any measured history has. */
const allCommits = 200_000

/**
 * Reads the commits of a history, oldest first, with the files that they changed. A history is a git
 * repository or a ChangeLog as distributions ship it: compressed or not, in GNU style or in the style of `git
 * log --stat`.
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
 * Reads the GNU style. A paragraph describes a change, and its items name the changed files. Items in a
 * paragraph of their own belong to the paragraph before. If no paragraph has a text of its own, as in `* a.c,
 * b.c: Mend it.`, every item is a commit.
 */
function commitsOfChangeLog(text: string): Example[] {
  const commits: { errand: string; parts: string[] }[] = []
  let told: { errand: string; parts: string[] } | null = null
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    // The line with a day and its author begins at the margin.
    if (/^\S/m.test(paragraph)) told = null
    const lines = paragraph.split('\n').filter((line) => line.startsWith('\t'))
    const [first = ''] = lines
    if (first !== '' && !/^\t[*+]/.test(first)) {
      told = { errand: first.trim(), parts: [] }
      commits.push(told)
    }
    for (const { files, done } of itemsOf(lines)) {
      if (told === null) commits.push({ errand: done, parts: files })
      else told.parts.push(...files)
    }
  }
  return commits
}

/** Reads the items of a paragraph: the files before the colon, and the text after it. */
function itemsOf(lines: readonly string[]): { files: string[]; done: string }[] {
  const items = lines
    .map((line) => line.trim())
    .join(' ')
    .split(/(?:^| )\* /)
    .slice(1)
  return items.map((item) => {
    const [, named = '', done = ''] = /^([^:]*):?\s*(.*)$/s.exec(item) ?? []
    const files = named
      .replace(/ *[([].*?[)\]]/g, '')
      .split(',')
      .map((file) => file.trim())
    return { files: files.filter((file) => /^\S+$/.test(file)), done: firstSentence(done) }
  })
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.) | \[/)[0]?.trim() ?? ''
}
