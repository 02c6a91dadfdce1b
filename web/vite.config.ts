import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import manifest from '../package.json' with { type: 'json' }

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The product page, the application, the docs and their reference are pages; `pages.ts` fills in what stands on them
 * without a script. What several use becomes a chunk of its own.
 */
export default defineConfig({
  root: at('.'),
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  define: { __VERSION__: JSON.stringify(manifest.version) },
  build: {
    outDir: at('dist'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        product: at('index.html'),
        app: at('app.html'),
        docs: at('docs/template.html'),
        api: at('docs/api.html'),
      },
    },
  },
})
