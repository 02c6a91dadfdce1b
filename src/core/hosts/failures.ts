import { digestOf } from './fields.ts'

const infra =
  /(?<!\.\w{1,5}:(?:\d+:)?|\bline )\b(?:429|50[0234])\b|ECONN|EAI_AGAIN|ETIMEDOUT|ENOTFOUND|rate.?limit|overloaded|timed? ?out|too many requests/i
const telling = /error|fail|fatal|exception|not found|denied|cannot/i
const failed = /^\s*(?:not ok \d+ -? ?|✖ |✗ |× |FAILED |--- FAIL: |● |FAIL )(.+)$/
/** What reporters write above a list of failures. */
const heading = /^fail(?:ing|ed|ures?)(?: tests?)?:?$/i
/** What TAP calls a failure that is expected. */
const expected = /# (?:todo|skip)\b/i
const duration = /\s\(?[\d.]+ ?m?s\)?$/
/** What pytest writes after the name of a test. */
const message = /(::.+?) - .*$/
const longest = 20_000
const longestLine = 400
const mostFailing = 50

/** The class of an error: equal for errors that differ only in numbers, quotes, times, addresses and folders. */
export function errorClassOf(output: string): string {
  const lines = linesOf(output)
  if (lines.some((line) => infra.test(line))) return 'infra'
  const line = lines.find((each) => telling.test(each)) ?? lines.at(-1) ?? ''
  return digestOf(plain(line))
}

/** Hashes of the names of the tests that failed, sorted; undefined if the output names none. */
export function failingOf(output: string): string[] | undefined {
  const names = linesOf(output).flatMap((line) =>
    expected.test(line) ? [] : (failed.exec(line)?.[1] ?? []),
  )
  const plainNames = names.map((name) =>
    plain(name.trim().replace(duration, '').replace(message, '$1')),
  )
  const found = [...new Set(plainNames.filter((name) => name !== '' && !heading.test(name)))]
    .sort()
    .slice(0, mostFailing)
  return found.length === 0 ? undefined : found.map(digestOf)
}

/** The exit code that an output states at its beginning or end. */
export function exitCodeOf(output: string): number | undefined {
  const ends = `${output.slice(0, 200)}\n${output.slice(-400)}`
  const told = /exit(?:ed)?(?: with)?(?: code|:)?:? (-?\d+)/i.exec(ends)
  return told === null ? undefined : Number(told[1])
}

function linesOf(output: string): string[] {
  const lines = output.slice(0, longest).split('\n')
  return lines.filter((line) => line.trim() !== '').map((line) => line.slice(0, longestLine))
}

function plain(line: string): string {
  return line
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '#')
    .replace(/(?:[\w.~-]*[/\\])+([\w.-]+)/g, '$1')
    .replace(/0x[\da-f]+|\b[\da-f]{7,}\b|\d+(?:\.\d+)?(?:ms|s|m|h)?/gi, '#')
    .trim()
}
