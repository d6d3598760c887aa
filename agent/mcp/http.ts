// `/mcp` on the agent: streamable HTTP without sessions, one answer to each question, so that nothing is kept between them.
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpServer } from './server.ts'
import type { Ask } from './tool.ts'

/** A question that came through the guards of the port, with its body read. */
export async function answerMcp(request: Request, body: unknown, ask: Ask): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = createMcpServer(ask)
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    await server.close()
  }
}
