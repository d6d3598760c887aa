// The processes that hold memory of one GPU now.
import { frame } from '../../state/app.ts'
import { processViews, type ProcessView } from '../../state/rows.ts'
import { DASH, memory } from '../../text/format.ts'
import { DataTable, type Column } from '../data-table.tsx'
import { PROCESS_TYPES } from '../process-table.tsx'

const COLUMNS: readonly Column<ProcessView>[] = [
  { id: 'process', label: 'Process', key: (view) => view.process, cell: (view) => <span class="name">{view.process}</span> },
  { id: 'pid', label: 'PID', numeric: true, key: (view) => view.pid, cell: (view) => view.pid },
  { id: 'owner', label: 'Belongs to', key: (view) => view.owner, cell: (view) => view.owner ?? <span class="faint">host</span> },
  { id: 'type', label: 'Kind', key: (view) => view.type, cell: (view) => (view.type === undefined ? DASH : (PROCESS_TYPES[view.type] ?? view.type)) },
  { id: 'gpu', label: 'Memory here', numeric: true, key: (view) => view.gpuBytes, cell: (view) => memory(view.gpuBytes) },
]

export function GpuProcesses({ uuid }: { readonly uuid: string }) {
  return (
    <DataTable
      id="gpu-processes"
      title="Processes on it now"
      columns={COLUMNS}
      rows={processViews((frame.value?.processes ?? []).filter((row) => row.uuid === uuid))}
      rowKey={(view) => view.key}
      sort={{ column: 'gpu', descending: true }}
      empty="No process holds memory of this GPU."
    />
  )
}
