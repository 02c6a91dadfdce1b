import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { escapeHtml } from '../../core/html.ts'
import type { WebFiles } from './web-files.ts'

/** The style of a page, which its policy names by its hash, so that no other one counts. */
const style = `
body { font: 16px/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1a1a1a; background: #fdfdfc; }
h1 { font-size: 1.7rem } h2 { font-size: 1.1rem; margin-top: 2rem }
code, pre { font: 0.9em ui-monospace, monospace; background: #f0efeb; border-radius: 4px; padding: 0.1em 0.3em }
pre { padding: 0.8em 1em; overflow-x: auto }
button { font: inherit; padding: 0.4em 1em }
a { color: #1450a0 }
@media (prefers-color-scheme: dark) { body { color: #e6e6e3; background: #161615 } code, pre { background: #262624 } a { color: #8ab8ff } }
`

/** The content security policy of a page: its own text and style, and posting its own form. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

/** Serves, where the pages of web/ are not built, a page at the root and the one about migration. */
export async function pages(
  app: FastifyInstance,
  { baseUrls, web }: { baseUrls(): readonly string[]; web: WebFiles | null },
): Promise<void> {
  if (web === null) {
    app.get('/', (_request, reply) => sendPage(reply, homePage(baseUrls()[0] ?? '')))
    app.get('/docs/migration', (_request, reply) =>
      sendPage(reply, migrationPage(baseUrls()[0] ?? '')),
    )
  }
}

/** Answers with a page. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .headers({ 'content-security-policy': policy, 'x-frame-options': 'DENY' })
    .type('text/html; charset=utf-8')
    .send(html)
}

/** The page that `link: …; rel="deprecation"` points to. It lists the differences from the published service. */
function migrationPage(baseUrl: string): string {
  return page(
    'Moving to Plumbline',
    `<h1>Moving to Plumbline</h1>
<p>Every route under <code>/v1</code> keeps its path, its fields and its meaning. The header
<code>deprecation: true</code> is part of that interface and announces no end: no date is set, and a
later version will be named in <code>link</code> with the relation <code>successor-version</code> first.</p>
<h2>What to change</h2>
<ul>
<li>Point your client to <code>${escapeHtml(baseUrl)}</code>. Clients of the published service work unchanged.</li>
<li>Choose the detector. The default here is <code>meaning</code>, which is not the published one:
nearly every verdict differs in <code>phi</code>, <code>why</code> or <code>reason</code>. To keep the
published verdicts, start the server with <code>PLUMBLINE_DETECTOR=overlap</code>, or send
<code>"detector":"overlap"</code> with a check or with the first step of a run.</li>
<li>New fields are additive: <code>detector</code>, <code>confidence</code>,
<code>uncertain</code> and <code>why</code> on every step.</li>
</ul>
<h2>What is different</h2>
<ul>
<li>Goals in every script are compared. The published service saw only ASCII letters and digits;
for ASCII goals the words are the same.</li>
<li>Advice states what was measured. It gives no orders.</li>
<li>Goals are at most 4,000 characters and bodies at most 256 KiB.</li>
</ul>
<p>The whole interface is described at <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>`,
  )
}

/** The page at the root: a description of this server and a command to try. */
function homePage(baseUrl: string): string {
  const body =
    '{"ground":"refund order 1234 to the customer","goal":"refund order 9876 to the customer"}'
  return page(
    'Plumbline',
    `<h1>Plumbline</h1>
<p>Is the agent still on its errand? This server measures each goal an agent reports against the
ground: the goal frozen when its run began.</p>
<pre>curl -s ${escapeHtml(baseUrl)}/v1/check -d '${escapeHtml(body)}'</pre>
<p><a href="/v1/openapi.json">The interface</a> · <a href="/docs/migration">Moving from the published
service</a> · <a href="/healthz">Health</a> · <a href="/metrics">Metrics</a></p>`,
  )
}

/** A page with one question. Its button posts to the address of the page. */
export function buttonPage(title: string, question: string, label: string): string {
  return page(
    title,
    `<h1>${title}</h1>
<p>${escapeHtml(question)}</p>
<form method="post"><button>${label}</button></form>`,
  )
}

/** A page with one message. */
export function notePage(title: string, note: string): string {
  return page(title, `<h1>${title}</h1>\n<p>${escapeHtml(note)}</p>`)
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
${body}
</html>
`
}
