import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Why pages cannot be measured here, or null. */
export const whyNoChromium = existsSync(executablePath)
  ? null
  : `there is no browser at ${executablePath}; CHROMIUM names another`

/** Starts a headless Chromium that asks no server of its maker. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
