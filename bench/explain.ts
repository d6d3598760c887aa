// `warpwatch explain` of a log of 200 MB: seconds from start to answer, and the memory it takes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printTable } from './lib/table.ts'
import { trainingLog } from './lib/training-log.ts'

const SIZE = 200 * 2 ** 20
const RUNS = 5
const LIMIT_S = 1.5
const LIMIT_MIB = 256

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-explain-'))
  try {
    const file = join(folder, 'log')
    writeFileSync(file, trainingLog(SIZE, 17).bytes)
    const main = join(import.meta.dirname, '../dist/main.js')
    let best = Infinity
    let mib = 0
    for (let attempt = 0; attempt < RUNS; attempt += 1) {
      const start = performance.now()
      const done = spawnSync(process.execPath, ['--require', join(import.meta.dirname, 'lib/peak-memory.cjs'), main, 'explain', '--json', file], {
        encoding: 'utf8',
      })
      best = Math.min(best, (performance.now() - start) / 1000)
      if (done.status !== 1) throw new Error(`expected exit code 1 (a fault was found), came ${done.status}: ${done.stderr}`)
      mib = Number(/peak (\d+) KiB/.exec(done.stderr)?.[1] ?? Number.NaN) / 1024
    }
    printTable([
      { what: 'explain of 200 MiB, whole process, best of 5', figure: `${best.toFixed(2)} s`, limit: `${LIMIT_S} s`, ok: best <= LIMIT_S },
      { what: '… peak memory', figure: `${mib.toFixed(0)} MiB`, limit: `${LIMIT_MIB} MiB`, ok: mib <= LIMIT_MIB },
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) await run()
