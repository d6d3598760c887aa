// A copy of the probe and of its tests in the temporary directory, where Python may keep what it compiles: otherwise each of hundreds of programs would compile all of it again.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export type ProbeCopy = { readonly tests: string; readonly env: NodeJS.ProcessEnv; readonly [Symbol.dispose]: () => void }

/** `env`: of this process, and by TEST_PROBE_COPY the tests know that they may write beside themselves. */
export function copyProbe(): ProbeCopy {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-probe-'))
  for (const part of ['probe', 'test/probe']) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  const { PYTHONDONTWRITEBYTECODE: _, ...env } = process.env
  return { tests: join(folder, 'test/probe'), env: { ...env, TEST_PROBE_COPY: '1' }, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
