// Global set-up of every run: one folder in the temporary directory for all that the run makes there, removed at its end, and a cache for what Node compiles.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBuilt } from '../../scripts/fingerprint.mjs'

const root = join(import.meta.dirname, '../..')

export default function setup(): () => void {
  // As short as can be: names of Unix sockets end after 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'ww-'))
  // As /tmp itself: other users make files in it too.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.env['TEST_RUN_FOLDER'] = folder
  // Hundreds of tests start the command line from its sources: what one of them compiled the others need not compile again.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/compiled')
  if (isBuilt(root)) process.env['TEST_BUILT_MAIN'] = join(root, 'dist/main.js')
  // Throws, and so fails the run, where something cannot be removed: a mount, or a process that still writes.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}
