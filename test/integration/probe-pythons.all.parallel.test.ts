// The probe under the Pythons of this machine: its tests are in Python (test/probe), with a stand-in for torch and a listener for the agent.
// Long: about 60 s.
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { copyProbe } from '../setup/probe-copy.ts'
import { findPythons, spreadPythons } from '../setup/pythons.ts'
import { rounds } from '../setup/rounds.ts'

const folder = join(import.meta.dirname, '../probe')
const modules = readdirSync(folder)
  .filter((name) => /^test_\w+\.py$/.test(name))
  .map((name) => name.slice(0, -3))
const all = findPythons()
const pythons = spreadPythons(all, rounds({ full: all.length, quick: 2 }))
const left = all.filter((python) => !pythons.includes(python)).map(({ version }) => version)
const note = all.length === 0 ? ' (needs python3, 3.8 to 3.14)' : left.length === 0 ? '' : ` (npm run test:long: ${left.join(', ')} too)`
/** The harness of the ends keeps processors busy on purpose, and is the same under each Python: once is enough. */
const modulesOf = (path: string): readonly string[] => modules.filter((name) => name !== 'test_standing' || path === pythons[0]?.path)
const run = promisify(execFile)

describe.skipIf(all.length === 0)(`the probe${note}`, () => {
  // Mostly waiting, so one Python's modules go side by side; more at once would make their waits long.
  test.each(pythons)('under Python $version', async ({ path }) => {
    using copy = copyProbe()
    const options = { cwd: copy.tests, env: copy.env, timeout: 280_000 }
    const runs = await Promise.all(
      modulesOf(path).map(async (name) => {
        try {
          return (await run(path, ['-m', 'unittest', name], options)).stderr
        } catch (error) {
          return error instanceof Error && 'stderr' in error ? `${error.message}\n${String(error.stderr)}` : String(error)
        }
      }),
    )
    for (const said of runs) expect(said).toMatch(/^Ran [1-9]\d* tests? in [\d.]+s\n\nOK/m)
    expect(runs.length).toBeGreaterThan(3)
  })
})
