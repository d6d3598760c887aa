// Which cards a host has, remembered over restarts: gone ones are missed, hanging ones are there, replaced and long-gone ones are forgotten.
import { describe, expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import type { Gap, GapReason } from '../../../agent/model/reading.ts'
import { createGpuPresenceSource } from '../../../agent/sources/gpu-presence.ts'

type Host = {
  gpus: readonly string[]
  stuck?: readonly (readonly [uuid: string, reason: GapReason])[]
  bus?: (uuid: string) => string
  nvml?: 'sampling' | 'down'
}

/** Looks at the host as told, each five seconds; `memory` means the disk. */
function watched(memory = new Map<string, string>(), expected?: number) {
  let host: Host = { gpus: [] }
  let look: ((t: number) => void | Promise<void>) | undefined
  let last: readonly string[] = []
  let [t, reported] = [1_763_600_000_000, 0]
  const source = createGpuPresenceSource({
    latest: {
      inventory: {
        gpus: () =>
          host.gpus.map((uuid) => ({
            uuid,
            index: Number(uuid.slice(-1)),
            pciBusId: host.bus?.(uuid) ?? `0000:0${uuid.slice(-1)}:00.0`,
            mig: [],
            labels: {},
            source: 'gpu',
          })),
      },
      gaps: () =>
        (host.stuck ?? []).map(([uuid, reason]): Gap & { source: string; t: number } => ({
          metric: 'gpu',
          labels: { gpu: uuid.slice(-1), uuid },
          reason,
          source: 'gpu',
          t,
        })),
    },
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    nvml: () => host.nvml ?? 'sampling',
    ...(expected === undefined ? {} : { expected }),
  })
  void source.start({
    emit: (event: Event) => {
      reported++
      if (event.type === 'scrape')
        last = event.readings.map(({ series, value }) => `${series.key.replace('warpwatch_', '').replace(/\{.*uuid="([^"]+)"\}/, ' $1')} ${value}`)
    },
    every: (_, run) => {
      look = run
      return () => {}
    },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  })
  return {
    memory,
    reported: () => reported,
    /** What is said after so many looks, `stepMs` apart. */
    after: (next: Host, looks = 1, stepMs = 5_000): readonly string[] => {
      host = next
      for (let n = 0; n < looks; n++) void look?.((t += stepMs))
      return last
    },
  }
}
const ALL = ['GPU-0', 'GPU-1']

describe('gpu-presence', () => {
  test('cards that are there', () => {
    expect(watched().after({ gpus: ALL })).toEqual(['gpu_present GPU-0 1', 'gpu_present GPU-1 1', 'gpus_present 2', 'gpus_expected 2'])
  })

  test('one that goes is missed at the second look, also after a restart, until it is back', () => {
    const first = watched()
    first.after({ gpus: ALL })
    expect(first.after({ gpus: ['GPU-0'] })).toEqual(['gpu_present GPU-0 1', 'gpus_present 1', 'gpus_expected 2'])
    expect(first.after({ gpus: ['GPU-0'] })).toContain('gpu_present GPU-1 0')
    const second = watched(first.memory)
    expect(second.after({ gpus: ['GPU-0'] }, 2)).toEqual(['gpu_present GPU-1 0', 'gpu_present GPU-0 1', 'gpus_present 1', 'gpus_expected 2'])
    expect(second.after({ gpus: ALL })).toContain('gpu_present GPU-1 1')
  })

  test.each(['timeout', 'driver_error'] as const)('one that does not answer (%s) is there', (reason) => {
    const host = watched()
    host.after({ gpus: ALL })
    expect(host.after({ gpus: ['GPU-0'], stuck: [['GPU-1', reason]] }, 5)).toContain('gpu_present GPU-1 1')
    expect(host.after({ gpus: ['GPU-0'], stuck: [['GPU-1', 'gpu_lost']] })).toContain('gpu_present GPU-1 0')
  })

  test('a driver that tells nothing: nothing is said of any card, only how many there should be', () => {
    const host = watched()
    host.after({ gpus: ALL })
    expect(host.after({ gpus: [], nvml: 'down' }, 10)).toEqual(['gpus_expected 2'])
    expect(host.after({ gpus: [] }, 2)).toEqual(['gpu_present GPU-0 0', 'gpu_present GPU-1 0', 'gpus_present 0', 'gpus_expected 2'])
  })

  test('another card in its place, and a week without it: forgotten', () => {
    const host = watched()
    host.after({ gpus: ALL })
    expect(host.after({ gpus: ['GPU-0', 'GPU-7'], bus: (uuid) => (uuid === 'GPU-7' ? '0000:01:00.0' : '0000:00:00.0') }, 3)).toEqual([
      'gpu_present GPU-0 1',
      'gpu_present GPU-7 1',
      'gpus_present 2',
      'gpus_expected 2',
    ])
    expect(host.after({ gpus: ['GPU-0'] }, 2)).toContain('gpus_expected 2')
    expect(host.after({ gpus: ['GPU-0'] }, 8, 24 * 3_600_000)).toEqual(['gpu_present GPU-0 1', 'gpus_present 1', 'gpus_expected 1'])
  })

  test('the configured number rules: more are missed, and no more than it', () => {
    expect(watched(new Map(), 4).after({ gpus: ALL })).toEqual(['gpu_present GPU-0 1', 'gpu_present GPU-1 1', 'gpus_present 2', 'gpus_expected 4'])
    const memory = watched().memory
    watched(memory).after({ gpus: ALL })
    expect(watched(memory, 1).after({ gpus: ['GPU-0'] }, 3)).toEqual(['gpu_present GPU-0 1', 'gpus_present 1', 'gpus_expected 1'])
  })

  test('a host that never had a GPU says nothing; a torn memory is no memory', () => {
    const host = watched()
    host.after({ gpus: [], nvml: 'down' }, 5)
    expect(host.reported()).toBe(0)
    expect(watched(new Map([['gpu-presence', '[{"uuid":']])).after({ gpus: ['GPU-0'] }, 2)).toEqual([
      'gpu_present GPU-0 1',
      'gpus_present 1',
      'gpus_expected 1',
    ])
  })
})
