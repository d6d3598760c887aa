// What `warpwatch top` costs beside the agent: sixteen GPUs in a terminal of 132 by 43, a frame a second with figures that change.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScene } from '../test/setup/top-scene.ts'
import { nodeFlags } from '../scripts/node-flags.mjs'
import { printTable } from './lib/table.ts'

const MAIN = join(import.meta.dirname, '../dist/main.js')
const MEASURE_S = Number(process.env['BENCH_SECONDS'] ?? 600)
/** Until V8 has compiled what it is going to compile. */
const SETTLE_S = Math.min(20, MEASURE_S)
const LIMIT_CPU = 0.01
const LIMIT_MIB = 40
const TICKS_PER_SECOND = 100

/** script(1) gives it a terminal; its pid is in a file. */
const UNDER = (pid: string, command: readonly string[]): readonly string[] => [
  '-qefc',
  `stty rows 43 cols 132; echo $$ >${pid}; exec ${command.join(' ')}`,
  '/dev/null',
]
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
const mib = (pid: number, name: 'Pss' | 'Rss' | 'Private_Dirty'): number =>
  Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1_024

export async function run(): Promise<void> {
  if (!existsSync(MAIN)) throw new Error(`no ${MAIN}; run \`npm run build\` first`)
  execFileSync('script', ['--version'], { stdio: 'ignore' })
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-top-'))
  const pidFile = join(folder, 'pid')
  await using scene = await startScene(16, true)
  const command = [process.execPath, ...nodeFlags(['top']), MAIN, 'top', '--listen', scene.listen]
  const child = spawn('script', UNDER(pidFile, command), {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  })
  await sleep(SETTLE_S * 1_000)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  const [before, began] = [cpuSeconds(pid), performance.now()]
  await sleep(MEASURE_S * 1_000)
  const share = (cpuSeconds(pid) - before) / ((performance.now() - began) / 1_000)
  const [pss, rss, own] = [mib(pid, 'Pss'), mib(pid, 'Rss'), mib(pid, 'Private_Dirty')]
  child.stdin.end('q')
  child.kill()
  rmSync(folder, { recursive: true, force: true })
  printTable([
    { what: `CPU of the viewer over ${MEASURE_S} s`, figure: `${(share * 100).toFixed(2)} %`, limit: `${LIMIT_CPU * 100} %`, ok: share <= LIMIT_CPU },
    { what: 'its private memory', figure: `${own.toFixed(1)} MiB`, limit: `${LIMIT_MIB} MiB`, ok: own <= LIMIT_MIB },
    { what: '  PSS · RSS (with what Node maps and shares)', figure: `${pss.toFixed(1)} · ${rss.toFixed(1)} MiB` },
  ])
}

if (import.meta.main) await run()
