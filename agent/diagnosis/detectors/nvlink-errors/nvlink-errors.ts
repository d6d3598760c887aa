// NVLinks that are down though they were up or their peers have them, and links whose error counters rise.
import { gpuNvlinkErrorsTotal } from '../../../metrics/gpu-links.ts'
import { gpuMemoryUsedBytes } from '../../../metrics/gpu-memory.ts'
import { gpuMigEnabled } from '../../../metrics/mig.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { plural } from '../../../text/grammar.ts'
import { defineDetector } from '../definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from '../parts/gpu-rows.ts'
import { createNvLinks, fewerThanPeers, NVLINK_ACTIVE, type Links } from './nvlinks.ts'
import { createPerGpu, createFindingDeduper } from '../parts/per-gpu.ts'
import { createRise } from '../parts/rise.ts'
import { concerns, usersOf } from '../parts/users.ts'

const ERRORS = gpuNvlinkErrorsTotal.name
const type = (name: string) => ({ metric: ERRORS, labels: { type: name } })
const COLUMNS = {
  crc_flit: type('crc_flit'),
  crc_data: type('crc_data'),
  replay: type('replay'),
  recovery: type('recovery'),
  mig: { metric: gpuMigEnabled.name },
  memory: { metric: gpuMemoryUsedBytes.name },
}
type Row = GpuRow<keyof typeof COLUMNS>
/** As a log's incident about this GPU is keyed. */
const keyOf = (uuid: string): string => `nvlink_errors @ ${uuid}`
const TYPES = ['crc_flit', 'crc_data', 'replay', 'recovery'] as const
type ErrorType = (typeof TYPES)[number]
const NAMES: Readonly<Record<ErrorType, string>> = { crc_flit: 'flow-control CRC', crc_data: 'data CRC', replay: 'replay', recovery: 'recovery' }
/** How long a rise is remembered: a link that makes errors now and then stays one incident. */
const WINDOW_MS = 120_000
/** "RM has informed us that CRC errors only matter at rates of 100+ per second": DCGM_LIMIT_MAX_NVLINK_CRC_ERROR of DCGM. */
const CRC_PER_SECOND = 100

const NONE: readonly string[] = []

type Risen = { readonly [Key in ErrorType]: number | undefined }

export const nvlinkErrors = defineDetector({
  id: 'nvlink-errors',
  kinds: ['nvlink_errors'],
  title: 'NVLinks are down or make errors',
  severity: 'critical',
  watches: [...metricsOf(COLUMNS), NVLINK_ACTIVE],
  everyMs: 1_000,
  options: {
    // DCGM_LIMIT_MAX_NVLINK_ERROR is 1 within a minute for replays and recoveries.
    errors: { default: 1, min: 1, max: 1_000_000, help: 'Replays or recoveries within two minutes from which on it is a fault.' },
    crc_errors: { default: 10, min: 1, max: 100_000_000, help: 'CRC errors within two minutes from which on it is a fault; single ones are usual.' },
  },
  expression: {
    promql: `increase(${ERRORS}{type=~"replay|recovery"}[2m]) > 0 or increase(${ERRORS}{type=~"crc_.*"}[2m]) >= 10
or ${NVLINK_ACTIVE} == 0 and max_over_time(${NVLINK_ACTIVE}[1d]) == 1`,
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const nvlinks = createNvLinks(present)
    const states = createPerGpu((uuid) => ({
      rises: { crc_flit: createRise(WINDOW_MS), crc_data: createRise(WINDOW_MS), replay: createRise(WINDOW_MS), recovery: createRise(WINDOW_MS) },
      /** Of the last look: a counter that fell was set back, and with it what was found. */
      last: { crc_flit: undefined, crc_data: undefined, replay: undefined, recovery: undefined } as { [Key in ErrorType]: number | undefined },
      /** Reported as faulty since the agent started, so that a later healthy look may resolve it. */
      reported: false,
      hasLinks: false,
      deduper: createFindingDeduper({ kind: 'nvlink_errors', key: keyOf(uuid), about: { uuid } }),
    }))
    const limit = (name: ErrorType): number => (name === 'replay' || name === 'recovery' ? options.errors : options.crc_errors)

    const faultyFinding = (row: Row, links: Links | undefined, gone: readonly string[], risen: Risen, rising: readonly ErrorType[]): TypedFinding => {
      const { uuid, index } = row
      const users = usersOf(tracks, uuid)
      const errors = rising.map((name) => `${risen[name] ?? 0} ${NAMES[name]} errors`).join(', ')
      const total = links?.total ?? 0
      const down =
        gone.length === 0 ? '' : `${gone.length} of the ${total} NVLinks of ${gpuText(row)} ${plural(gone.length, 'is', 'are')} down (${gone.join(', ')})`
      const made =
        errors === ''
          ? ''
          : gone.length === 0
            ? `The NVLinks of ${gpuText(row)} made ${errors} within two minutes`
            : `; within two minutes there were ${errors}`
      const crc = ((risen.crc_flit ?? 0) + (risen.crc_data ?? 0)) / (WINDOW_MS / 1_000)
      const critical = gone.length > 0 || rising.includes('recovery') || rising.includes('replay') || crc >= CRC_PER_SECOND
      return {
        kind: 'nvlink_errors',
        key: keyOf(uuid),
        about: { uuid },
        state: 'faulty',
        severity: critical ? 'critical' : 'warning',
        title: gone.length > 0 ? `GPU ${index}: ${gone.length} of ${total} NVLinks down` : `GPU ${index}: errors on its NVLinks`,
        verdict: `${down}${made}. Programs that use several GPUs get slower, or fail with an Xid 74 or an NCCL error.${concerns(users)}`,
        facts: {
          ...(links === undefined ? {} : { links_total: total }),
          ...(gone.length === 0 ? {} : { links_down: gone }),
          ...(rising.length === 0 ? {} : { error_types: rising, new_errors: rising.reduce((sum, name) => sum + (risen[name] ?? 0), 0) }),
          ...(users.length === 0 ? {} : { affected: users }),
        },
        remedies: [
          { text: 'See the links and their errors, one by one.', command: `nvidia-smi nvlink -s -i ${index}; nvidia-smi nvlink -e -i ${index}` },
          {
            text: 'See what the kernel and, on machines with NVSwitches, the Fabric Manager say.',
            command: "sudo dmesg -T | grep -E 'NVRM: Xid|SXid' | tail; sudo journalctl -u nvidia-fabricmanager -n 50",
          },
          { text: 'Stop the work on all GPUs that are linked with it, and reset them together.', command: 'sudo nvidia-smi --gpu-reset' },
          { text: 'If it comes back: reseat the bridge, else have bridge, board or switch replaced.', command: 'dcgmi diag -r 3' },
        ],
      }
    }
    return {
      judge(t) {
        const found: TypedFinding[] = []
        const all = nvlinks.read()
        const byUuid = rows.read()
        const nameOf = (uuid: string): string | undefined => byUuid.get(uuid)?.name
        for (const row of byUuid.values()) {
          const { now, uuid } = row
          const links = all.get(uuid)
          if (links === undefined && now.replay === undefined && now.crc_flit === undefined) continue
          const state = states.of(uuid)
          let [counted, any] = [true, false]
          for (const name of TYPES) {
            const before = state.last[name]
            const value = now[name]
            if (value === undefined) counted &&= before === undefined
            else {
              if (before !== undefined && value < before) state.rises[name].forget()
              state.last[name] = value
            }
            const risen = state.rises[name].see(t, value)
            any ||= risen !== undefined && risen >= limit(name)
          }
          // With MIG the links are not in use; which of them is up says nothing.
          state.hasLinks ||= links !== undefined
          const looked = (links !== undefined || !state.hasLinks) && now.mig !== 1
          const gone =
            !looked || links === undefined
              ? NONE
              : links.lost.length > 0
                ? links.lost
                : links.down.length > 0 && fewerThanPeers(uuid, all, nameOf)
                  ? links.down
                  : NONE
          if (any || gone.length > 0) {
            state.reported = true
            const risen: Risen = {
              crc_flit: state.rises.crc_flit.see(t, now.crc_flit),
              crc_data: state.rises.crc_data.see(t, now.crc_data),
              replay: state.rises.replay.see(t, now.replay),
              recovery: state.rises.recovery.see(t, now.recovery),
            }
            const rising = TYPES.filter((name) => (risen[name] ?? 0) >= limit(name))
            state.deduper.faulty(found, faultyFinding(row, links, gone, risen, rising))
          } else if (looked && counted && (links === undefined || links.up === links.total || state.reported)) state.deduper.healthy(found)
        }
        return found
      },
    }
  },
})
