// The probe: what it takes of a core beside a busy program, with eight devices of the stand-in for torch at 1 Hz, and what importing it costs.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { poll } from '../test/setup/poll.ts'
import { findPythons, type Python } from '../test/setup/pythons.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 30)
const RUNS = 21
const LIMIT_PERCENT = 0.1
const LIMIT_MS = 5
const root = join(import.meta.dirname, '..')
const probe = join(root, 'probe/python')

/** A program whose loop never lets go of the interpreter of its own will. */
const BUSY = `
import torch
torch.cuda.init()
for device in torch._state.devices:
    device.allocate(2**30)
total = 0
while True:
    total += 1
`

/** CPU time in ns of all threads but the first: the program has one, so these are the probe's. (Column 1 of schedstat: time on the CPU.) */
const probeNanoseconds = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .filter((task) => Number(task) !== pid)
    .reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]), 0)

async function cpuShare(python: Python, folder: string): Promise<number> {
  const path = join(folder, `${python.version}.sock`)
  let samples = 0
  const server = createServer((socket) => {
    socket.setEncoding('utf8').on('data', (text: string) => (samples += text.split('"type":"sample"').length - 1))
    socket.on('error', () => {})
  })
  server.listen(path)
  const env = {
    PYTHONPATH: [join(root, 'test/probe/standin'), join(probe, 'sitecustomize')].join(':'),
    PYTHONPYCACHEPREFIX: folder,
    STANDIN_DEVICES: '8',
    WARPWATCH_PROBE_SOCKET: path,
  }
  const child = spawn(python.path, ['-c', BUSY], { env, stdio: 'inherit' })
  try {
    const { pid } = child
    if (pid === undefined) throw new Error(`${python.path} could not be started`)
    await poll(() => samples >= 3, { what: 'three samples of the probe', deadlineMs: 30_000 })
    const [from, began, before] = [samples, performance.now(), probeNanoseconds(pid)]
    await poll(() => samples >= from + SECONDS, { what: `${SECONDS} samples`, deadlineMs: SECONDS * 3_000, everyMs: 100 })
    return ((probeNanoseconds(pid) - before) / 1e6 / (performance.now() - began)) * 100
  } finally {
    child.kill('SIGKILL')
    server.close()
  }
}

/** Milliseconds of an import, as the program itself measures them. */
function importTimes(python: Python, folder: string, cached: boolean): readonly number[] {
  const env = { PYTHONPATH: probe, ...(cached ? { PYTHONPYCACHEPREFIX: folder } : { PYTHONDONTWRITEBYTECODE: '1', PYTHONPYCACHEPREFIX: join(folder, 'none') }) }
  const code = 'import time; t = time.perf_counter(); import warpwatch_probe; print((time.perf_counter() - t) * 1000)'
  return Array.from({ length: RUNS + 1 }, () => Number(execFileSync(python.path, ['-c', code], { env, encoding: 'utf8' }))).slice(1)
}

/** Milliseconds that the folder on PYTHONPATH costs a program without torch (Python's own account of its sitecustomize). */
function startTimes(python: Python, folder: string): readonly number[] {
  const env = { PYTHONPATH: join(probe, 'sitecustomize'), PYTHONPYCACHEPREFIX: folder }
  return Array.from({ length: RUNS + 1 }, () => {
    const { stderr } = spawnSync(python.path, ['-X', 'importtime', '-c', ''], { env, encoding: 'utf8' })
    return Number(/^import time:\s+\d+ \|\s+(\d+) \|\s+sitecustomize$/m.exec(stderr)?.[1] ?? Number.NaN) / 1000
  }).slice(1)
}

export async function run(): Promise<void> {
  const all = findPythons()
  const [oldest, newest] = [all[0], all.at(-1)]
  if (oldest === undefined || newest === undefined) throw new Error('expected a python3 of 3.8 to 3.14, found none')
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-'))
  const rows: Row[] = []
  try {
    for (const python of oldest === newest ? [newest] : [oldest, newest]) {
      const share = await cpuShare(python, folder)
      const of = `Python ${python.version}`
      rows.push({
        what: `${of}: CPU of the probe at 1 Hz, 8 devices, ${SECONDS} s beside a busy loop`,
        figure: `${share.toFixed(3)} % of a core`,
        limit: `${LIMIT_PERCENT} %`,
        ok: share <= LIMIT_PERCENT,
      })
      const cached = percentile(importTimes(python, folder, true), 0.5)
      rows.push({ what: `${of}: import, median of ${RUNS}`, figure: `${cached.toFixed(2)} ms`, limit: `${LIMIT_MS} ms`, ok: cached <= LIMIT_MS })
      const start = percentile(startTimes(python, folder), 0.5)
      rows.push({ what: `… the sitecustomize folder without torch`, figure: `${start.toFixed(2)} ms`, limit: `${LIMIT_MS} ms`, ok: start <= LIMIT_MS })
      const bare = percentile(importTimes(python, folder, false), 0.5)
      rows.push({ what: `… import where no .pyc can be kept (with torch, once)`, figure: `${bare.toFixed(1)} ms` })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  printTable(rows)
}

if (import.meta.main) await run()
