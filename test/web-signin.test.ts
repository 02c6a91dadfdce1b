import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildWeb } from '../bin/build-web.js'
import { dayMs, hourMs, minuteMs } from '../src/core/time.ts'
import { databases } from './backends.ts'
import type { App } from './harness.ts'
import { type IdentityProvider, startProvider } from './identity-provider.ts'
import { barriersOn, isTooWide, noBrowser, openPage, startWithPages } from './pages.ts'
import { spawnServe } from './spawned.ts'
import { startStripe } from './stripe.ts'
import { verifies } from './verifies.ts'

const tookTooLong = 'The sign-in took too long and was dropped. Start again.'
const noAnswer = 'The sign-in service did not answer. Nothing was changed. Try again, or use a key.'
const unknownKey = 'This key is not known here. Was all of it copied?'

/** Follows a sign-in to the provider and back with the cookies of the page; returns the way back, not yet followed. */
async function signInUpToCallback(page: Page, { url }: App): Promise<string> {
  let next = `${url}/auth/start`
  for (let hop = 0; hop < 10; hop++) {
    const answer = await page.request.get(next, { maxRedirects: 0 })
    next = new URL(answer.headers().location ?? '', next).href
    if (next.startsWith(`${url}/auth/callback`)) return next
  }
  throw new Error('the provider leads round in circles')
}

/** Asserts that a page has no barrier and is not too wide, in both themes and on a wide and a narrow screen. */
async function assertOpenToAll(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [320, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      assert.deepEqual(await barriersOn(page), [], `${colorScheme} ${width}`)
      assert.equal(await isTooWide(page), false, `${colorScheme} ${width}`)
    }
  }
}

for (const { name, skip, createUrl } of databases) {
  describe(`signing in with a browser on ${name}`, { skip: skip || noBrowser }, () => {
    async function startApp(
      t: TestContext,
      env: Record<string, string> = {},
    ): Promise<{ app: App; provider: IdentityProvider }> {
      const provider = await startProvider(t)
      const DATABASE_URL = await createUrl()
      const app = await startWithPages(t, { env: { DATABASE_URL, ...provider.env, ...env } })
      provider.register(app.url)
      return { app, provider }
    }

    const isSignedIn = async (page: Page, { url }: App): Promise<boolean> =>
      (await (await page.request.get(`${url}/v1/session`)).json()).signed_in

    test('single sign-on makes an account, shows its key once, and later leads to the page asked for', async (t) => {
      verifies('web.sign-in.provider', 'web.sign-in.key-once', 'web.views-access')
      const { app, provider } = await startApp(t)
      const { page, faults } = await openPage(t, app, '/app/quality')
      await page.waitForURL('**/signin?to=%2Fapp%2Fquality')
      assert.deepEqual(await barriersOn(page), [])
      await page.getByRole('link', { name: /^Continue with 127\.0\.0\.1/ }).click()
      await page.waitForURL(`${app.url}/welcome`)
      const shown = page.locator('.key-card code')
      await shown.waitFor()
      await assertOpenToAll(page)
      const key = (await shown.textContent()) ?? ''
      const mine = await app.get('/v1/me', { authorization: `Bearer ${key}` })
      assert.deepEqual([mine.body.tier, mine.body.email], ['ground', 'ada@reader.test'])
      const open = page.getByRole('button', { name: 'Open the dashboard' })
      assert.equal(await open.isDisabled(), true)
      await page.getByLabel('I have put the key somewhere safe').check()
      await open.click()
      await page.waitForURL(`${app.url}/app/runs`)
      await page.getByRole('heading', { name: 'No agent has reported yet' }).waitFor()
      await page.goto(`${app.url}/welcome`)
      await page.getByRole('heading', { name: 'Your key was shown already' }).waitFor()
      await assertOpenToAll(page)
      await page.goto(`${app.url}/app/settings`)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(`${app.url}/signin`)
      assert.equal(await isSignedIn(page, app), false)
      await page.goto(`${app.url}/app/keys?from=mail`)
      await page.waitForURL('**/signin?to=*')
      await page.getByRole('link', { name: /^Continue with/ }).click()
      await page.waitForURL(`${app.url}/app/keys?from=mail`)
      await page.getByRole('button', { name: 'Make a key' }).waitFor()
      assert.deepEqual(
        // The way to the provider, and the console's line about the key that was asked for again.
        faults.filter(
          (fault) => !fault.startsWith(`asks ${provider.url}/`) && !/ 409 /.test(fault),
        ),
        [],
      )
    })

    test('a sign-in that went wrong is said, and a new one works', async (t) => {
      verifies('web.sign-in.failed')
      const { app, provider } = await startApp(t)
      const { page } = await openPage(t, app, '/signin')

      provider.person = null
      await page.getByRole('link', { name: /^Continue with/ }).click()
      await page.getByRole('alert').getByText('The sign-in service let nobody in.').waitFor()
      provider.person = 'ada'

      const changed = new URL(await signInUpToCallback(page, app))
      changed.searchParams.set('state', 'x'.repeat(43))
      await page.goto(changed.href)
      await page.getByRole('alert').getByText(tookTooLong).waitFor()
      assert.equal(new URL(page.url()).search, '?error=state')
      assert.deepEqual(await barriersOn(page), [])

      const late = await signInUpToCallback(page, app)
      app.advance(10 * minuteMs)
      await page.goto(late)
      await page.getByRole('alert').getByText(tookTooLong).waitFor()
      assert.equal(new URL(page.url()).search, '?error=expired')

      const unanswered = await signInUpToCallback(page, app)
      await provider.stop()
      await page.goto(unanswered)
      await page.getByRole('alert').getByText(noAnswer).waitFor()
      await page.goto(`${app.url}/signin`)
      app.advance(2 * hourMs)
      await page.getByRole('link', { name: /^Continue with/ }).click()
      await page.getByRole('alert').getByText(noAnswer).waitFor()
      await page.getByLabel('Key').fill('pl_live_nobody_has_this_one')
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('alert').getByText(unknownKey).waitFor()
      assert.equal(await isSignedIn(page, app), false)
      await provider.resume()

      await page.getByRole('link', { name: /^Continue with/ }).click()
      await page.waitForURL(`${app.url}/welcome`)
    })

    test('a session that has expired leads to the sign-in, and from there back', async (t) => {
      verifies('web.sign-in.expired')
      const { app } = await startApp(t)
      const { page } = await openPage(t, app, '/signin')
      const signIn = () => page.getByRole('link', { name: /^Continue with/ }).click()
      await signIn()
      await page.getByLabel('I have put the key somewhere safe').check()
      await page.getByRole('button', { name: 'Open the dashboard' }).click()
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('button', { name: 'Make a key' }).waitFor()
      app.advance(7 * dayMs)
      assert.equal(await isSignedIn(page, app), false)
      const asked = page.waitForURL(`${app.url}/signin?to=%2Fapp%2Fkeys`)
      // The page may have noticed by itself, and the button is gone then.
      await Promise.any([page.getByRole('button', { name: 'Make a key' }).click(), asked])
      await asked
      await page.goto(`${app.url}/app/quality`)
      await page.waitForURL(`${app.url}/signin?to=%2Fapp%2Fquality`)
      await signIn()
      await page.getByRole('heading', { name: 'No alarm has fired on your runs.' }).waitFor()
      assert.equal(page.url(), `${app.url}/app/quality`)
      assert.equal(await isSignedIn(page, app), true)
    })

    test('a code that was used before signs no other browser in', async (t) => {
      verifies('web.sign-in.failed')
      const { app } = await startApp(t)
      const { page } = await openPage(t, app, '/signin')
      const callback = await signInUpToCallback(page, app)
      const thief = await openPage(t, app, '/signin')
      await thief.page.context().addCookies(await page.context().cookies())
      await page.goto(callback)
      await page.waitForURL(`${app.url}/welcome`)
      await thief.page.goto(callback)
      await thief.page.getByRole('alert').getByText(noAnswer).waitFor()
      assert.equal(await isSignedIn(thief.page, app), false)
      await page.goto(callback)
      await page.waitForURL(/\/app\/runs$/)
      assert.equal(await isSignedIn(page, app), true)
    })

    test('no address leads from the sign-in to another host', async (t) => {
      verifies('web.sign-in.landing')
      const { app } = await startApp(t)
      const { page } = await openPage(t, app, '/signin', await app.newAccount())
      for (const to of [
        'https://evil.example/app',
        '//evil.example/app',
        '/\\evil.example/app',
        '/app/../../evil.example',
        '/app\\..\\..//evil.example',
        '/%2Fevil.example/app',
        'javascript:document.title=1',
        '/app\t//evil.example',
        '/signin?to=//evil.example',
      ]) {
        await page.goto(`${app.url}/signin?to=${encodeURIComponent(to)}`)
        await page.locator('.rail, .notice').first().waitFor()
        assert.equal(new URL(page.url()).origin, app.url, to)
        assert.notEqual(await page.title(), '1')
      }
    })

    test('what a tier lacks leads to the checkout of a higher one', async (t) => {
      verifies('web.upgrade')
      const stripe = await startStripe(t)
      const { app } = await startApp(t, stripe.env)
      const { page } = await openPage(t, app, '/app/alerts', await app.newAccount('ground'))
      await page.route('https://pay.example/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<h1>Checkout</h1>' }),
      )
      await page.getByRole('heading', { name: 'Alerts need tier solo or above.' }).waitFor()
      await page.getByRole('link', { name: 'See the tiers' }).click()
      await page.waitForURL('**/app/settings#tier')
      await page.getByRole('link', { name: 'Upgrade' }).click()
      await page.getByRole('heading', { name: 'Checkout' }).waitFor()
      assert.equal(page.url(), 'https://pay.example/v1/checkout/sessions/1')
      assert.equal(stripe.asked[0]?.fields['line_items[0][price]'], 'price_solo')
    })

    test('the link that the first start prints signs in once', async (t) => {
      verifies('web.sign-in.local-link', 'web.first-run')
      await buildWeb()
      const env = { DATABASE_URL: await createUrl(), PLUMBLINE_ENCODER: 'off' }
      const server = await spawnServe(t, { env })
      const [link = ''] = /http:\S+\/auth\/local\?token=\S+/.exec(server.written.out) ?? []
      const { page, faults } = await openPage(t, server, link.slice(server.url.length))
      await page.waitForURL(`${server.url}/app/runs/demo*`)
      await page.getByRole('gridcell', { name: /, drifting, goal-drift, / }).waitFor()
      await page
        .getByRole('complementary')
        .getByText(/^It shares no word with/)
        .waitFor()
      await page.getByText('the user moved the ground', { exact: true }).waitFor()
      await page.goto(`${server.url}/app`)
      await page.locator('.run-row').waitFor()
      await page.getByRole('link', { name: 'Connect one' }).waitFor()
      assert.equal(await page.locator('.run-row').count(), 1)
      assert.deepEqual(faults, [])
      const other = await openPage(t, server, link.slice(server.url.length))
      await other.page.getByRole('alert').getByText(tookTooLong).waitFor()
    })
  })
}
