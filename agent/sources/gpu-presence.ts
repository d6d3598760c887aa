// Which cards this host has, remembered over restarts: one that does not come back after a reboot is missed, though nobody saw it go.
import * as z from 'zod/mini'
import type { Gpu } from '../inventory/identity.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { gpusExpected, gpusPresent } from '../metrics/driver.ts'
import { gpuPresent } from '../metrics/gpu-identity.ts'
import type { Gap, GapReason, Reading } from '../model/reading.ts'
import { createSeriesCache } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import type { CursorStore } from '../store/cursors.ts'
import type { LatestStore } from '../store/latest.ts'
import { defineSource, type NvmlState } from './definition.ts'

export const presenceMetrics = [gpuPresent, gpusPresent, gpusExpected] as const

export type PresenceOptions = {
  readonly latest: { readonly inventory: Pick<Inventory, 'gpus'>; readonly gaps: LatestStore['gaps'] }
  readonly memory: Pick<CursorStore, 'get' | 'set'>
  readonly nvml: () => NvmlState
  readonly expected?: number
}

const EVERY_MS = 5_000
const KEY = 'gpu-presence'
/** A scrape may come between two halves of a change: what is missed in two looks running is gone. */
const MISSED_TO_GO = 2
/** A card that was taken out on purpose is not missed for ever. */
const FORGET_MS = 7 * 24 * 3_600_000
/** So old may "seen last" on disk be. */
const NOTE_EVERY_MS = 3_600_000
const MAX_KNOWN = 256

/** GPUs of other makers are numbered after NVIDIA's, so their readers begin later. */
const OTHERS_SETTLE_MS = 30_000
const isNvidia = ({ vendor }: { readonly vendor?: string | undefined }): boolean => vendor === undefined || vendor === 'nvidia'

const STUCK: readonly GapReason[] = ['timeout', 'driver_error']
const LOST: readonly GapReason[] = ['gpu_lost', 'reset_required']
/** A GPU may hang or be lost before it gives its UUID; then its number is all that is reported. */
const isOf = ({ labels }: Gap, { uuid, index }: Known): boolean => (labels['uuid'] === undefined ? labels['gpu'] === String(index) : labels['uuid'] === uuid)

const remembered = z.array(z.object({ uuid: z.string(), index: z.number(), bus: z.optional(z.string()), vendor: z.optional(z.string()), seenAt: z.number() }))
type Known = { readonly uuid: string; index: number; bus?: string | undefined; readonly vendor?: string | undefined; seenAt: number; missed: number }

function recall(text: string | undefined): readonly Known[] {
  if (text === undefined) return []
  try {
    const read = z.safeParse(remembered, JSON.parse(text))
    return read.success ? read.data.slice(0, MAX_KNOWN).map((known) => ({ ...known, missed: 0 })) : []
  } catch {
    return [] // torn, or of another version: the cards that are here are learnt again
  }
}

export function createGpuPresenceSource({ latest, memory, nvml, expected }: PresenceOptions): Source {
  const known = new Map(recall(memory.get(KEY)).map((gpu) => [gpu.uuid, gpu]))
  const seriesFor = createSeriesCache()
  let notedAt = 0
  let said = false
  let firstLook: number | undefined

  const learn = ({ uuid, index, pciBusId: bus, vendor }: Gpu, t: number): boolean => {
    if (uuid === '') return false
    const before = known.get(uuid)
    if (before !== undefined) {
      const changed = before.index !== index || before.bus !== bus
      Object.assign(before, { index, bus, seenAt: t, missed: 0 })
      return changed
    }
    if (known.size >= MAX_KNOWN) return false
    known.set(uuid, { uuid, index, bus, vendor, seenAt: t, missed: 0 })
    return true
  }
  const look = (t: number): readonly Reading[] => {
    const readings: Reading[] = []
    const present = latest.inventory.gpus()
    if (present.length === 0 && nvml() !== 'sampling') {
      for (const gpu of known.values()) gpu.missed = 0
    } else {
      let changed = false
      const [uuids, buses] = [new Set<string>(), new Set<string>()]
      for (const gpu of present) {
        changed = learn(gpu, t) || changed
        uuids.add(gpu.uuid)
        if (gpu.pciBusId !== undefined) buses.add(gpu.pciBusId)
      }
      // One that hangs or crashes its reader is there, it only does not answer.
      const gaps = latest.gaps().filter(({ metric }) => metric === 'gpu')
      const nvidia = nvml() === 'sampling' || present.some(isNvidia)
      firstLook ??= t
      const others = t - firstLook >= OTHERS_SETTLE_MS || present.some((gpu) => !isNvidia(gpu))
      const reported = (gpu: Known, reasons: readonly GapReason[]): boolean => gaps.some((gap) => reasons.includes(gap.reason) && isOf(gap, gpu))
      const here: Known[] = []
      const away: Known[] = []
      for (const gpu of known.values()) {
        if (uuids.has(gpu.uuid) || reported(gpu, STUCK)) {
          gpu.missed = 0
          here.push(gpu)
        } else away.push(gpu)
      }
      for (const gpu of away) {
        // Its reader has not begun, or does not work: nothing is known.
        if (!(isNvidia(gpu) ? nvidia : others)) {
          gpu.missed = 0
          continue
        }
        const replaced = gpu.bus !== undefined && buses.has(gpu.bus)
        if (replaced || t - gpu.seenAt > FORGET_MS || (expected !== undefined && here.length >= expected)) {
          changed = known.delete(gpu.uuid) || changed
        } else if (++gpu.missed >= MISSED_TO_GO || reported(gpu, LOST)) readings.push({ series: seriesOf(gpu), value: 0 })
      }
      for (const gpu of here) readings.push({ series: seriesOf(gpu), value: 1 })
      if (here.length + away.length > 0 || expected !== undefined) readings.push({ series: seriesFor(gpusPresent, {}), value: here.length })
      if (changed || t - notedAt >= NOTE_EVERY_MS || t < notedAt) {
        notedAt = t
        memory.set(KEY, JSON.stringify([...known.values()].map(({ uuid, index, bus, vendor, seenAt }) => ({ uuid, index, bus, vendor, seenAt }))))
      }
    }
    const should = expected ?? known.size
    if (should > 0) readings.push({ series: seriesFor(gpusExpected, {}), value: should })
    return readings
  }
  const seriesOf = ({ index, uuid }: Known) => seriesFor(gpuPresent, { gpu: String(index), uuid })

  return {
    id: 'gpu-presence',
    metrics: presenceMetrics,
    start({ emit, every }) {
      every(EVERY_MS, (t) => {
        const begun = performance.now()
        const readings = look(t)
        // A host that never had a GPU has nothing to say here.
        if (readings.length === 0 && !said) return
        said = readings.length > 0
        emit({ type: 'scrape', t, source: 'gpu-presence', group: '', ttlMs: 3 * EVERY_MS, durationMs: performance.now() - begun, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const gpuPresence = defineSource({
  id: 'gpu-presence',
  metrics: presenceMetrics,
  needs: ['config', 'latest', 'cursors', 'nvml'],
  create({ config, latest, cursors, nvml }) {
    if (config.gpu.source === 'off' || config.simulate.scenario !== 'off') return undefined
    const { expected_gpus: expected } = config.gpu
    return createGpuPresenceSource({ latest, memory: cursors, nvml: nvml.get, ...(expected === undefined ? {} : { expected }) })
  },
})
