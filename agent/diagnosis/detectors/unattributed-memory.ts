// GPU memory that no living process holds, as after a crash; distinguished from memory whose holder the driver or the agent cannot name.
import { gpuMemoryTotalBytes, gpuMemoryUnattributedBytes, gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { hostInfo } from '../../metrics/host.ts'
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { gib } from '../../text/bytes.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createHolders, HOLDER_METRICS, type GpuHolders, type Holder } from './parts/holders.ts'
import { createLoad, LOAD_COLUMNS } from './parts/load.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import type { Track } from './parts/tracks.ts'
import { processText } from './parts/who.ts'
import { underWsl, WSL_METRIC } from './parts/wsl.ts'

const COLUMNS = {
  ...LOAD_COLUMNS,
  /** Used minus the driver's list. NVML's used (nvmlMemory_v2_t) is without what the driver reserves. */
  unattributed: { metric: gpuMemoryUnattributedBytes.name },
  used: { metric: gpuMemoryUsedBytes.name },
  total: { metric: gpuMemoryTotalBytes.name },
}
type Row = GpuRow<keyof typeof COLUMNS>
const PROCESS = HOLDER_METRICS[0]

/** Memory may go unnamed a little before the driver's list is known to be without the process, and a process takes a while to be torn down. */
const BEFORE_MS = 30_000
const AFTER_MS = 90_000
const UNLISTED_MS = 10_000
/** A process whose memory is what is left held at least this share of it. */
const LEFT_SHARE = 0.2

type State = {
  readonly hold: ReturnType<typeof createHold>
  readonly deduper: ReturnType<typeof createFindingDeduper>
  sinceT: number | undefined
  /** Who held it last; kept once it is known. */
  leftBy: { readonly text: string; readonly endedT: number | undefined } | undefined
  /** The GPU was busy though no process was listed: remembered, because its user may be idle now and then. */
  worked: boolean
}
type Lost = {
  readonly bytes: number
  /** Still on the driver's list, though they have ended. */
  readonly dead: readonly Holder[]
  readonly living: number
}

const remediesOf = (index: number, hidden: boolean): readonly Remedy[] => [
  {
    text: 'See who has the driver open, also in other containers; what the driver does not list is listed here.',
    command: 'sudo fuser -v /dev/nvidia* 2>&1 | sort -u',
  },
  ...(hidden
    ? [
        {
          text: 'Run the agent where it sees all processes: in a container with the host’s pid namespace (Kubernetes: hostPID: true).',
          command: 'docker run --pid=host <IMAGE>',
        },
      ]
    : [
        {
          text: 'Look for what hangs while it ends (state D or Z), and for children that outlived their program; end them or their parent.',
          command: 'ps -eo pid,ppid,stat,user,lstart,args | grep -E "^ *[0-9]+ +[0-9]+ [DZ]|python|cuda"',
        },
        {
          text: 'If the GPU is no longer in use, reset it: that frees all of its memory.',
          command: `sudo nvidia-smi --gpu-reset -i ${index}`,
        },
      ]),
]

export const unattributedMemory = defineDetector({
  id: 'unattributed-memory',
  kinds: ['unattributed_memory'],
  title: 'GPU memory that no living process holds',
  severity: 'warning',
  watches: [...new Set([...metricsOf(COLUMNS), ...HOLDER_METRICS, WSL_METRIC])],
  everyMs: 5_000,
  options: {
    // The driver gives a killed process's memory back within seconds; a hung one is seen after minutes.
    for_minutes: { default: 5, min: 0, max: 1_440, help: 'For how long no process must have held it.' },
    clear_seconds: { default: 30, min: 0, max: 3_600, help: 'For how long it must have been given back, until it is over.' },
    // What drivers keep per card beside "reserved": some MiB idle, up to some hundred MiB with many contexts, MPS or before R510.
    least_gib: { default: 1, min: 0.05, max: 1_000, help: 'Less than this is the overhead of driver and contexts.' },
    least_share: { default: 0.02, min: 0, max: 1, help: 'The same as a share of the card; the larger of both counts.' },
  },
  expression: {
    promql: `(${gpuMemoryUnattributedBytes.name} >= ${2 ** 30}
  and on (gpu, uuid) ${gpuMemoryUnattributedBytes.name} >= on (gpu, uuid) (0.02 * max by (gpu, uuid) (${gpuMemoryTotalBytes.name}{gi=""})))
unless on () ${hostInfo.name}{wsl!=""}`,
    for: '5m',
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const holders = createHolders(present)
    const load = createLoad(0.005)
    const states = createPerGpu((uuid): State => ({
      hold: createHold({ forMs: options.for_minutes * 60_000, clearMs: options.clear_seconds * 1_000 }),
      deduper: createFindingDeduper({ kind: 'unattributed_memory', key: uuid, about: { uuid } }),
      sinceT: undefined,
      leftBy: undefined,
      worked: false,
    }))

    const lostOf = (t: number, unattributed: number, gpu: GpuHolders | undefined, blind: boolean): Lost => {
      let bytes = unattributed
      let living = 0
      let dead: Holder[] | undefined
      for (const holder of gpu?.holders ?? []) {
        // What was only on an earlier list is unattributed by now.
        if (holder.seenT !== t) continue
        // A pid that is in no /proc: it has ended if it was there before, or if the agent sees all there are.
        if (holder.process !== undefined || (blind && tracks.get(holder.uuid, holder.pid)?.process === undefined)) living++
        else {
          bytes += holder.bytes
          dead = [...(dead ?? []), holder]
        }
      }
      return { bytes, dead: dead ?? [], living }
    }
    /** The process whose end left it: still listed, or ended when the memory lost its holder. */
    const leaver = (t: number, uuid: string, { bytes, dead }: Lost, sinceT: number): State['leftBy'] => {
      const listed = dead.map(({ pid }) => tracks.get(uuid, pid)).find((track) => track?.process !== undefined)
      if (listed !== undefined) return { text: processText(listed), endedT: undefined }
      let found: { readonly track: Track; readonly bytes: number; readonly goneT: number } | undefined
      for (const track of tracks.all()) {
        const { nvml, process } = track
        if (track.uuid !== uuid || nvml === undefined || process === undefined || nvml.bytes < LEFT_SHARE * bytes) continue
        // A list with a gap ends no process, but this one is not on it.
        const goneT = track.endedT ?? (t - nvml.t > UNLISTED_MS ? nvml.t : undefined)
        if (goneT === undefined || goneT < sinceT - BEFORE_MS || goneT > sinceT + AFTER_MS) continue
        if (found === undefined || nvml.bytes > found.bytes) found = { track, bytes: nvml.bytes, goneT }
      }
      return found === undefined ? undefined : { text: processText(found.track), endedT: found.goneT }
    }

    const faultyFinding = (t: number, row: Row, lost: Lost, state: State, hidden: boolean): TypedFinding => {
      const { now, index, uuid } = row
      const sinceT = state.sinceT ?? t
      const { leftBy } = state
      const of = now.total === undefined ? '' : ` of ${gib(now.total)}`
      const who =
        leftBy === undefined
          ? ''
          : leftBy.endedT === undefined
            ? ` The driver still lists ${leftBy.text}, which no longer runs.`
            : ` ${leftBy.text.replace(/^p/, 'P')} held memory there and ended ${spanText(Math.max(1, t - leftBy.endedT))} ago.`
      const holds = hidden
        ? `are held by a process that ${lost.living === 0 ? 'the driver’s list does not name' : 'the agent cannot see'}: a process of another pid namespace, a virtual machine, or memory that a crash left behind`
        : 'have belonged to no living process'
      const facts: Facts = {
        pattern: hidden ? 'held_by_somebody_hidden' : 'held_by_nobody',
        holder: hidden ? 'hidden' : 'nobody',
        unattributed_bytes: Math.round(lost.bytes),
        ...(now.used === undefined ? {} : { used_bytes: now.used }),
        ...(now.total === undefined ? {} : { total_bytes: now.total }),
        since_ms: sinceT,
        ...(leftBy === undefined ? {} : { left_by: leftBy.text }),
      }
      return {
        kind: 'unattributed_memory',
        key: uuid,
        about: { uuid },
        state: 'faulty',
        severity: hidden ? 'info' : 'warning',
        title: hidden
          ? `GPU ${index}: ${gib(lost.bytes)} are held by a process that cannot be seen`
          : `GPU ${index}: ${gib(lost.bytes)} are held by no living process`,
        verdict: `${gib(lost.bytes)}${of} on ${gpuText(row)} ${holds} for ${spanText(Math.max(1, t - sinceT))}.${who}`,
        facts,
        remedies: remediesOf(index, hidden),
      }
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const wsl = underWsl(present)
        const listed = holders.read(t)
        for (const row of rows.read().values()) {
          const { now, uuid } = row
          const works = load.of(t, row)
          const state = states.of(uuid)
          const { unattributed } = now
          if (unattributed === undefined || wsl) {
            // Under WSL2 the memory of Windows' programs counts too, and the driver lists hardly any process.
            state.hold.see(t, undefined)
            continue
          }
          const gpu = listed.get(uuid)
          const blind = present.gapsOf(PROCESS).some(({ reason, labels }) => reason === 'no_permission' && labels['uuid'] === uuid)
          const lost = lostOf(t, unattributed, gpu, blind)
          const least = Math.max(options.least_gib * 2 ** 30, options.least_share * (now.total ?? 0))
          if (lost.bytes < least) {
            const held = state.hold.see(t, false)
            if (state.hold.settled() !== 'faulty') {
              state.sinceT = undefined
              state.leftBy = undefined
              state.worked = false
            }
            if (held === 'healthy') state.deduper.healthy(found, 'the memory was given back, or has a holder again')
            continue
          }
          state.sinceT ??= t
          state.leftBy ??= leaver(t, uuid, lost, state.sinceT)
          // A process that cannot be named uses the GPU: usual where the agent cannot see other processes, and no fault.
          state.worked ||= works === true && lost.living === 0 && lost.dead.length === 0
          const hidden = state.leftBy === undefined && (blind || state.worked)
          const faulty = hidden && blind && (state.worked || works !== false) ? undefined : true
          if (state.hold.see(t, faulty) === 'faulty') state.deduper.faulty(found, faultyFinding(t, row, lost, state, hidden))
        }
        return found
      },
    }
  },
})
