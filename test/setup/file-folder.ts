// Set-up of every test file: the temporary directory of the file and of all processes that it starts is a folder of its own, removed when its tests have ended; so is what it changed of the environment.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { endFile } from './file-end.ts'
import { FILE_VARIABLE } from './left-running.ts'

const file = expect.getState().testPath ?? ''
/** Containers, mounts and limits of memory want a disk. */
const wantsDisk = file.includes('/test/integration/')
const outer = (wantsDisk ? undefined : process.env['TEST_MEMORY_FOLDER']) ?? process.env['TEST_RUN_FOLDER'] ?? tmpdir()
const before = { ...process.env }
const folder = mkdtempSync(join(outer, 'f-'))
chmodSync(folder, 0o1777)
process.env['TMPDIR'] = folder
process.env[FILE_VARIABLE] = file
// Registered first, so it runs after the hooks of the file. What is still in use then is left to the end of the run.
afterAll(async () => {
  await endFile()
  // The next file has the same process, and finds the environment as this one did.
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, before)
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Removed with the folder of the run.
  }
})
