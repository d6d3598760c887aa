// The bundle for arm64 under emulation: its own Node and native libraries, the fake NVML compiled for it, beside the agent of this machine on the same scenario.
// Long: about 60 s.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler, fakeLibrary, layoutProgram } from '../fakes/nvml/build.ts'
import { eightH100 } from '../fakes/nvml/scenario.ts'
import { startAgent, type Page, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { IS_LONG } from '../setup/rounds.ts'

const root = join(import.meta.dirname, '../..')
const LIBRARIES = '/usr/aarch64-linux-gnu'
const has = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
const isReady = process.platform === 'linux' && process.arch === 'x64' && compiler !== undefined && has('qemu-aarch64') && has('aarch64-linux-gnu-gcc')

describe.skipIf(!isReady)('the agent on arm64 (needs qemu-user, gcc-aarch64-linux-gnu and libstdc++6-arm64-cross)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-arm64-'))
  const emulated = join(folder, 'node')
  let home = ''
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeAll(() => {
    execFileSync(process.execPath, [join(root, 'scripts/bundle.mjs'), '--fast', '--arch', 'arm64', '--out', folder], { stdio: 'ignore' })
    const archive = readdirSync(folder).find((name) => name.endsWith('-linux-arm64.tar.gz')) ?? ''
    execFileSync('tar', ['-C', folder, '-xzf', join(folder, archive)])
    home = join(folder, archive.replace(/\.tar\.gz$/, ''))
    // The kernel of this machine runs no program of arm64: what the agent starts with its own Node goes through the same script.
    const own = join(folder, 'own-node.mjs')
    writeFileSync(own, `process.execPath = ${JSON.stringify(emulated)}\n`)
    writeFileSync(
      emulated,
      `#!/bin/sh\ncase $1 in */node) shift ;; esac\nNODE_OPTIONS=--import=${own} exec qemu-aarch64 -L ${LIBRARIES} ${home}/bin/node "$@"\n`,
    )
    chmodSync(emulated, 0o755)
  })
  const start = (dataDir: string): Promise<RunningAgent> =>
    startAgent({
      scenario: eightH100(),
      through: [emulated],
      main: join(home, 'dist/main.js'),
      dataDir,
      env: { WARPWATCH_GPU__LIBRARY: fakeLibrary('full', 'arm64') ?? '' },
    })
  /** What both must say alike: all of the GPUs but how old it is. */
  const gpusOf = ({ samples }: Page): readonly string[] =>
    samples
      .filter(({ name }) => name.startsWith('warpwatch_gpu_') && name !== 'warpwatch_gpu_sample_age_seconds')
      .map(({ name, labels, value }) => `${name} ${JSON.stringify(labels)} ${value}`)

  test('has the struct layouts of x86-64', () => {
    const layouts = execFileSync('qemu-aarch64', ['-L', LIBRARIES, layoutProgram('arm64') ?? ''], { encoding: 'utf8' })
    expect(layouts).toContain('nvmlMemory_v2_t')
    expect(layouts).toBe(execFileSync(layoutProgram() ?? '', { encoding: 'utf8' }))
  })

  test('explains a log', () => {
    const text = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.10 GiB is free.\n'
    const said = spawnSync(emulated, [join(home, 'dist/main.js'), 'explain', '-'], { input: text, encoding: 'utf8' })
    expect(said.stderr).toBe('')
    expect(said.stdout).toContain('2.00 GiB')
  })

  test('reads of eight GPUs what the agent of this machine reads, and keeps its history over a kill -9', async () => {
    const dataDir = join(folder, 'data')
    await using here = await startAgent({ scenario: eightH100() })
    await using first = await start(dataDir)
    const begun = Date.now()
    const wanted = await poll(
      async () => {
        const gpus = gpusOf(await here.metrics())
        return gpus.some((line) => line.startsWith('warpwatch_gpu_memory_used_bytes {"gpu":"7"')) ? gpus : undefined
      },
      { what: 'eight GPUs', everyMs: 200 },
    )
    let missing: readonly string[] = wanted
    await poll(
      async () => {
        const found = new Set(gpusOf(await first.metrics()))
        missing = wanted.filter((line) => !found.has(line))
        return missing.length === 0
      },
      { what: () => `the readings of eight GPUs; missing ${missing.length}: ${missing.slice(0, 8).join(', ')}`, everyMs: 500 },
    )
    await first.kill()
    const killed = Date.now()
    // Under emulation a start takes a quarter of a minute; the other agent finds the same files.
    await using second = IS_LONG ? await start(dataDir) : await startAgent({ scenario: eightH100(), dataDir })
    const rows = z.array(z.object({ t: z.array(z.number()), mean: z.array(z.number().nullable()) }))
    const path = `/api/v1/series?metric=gpu_memory_used_bytes&from=${begun - 1_000}&to=${killed}&points=5000`
    const past = rows.parse(await second.json(path))
    expect(past).toHaveLength(8)
    for (const { t, mean } of past) expect(t.filter((at, i) => at <= killed && typeof mean[i] === 'number').length).toBeGreaterThan(0)
    expect(await second.terminate()).toMatchObject({ code: 0 })
  })
})
