// Scanning logs with all families: megabytes per second on one core, beside ripgrep with the same literals in the same run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainChunks } from '../agent/diagnosis/explain.ts'
import { logScanner } from '../agent/diagnosis/log-scanner.ts'
import { printTable } from './lib/table.ts'
import { trainingLog } from './lib/training-log.ts'

const SIZE = 200 * 2 ** 20
const RUNS = 7
const TARGET_MB_PER_S = 500

type Timed = { readonly megabytesPerSecond: number; readonly found: number }

/** Seconds of CPU that this process has used; with `children` those of its ended children. Other work on the machine hardly counts in it. */
function cpuSeconds(children: boolean): number {
  const { user, system } = process.cpuUsage()
  if (!children) return (user + system) / 1e6
  // cutime and cstime of proc(5), in hundredths of a second
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

function best(megabytes: number, run: () => number, children = false): Timed {
  let [shortest, found] = [Infinity, 0]
  for (let i = 0; i < RUNS; i += 1) {
    const start = cpuSeconds(children)
    found = run()
    shortest = Math.min(shortest, cpuSeconds(children) - start)
  }
  return { megabytesPerSecond: megabytes / shortest, found }
}

function* pieces(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 4 * 2 ** 20) yield bytes.subarray(at, at + 4 * 2 ** 20)
}

function ripgrep(bytes: Buffer, megabytes: number): Timed | undefined {
  if (spawnSync('rg', ['--version']).status !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-scan-'))
  try {
    writeFileSync(join(folder, 'log'), bytes)
    // A line end in a literal is beyond a search by lines.
    writeFileSync(
      join(folder, 'literals'),
      `${logScanner()
        .search.literals.map((literal) => literal.trim())
        .join('\n')}\n`,
    )
    const flags = ['-j1', '-c', '-a', '-F', '-f', join(folder, 'literals'), join(folder, 'log')]
    return best(megabytes, () => Number(spawnSync('rg', flags, { encoding: 'utf8' }).stdout), true)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export async function run(): Promise<void> {
  const { bytes, lines } = trainingLog(SIZE, 17)
  const scanner = logScanner()
  const megabytes = bytes.length / 1e6
  process.stdout.write(`${megabytes.toFixed(0)} MB, ${lines} lines, ${scanner.search.literals.length} literals of ${scanner.families.length} families\n`)
  const literals = best(megabytes, () => {
    let hits = 0
    scanner.search.inBytes(bytes, 0, bytes.length, () => (hits += 1))
    return hits
  })
  const whole = best(megabytes, () => explainChunks(scanner, pieces(bytes)).length)
  const peer = ripgrep(bytes, megabytes)
  const speed = ({ megabytesPerSecond }: Timed): string => `${megabytesPerSecond.toFixed(0)} MB/s`
  printTable([
    {
      what: 'bytes to faults, all families, per second of CPU',
      figure: speed(whole),
      limit: `${TARGET_MB_PER_S} MB/s`,
      ok: whole.megabytesPerSecond >= TARGET_MB_PER_S,
    },
    { what: '… the search for literals alone', figure: speed(literals), limit: '', ok: true },
    { what: 'peer: rg -F -j1 -c with the same literals', figure: peer === undefined ? 'not installed' : speed(peer), limit: '', ok: true },
  ])
}

if (import.meta.main) await run()
