// The built agent on a host whose GPU shares its memory (as a DGX Spark): what it says of memory, and what it tells after the host ran out of it and was switched off.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { h100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const GIB = 1024 ** 3
const TOTAL_KB = 127_600_748
const HELD = 37 * GIB

/** NVML of a GB10: no memory, no window, no limits; the list of processes has what each holds. */
const gb10: FakeScenario = {
  values: {},
  gpus: [
    h100(0, { name: 'NVIDIA GB10', mem_total: undefined, mem_used: undefined, mem_reserved: undefined, bar1_total: undefined, limit: undefined }, [
      { pid: process.pid, bytes: HELD },
    ]),
  ],
}

function createHost() {
  const root = mkdtempSync(join(tmpdir(), 'unified-'))
  const proc = join(root, 'proc')
  const write = (path: string, text: string): void => {
    const full = join(proc, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(`${full}.new`, text)
    renameSync(`${full}.new`, full)
  }
  write('sys/kernel/osrelease', '6.17.0-1014-nvidia')
  const boot = (id: string): void => write('sys/kernel/random/boot_id', `${id}\n`)
  const memory = (availableKb: number): void =>
    write(
      'meminfo',
      `MemTotal:       ${TOTAL_KB} kB\nMemFree:        ${Math.round(availableKb / 2)} kB\nMemAvailable:   ${availableKb} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n`,
    )
  boot('11111111-0000-4000-8000-000000000001')
  memory(60_000_000)
  const dataDir = join(root, 'data')
  const start = async (): Promise<RunningAgent> =>
    startAgent({
      scenario: gb10,
      dataDir,
      env: { WARPWATCH_HOST__PROC_ROOT: proc, WARPWATCH_HOST__SYS_ROOT: join(root, 'sys'), WARPWATCH_METRICS__DCGM: 'off' },
    })
  /** Waits until this figure is on disk, and gives its second. */
  const onDisk = async (availableKb: number): Promise<number> =>
    poll(
      () => {
        const file = join(dataDir, 'host-memory.log')
        const last = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)?.split(' ') : undefined
        return last?.[2] === String(availableKb * 1024) ? Number(last[1]) : undefined
      },
      { what: `${availableKb} kB in host-memory.log`, everyMs: 50 },
    )
  return { boot, memory, start, onDisk }
}

const incidents = z.array(z.looseObject({ kind: z.string() }))
const incidentsOf = async (agent: RunningAgent) => incidents.parse(await agent.json('/api/v1/incidents'))
const isUnified = async (agent: RunningAgent): Promise<true | undefined> =>
  (await agent.metrics()).samples.some(({ name, labels }) => name === 'warpwatch_gpu_info' && labels['memory'] === 'unified') ? true : undefined

describe.skipIf(compiler === undefined)('a host with unified memory (needs a C compiler)', () => {
  test('its last second is on disk when the power goes, and the next start tells it', async () => {
    const host = createHost()
    let end = 0
    {
      await using agent = await host.start()
      await poll(async () => isUnified(agent), { what: 'a GPU with unified memory', everyMs: 100 })
      const page = await poll(
        async () => {
          const now = await agent.metrics()
          return now.value('warpwatch_gpu_memory_used_bytes', { gpu: '0' }) === HELD ? now : undefined
        },
        { what: 'the memory of its processes', everyMs: 100 },
      )
      expect(page.value('warpwatch_gpu_memory_total_bytes', { gpu: '0' })).toBe(TOTAL_KB * 1024)
      expect(page.value('warpwatch_gpu_memory_free_bytes', { gpu: '0' })).toBe(60_000_000 * 1024)
      for (const available of [60_000_000, 29_000_000, 9_000_000, 260_000]) {
        host.memory(available)
        end = await host.onDisk(available)
      }
      await agent.kill()
    }
    host.boot('22222222-0000-4000-8000-000000000002')
    host.memory(120_000_000)
    await using agent = await host.start()
    const reported = await poll(async () => (await incidentsOf(agent)).find(({ kind }) => kind === 'host_exhausted'), {
      what: 'the incident of the boot before',
      everyMs: 100,
    })
    // Its last second, by the clock, and what was left in it.
    expect(JSON.stringify(reported)).toContain(`${new Date(end).toISOString().slice(11, 19)} UTC`)
    expect(JSON.stringify(reported)).toContain('254 MiB of 121.7 GiB')
    expect((await agent.metrics()).value('warpwatch_host_previous_boot_end_timestamp_seconds')).toBe(end / 1_000)
    expect((await agent.metrics()).value('warpwatch_host_previous_boot_memory_free_ratio')).toBeCloseTo(260_000 / TOTAL_KB, 6)
  }, 60_000)

  test.each([
    ['an agent that was stopped before the host', 260_000, 'terminate'],
    ['a power cut while memory was free', 60_000_000, 'kill'],
  ] as const)(
    '%s: nothing is told',
    async (_, available, how) => {
      const host = createHost()
      {
        await using agent = await host.start()
        await poll(async () => isUnified(agent), { what: 'a GPU with unified memory', everyMs: 100 })
        host.memory(available)
        await host.onDisk(available)
        await agent[how]()
      }
      host.boot('33333333-0000-4000-8000-000000000003')
      host.memory(120_000_000)
      await using agent = await host.start()
      // Another fault of this boot comes and goes: by then the detectors have judged more than once what this start told.
      const remap = async (status: string): Promise<true> =>
        poll(
          async () =>
            (await incidentsOf(agent)).some((incident) => incident.kind === 'row_remap_failure' && incident['status'] === status) ? true : undefined,
          {
            what: `an incident of this boot, ${status}`,
            everyMs: 100,
            deadlineMs: 60_000,
          },
        )
      agent.tell({ ...gb10, gpus: gb10.gpus.map((gpu) => ({ ...gpu, values: { ...gpu.values, remap_failure: 1 } })) })
      await remap('firing')
      agent.tell(gb10)
      await remap('resolved')
      expect((await incidentsOf(agent)).map(({ kind }) => kind)).toEqual(['row_remap_failure'])
    },
    120_000,
  )
})
