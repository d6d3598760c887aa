// Memory errors that ECC found and could not correct, since the agent looks. What was counted before is history; a reset of the GPU starts over.
import { gpuEccErrorsTotal, gpuRowRemapFailure, gpuRowRemapPending } from '../../metrics/gpu-errors.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const errors = (scope: string) => ({ metric: gpuEccErrorsTotal.name, labels: { type: 'uncorrected', scope } })
const COLUMNS = {
  /** nvmlDeviceGetTotalEccErrors with NVML_VOLATILE_ECC: "reset each time the driver loads". */
  volatile: errors('volatile'),
  /** NVML_AGGREGATE_ECC: "persist across reboots (i.e. for the lifetime of the device)". */
  aggregate: errors('aggregate'),
  pending: { metric: gpuRowRemapPending.name },
  failure: { metric: gpuRowRemapFailure.name },
}

type State = {
  /** Of the last look at which it could be read. */
  last: number | undefined
  /** Counted since the agent looks, and since the counter started over. */
  fresh: number
  /** When the counter rose last, or was seen first. */
  quietSince: number
  readonly deduper: ReturnType<typeof createFindingDeduper>
}

export const eccUncorrected = defineDetector({
  id: 'ecc-uncorrected',
  kinds: ['ecc_uncorrected'],
  title: 'Memory errors that ECC could not correct',
  severity: 'critical',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {
    quiet_hours: { default: 24, min: 0.01, max: 8_760, help: 'Without a reset of the GPU it is over after so long without a further error.' },
  },
  expression: {
    promql: `${gpuEccErrorsTotal.name}{type="uncorrected",scope="volatile"} > 0
and increase(${gpuEccErrorsTotal.name}{type="uncorrected",scope="volatile"}[24h]) > 0`,
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const quietMs = options.quiet_hours * 3_600_000
    const states = createPerGpu((uuid): State => ({
      last: undefined,
      fresh: 0,
      quietSince: 0,
      deduper: createFindingDeduper({ kind: 'ecc_uncorrected', key: uuid, about: { uuid } }),
    }))
    return {
      judge(t) {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const { now, uuid, index } = row
          const count = now.volatile
          if (count === undefined) continue
          const state = states.of(uuid)
          const { last } = state
          state.last = count
          if (count === 0) {
            // Of a driver that was reloaded: what was found before is in the aggregate counter, and no longer in use.
            state.fresh = 0
            state.deduper.healthy(found, last === undefined || last > 0 ? 'the GPU was reset or the driver reloaded: its counter begins at 0' : undefined)
            continue
          }
          if (last === undefined || t < state.quietSince) state.quietSince = t
          // A counter that fell started over; what it holds came since then.
          const risen = last === undefined ? 0 : count < last ? count : count - last
          if (risen > 0) {
            state.fresh = last !== undefined && count < last ? risen : state.fresh + risen
            state.quietSince = t
          }
          if (t - state.quietSince >= quietMs) {
            state.fresh = 0
            state.deduper.healthy(found, `no further error for ${options.quiet_hours} hours`)
          }
          if (state.fresh === 0) continue
          const users = usersOf(tracks, uuid)
          const one = state.fresh === 1
          const ever = now.aggregate === undefined ? '' : ` Over its life the board has counted ${now.aggregate}.`
          const waits = now.pending === 1 ? ' A bad row needs a GPU reset to be replaced.' : now.failure === 1 ? ' Replacing a bad row has failed.' : ''
          state.deduper.faulty(found, {
            kind: 'ecc_uncorrected',
            key: uuid,
            about: { uuid },
            state: 'faulty',
            severity: 'critical',
            title: `GPU ${index}: ${one ? 'an uncorrected memory error' : `${state.fresh} uncorrected memory errors`}`,
            verdict: `ECC found ${one ? 'an error' : `${state.fresh} errors`} in the memory of ${gpuText(row)} that it could not correct: what used that data was wrong and is stopped by the driver.${ever}${waits}${concerns(users)}`,
            facts: {
              new_errors: state.fresh,
              ecc_uncorrected_volatile: count,
              ...(now.aggregate === undefined ? {} : { ecc_uncorrected_aggregate: now.aggregate }),
              ...(users.length === 0 ? {} : { affected: users }),
            },
            // NVIDIA, "GPU Memory Error Management": contained errors need the program restarted, uncontained ones a reset; rows are remapped at the reset.
            remedies: [
              {
                text: 'See where the errors are, and whether a row waits to be replaced.',
                command: `nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT -i ${index}`,
              },
              {
                text: 'See which Xids came with it: 94 is contained (restart the program), 48, 64 and 95 want a reset.',
                command: "sudo dmesg -T | grep 'NVRM: Xid' | tail",
              },
              {
                text: 'Give the GPU no new work, let the rest end or restart from a checkpoint, then reset it.',
                command: `sudo nvidia-smi --gpu-reset -i ${index}`,
              },
              { text: 'If errors come again, test the GPU; NVIDIA replaces boards that fail it or whose remapping fails.', command: 'dcgmi diag -r 3' },
            ],
          })
        }
        return found
      },
    }
  },
})
