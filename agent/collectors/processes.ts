// The processes that hold memory of the GPU: compute, graphics and MPS lists of the GPU and of its MIG instances, merged.
import { processGpuMemoryBytes } from '../metrics/process.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Failure } from '../nvml/codes.ts'
import type { Device, ProcessQuery } from '../nvml/device.ts'
import type { ProcessRow } from '../sampler/protocol.ts'
import type { Attached, Collector } from './collector.ts'
import { listedPids } from './parts/listed-pids.ts'

/** The metric that is missing when the lists are; the parent makes it of the rows and declares it. */
const LISTED = { name: processGpuMemoryBytes.name } as const
const KINDS = [
  { kind: 'Compute', letter: 'C' },
  { kind: 'Graphics', letter: 'G' },
  { kind: 'MPSCompute', letter: 'M' },
] as const

type Source = { readonly query: ProcessQuery; readonly letter: string; readonly gi?: number; readonly ci?: number }

/** One process may be in several lists, and under MIG in the GPU's and the instance's: one row each, its types joined by `+`. */
function merge(rows: Map<string, ProcessRow>, listed: Set<number>, source: Source): void {
  for (const entry of source.query.entries()) {
    const gi = source.gi ?? entry.gi
    const ci = source.ci ?? entry.ci
    // Under MIG an unprivileged caller gets the GPU's list without ids: those rows are in the instances' lists already.
    if (gi === undefined && listed.has(entry.pid)) continue
    if (source.gi !== undefined) listed.add(entry.pid)
    const key = `${entry.pid} ${gi ?? '-'} ${ci ?? '-'}`
    const known = rows.get(key)
    const type = known === undefined ? source.letter : known.type.includes(source.letter) ? known.type : `${known.type}+${source.letter}`
    // Each list gives the same number, all memory of the process; where one does not give it, another may.
    const bytes = entry.bytes ?? known?.bytes ?? null
    rows.set(key, { pid: entry.pid, type, bytes, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }) })
  }
}

function attach(device: Device): Attached {
  const sources: readonly Source[] = [...device.mig, device].flatMap((handle) =>
    KINDS.map(({ kind, letter }) => ({
      query: handle.processes(kind),
      letter,
      ...('gi' in handle ? { gi: handle.gi, ci: handle.ci } : {}),
    })),
  )
  const known = listedPids(device)
  return {
    read: (out) => {
      const rows = new Map<string, ProcessRow>()
      const listed = new Set<number>()
      let failure: Failure | undefined
      let compute = false
      for (const source of sources) {
        const code = source.query.ask()
        if (code === SUCCESS) {
          merge(rows, listed, source)
          compute ||= source.letter === 'C'
        } else if (source.letter === 'C') failure ??= failureOf(source.query.name, code)
      }
      // Graphics and MPS lists are missing on many drivers and GPUs, and are not needed; without the compute list nothing is known.
      for (const { pid } of rows.values()) known.add(pid)
      if (compute) {
        known.listed(rows.size)
        out.processes([...rows.values()])
        return
      }
      known.unread()
      out.gap(LISTED, device.labels, failure ?? failureOf('nvmlDeviceGetComputeRunningProcesses_v3', 13))
    },
  }
}

export const processes: Collector = { id: 'processes', rate: 'fast', metrics: [], attach }
