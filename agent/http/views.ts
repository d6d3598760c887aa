// The present as rows (model/live.ts): built from the latest values when the first reader of a tick asks, shared by the API and the stream.
import type { AllocatorRow, ContainerRow, GpuRow, HostRow, ProcessRow, ProgressRow, ServerRow } from '../model/live.ts'
import type { Gap } from '../model/reading.ts'
import type { LatestStore } from '../store/latest.ts'
import type { MutableRow } from './views/builder.ts'
import { createCpuRates } from './views/cpu-rates.ts'
import { finishContainer } from './views/containers.ts'
import { finishMig } from './views/mig.ts'
import { checkedHost, isAllocatorRow, isContainerRow, isGpuRow, isJobProgressRow, isProcessRow, isServerRow, only } from './views/row-checks.ts'
import { createTables } from './views/tables.ts'

export type GapEntry = Gap & { readonly source: string; readonly t: number }
export type SourceEntry = { readonly source: string; readonly group: string; readonly t: number; readonly readings: number; readonly gaps: number }

export type Rows = {
  readonly gpus: readonly GpuRow[]
  readonly containers: readonly ContainerRow[]
  readonly processes: readonly ProcessRow[]
  readonly allocators: readonly AllocatorRow[]
  readonly servers: readonly ServerRow[]
  /** What jobs say of their progress. */
  readonly progress: readonly ProgressRow[]
  readonly host: HostRow
}

export type Views = {
  /** To be called at each tick: the next reader gets new rows. */
  readonly invalidate: () => void
  readonly rows: () => Rows
  readonly gaps: () => readonly GapEntry[]
  readonly sources: () => readonly SourceEntry[]
}

const IDENTITY = ['name', 'serial', 'pci_bus_id'] as const

export type ViewsOptions = { readonly latest: LatestStore; readonly hostname: string }

const number = (value: unknown): number => (typeof value === 'number' ? value : 0)
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export function createViews({ latest, hostname }: ViewsOptions): Views {
  const cpuRates = createCpuRates()
  let built: Rows | undefined

  const build = (): Rows => {
    const tables = createTables(hostname)
    // Older groups first, so that of two readings of one series the newer one stays.
    const groups = [...latest.groups()].sort((a, b) => a.t - b.t)
    for (const group of groups) for (const reading of group.readings) tables.reading(reading, group.t)
    for (const group of groups) for (const gap of group.gaps) tables.gap(gap)
    for (const [key, mig] of tables.migs) {
      const gpu = tables.gpus.get(key.slice(0, key.indexOf('|')))
      if (gpu !== undefined) (gpu.mig ??= []).push(mig)
    }
    for (const gpu of tables.gpus.values()) if (gpu.mig !== undefined) gpu.mig = finishMig(gpu.mig)
    for (const [uuid, gpu] of tables.gpus) {
      // A card that is lost has no readings, and is the same card.
      // Of a GPU that is lost the rest is gone; these say which card to look at.
      const known = latest.inventory.known(uuid)
      for (const key of IDENTITY) {
        const value = gpu[key] ?? known?.labels[key]
        if (value !== undefined && value !== '') gpu[key] = value
      }
    }
    const gpus = [...tables.gpus.values()].sort((a, b) => number(a['index']) - number(b['index']))
    const order = gpus.map((gpu) => text(gpu['uuid']))
    const containers = [...tables.containers.values()].map((row) => finishContainer(row, order))
    cpuRates.apply(containers, tables.cpuTimes)
    const byGpuThenPid = (a: MutableRow, b: MutableRow): number => Number(a['gpu']) - Number(b['gpu']) || number(a['pid']) - number(b['pid'])
    return {
      gpus: only(gpus, isGpuRow),
      containers: only(
        containers.sort((a, b) => byText(text(a['container']), text(b['container']))),
        isContainerRow,
      ),
      processes: only([...tables.processes.values()].sort(byGpuThenPid), isProcessRow),
      allocators: only([...tables.allocators.values()].sort(byGpuThenPid), isAllocatorRow),
      servers: only(
        [...tables.servers.values()].toSorted((a, b) => byText(text(a['name']), text(b['name']))),
        isServerRow,
      ),
      progress: only(
        [...tables.progress.values()].toSorted((a, b) => byText(text(a['job']), text(b['job'])) || Number(a['rank'] ?? -1) - Number(b['rank'] ?? -1)),
        isJobProgressRow,
      ),
      host: checkedHost(tables.host),
    }
  }

  return {
    invalidate: () => void (built = undefined),
    rows: () => (built ??= build()),
    gaps: () => latest.gaps(),
    sources: () => [...latest.groups()].map(({ source, group, t, readings, gaps }) => ({ source, group, t, readings: readings.length, gaps: gaps.length })),
  }
}
