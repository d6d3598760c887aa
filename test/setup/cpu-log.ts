// Set-up of every test file: with TEST_CPU_LOG=FILE (no name that the agent would take for its own), what each file took of the CPU is appended there, so that one sees what makes the whole run long.
import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

const log = process.env['TEST_CPU_LOG']
/** Ticks of /proc/PID/stat: fields 14 and 15 of the process, 16 and 17 of the children that it has waited for. A hundred to the second on every Linux. */
const TICKS = 100

function spent(): readonly [own: number, children: number] {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number)
  return [(user + system) / TICKS, (childUser + childSystem) / TICKS]
}

if (log !== undefined) {
  const before = spent()
  const begun = performance.now()
  // Registered first, so it runs last.
  afterAll(() => {
    const [own, children] = spent().map((now, at) => (now - (before[at] ?? 0)).toFixed(2))
    const wall = ((performance.now() - begun) / 1_000).toFixed(1)
    appendFileSync(log, `${own} ${children} ${wall} ${expect.getState().testPath ?? ''}\n`)
  })
}
