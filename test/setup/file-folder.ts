// Set-up of every test file: the temporary directory of the file and of all processes that it starts is a folder of its own, removed when its tests have ended.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { FILE_VARIABLE } from './left-running.ts'

/** Containers, mounts and limits of memory want a disk: those projects do not ask for memory. */
const outer = (process.env['TEST_IN_MEMORY'] === '1' ? process.env['TEST_MEMORY_FOLDER'] : undefined) ?? tmpdir()
const folder = mkdtempSync(join(outer, 'f-'))
chmodSync(folder, 0o1777)
process.env['TMPDIR'] = folder
process.env[FILE_VARIABLE] = expect.getState().testPath ?? ''
// Registered first, so it runs after the hooks of the file. What is still in use then is left to the end of the run.
afterAll(() => {
  process.env['TMPDIR'] = outer
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Removed with the folder of the run.
  }
})
