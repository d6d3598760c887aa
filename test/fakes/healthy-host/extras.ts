// What the real sources tell beside the simulated ones: which GPUs there are, who can reach them, links, limits, and oddities that are no faults.
import { metricNamed } from '../../../agent/catalogue.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../../agent/model/series.ts'
import type { Random } from '../../../agent/sources/simulated/random.ts'
import type { World } from '../../../agent/sources/simulated/world.ts'

const LINKS = 18
const CPU_LIMIT_CORES = 16

function seriesOf(name: string, labels: Labels = {}): Series {
  const metric = metricNamed(`warpwatch_${name}`)
  if (metric === undefined) throw new Error(`expected a metric of the catalogue, got ${name}`)
  return makeSeries(metric, labels)
}
const scrape = (t: number, source: string, group: string, everyS: number, readings: readonly Reading[]): Scrape => ({
  type: 'scrape',
  t,
  source,
  group,
  ttlMs: everyS * 3_000,
  durationMs: 1,
  readings,
  gaps: [],
})

/** Of one second, counted from the first. */
export function createExtras(world: World, random: Random): (second: number, t: number) => readonly Scrape[] {
  const whole = [seriesOf('gpus_present'), seriesOf('gpus_expected')] as const
  const mismatch = seriesOf('driver_library_mismatch', { kernel_version: '580.95.05', library_version: '580.95.05' })
  const disk = seriesOf('host_disk_busy_seconds_total', { device: 'nvme0n1' })
  const cards = world.cards.map((card) => {
    const place = { gpu: String(card.index), uuid: card.uuid }
    return {
      card,
      present: seriesOf('gpu_present', place),
      spinning: seriesOf('gpu_spinning', place),
      links: Array.from({ length: LINKS }, (_, link) => seriesOf('gpu_nvlink_active', { ...place, link: String(link) })),
      errors: ['crc_flit', 'crc_data', 'replay', 'recovery'].map((type) => seriesOf('gpu_nvlink_errors_total', { ...place, type })),
      thresholds: (
        [
          ['slowdown', 89],
          ['shutdown', 92],
          ['memory_max', 95],
        ] as const
      ).map(([threshold, value]) => ({ series: seriesOf('gpu_temperature_threshold_celsius', { ...place, threshold }), value })),
      well: [seriesOf('gpu_recovery_action', place), seriesOf('gpu_retired_pages_pending', place)],
      flits: 0,
    }
  })
  const boxes = world.boxes.map((box) => {
    const labels = { container: box.name, container_id: box.id.slice(0, 12), image: box.image }
    const gpus = [...new Set(world.processes.filter(({ owner }) => owner === box).map(({ card }) => card))]
    return {
      box,
      limit: seriesOf('container_cpu_limit_cores', labels),
      waiting: ['cpu', 'io', 'memory'].map((resource) => seriesOf('container_pressure_waiting_seconds_total', { ...labels, resource, kind: 'some' })),
      access: gpus.flatMap(({ index, uuid }) =>
        ['container_gpu_accessible', 'container_gpu_node'].map((name) => seriesOf(name, { ...labels, gpu: String(index), uuid })),
      ),
      waited: [0, 0, 0],
    }
  })
  let diskBusy = 0
  const asked = { target: 'chat' }
  const service = seriesOf('target_info', { ...asked, url: 'http://127.0.0.1:8000/health', container: 'chat-vllm-1' })
  const [up, latency, status] = [seriesOf('target_up', asked), seriesOf('target_latency_seconds', asked), seriesOf('target_status', asked)]
  const failing = seriesOf('target_failing', { ...asked, reason: 'timeout' })
  /** A check that times out now and then, never two in a row. */
  let failedT = 0
  const checks = (t: number): readonly Scrape[] => {
    const fails = random() < 0.01 && t - failedT > 60_000
    if (fails) failedT = t
    const said = fails
      ? [
          { series: up, value: 0 },
          { series: failing, value: 1 },
        ]
      : [
          { series: up, value: 1 },
          { series: latency, value: 0.01 + 0.05 * random() },
          { series: status, value: 200 },
        ]
    return [scrape(t, 'targets', '', 10, [{ series: service, value: 1 }]), scrape(t, 'targets', 'chat', 10, said)]
  }

  return (second, t) => {
    const scrapes: Scrape[] = []
    diskBusy += 0.3 * random()
    scrapes.push(scrape(t, 'host', 'disks', 1, [{ series: disk, value: diskBusy }]))
    const ofBoxes: Reading[] = []
    for (const { box, limit, waiting, waited } of boxes) {
      if (!box.running) continue
      ofBoxes.push({ series: limit, value: CPU_LIMIT_CORES })
      waiting.forEach((series, at) => {
        const level = (waited[at] ?? 0) + 0.05 * random()
        waited[at] = level
        ofBoxes.push({ series, value: level })
      })
    }
    scrapes.push(scrape(t, 'containers', 'cgroups', 1, ofBoxes))
    if (second % 5 === 0) {
      scrapes.push(
        scrape(t, 'gpu-presence', '', 5, [
          ...cards.map(({ present }) => ({ series: present, value: 1 })),
          ...whole.map((series) => ({ series, value: cards.length })),
        ]),
        scrape(
          t,
          'hangs',
          '',
          5,
          cards.map(({ spinning }) => ({ series: spinning, value: 0 })),
        ),
        scrape(
          t,
          'device-access',
          '',
          5,
          boxes.flatMap(({ box, access }) => (box.running ? access.map((series) => ({ series, value: 1 })) : [])),
        ),
      )
    }
    if (second % 10 === 0)
      for (const entry of cards) {
        // A flow-control CRC error now and then is usual on any link.
        if (random() < 0.005) entry.flits += 1
        scrapes.push(
          scrape(t, 'gpu', `${entry.card.uuid}/links`, 10, [
            ...entry.links.map((series) => ({ series, value: 1 })),
            ...entry.errors.map((series, at) => ({ series, value: at === 0 ? entry.flits : 0 })),
          ]),
        )
      }
    if (second % 10 === 5) scrapes.push(...checks(t))
    if (second % 60 === 0) {
      scrapes.push(scrape(t, 'driver-version', '', 60, [{ series: mismatch, value: 0 }]))
      for (const { card, thresholds, well } of cards)
        scrapes.push(scrape(t, 'gpu', `${card.uuid}/limits`, 60, [...thresholds, ...well.map((series) => ({ series, value: 0 }))]))
    }
    return scrapes
  }
}

/** A card at rest takes its link down, and a clock change may show as a slowdown for one reading (NVML's header says so): neither is a fault. */
export function createOddities(random: Random): (event: Scrape) => Scrape {
  const resting = new Set<string>()
  const changedT = new Map<string, number>()
  return (event) => {
    if (event.source !== 'gpu') return event
    const uuid = event.group.split('/')[0] ?? ''
    if (event.group.endsWith('/fast')) {
      const busy = event.readings.find(({ series }) => series.metric.name === 'warpwatch_gpu_utilization_ratio')?.value ?? 1
      if (busy < 0.02) resting.add(uuid)
      else resting.delete(uuid)
      if (random() >= 0.002 || event.t - (changedT.get(uuid) ?? 0) < 60_000) return event
      changedT.set(uuid, event.t)
      return {
        ...event,
        readings: event.readings.map(({ series, value }) => ({
          series,
          value: series.metric.name === 'warpwatch_gpu_throttle_active' && series.labels['reason'] === 'hw_slowdown' ? 1 : value,
        })),
      }
    }
    if (!event.group.endsWith('/slow') || !resting.has(uuid)) return event
    return {
      ...event,
      readings: event.readings.map(({ series, value }) => ({ series, value: series.metric.name === 'warpwatch_gpu_pcie_link_generation' ? 1 : value })),
    }
  }
}
