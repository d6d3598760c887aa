// A whole run of the doctor on a host with twenty containers and eight GPUs of the fake library, as its user waits for it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing, startDocker } from '../test/setup/docker.ts'
import { percentile, printTable } from './lib/table.ts'

const RUNS = 7
const CONTAINERS = 20
const LIMIT_MS = 3_000
const MAIN = join(import.meta.dirname, '../dist/main.js')

export async function run(): Promise<void> {
  if (dockerMissing !== undefined) {
    process.stdout.write(`skipped: ${dockerMissing}\n`)
    return
  }
  const library = fakeLibrary('full')
  if (library === undefined) throw new Error('expected a C compiler for the fake NVML library, found none')
  const scenario = scenarioFile(eightH100())
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-'))
  const docker = await startDocker()
  try {
    for (let at = 0; at < CONTAINERS; at++)
      await docker.run({ name: `cuda-${at}`, command: ['sleep', '100000'], env: ['CUDA_VERSION=12.4.1', 'NVIDIA_VISIBLE_DEVICES=all'], host: { Devices: [] } })
    const env = {
      ...process.env,
      FAKE_NVML_SCENARIO: scenario.path,
      WARPWATCH_GPU__LIBRARY: library,
      WARPWATCH_CONTAINERS__ENGINES: JSON.stringify([docker.socketPath]),
      WARPWATCH_DATA_DIR: folder,
    }
    const times: number[] = []
    for (let attempt = 0; attempt < RUNS; attempt++) {
      const began = performance.now()
      const ended = spawnSync(process.execPath, [MAIN, 'doctor', '--json'], { env, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
      if (ended.status !== 0 && ended.status !== 1) throw new Error(`expected a report, came: ${ended.stderr}`)
      times.push(performance.now() - began)
    }
    const median = percentile(times, 0.5)
    const slowest = Math.max(...times)
    printTable([
      {
        what: `doctor, ${CONTAINERS} containers and 8 GPUs: exec to report, median of ${RUNS}`,
        figure: `${median.toFixed(0)} ms`,
        limit: `${LIMIT_MS} ms`,
        ok: median <= LIMIT_MS,
      },
      { what: '… slowest', figure: `${slowest.toFixed(0)} ms`, limit: `${LIMIT_MS} ms`, ok: slowest <= LIMIT_MS },
    ])
  } finally {
    await docker.close()
    scenario.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
