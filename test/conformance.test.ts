import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { start } from './harness.ts'
import { conformanceFixtures } from './mcp-fixtures.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

describe('the official conformance suite', { concurrency: true }, () => {
  for (const [revision, leastPassed] of [
    ['2025-11-25', 22],
    ['2026-07-28', 37],
  ] as const) {
    test(`finds of ${revision} nothing amiss but what is known and explained`, async (t) => {
      verifies('mcp.revisions')
      const app = await start(t, { extendTools: conformanceFixtures })
      const known = new URL(`conformance/expected-failures-${revision}.yml`, import.meta.url)
      const folder = freshFolder(t)
      const ran = spawn(
        process.execPath,
        [
          ...[suite, 'server', '--url', `${app.url}/mcp`, '--requirements', revision],
          ...['--expected-failures', fileURLToPath(known), '--output-dir', folder],
        ],
        { cwd: folder },
      )
      t.after(() => ran.kill())
      const [out, , [code]] = await Promise.all([
        text(ran.stdout),
        text(ran.stderr),
        once(ran, 'exit'),
      ])
      const results = [...out.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$/gm)]
      const failed = results.filter(([, mark]) => mark === '✗').map(([, , name]) => name)
      // The suite looks at the file for the scenarios it scores alone.
      const listed = readFileSync(known, 'utf8').matchAll(/^ {2}- (\S+)$/gm)
      assert.deepEqual(failed.sort(), [...listed].map(([, name]) => name).sort())
      const passed = results.filter(([, mark, , checks]) => mark === '✓' && checks !== '0')
      assert.ok(passed.length >= leastPassed, `${passed.length} scenarios passed`)
      assert.equal(code, 0, out)
      const faults = app.log.filter(({ level }) => Number(level) >= 40)
      assert.deepEqual(faults, [])
    })
  }
})
