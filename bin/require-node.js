// The first line every command runs: plain JavaScript, so that an older Node can say what is wrong.
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `Plumbline needs Node 24.15 or newer, and this is Node ${process.versions.node}. ` +
      'Install Node 24 and put it first on the PATH. A clone brings its own on Linux when it is run through npm (`npm ci && npm start`).\n',
  )
  process.exit(1)
}

// Not imported by name: an older Node has no such function and would not get to the lines above.
// What was compiled is kept for the next start.
const { enableCompileCache } = await import('node:module')
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/plumbline', import.meta.url)))
