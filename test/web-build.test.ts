import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { copyClone } from '../bench/pages-build.ts'
import { freshFolder, spawnProgram, untilListening } from './spawned.ts'
import { verifies } from './verifies.ts'

const building = 'Building the pages of web/ …'

/** Runs `npm start` in a clone until it listens. Returns what it said before, and its page at the root. */
async function startIn(t: TestContext, folder: string): Promise<{ said: string; page: string }> {
  const { HOME = '', PATH = '' } = process.env
  const env = {
    HOME,
    PATH: `${dirname(process.execPath)}:${PATH}`,
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    PLUMBLINE_ENCODER: 'off',
  }
  const npm = await untilListening(spawnProgram(t, 'npm', ['start'], { folder, env }))
  const page = await (await fetch(npm.url)).text()
  npm.child.kill('SIGTERM')
  await npm.ended
  return { said: npm.written.err, page }
}

test('npm start builds the pages where they are missing or stale, says so, and otherwise does not', async (t) => {
  verifies('web.built')
  const clone = join(freshFolder(t), 'clone')
  copyClone(clone)
  const missing = await startIn(t, clone)
  assert.ok(missing.said.includes(building), missing.said)
  assert.match(missing.page, /Is the agent still on its errand\?/)
  assert.ok(!(await startIn(t, clone)).said.includes(building), 'they are new')
  appendFileSync(join(clone, 'web/product/product.css'), '.new-rule { color: inherit; }\n')
  const stale = await startIn(t, clone)
  assert.ok(stale.said.includes(building), stale.said)
  const style = (page: string) => /product-[\w-]+\.css/.exec(page)?.[0]
  assert.notEqual(style(stale.page), style(missing.page))
})
