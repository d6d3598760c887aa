// One file of a program of the tests and all that it imports: a test that starts it hundreds of times spends half as much CPU on each start.
import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { VERSION } from '../../agent/lib/version.ts'

/** Below the repository, from where its packages are found. */
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/test-programs')

export async function bundled(entry: string): Promise<{ readonly path: string; readonly remove: () => void }> {
  mkdirSync(FOLDER, { recursive: true })
  const path = join(FOLDER, `${process.pid}-${basename(entry, '.ts')}.mjs`)
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    external: ['better-sqlite3'],
    transform: { define: { __WARPWATCH_VERSION__: JSON.stringify(VERSION) } },
  })
  await bundle.write({ file: path, format: 'esm', codeSplitting: false })
  await bundle.close()
  return { path, remove: () => rmSync(path, { force: true }) }
}
