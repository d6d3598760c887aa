// A simulated host inside this process: an agent on a free port of the loopback, whose files are removed with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAgent } from '../../../agent.ts'
import type { Config } from '../../../config/schema.ts'
import { createLogger } from '../../../lib/log.ts'
import type { Feed, FeedEvents } from './feed.ts'
import { openStream } from './stream.ts'

export async function startSimulated(config: Config, events: FeedEvents): Promise<Feed> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-top-'))
  const own: Config = { ...config, data_dir: folder, http: { ...config.http, listen: '127.0.0.1:0', token: '' }, notifiers: [] }
  // Its log would be written over the screen.
  const agent = await startAgent(own, { logger: createLogger({ level: 'error', format: 'text' }, () => {}), read: async () => [] })
  const feed = openStream({ url: agent.url, token: '', isLocal: false }, events)
  return {
    isLocal: false,
    async close() {
      await feed.close()
      await agent.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
