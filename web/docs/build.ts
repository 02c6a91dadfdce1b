import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { escapeHtml } from '../../src/core/html.ts'
import type { RecordedRun } from '../product/recorded.ts'
import { icon, logo } from '../shared/signs.ts'
import { contents, type Page } from './contents.ts'
import { llmsText } from './llms.ts'
import { type Rendered, renderPage } from './markdown.ts'

/** Renders every page made of Markdown, in the order of the sidebar. */
export function renderPages(): [Page, Rendered][] {
  const runs: Record<string, RecordedRun> = JSON.parse(read('recorded-runs.json'))
  return contents
    .flatMap(({ pages }) => pages)
    .filter(({ address }) => address === undefined)
    .map((page) => [page, renderPage(read(`pages/${page.name}.md`), runs)])
}

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8')
}

/** Writes the docs into the folder that Vite has built: pages, their plain text, what a search reads, llms.txt. */
export function buildDocs(folder: string): void {
  const into = join(folder, 'docs')
  const template = readFileSync(join(into, 'template.html'), 'utf8')
  rmSync(join(into, 'template.html'))
  mkdirSync(into, { recursive: true })
  const rendered = renderPages()
  for (const [page, each] of rendered) {
    writeFileSync(join(into, `${page.name}.html`), fill(template, page, each))
    writeFileSync(join(into, `${page.name}.md`), each.text)
  }
  const found = rendered.flatMap(([{ name, title }, { sections }]) =>
    sections.map(({ id, heading, text }) => ({
      at: `/docs/${name}${id === '' ? '' : `#${id}`}`,
      title,
      heading: id === '' ? '' : heading,
      text,
    })),
  )
  writeFileSync(join(into, 'search.json'), JSON.stringify(found))
  writeFileSync(join(folder, 'llms.txt'), llmsText(rendered))
}

function fill(template: string, page: Page, { title, lead, html, headings }: Rendered): string {
  const parts: Record<string, string> = {
    title: escapeHtml(title),
    lead: escapeHtml(lead),
    twin: `/docs/${page.name}.md`,
    logo: logo(),
    glass: icon('search'),
    sidebar: sidebar(page),
    page: html,
    aside: aside(page, headings),
  }
  return template.replaceAll(/<!--(\w+)-->/g, (mark, name: string) => parts[name] ?? mark)
}

function sidebar(current: Page): string {
  return contents
    .map(({ group, pages }) => {
      const links = pages.map((page) => {
        const here = page.name === current.name ? ' aria-current="page"' : ''
        return `<li><a href="${page.address ?? `/docs/${page.name}`}"${here}>${page.title}</a></li>`
      })
      return `<h2>${group}</h2><ul>${links.join('')}</ul>`
    })
    .join('')
}

function aside({ name }: Page, headings: Rendered['headings']): string {
  const links = headings.map(
    ({ id, text }) => `<li><a href="#${id}">${escapeHtml(text.replaceAll('`', ''))}</a></li>`,
  )
  const list = links.length === 0 ? '' : `<h2>On this page</h2><ul>${links.join('')}</ul>`
  return `${list}<p>Also as plain text: <a href="/docs/${name}.md">${name}.md</a></p>`
}
