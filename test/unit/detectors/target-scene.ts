// A host with a service: its checks, its GPUs and the process of its container, second by second.
import type { Event, Scrape } from '../../../agent/model/event.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import { busOf, reading, scrape, T, uuid } from '../incidents/scene.ts'

export type Check = 'well' | 'refused' | 'status' | 'unknown'
export const at = (second: number): number => T + second * 1_000

export function info(second: number, target = 'ui', container?: string): Scrape {
  const labels = { target, url: 'http://127.0.0.1:7860/api/health', ...(container === undefined ? {} : { container }) }
  return { ...scrape(at(second), 'targets', [reading('target_info', labels, 1)]), group: '' }
}
/** What the source tells of one check. */
export function checked(second: number, check: Check, target = 'ui'): Scrape {
  const labels = { target }
  const gap = (metric: string, detail: string): Gap => ({ metric: `warpwatch_${metric}`, labels, reason: 'driver_error', detail })
  const up = (value: number) => reading('target_up', labels, value)
  const said = {
    well: { readings: [up(1), reading('target_latency_seconds', labels, 0.012), reading('target_status', labels, 200)], gaps: [] },
    refused: { readings: [up(0), reading('target_failing', { ...labels, reason: 'refused' }, 1)], gaps: [gap('target_failing', 'connect ECONNREFUSED')] },
    status: {
      readings: [up(0), reading('target_status', labels, 500), reading('target_failing', { ...labels, reason: 'status' }, 1)],
      gaps: [gap('target_failing', 'status 500 instead of 200 to 299')],
    },
    unknown: { readings: [], gaps: [gap('target_up', 'the agent could not ask: too many open files')] },
  }[check]
  return { ...scrape(at(second), 'targets', said.readings), group: target, ttlMs: 30_000, gaps: said.gaps }
}

export type Card = { readonly state: 'well' | 'lost' | 'hung' | 'silent'; readonly xids?: Readonly<Record<number, number>>; readonly pids?: readonly number[] }
/** GPU 0, on which the processes of container trainer work; GPU 1 is always well and another's. */
export function gpus(second: number, { state, xids = {}, pids = [4242] }: Card): readonly Event[] {
  const t = at(second)
  const place = (index: number) => ({ gpu: String(index), uuid: uuid(index) })
  const process = (index: number, pid: number, container: string) =>
    reading('process_gpu_memory_bytes', { ...place(index), pid: String(pid), process: 'python', container, container_id: '0123456789ab' }, 4e9)
  const bus = (index: number) => reading('gpu_info', { ...place(index), pci_bus_id: `0000${busOf(index).toUpperCase()}.0` }, 1)
  const group = (name: string, scraped: Scrape): Scrape => ({ ...scraped, group: name })
  const gap: Gap = {
    metric: 'gpu',
    labels: place(0),
    reason: state === 'hung' ? 'timeout' : 'gpu_lost',
    detail: state === 'hung' ? 'nvmlDeviceGetMemoryInfo does not return' : 'NVML_ERROR_GPU_IS_LOST',
  }
  const ages = [reading('gpu_sample_age_seconds', place(1), 0), ...(state === 'well' ? [reading('gpu_sample_age_seconds', place(0), 0)] : [])]
  const counted = Object.entries(xids).map(([xid, times]) => reading('gpu_xid_errors_total', { ...place(0), xid }, times))
  return [
    group('info', scrape(t, 'gpu', [bus(0), bus(1)])),
    group('age', scrape(t, 'gpu', ages)),
    group('xid', scrape(t, 'gpu', counted)),
    group('1/processes', scrape(t, 'gpu', [process(1, 7, 'other')])),
    ...(state === 'well'
      ? [
          group(
            '0/processes',
            scrape(
              t,
              'gpu',
              pids.map((pid) => process(0, pid, 'trainer')),
            ),
          ),
          group('0/fast', scrape(t, 'gpu', [])),
        ]
      : []),
    ...(state === 'lost' || state === 'hung' ? [{ ...group('0/fast', scrape(t, 'gpu', [])), gaps: [gap] }] : []),
  ]
}
