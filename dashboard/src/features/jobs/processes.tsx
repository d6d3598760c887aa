// The processes of a job that hold GPU memory, most first.
import type { Job } from './running.ts'
import { DASH, memory } from '../../text/format.ts'
import { Holdings } from '../../parts/table/holdings.tsx'

const TYPES: Readonly<Record<string, string>> = { C: 'compute', G: 'graphics', M: 'MPS', 'C+G': 'compute, graphics' }

export function JobProcesses({ job }: { readonly job: Job }) {
  return (
    <ul class="job-processes" aria-label={`Processes of ${job.name}`}>
      {job.processes
        .toSorted((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0) || a.pid - b.pid)
        .map(({ key, pid, process, type, gpuBytes, holdings }) => (
          <li key={key}>
            <span class="name">{process}</span>
            <span class="of">pid {pid}</span>
            <span class="of">{type === undefined ? DASH : (TYPES[type] ?? type)}</span>
            <span class="job-process-memory">{memory(gpuBytes)}</span>
            <Holdings holdings={holdings} />
          </li>
        ))}
    </ul>
  )
}
