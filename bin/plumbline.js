#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import './require-node.js'

// Not imported by name: an older Node has no such function and would not get to the line above.
// What was compiled is kept for the next start.
const { enableCompileCache } = await import('node:module')
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/plumbline', import.meta.url)))

await import('../src/main.ts')
