// All hosts, a compact row each: who is full, what fires, which does not answer; Enter opens one.
import type { HostEntry } from '../../../model/hosts.ts'
import { memoryText } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import type { Style } from '../terminal/look.ts'
import { barCells } from '../terminal/sparkline.ts'
import { orUnknown, UNKNOWN, type Cell, type Row, type Section } from './section.ts'

type State = { readonly text: string; readonly style: Style; readonly rank: number }
function stateOf({ problem, summary }: HostEntry): State {
  if (problem !== undefined) return { text: `does not answer: ${problem}`, style: { colour: 'critical', bold: true }, rank: 3 }
  if (summary === undefined) return { text: 'asking', style: { dim: true }, rank: 0 }
  const { firing, silent, worst } = summary
  const what = worst === undefined ? '' : ` ${worst.title}`
  if (silent.length > 0) return { text: `not responding: GPU ${silent.join(', ')}`, style: { colour: 'critical', bold: true }, rank: 3 }
  if (firing.critical > 0) return { text: `${firing.critical} critical${what}`, style: { colour: 'critical', bold: true }, rank: 2 }
  if (firing.warning > 0) return { text: `${firing.warning} warning${what}`, style: { colour: 'warning' }, rank: 1 }
  return { text: 'well', style: { colour: 'good' }, rank: 0 }
}

function memoryCell({ summary }: HostEntry): Cell {
  const { memory_used_bytes: used = 0, memory_total_bytes: total = 0 } = summary ?? {}
  if (total === 0) return UNKNOWN
  return (width) => {
    const [taken = 0] = barCells([used], total, width)
    return [
      { text: '█'.repeat(taken), style: { colour: used / total > 0.95 ? 'warning' : 'accent' } },
      { text: '·'.repeat(width - taken), style: { dim: true } },
    ]
  }
}

function rowOf(entry: HostEntry): Row {
  const { name, summary } = entry
  const state = stateOf(entry)
  return {
    key: name,
    text: `${name} ${summary?.host ?? ''} ${state.text}`,
    dim: entry.problem !== undefined && summary === undefined,
    values: [
      name,
      summary?.gpus,
      summary?.memory_used_bytes,
      summary?.memory_used_bytes,
      summary?.utilization_ratio,
      summary?.power_watts,
      summary?.jobs_running,
      state.rank,
    ],
    cells: [
      name,
      orUnknown(summary?.gpus, String),
      memoryCell(entry),
      summary === undefined ? UNKNOWN : `${memoryText(summary.memory_used_bytes).replace(/ GiB$/, '')}/${memoryText(summary.memory_total_bytes)}`,
      orUnknown(summary?.utilization_ratio, percent),
      orUnknown(summary?.power_watts, (watts) => `${(watts / 1_000).toFixed(1)} kW`),
      orUnknown(summary?.jobs_running, String),
      [{ text: state.text, style: state.style }],
    ],
  }
}

export const hostSection = (entries: readonly HostEntry[]): Section => ({
  id: 'hosts',
  title: 'hosts',
  least: 3,
  columns: [
    { title: 'HOST', width: 12, grow: 1, most: 30 },
    { title: 'GPUS', width: 4, right: true },
    { title: 'MEMORY', width: 8, grow: 2, most: 40, drop: 2 },
    { title: 'USED', width: 15, right: true },
    { title: 'BUSY', width: 5, right: true },
    { title: 'POWER', width: 8, right: true, drop: 3 },
    { title: 'JOBS', width: 4, right: true, drop: 1 },
    // Why a host does not answer is what is looked for: `does not answer: no agent runs there` is whole at 80 columns.
    { title: 'STATE', width: 37, grow: 4 },
  ],
  sortedBy: 7,
  rows: entries.map(rowOf),
})
