// `warpwatch mcp`: the agent's knowledge for assistants, over the Model Context Protocol on stdin and stdout.
import { callAgent } from './change.ts'
import type { Command } from './command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from './config/settings.ts'

export const mcp: Command = {
  name: 'mcp',
  summary: 'serves assistants over the Model Context Protocol (stdio; the agent serves it at /mcp)',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
  },
  async run(args, io) {
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const [{ StdioServerTransport }, { createMcpServer }] = await Promise.all([import('@modelcontextprotocol/sdk/server/stdio.js'), import('../mcp/server.ts')])
    const server = createMcpServer((path) => callAgent(loaded.config, 'mcp', 'GET', path))
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // Who started it has gone.
    process.stdin.once('end', resolve)
    await server.connect(new StdioServerTransport())
    await ended
    await server.close()
    return 0
  },
}
