import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { claudeLines, strayingSession } from '../test/session-lines.ts'
import { withPalette } from './png.ts'

const program = join(import.meta.dirname, '../bin/plumbline.js')
const began = Date.UTC(2026, 10, 26, 9, 40)

/** Takes the picture of the page that a back-test of two sessions writes, with a label on its alarm. */
export async function pictureOfBacktest(browser: Browser): Promise<Buffer> {
  const home = mkdtempSync(join(tmpdir(), 'plumbline-picture-'))
  try {
    const folder = join(home, '.claude/projects/shop')
    mkdirSync(folder, { recursive: true })
    const asked = strayingSession('now restyle the hero section of the landing page, brighter')
    writeFileSync(join(folder, '7f3a.jsonl'), claudeLines('7f3a', strayingSession(), began))
    writeFileSync(join(folder, '81c0.jsonl'), claudeLines('81c0', asked, began + 3_600_000))
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [program, 'backtest', '--from', 'claude-code', ...args], {
        env: { HOME: home, PATH: process.env.PATH ?? '' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    mkdirSync(join(home, '.plumbline'))
    for (const { run_id, step, goal } of JSON.parse(run('--json')).alarms) {
      const label = { run_id, step, goal, label: 'useful', note: 'nobody asked for it' }
      appendFileSync(join(home, '.plumbline/backtest-labels.jsonl'), `${JSON.stringify(label)}\n`)
    }
    const file = join(home, 'report.html')
    run('--html', file)
    const page = await browser.newPage({ viewport: { width: 940, height: 690 } })
    await page.goto(`file://${file}`)
    const png = withPalette(await page.screenshot())
    await page.close()
    return png
  } finally {
    rmSync(home, { recursive: true })
  }
}
