// Who holds a GPU's memory: sums per container, what is left over, and that unknown never becomes a number.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createGpuMemoryAttribution, type GpuMemoryOwners } from '../../../agent/attribution/gpu-memory.ts'
import type { ProcessIdentity } from '../../../agent/model/identity.ts'
import type { ProcessRow } from '../../../agent/sampler/protocol.ts'

const GPU = { gpu: '0', uuid: 'GPU-a' }
const trainer = { id: 'a'.repeat(64), name: 'trainer', image: 'torch:2', composeProject: 'lab', composeService: 'train' }
const identities: Record<number, ProcessIdentity> = {
  1: { pid: 1, startTicks: 10, name: 'python', innerPid: 17, container: trainer },
  2: { pid: 2, startTicks: 11, name: 'python', container: trainer },
  3: { pid: 3, startTicks: 12, name: 'Xorg', unit: 'gdm.service' },
  4: { pid: 4, startTicks: 13, name: 'vasp', slurmJob: '99' },
}
const identify = (pid: number) => identities[pid]
const row = (pid: number, bytes: number | null, more: Partial<ProcessRow> = {}): ProcessRow => ({ pid, type: 'C', bytes, ...more })
const text = ({ readings }: GpuMemoryOwners) => readings.map(({ series, value }) => `${series.key} ${value}`)
const rest = ({ readings }: GpuMemoryOwners) => readings.find(({ series }) => series.metric.name === 'warpwatch_gpu_memory_unattributed_bytes')?.value

describe('memory of one GPU', () => {
  test('goes to processes and containers, with all that is known of them; the rest to nobody', () => {
    const found = createGpuMemoryAttribution(identify).attribute({
      ...GPU,
      usedBytes: 1_000,
      processes: [row(1, 100), row(2, 200), row(3, 50, { type: 'G' }), row(4, 5), row(9, 1)],
    })
    const owner = 'container="trainer",container_id="aaaaaaaaaaaa",image="torch:2",compose_project="lab",compose_service="train"'
    expect(text(found)).toEqual([
      `warpwatch_process_gpu_memory_bytes{gpu="0",uuid="GPU-a",pid="1",process="python",type="C",inner_pid="17",${owner}} 100`,
      `warpwatch_process_gpu_memory_bytes{gpu="0",uuid="GPU-a",pid="2",process="python",type="C",${owner}} 200`,
      'warpwatch_process_gpu_memory_bytes{gpu="0",uuid="GPU-a",pid="3",process="Xorg",type="G",unit="gdm.service"} 50',
      'warpwatch_process_gpu_memory_bytes{gpu="0",uuid="GPU-a",pid="4",process="vasp",type="C",slurm_job="99"} 5',
      'warpwatch_process_gpu_memory_bytes{gpu="0",uuid="GPU-a",pid="9",type="C"} 1',
      `warpwatch_container_gpu_memory_bytes{gpu="0",uuid="GPU-a",${owner}} 300`,
      'warpwatch_gpu_memory_unattributed_bytes{gpu="0",uuid="GPU-a"} 644',
    ])
    expect(found.gaps).toEqual([])
  })

  test('a process of unknown memory makes gaps of its own, of its container and of the rest, never a smaller sum', () => {
    const found = createGpuMemoryAttribution(identify).attribute({ ...GPU, usedBytes: 1_000, processes: [row(1, 100), row(2, null)] })
    expect(found.readings.map(({ value }) => value)).toEqual([100])
    expect(found.gaps.map(({ metric, reason }) => [metric, reason])).toEqual([
      ['warpwatch_process_gpu_memory_bytes', 'not_supported'],
      ['warpwatch_container_gpu_memory_bytes', 'not_supported'],
      ['warpwatch_gpu_memory_unattributed_bytes', 'not_supported'],
    ])
  })

  test('an unread list or unread used memory is a gap with the reason it came with', () => {
    const attribution = createGpuMemoryAttribution(identify)
    const gap = { reason: 'no_permission', code: 4, detail: 'needs root' } as const
    expect(attribution.attribute({ ...GPU, usedBytes: 5, processes: undefined, gap })).toEqual({
      readings: [],
      gaps: [{ metric: 'warpwatch_gpu_memory_unattributed_bytes', labels: GPU, ...gap }],
    })
    const found = attribution.attribute({ ...GPU, usedBytes: undefined, processes: [row(3, 1)], gap })
    expect(found.readings).toHaveLength(1)
    expect(found.gaps).toEqual([{ metric: 'warpwatch_gpu_memory_unattributed_bytes', labels: GPU, ...gap }])
  })

  test('under MIG a container has a sum per instance, and a row without instance does not count twice', () => {
    const found = createGpuMemoryAttribution(identify).attribute({
      ...GPU,
      usedBytes: 1_000,
      processes: [row(1, 100, { gi: 1, ci: 0 }), row(1, 100), row(2, 200, { gi: 2, ci: 0 }), row(2, 150, { gi: 2, ci: 0 })],
    })
    const containers = text(found).filter((line) => line.startsWith('warpwatch_container'))
    expect(containers).toHaveLength(2)
    expect(containers[0]).toMatch(/gi="1",ci="0".* 100$/)
    expect(containers[1]).toMatch(/gi="2",ci="0".* 200$/)
    expect(rest(found)).toBe(700)
  })

  test('only strangers, three times: the hint to see the host’s processes', () => {
    const attribution = createGpuMemoryAttribution(() => undefined)
    const ask = () => attribution.attribute({ ...GPU, usedBytes: 10, processes: [row(1, 1), row(2, 2)] }).gaps
    expect([ask(), ask()]).toEqual([[], []])
    expect(ask()[0]).toMatchObject({ reason: 'no_permission', labels: GPU })
    expect(ask()[0]?.detail).toContain('--pid=host')
  })

  test('an agent that sees all processes of the host gives no such hint: who is in no /proc has ended', () => {
    const attribution = createGpuMemoryAttribution(() => undefined, { seesAllProcesses: true })
    const ask = () => attribution.attribute({ ...GPU, usedBytes: 10, processes: [row(1, 1)] }).gaps
    expect([ask(), ask(), ask(), ask()].flat()).toEqual([])
  })

  test('an agent in a pid namespace of its own, memory in use and an empty list: the hint', () => {
    const attribution = createGpuMemoryAttribution(() => undefined, { seesAllProcesses: false })
    const ask = (usedBytes: number) => attribution.attribute({ ...GPU, usedBytes, processes: [] }).gaps
    expect([ask(4e9), ask(4e9), ask(1e8)].flat(), 'too little to be more than the driver itself').toEqual([])
    expect([ask(4e9), ask(4e9)].flat()).toEqual([])
    expect(ask(4e9)[0]).toMatchObject({ reason: 'no_permission', labels: GPU, detail: expect.stringContaining('--pid=host') })
  })
})

describe('from tick to tick', () => {
  test('series stay the same objects, until the process behind the pid is another one', () => {
    let started = 10
    const attribution = createGpuMemoryAttribution((pid) => ({ pid, startTicks: started, name: 'python' }))
    const series = () => attribution.attribute({ ...GPU, usedBytes: 10, processes: [row(1, 1)] }).readings[0]?.series
    const first = series()
    expect(series()).toBe(first)
    started = 11
    expect(series()).not.toBe(first)
  })

  test('a container that is renamed or ends is followed at once', () => {
    let name = 'old'
    const attribution = createGpuMemoryAttribution((pid) => ({ pid, startTicks: 1, name: 'python', container: { id: 'b'.repeat(64), name } }))
    const ask = (processes: readonly ProcessRow[]) => text(attribution.attribute({ ...GPU, usedBytes: 10, processes }))
    expect(ask([row(1, 1)]).join()).toContain('container="old"')
    name = 'new'
    expect(ask([row(1, 1)]).join()).not.toContain('container="old"')
    expect(ask([])).toEqual(['warpwatch_gpu_memory_unattributed_bytes{gpu="0",uuid="GPU-a"} 10'])
  })
})

test('property: nothing is negative, and with all memory known containers and strangers add up to the processes', () => {
  const rows = fc.array(
    fc.record({ pid: fc.integer({ min: 1, max: 6 }), type: fc.constant('C'), bytes: fc.option(fc.nat(1e6)), gi: fc.constantFrom(1, 2), ci: fc.constant(0) }),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(rows, fc.nat(1e6), (processes, usedBytes) => {
      // A host of its own each time: of rounds in a row in which nobody is known the whole list is doubted.
      const found = createGpuMemoryAttribution(identify).attribute({ ...GPU, usedBytes, processes })
      for (const { value } of found.readings) expect(value).toBeGreaterThanOrEqual(0)
      const sum = (metric: string, inContainer: boolean): number =>
        found.readings
          .filter(({ series }) => series.metric.name === metric && (series.labels['container'] !== undefined) === inContainer)
          .reduce((total, { value }) => total + value, 0)
      const unknown = found.gaps.filter(({ metric }) => metric === 'warpwatch_process_gpu_memory_bytes').length
      const left = rest(found)
      expect(left === undefined).toBe(unknown > 0)
      if (left === undefined) return
      const total = sum('warpwatch_process_gpu_memory_bytes', true) + sum('warpwatch_process_gpu_memory_bytes', false)
      expect(sum('warpwatch_container_gpu_memory_bytes', true)).toBe(sum('warpwatch_process_gpu_memory_bytes', true))
      expect(left).toBe(Math.max(0, usedBytes - total))
    }),
  )
})
