// The processes that hold memory of one GPU now.
import { frame } from '../../parts/live/state.ts'
import { processViews, type ProcessView } from '../../parts/live/rows.ts'
import { memory } from '../../text/format.ts'
import { DataTable, type Column } from '../../parts/table/table.tsx'
import { PROCESS_COLUMNS } from '../../parts/table/processes.tsx'

const COLUMNS: readonly Column<ProcessView>[] = [
  ...PROCESS_COLUMNS,
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
