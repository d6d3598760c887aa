// The app behind Node's server, as it is loaded with the first request for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createApp, type AppOptions } from './app.ts'

/** The adapter's own Request and Response: Node's, through undici, cost half as much CPU again for each request (measured, Node 24). */
export function createListener(options: AppOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return getRequestListener(createApp(options).fetch)
}
