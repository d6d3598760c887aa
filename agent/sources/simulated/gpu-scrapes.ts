// What a reader of NVML would see of the simulated GPUs: scrapes in the groups and at the rates of the real source.
import { createGpuMemoryAttribution } from '../../attribution/gpu-memory.ts'
import type { Scrape } from '../../model/event.ts'
import type { Gap, GapReason, Reading } from '../../model/reading.ts'
import type { ProcessLoad, ProcessRow } from '../../sampler/protocol.ts'
import type { Card } from './card.ts'
import { cardSeries, type CardReader } from './card-series.ts'
import { heldBytes, usedBytes, type World } from './world.ts'

/** Fast each second, slow each ten, rare each sixty; the rates of agent/sampler/protocol.ts, held for three periods. */
const RATES = [
  { rate: 'fast', everyS: 1 },
  { rate: 'slow', everyS: 10 },
  { rate: 'rare', everyS: 60 },
] as const

type Watched = {
  readonly card: Card
  readonly reader: CardReader
  readonly labels: { readonly gpu: string; readonly uuid: string }
  seenAt: number
  answered: boolean
}

/** `tick` counts the scrapes from the first one on. */
export type GpuScraper = (tick: number, t: number) => readonly Scrape[]

export function createGpuScraper(world: World): GpuScraper {
  const byPid = new Map<number, World['processes'][number]>()
  const attribution = createGpuMemoryAttribution((pid) => byPid.get(pid)?.identity)
  const watched: readonly Watched[] = world.cards.map((card) => ({
    card,
    reader: cardSeries(world, card),
    labels: { gpu: String(card.index), uuid: card.uuid },
    seenAt: 0,
    answered: true,
  }))
  const scrape = (t: number, group: string, everyS: number, readings: readonly Reading[], gaps: readonly Gap[] = []): Scrape => ({
    type: 'scrape',
    t,
    source: 'gpu',
    group,
    ttlMs: everyS * 3_000,
    durationMs: 0,
    readings,
    gaps,
  })
  /** The GPU does not answer: what was read of it before no longer holds, and this is why. */
  const silent = (gpu: Watched, t: number, tick: number): Scrape[] => {
    const [reason, detail]: readonly [GapReason, string] =
      gpu.card.fault === 'lost' ? ['gpu_lost', 'GPU has fallen off the bus (simulated)'] : ['timeout', 'the driver did not answer in time (simulated)']
    const gap: Gap = { metric: 'gpu', labels: gpu.labels, reason, detail }
    // Who the GPU is stays known while its driver hangs; one that is lost is gone altogether.
    const groups = gpu.card.fault === 'lost' ? RATES : RATES.slice(0, 2)
    const scrapes = groups.filter(({ everyS, rate }) => rate === 'fast' || gpu.answered || tick % everyS === 0)
    return [
      ...scrapes.map(({ rate, everyS }) => scrape(t, `${gpu.card.uuid}/${rate}`, everyS, [], rate === 'fast' ? [gap] : [])),
      scrape(t, `${gpu.card.uuid}/processes`, 1, []),
    ]
  }
  const processes = (gpu: Watched, t: number): Scrape => {
    const { card, labels } = gpu
    const rows: ProcessRow[] = []
    const loads: ProcessLoad[] = []
    for (const process of world.processes) {
      if (process.card !== card) continue
      const bytes = heldBytes(process)
      const place = process.mig === undefined ? {} : { gi: Number(process.mig.gi), ci: Number(process.mig.ci) }
      if (bytes > 0) rows.push({ pid: process.pid, type: 'C', bytes, ...place })
      if (process.utilization > 0) loads.push({ pid: process.pid, ratio: process.utilization })
    }
    const owners = attribution.attribute({
      ...labels,
      usedBytes: usedBytes(world, card),
      processes: rows,
      ...(card.mig.length > 0 ? {} : { load: { ratio: card.utilization, loads, t } }),
    })
    return scrape(t, `${card.uuid}/processes`, 1, owners.readings, owners.gaps)
  }
  return (tick, t) => {
    byPid.clear()
    for (const process of world.processes) byPid.set(process.pid, process)
    const scrapes: Scrape[] = []
    const age: Reading[] = []
    for (const gpu of watched) {
      if (gpu.card.fault === undefined) {
        gpu.seenAt = t
        for (const { rate, everyS } of RATES) {
          if (tick % everyS !== 0 && gpu.answered) continue
          const { readings, gaps } = gpu.reader[rate]()
          scrapes.push(scrape(t, `${gpu.card.uuid}/${rate}`, everyS, readings, gaps))
        }
        scrapes.push(processes(gpu, t))
      } else {
        scrapes.push(...silent(gpu, t, tick))
      }
      gpu.answered = gpu.card.fault === undefined
      gpu.reader.age(age, (t - gpu.seenAt) / 1000)
      gpu.reader.xids(age, t)
    }
    scrapes.push(scrape(t, 'agent', 1, age))
    return scrapes
  }
}
