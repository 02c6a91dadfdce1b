import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openIssues, type Requirement, requirements } from './spec.ts'

const all: Requirement[] = Object.values(requirements)
const cited = citedIds(testSources().join('\n'))

test('every requirement of an issue that is not open is verified by a test', () => {
  assert.deepEqual(unverified(all, cited, openIssues), [])
})

test('tests name only requirements that exist', () => {
  assert.deepEqual(unknown(all, cited), [])
})

test('every requirement has an id and a sentence of its own', () => {
  const source = readFileSync(join(import.meta.dirname, 'spec.ts'), 'utf8')
  const ids = [...source.matchAll(/^ {4}'([^']+)':/gm)].map(([, id]) => id)
  assert.equal(ids.length, all.length, 'an id is used twice, or is written in another way')
  assert.equal(new Set(all.map(({ says }) => says)).size, all.length, 'a sentence stands twice')
  for (const { id, says } of all) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/)
    assert.match(says, /\.$/, id)
  }
})

test('the gate reports what nobody verifies and what does not exist', () => {
  const rows: Requirement[] = [
    { id: 'a.one', from: 'api', says: 'One.', issue: 2 },
    { id: 'a.two', from: 'api', says: 'Two.', issue: 2 },
    { id: 'a.three', from: 'api', says: 'Three.', issue: 2 },
    { id: 'a.later', from: 'api', says: 'Later.', issue: 3 },
  ]
  const source = `
    test('one line', () => { verifies('a.one'); ask() })
    verifies(
      'a.two',
      'a.gone',
    )
    // verifies('a.three')
    /* verifies('a.three') */
    falsifies('a.three')`
  const ids = citedIds(source)
  assert.deepEqual([...ids], ['a.one', 'a.two', 'a.gone'])
  assert.deepEqual(unverified(rows, ids, [3]), ['a.three: Three.'])
  assert.deepEqual(unverified(rows, ids, []), ['a.three: Three.', 'a.later: Later.'])
  assert.deepEqual(unknown(rows, ids), ['a.gone'])
})

/** The text of every test file but this one, whose samples are no tests. */
function testSources(): string[] {
  return globSync('**/*.test.ts', { cwd: import.meta.dirname })
    .filter((name) => name !== 'spec.test.ts')
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
}

/** The ids inside `verifies(…)` calls of a source text, comments left out. */
function citedIds(source: string): Set<string> {
  const code = source.replace(/^\s*(\/\/.*|\/\*[\s\S]*?\*\/)/gm, '')
  const calls = [...code.matchAll(/\bverifies\(([^)]*)\)/g)].map(([, inside]) => inside!)
  return new Set(calls.flatMap((call) => [...call.matchAll(/'([^']+)'/g)].map(([, id]) => id!)))
}

function unverified(
  rows: readonly Requirement[],
  ids: ReadonlySet<string>,
  open: readonly number[],
): string[] {
  return rows
    .filter(({ id, issue }) => !open.includes(issue) && !ids.has(id))
    .map(({ id, says }) => `${id}: ${says}`)
}

function unknown(rows: readonly Requirement[], ids: ReadonlySet<string>): string[] {
  const known = new Set(rows.map(({ id }) => id))
  return [...ids].filter((id) => !known.has(id))
}
