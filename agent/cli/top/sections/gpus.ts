// GPUs: memory by job, utilisation with its last minute, power, temperature.
import type { FrameMessage, GpuRow, MigRow, ProcessRow } from '../../../model/live.ts'
import { memoryText } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { age } from '../../../text/span.ts'
import type { HostState } from '../host-state.ts'
import type { Capabilities, Style } from '../terminal/look.ts'
import { barCells, sparkline } from '../terminal/sparkline.ts'
import type { Holders } from './holders.ts'
import { orUnknown, type Cell, type Row, type Section, type Segment } from './section.ts'

/** A sample that is older comes from a GPU that does not answer. */
const STALE_S = 5
const HOT_C = 85
const SPARK_CELLS = 30

const short = (name: string): string => name.replace(/^NVIDIA (?:GeForce )?|^AMD /, '').replace(/ (?:HBM\w*|PCIe|SXM\d)\b/g, '')
const used = (gpu: GpuRow | MigRow): string =>
  gpu.memory_used_bytes === undefined
    ? orUnknown(undefined, String)
    : `${memoryText(gpu.memory_used_bytes).replace(/ GiB$/, '')}${gpu.memory_total_bytes === undefined ? '' : `/${memoryText(gpu.memory_total_bytes)}`}`
const temperatureStyle = (celsius: number | undefined): Style => (celsius !== undefined && celsius >= HOT_C ? { colour: 'critical' } : {})

type Context = { readonly holders: Holders; readonly capabilities: Capabilities; readonly processes: readonly ProcessRow[] }

function memoryBar(gpu: GpuRow | MigRow, held: readonly ProcessRow[], { holders, capabilities }: Context): Cell {
  const { memory_total_bytes: total, memory_used_bytes: taken } = gpu
  if (total === undefined || taken === undefined) return orUnknown(undefined, String)
  const byJob = new Map<string, number>()
  for (const process of held) byJob.set(holders.nameOf(process), (byJob.get(holders.nameOf(process)) ?? 0) + (process.gpu_memory_bytes ?? 0))
  const jobs = [...byJob].toSorted(([, a], [, b]) => b - a)
  const rest = Math.max(0, taken - jobs.reduce((sum, [, bytes]) => sum + bytes, 0))
  const coloured = capabilities.depth !== 'none'
  return (width) => {
    // What no process owns to is drawn only where it would show at all.
    const cells = barCells([...jobs.map(([, bytes]) => bytes), rest / total > 0.5 / width ? rest : 0], total, width)
    const parts: Segment[] = jobs.map(([name], i) => ({
      text: (coloured ? '█' : holders.fillOf(name)).repeat(cells[i] ?? 0),
      style: { colour: holders.colourOf(name) },
    }))
    parts.push({ text: '░'.repeat(cells.at(-1) ?? 0), style: { dim: true } })
    const free = width - cells.reduce((sum, count) => sum + count, 0)
    return [...parts, { text: '·'.repeat(free), style: { dim: true } }]
  }
}

function rowOf(gpu: GpuRow, state: HostState, context: Context): Row {
  const held = context.processes.filter(({ uuid }) => uuid === gpu.uuid)
  const { utilization_ratio: ratio, power_watts: watts, power_limit_watts: limit, temperature_celsius: celsius, sample_age_seconds: ageS = 0, name = '' } = gpu
  const silent = ageS > STALE_S
  const jobs = [...new Set(held.toSorted((a, b) => (b.gpu_memory_bytes ?? 0) - (a.gpu_memory_bytes ?? 0)).map(context.holders.nameOf))]
  const note: readonly Segment[] = silent
    ? [{ text: `not responding for ${age(ageS)}`, style: { colour: 'critical' } }]
    : jobs.flatMap((job, i) => [...(i === 0 ? [] : [{ text: ' ' }]), { text: job, style: { colour: context.holders.colourOf(job) } }])
  const minute = state.minute(gpu.uuid)
  return {
    key: gpu.uuid,
    text: `GPU ${gpu.index} ${name} ${jobs.join(' ')}`,
    dim: silent,
    values: [gpu.index, name, gpu.memory_used_bytes, gpu.memory_used_bytes, ratio, ratio, watts, celsius, jobs[0]],
    cells: [
      String(gpu.index),
      short(name),
      memoryBar(gpu, held, context),
      used(gpu),
      orUnknown(ratio, percent),
      (width) => [{ text: sparkline(minute.utilization, width, context.capabilities.unicode), style: { colour: 'accent' } }],
      orUnknown(watts, (w) => `${w.toFixed(0)}${limit === undefined ? '' : `/${limit.toFixed(0)}`} W`),
      [{ text: orUnknown(celsius, (c) => `${c.toFixed(0)} °C`), style: temperatureStyle(celsius) }],
      note,
    ],
  }
}

function migRow(gpu: GpuRow, mig: MigRow, context: Context): Row {
  const held = context.processes.filter(({ uuid, gi, ci }) => uuid === gpu.uuid && gi === mig.gi && (ci === undefined || ci === mig.ci))
  const jobs = [...new Set(held.map(context.holders.nameOf))]
  const place = `${gpu.index}:${mig.gi}`
  return {
    key: `${gpu.uuid}|${mig.gi}|${mig.ci}`,
    text: `MIG ${place} ${jobs.join(' ')}`,
    values: [gpu.index, undefined, mig.memory_used_bytes, mig.memory_used_bytes, undefined, undefined, undefined, undefined, jobs[0]],
    cells: [place, typeof mig['profile'] === 'string' ? mig['profile'] : 'MIG', memoryBar(mig, held, context), used(mig), '', '', '', '', jobs.join(' ')],
  }
}

export function gpuSection(state: HostState, frame: FrameMessage, holders: Holders, capabilities: Capabilities): Section {
  const context: Context = { holders, capabilities, processes: frame.processes }
  return {
    id: 'gpus',
    title: 'GPUs',
    least: Math.max(4, Math.min(8, frame.gpus.length)),
    columns: [
      { title: 'GPU', width: 3 },
      { title: 'NAME', width: 9, grow: 1, most: 22, drop: 2 },
      { title: 'MEMORY', width: 10, grow: 4, most: 60 },
      { title: 'USED', width: 14, right: true },
      { title: 'UTIL', width: 5, right: true },
      { title: 'LAST 60 S', width: 9, grow: 3, most: SPARK_CELLS, drop: 1 },
      { title: 'POWER', width: 9, right: true },
      { title: 'TEMP', width: 5, right: true },
      { title: 'JOBS', width: 12, grow: 4, drop: 3 },
    ],
    rows: frame.gpus.flatMap((gpu) => [rowOf(gpu, state, context), ...(gpu.mig ?? []).map((mig) => migRow(gpu, mig, context))]),
  }
}
