import { once } from 'node:events'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { tools } from '../../operations/tools/tools.ts'
import { createServers } from '../mcp/server.ts'
import { type Command, exitCodes, parse } from './command.ts'

/** Serves the tools over standard input and output. */
export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'the tools over stdio, offline, without a key',
  usage: 'plumbline mcp',
  details: `Speaks the Model Context Protocol on standard input and output, for a host that starts its
tools as a program. It stores nothing: it remembers the reports of a task until the program ends.
The tools that need an account (remember_self, resume_self, forget_self) are served at /mcp only.`,
  async run(args, world) {
    parse(args, {})
    await world.offline(async (service) => {
      const newServer = createServers({
        service,
        tools: tools.filter(({ needsKey }) => !needsKey),
        version: world.version,
        onFault: (error: unknown, tool: string) =>
          world.err(
            `plumbline mcp: ${tool} failed: ${error instanceof Error ? error.stack : error}\n`,
          ),
      })
      const caller = {
        address: 'stdio',
        credential: undefined,
        headers: {},
        gone: () => new AbortController().signal,
        session: null,
      }
      const transport = new StdioServerTransport(world.input, world.output)
      const closed = once(world.input, 'close')
      const handle = serveStdio(() => newServer(caller, null), {
        transport,
        onerror: (error) => world.err(`plumbline mcp: ${error.message}\n`),
      })
      await closed
      await handle.close()
    })
    return exitCodes.ok
  },
}
