// The driver asks for a recovery: a reset of the GPU, a reboot. NVIDIA numbers this Xid 154 (and from R565 on reports it in NVML too), so it is that incident:
// of the contract's kinds none is nearer, and the kernel's line, the NVML event and this reading are one.
import { gpuRecoveryAction } from '../../metrics/gpu-identity.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { faultKey } from '../incidents/grouped-faults.ts'
import { plan } from '../faults/remedies/plan.ts'
import { actionsFor } from '../xid/actions.ts'
import { recoveryNumbered } from '../xid/recovery.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const XID = 154
/** NVML_FI_DEV_GET_GPU_RECOVERY_ACTION. */
const COLUMNS = { action: { metric: gpuRecoveryAction.name } }

export const recoveryAction = defineDetector({
  id: 'recovery-action',
  kinds: ['xid'],
  title: 'The driver asks for a reset or a reboot',
  severity: 'critical',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {},
  expression: { promql: `${gpuRecoveryAction.name} > 0` },
  create(_, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const keyOf = (uuid: string): string =>
      faultKey({ kind: 'xid', severity: 'critical', title: '', verdict: '', facts: { xid: XID }, remedies: [], evidence: [] }, { gpu: { uuid } }, undefined)
    const states = createPerGpu((uuid) => ({ key: keyOf(uuid), deduper: createFindingDeduper({ kind: 'xid', key: keyOf(uuid), about: { uuid } }) }))
    return {
      judge() {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const { action } = row.now
          if (action === undefined) continue
          const { key, deduper } = states.of(row.uuid)
          if (action === 0) {
            deduper.healthy(found, 'the driver asks for nothing any more')
            continue
          }
          const { to, severity, remedy } = recoveryNumbered(action)
          const users = usersOf(tracks, row.uuid)
          const at = { gpu_index: row.index }
          deduper.faulty(found, {
            kind: 'xid',
            key,
            about: { uuid: row.uuid },
            state: 'faulty',
            severity,
            title: `Xid ${XID}: the driver asks for a recovery of GPU ${row.index}: ${to}`,
            verdict: `Before ${gpuText(row)} can be trusted again, the driver asks for: ${to}. Another Xid or memory error of the same GPU is its cause.${concerns(users)}`,
            facts: { xid: XID, recovery_action: to, ...(users.length === 0 ? {} : { affected: users }) },
            remedies: plan(remedy(at), actionsFor('follow-recovery-action', at), actionsFor('follow-other', at)),
          })
        }
        return found
      },
    }
  },
})
