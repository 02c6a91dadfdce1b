import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { before, describe, type TestContext, test } from 'node:test'
import { buildWeb } from '../bin/build-web.js'
import type { Share } from '../src/core/figures.ts'
import { dayOf } from '../src/core/time.ts'
import { builtWeb } from '../src/surfaces/http/web-files.ts'
import { contents } from '../web/docs/contents.ts'
import { findParts, type Part } from '../web/docs/find.ts'
import { figures } from '../web/product/figures.ts'
import { recordedFiles, recordRuns, startRecorder } from '../web/product/record.ts'
import { piecesOf, swappedWords } from '../web/product/verdict.ts'
import { onEachDatabase } from './backends.ts'
import { type App, start } from './harness.ts'
import { barriersOn, isTooWide, noBrowser, openPage } from './pages.ts'
import { verifies } from './verifies.ts'

const pages = [
  '/',
  ...contents.flatMap((group) =>
    group.pages.map(({ name, address }) => address ?? `/docs/${name}`),
  ),
]
const htmlPages = pages.filter((page) => page !== '/llms.txt')
const markdownPages = contents
  .flatMap((group) => group.pages)
  .filter(({ address }) => address === undefined)
  .map(({ name }) => `/docs/${name}.md`)

before(() => buildWeb({ say: () => true }))

function startPages(t: TestContext, env: Record<string, string> = {}): Promise<App> {
  return start(t, { webFolder: builtWeb, env })
}

describe('over HTTP', () => {
  test('every page has its policy, is in no frame, and is asked for again', async (t) => {
    verifies('page.policy')
    const app = await startPages(t)
    for (const page of htmlPages) {
      const { status, headers, text } = await app.get(page)
      assert.equal(status, 200, page)
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('x-frame-options'), 'DENY')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/)
      assert.match(policy, /; frame-ancestors 'none'; base-uri 'none'$/)
      assert.equal(policy.includes('unsafe'), page === '/docs/api', page)
      assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/, page)
      assert.doesNotMatch(text, /<!--\w+-->/, 'every part of the page is filled in')
    }
  })

  test('a page comes compressed, by HEAD, and not again while it is the same', async (t) => {
    const app = await startPages(t)
    for (const page of [...htmlPages, '/llms.txt', '/docs/search.json', ...markdownPages]) {
      const whole = await app.get(page, { 'accept-encoding': 'identity' })
      const etag = whole.headers.get('etag') ?? ''
      assert.match(etag, /^"[\w-]{22}"$/, page)
      assert.equal(whole.headers.get('content-encoding'), null)
      for (const encoding of ['br', 'gzip']) {
        const { headers, text } = await app.get(page, { 'accept-encoding': encoding })
        assert.equal(headers.get('content-encoding'), encoding, page)
        assert.equal(text, whole.text, page)
      }
      const same = await app.get(page, { 'if-none-match': etag })
      assert.deepEqual([same.status, same.text], [304, ''], page)
      const head = await app.request('HEAD', page)
      assert.deepEqual([head.status, head.text], [200, ''], page)
    }
  })

  test('an address without a page is 404, and a page takes nothing but GET', async (t) => {
    const app = await startPages(t)
    for (const path of ['/docs/nothing', '/docs/run/more', '/docs/nothing.md', '/assets/gone.js']) {
      const { status, body } = await app.get(path)
      assert.deepEqual([status, body.error], [404, 'not_found'], path)
    }
    const posted = await app.request('POST', '/docs/run')
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
    for (const path of ['/docs', '/docs/']) {
      assert.match((await app.get(path)).text, /<h1>Run it<\/h1>/)
    }
  })

  test('each page of the docs has its plain text, and every link leads somewhere', async (t) => {
    verifies('page.docs', 'page.llms')
    const app = await startPages(t)
    const seen = new Map<string, string>()
    const read = async (path: string) => {
      const known = seen.get(path)
      if (known !== undefined) return known
      const { status, text } = await app.get(path)
      assert.equal(status, 200, path)
      seen.set(path, text)
      return text
    }
    for (const page of htmlPages) {
      const text = await read(page)
      for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        if (!/^[/#]/.test(href)) continue
        const [path = '', id] = href.split('#')
        const target = await read(path === '' ? page : path)
        if (id !== undefined) assert.ok(target.includes(`id="${id}"`), `${page} → ${href}`)
      }
    }
    const llms = await read('/llms.txt')
    assert.match(llms, /^# Plumbline\n\n> /)
    for (const page of markdownPages) {
      const text = await read(page)
      assert.match(text, /^# \S/)
      assert.doesNotMatch(text, /```run|```marks|\{\{/)
      assert.ok(llms.includes(`](${page})`), page)
      for (const [, href = ''] of text.matchAll(/\]\((\/[^)#]+)/g)) await read(href)
    }
    for (const [, href = ''] of llms.matchAll(/\]\((\/[^)]+)\)/g)) await read(href)
  })

  test('the migration page says what differs, built or not', async (t) => {
    const texts = [await startPages(t), await start(t)].map((app) => app.get('/docs/migration'))
    for (const { text } of await Promise.all(texts)) {
      assert.match(text, /<h1>Moving to Plumbline<\/h1>/)
      assert.match(text, /PLUMBLINE_DETECTOR=overlap/)
    }
  })
})

test('the routes that the docs name exist', () => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  for (const file of globSync('web/docs/pages/*.md')) {
    const named = readFileSync(file, 'utf8').matchAll(/`(GET|POST|PUT|DELETE) (\/v1\/[\w/]+)/g)
    for (const [, method = '', path = ''] of named) {
      assert.ok(method.toLowerCase() in (paths[path] ?? {}), `${file}: ${method} ${path}`)
    }
  }
})

test('the commands of the docs that speak to a server run', async (t) => {
  verifies('page.docs')
  const app = await start(t)
  const { headers } = await app.newAccount()
  let asked = 0
  for (const file of globSync('web/docs/pages/*.md')) {
    const text = readFileSync(file, 'utf8').replaceAll('\\\n', '')
    for (const [, path = '', body = ''] of text.matchAll(
      /curl -s http:\/\/127\.0\.0\.1:8787(\/\S+)[^\n]* -d '([^\n]+)'$/gm,
    )) {
      const { status } = await app.request('POST', path, { body, headers })
      assert.ok(status < 300, `${file}: ${path} is ${status}`)
      asked++
    }
  }
  assert.ok(asked >= 6)
})

test('the recorded runs are what the service answers', async () => {
  verifies('page.recorded')
  const running = await startRecorder()
  try {
    const { product, docs } = await recordRuns(running)
    assert.deepEqual(JSON.parse(readFileSync(recordedFiles.product, 'utf8')), product)
    assert.deepEqual(JSON.parse(readFileSync(recordedFiles.docs, 'utf8')), docs)
  } finally {
    await running.stop()
  }
})

test('the figures are those of the tables', () => {
  verifies('page.figures')
  const [, table = ''] = readFileSync('model/README.md', 'utf8').split('<!-- authored begins -->')
  const [, made = '', whole = ''] =
    /runs, as written([\s\S]*?)runs, greetings[\s\S]*?authored runs, with their plans([\s\S]*?)authored runs with a plan/.exec(
      table,
    ) ?? []
  const shown = ({ value, low, high }: Share, digits: number) =>
    `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`
  const { authored } = figures
  assert.ok(table.includes(`; ${figures.errands} errands of`))
  assert.ok(table.includes(`, ${authored.runs} runs with messages`))
  assert.ok(made.includes(`clean steps ${shown(figures.falseAlarmsPer1000, 1)}`))
  assert.ok(made.includes(`uncertain ${shown(figures.uncertainShare, 2)}`))
  assert.ok(made.includes(`precision at 10 % drift ${figures.precisionAt10Percent}`))
  for (const [kind, figure] of Object.entries(figures.foundWithin3)) {
    const row = made.split('\n').find((line) => line.startsWith(`${kind} `)) ?? ''
    assert.ok(row.trimEnd().endsWith(shown(figure, 2)), kind)
  }
  assert.ok(whole.includes(`clean steps ${shown(authored.falseAlarmsPer1000, 1)}`))
  assert.ok(whole.includes(`precision at 10 % drift ${shown(authored.precisionAt10Percent, 2)}`))
  const any = whole.split('\n').find((line) => line.startsWith('any kind')) ?? ''
  assert.ok(any.trimEnd().endsWith(shown(authored.foundWithin3, 2)))
  const published = /\| made runs: false alarms per 1,000 clean steps +\| +(\d+)/.exec(
    readFileSync('docs/detector.md', 'utf8'),
  )
  assert.equal(Number(published?.[1]), figures.publishedFalseAlarmsPer1000)
})

test('the words that were swapped are coloured, whatever their case', () => {
  const swap = swappedWords({ ground: 'order 1234', goal: 'Order 9876' })
  assert.deepEqual(swap, { ground: ['1234'], goal: ['9876'] })
  assert.deepEqual(piecesOf('Refund order 9876!', swap.goal, ['refund']), [
    { text: 'Refund', kind: 'shared' },
    { text: ' ', kind: 'plain' },
    { text: 'order', kind: 'plain' },
    { text: ' ', kind: 'plain' },
    { text: '9876', kind: 'swapped' },
    { text: '!', kind: 'plain' },
  ])
})

test('a search finds the parts that hold every word, titles first', async (t) => {
  verifies('page.docs.search')
  const app = await startPages(t)
  const parts: Part[] = (await app.get('/docs/search.json')).body
  assert.equal(findParts(parts, 'reasons')[0]?.at, '/docs/reasons')
  assert.equal(findParts(parts, 'Goal-Drift')[0]?.at, '/docs/reasons#goal-drift')
  assert.equal(findParts(parts, 'rotate key')[0]?.at.startsWith('/docs/keys'), true)
  assert.deepEqual(findParts(parts, 'xylophone'), [])
  assert.deepEqual(findParts(parts, '  '), [])
})

onEachDatabase((database) => {
  test('the checks of a page are counted apart from those of all', async (t) => {
    verifies('page.try.allowance')
    const env = { DATABASE_URL: await database.createUrl(), PLUMBLINE_CHECK_PER_DAY: '2' }
    const app = await start(t, { env })
    const body = { ground: 'fix the login page', goal: 'fix the login page' }
    const ask = async (headers: Record<string, string> = {}) => {
      const answer = await app.post('/v1/check', body, headers)
      return [answer.status, answer.headers.get('x-ratelimit-remaining')]
    }
    const page = { 'sec-fetch-site': 'same-origin' }
    assert.deepEqual(await ask(page), [200, '19999'])
    assert.deepEqual(await ask({ origin: app.url }), [200, '19998'])
    for (const elsewhere of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', origin: app.url },
    ]) {
      assert.equal((await ask(elsewhere))[0], 200)
    }
    for (const elsewhere of [{}, { origin: 'https://example.com' }, { origin: 'null' }]) {
      assert.deepEqual(await ask(elsewhere), [429, '0'])
    }
    assert.deepEqual(await ask(page), [200, '19997'])
    const { store } = app.running
    await store.counters.count('try:unknown', dayOf(Date.UTC(2026, 0, 15)), 19_996)
    assert.deepEqual(await ask(page), [200, '0'])
    assert.deepEqual(await ask(page), [429, '0'])
    const refused = await app.post('/v1/check', body, page)
    assert.doesNotMatch(refused.text, /PLUMBLINE/, 'no setting governs it')
    const others = await app.post('/v1/check', body)
    assert.match(others.body.detail, /PLUMBLINE_CHECK_PER_DAY/)
  })

  test('the try-it asks 300 ms after the last change, and shows the verdict', {
    skip: noBrowser,
  }, async (t) => {
    verifies('page.try')
    const app = await startPages(t, { DATABASE_URL: await database.createUrl() })
    const { page: tab, faults } = await openPage(t, app, '/')
    const verdict = tab.locator('#verdict')
    const asked: string[] = []
    tab.on('request', (request) => {
      if (request.url().endsWith('/v1/check')) asked.push(request.postData() ?? '')
    })
    await tab.locator('.mirror .swapped.ground').waitFor()
    await tab.locator('#try-goal').fill('')
    await tab.locator('#try-goal').pressSequentially('refund order 1234', { delay: 20 })
    await verdict.filter({ hasText: 'On the errand.' }).waitFor()
    // Not at each of the 17 letters; a slow machine may take longer than 300 ms over one.
    assert.ok(asked.length < 9, `asked ${asked.length} times`)
    assert.match(asked.at(-1) ?? '', /"goal":"refund order 1234"/)
    await tab.getByRole('button', { name: 'The opposite' }).click()
    await verdict.filter({ hasText: 'Drifting.' }).waitFor()
    assert.equal(await tab.locator('#mirror-goal .swapped').first().textContent(), 'remove')
    assert.equal(
      await tab.locator('#mirror-goal').textContent(),
      await tab.locator('#try-goal').inputValue(),
    )
    await tab.locator('#try-goal').fill('<img src=x onerror=alert(1)>')
    await verdict.filter({ hasText: 'nothing stored' }).waitFor()
    assert.equal(await tab.locator('.try img').count(), 0)
    await tab.locator('#try-goal').fill('  ')
    await verdict.filter({ hasText: 'Both fields want a few words.' }).waitFor()
    assert.deepEqual(faults, [])
  })
})

describe('in a browser', { skip: noBrowser }, () => {
  test('the product page shows the run and the figures without JavaScript', async (t) => {
    verifies('page.product')
    const app = await startPages(t)
    const { page: tab, faults } = await openPage(t, app, '/', null, { javaScriptEnabled: false })
    assert.equal(await tab.locator('.steps li').count(), 9)
    assert.equal(await tab.locator('.plumb.for-desktop').isVisible(), true)
    assert.equal(await tab.locator('#replay').isVisible(), false)
    assert.match((await tab.locator('#verdict').textContent()) ?? '', /^Drifting\. .*1234.*9876/)
    assert.equal(await tab.locator('.panel').count(), 8)
    assert.equal(await tab.locator('.panel').last().isVisible(), true)
    const { value } = figures.falseAlarmsPer1000
    const quality = (await tab.locator('#quality').textContent()) ?? ''
    assert.ok(quality.includes(`clean steps: ${value.toFixed(1)}`), quality)
    assert.deepEqual(faults, [])
  })

  test('the commands name this server, and the tabs go by keyboard', async (t) => {
    const app = await startPages(t)
    const { page: tab } = await openPage(t, app, '/')
    await tab.locator('#tab-plain-http').focus()
    await tab.keyboard.press('Home')
    assert.equal(await tab.locator('.panel:visible').getAttribute('id'), 'connect-claude-code')
    const said = await tab.locator('.panel:visible code').last().textContent()
    assert.ok(said?.includes('npx plumbline'))
    const code = await tab.locator('.panel:visible pre code').textContent()
    assert.equal(code, `npx plumbline init claude-code --server ${app.url}`)
  })

  test('the recorded run happens again, and not where motion is unwanted', async (t) => {
    const app = await startPages(t)
    const { page: tab } = await openPage(t, app, '/')
    await tab.locator('#replay').click()
    await tab.locator('.steps li.later').first().waitFor({ state: 'attached' })
    const { page: calm } = await openPage(t, app, '/', null, { reducedMotion: 'reduce' })
    assert.equal(await calm.locator('#replay').isVisible(), false)
  })

  test('the docs are searched from the page', async (t) => {
    verifies('page.docs.search')
    const app = await startPages(t)
    const { page: tab, faults } = await openPage(t, app, '/docs/run')
    await tab.keyboard.press('/')
    await tab.keyboard.type('goal-drift')
    await tab.locator('#found [role=option]').first().waitFor()
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/docs/reasons#goal-drift')
    assert.deepEqual(faults, [])
  })

  test('the reference shows the description of this server', async (t) => {
    verifies('page.api')
    const app = await startPages(t)
    const { page: tab, faults } = await openPage(t, app, '/docs/api')
    await tab.getByRole('heading', { name: /Judge two goals/ }).waitFor()
    assert.deepEqual(faults, [])
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe-core finds nothing serious, nothing is blocked, and no page is wider than a narrow window, ${colorScheme}`, async (t) => {
      verifies('page.accessible', 'page.policy')
      const app = await startPages(t)
      for (const path of htmlPages) {
        const { page: tab, faults } = await openPage(t, app, path, null, { colorScheme })
        if (path === '/docs/api')
          await tab.getByRole('heading', { name: /Judge two goals/ }).waitFor()
        // A window of 640 px at 200 % zoom is one of 320 px.
        for (const width of [1440, 320]) {
          await tab.setViewportSize({ width, height: 640 })
          // Redoc's own blocks beyond the first are too many to look through.
          const serious = await barriersOn(tab, ['.api-content > div:nth-child(n + 4)'])
          assert.deepEqual(serious, [], `${path} ${width}`)
          assert.equal(await isTooWide(tab), false, `${path} ${width}`)
        }
        assert.deepEqual(faults, [], path)
        await tab.close()
      }
    })
  }
})
