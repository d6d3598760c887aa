// A bad row of memory that could not be replaced (the board must go), or that needs a GPU reset to be replaced; pages of older GPUs likewise.
import { gpuRemappedRows, gpuRetiredPages, gpuRetiredPagesPending, gpuRowRemapFailure, gpuRowRemapPending } from '../../metrics/gpu-errors.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from './parts/gpu-rows.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const COLUMNS = {
  /** nvmlDeviceGetRemappedRows: "isPending: If any remappings are pending until the next GPU reset", "failureOccurred: If any remapping failed in the past". */
  failure: { metric: gpuRowRemapFailure.name },
  pending: { metric: gpuRowRemapPending.name },
  /** nvmlDeviceGetRetiredPagesPendingStatus, up to Volta and Turing. */
  pages: { metric: gpuRetiredPagesPending.name },
  rows: { metric: gpuRemappedRows.name, labels: { type: 'uncorrected' } },
  retired: { metric: gpuRetiredPages.name, labels: { cause: 'double_bit' } },
}
type Row = GpuRow<keyof typeof COLUMNS>
const FLAGS = ['failure', 'pending', 'pages'] as const

function finding(row: Row, users: readonly string[]): TypedFinding {
  const { now, uuid, index } = row
  const failed = now.failure === 1
  const what = now.pending === 1 ? 'row' : 'page'
  const replaced = now.rows === undefined || now.rows === 0 ? '' : ` ${now.rows} rows have been replaced for uncorrected errors so far.`
  return {
    kind: 'row_remap_failure',
    key: uuid,
    about: { uuid },
    state: 'faulty',
    severity: failed ? 'critical' : 'warning',
    title: failed
      ? `GPU ${index}: a bad memory row could not be replaced`
      : `GPU ${index}: ${what === 'row' ? 'row remap' : 'page retirement'} pending, GPU reset required`,
    verdict: failed
      ? `${gpuText(row)} could not replace a bad row of its memory with a spare one: NVIDIA's condition for replacing the board.${replaced}${concerns(users)}`
      : `${gpuText(row)} has a bad ${what} of memory that stays in use until the GPU is reset.${replaced}${concerns(users)}`,
    facts: {
      ...(now.rows === undefined ? {} : { remapped_rows: now.rows }),
      ...(now.retired === undefined ? {} : { retired_pages: now.retired }),
      ...(users.length === 0 ? {} : { affected: users }),
    },
    // NVIDIA, "GPU Memory Error Management", row remapping: a pending remap takes hold at the next reset; a failed one qualifies for an RMA.
    remedies: [
      { text: 'See the rows, and how many spare ones are left.', command: `nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT,ECC -i ${index}` },
      ...(failed
        ? [
            { text: 'Take the GPU out of service, test it and have it replaced.', command: 'dcgmi diag -r 3; sudo nvidia-bug-report.sh' },
            { text: 'A reset may replace what still can be replaced.', command: `sudo nvidia-smi --gpu-reset -i ${index}` },
          ]
        : [{ text: 'Let the present work end, then reset the GPU: only then is it replaced.', command: `sudo nvidia-smi --gpu-reset -i ${index}` }]),
    ],
  }
}

export const rowRemapFailure = defineDetector({
  id: 'row-remap-failure',
  kinds: ['row_remap_failure'],
  title: 'A row remap failed or is pending',
  severity: 'critical',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {},
  expression: { promql: `${gpuRowRemapFailure.name} == 1 or ${gpuRowRemapPending.name} == 1 or ${gpuRetiredPagesPending.name} == 1` },
  create(_, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const states = createPerGpu((uuid) => ({
      /** Flags that this GPU has reported: one that is no longer read does not count as healthy. */
      reported: { failure: false, pending: false, pages: false },
      deduper: createFindingDeduper({ kind: 'row_remap_failure', key: uuid, about: { uuid } }),
    }))
    return {
      judge() {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const state = states.of(row.uuid)
          let [faulty, read, missing] = [false, false, false]
          for (const flag of FLAGS) {
            const value = row.now[flag]
            if (value !== undefined) state.reported[flag] = read = true
            else missing ||= state.reported[flag]
            faulty ||= value === 1
          }
          if (faulty) state.deduper.faulty(found, finding(row, usersOf(tracks, row.uuid)))
          else if (read && !missing) state.deduper.healthy(found, 'nothing is pending any more')
        }
        return found
      },
    }
  },
})
