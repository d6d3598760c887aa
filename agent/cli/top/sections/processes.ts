// Processes on GPUs, one row each, whichever and however many GPUs it holds.
import type { FrameMessage, ProcessRow } from '../../../model/live.ts'
import { memoryText } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { twoUnitSpan } from '../../../text/span.ts'
import type { Holders } from './holders.ts'
import { orUnknown, UNKNOWN, type Row, type Section } from './section.ts'

/** Absent where the agent does not say. */
const ageMs = ({ start_timestamp_seconds: started }: ProcessRow, t: number): number | undefined =>
  started === undefined ? undefined : Math.max(0, t - started * 1_000)

function rowOf(rows: readonly ProcessRow[], frame: FrameMessage, holders: Holders): Row | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  const { pid, process, container, user, command = process } = first
  const known = rows.flatMap(({ gpu_memory_bytes: bytes }) => bytes ?? [])
  const bytes = known.length === 0 ? undefined : known.reduce((sum, own) => sum + own, 0)
  const ratios = rows.flatMap(({ gpu_utilization_ratio: share }) => share ?? [])
  const ratio = ratios.length === 0 ? undefined : Math.max(...ratios)
  const gpus = [...new Set(rows.map(({ gpu, gi }) => (gi === undefined ? gpu : `${gpu}:${gi}`)))].join(',')
  const lasted = ageMs(first, frame.t)
  const job = holders.nameOf(first)
  return {
    key: String(pid),
    text: `${pid} ${user ?? ''} ${job} ${container ?? ''} ${command}`,
    values: [pid, user, gpus, bytes, ratio, lasted, job, command],
    cells: [
      String(pid),
      user ?? UNKNOWN,
      gpus,
      orUnknown(bytes, memoryText),
      orUnknown(ratio, percent),
      orUnknown(lasted, twoUnitSpan),
      [{ text: job, style: { colour: holders.colourOf(job) } }],
      command,
    ],
  }
}

export function processSection(frame: FrameMessage, holders: Holders): Section {
  const byPid = new Map<number, ProcessRow[]>()
  for (const row of frame.processes) {
    const rows = byPid.get(row.pid)
    if (rows === undefined) byPid.set(row.pid, [row])
    else rows.push(row)
  }
  return {
    id: 'processes',
    title: 'processes',
    least: 3,
    columns: [
      { title: 'PID', width: 8, right: true },
      { title: 'USER', width: 8, drop: 2 },
      { title: 'GPU', width: 4, grow: 1, most: 16 },
      { title: 'MEMORY', width: 9, right: true },
      { title: 'UTIL', width: 5, right: true, drop: 3 },
      { title: 'AGE', width: 10, right: true, drop: 1 },
      { title: 'JOB', width: 14, grow: 2, most: 40 },
      { title: 'COMMAND', width: 10, grow: 4 },
    ],
    sortedBy: 3,
    rows: [...byPid.values()].flatMap((rows) => rowOf(rows, frame, holders) ?? []),
  }
}
