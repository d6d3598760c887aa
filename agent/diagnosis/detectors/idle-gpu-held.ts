// A GPU whose memory a process holds while nothing has run on it for a long time: which process, and since when.
import { gpuGpmEngineActiveRatio } from '../../metrics/gpm.ts'
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { hostInfo } from '../../metrics/host.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Remedy } from '../../model/fault.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { gib } from '../../text/bytes.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createHolders, firstSeen, HOLDER_METRICS, holdersText, type GpuHolders, type Holder } from './parts/holders.ts'
import { createPerGpu } from './parts/per-gpu.ts'
import { underWsl, WSL_METRIC } from './parts/wsl.ts'

const ENGINE = gpuGpmEngineActiveRatio.name
/** nvmlDeviceGetUtilizationRates gives whole percents of the last sample period; the video engines count apart. With MIG there is none of these. */
const COLUMNS = {
  utilization: { metric: gpuUtilizationRatio.name },
  memory: { metric: gpuMemoryUtilizationRatio.name },
  encoder: { metric: gpuEncoderUtilizationRatio.name },
  decoder: { metric: gpuDecoderUtilizationRatio.name },
}
/** Less than half a percent is what rounding takes away. */
const IDLE_RATIO = 0.005
/** Who holds what is looked up so often; what runs, in each second. */
const HOLDERS_MS = 10_000
const MAX_STATES = 1_024

/** A whole card, or one MIG instance of it. */
type Unit = {
  readonly uuid: string
  readonly gi: string | undefined
  readonly hold: ReturnType<typeof createHold>
  /** When something ran last, or it was first looked at. */
  busyT: number | undefined
  everBusy: boolean
  /** The process that has held it for the longest: the time of idleness is its own. */
  oldest: Holder | undefined
  reportedHealthy: boolean
}

const remediesOf = (holders: readonly Holder[]): readonly Remedy[] => {
  const [first] = holders
  if (first === undefined) return []
  const { container, pid } = first
  return [
    {
      text: 'Ask whose it is and whether it is still needed.',
      command: container === undefined ? `ps -o pid,user,lstart,args -p ${pid}` : `docker top ${container} -o pid,user,lstart,args`,
    },
    { text: 'End what is forgotten: the memory is free at once.', command: container === undefined ? `kill ${pid}` : `docker stop ${container}` },
    {
      text: 'Let notebooks and servers give the GPU back by themselves: culling of idle kernels (Jupyter), OLLAMA_KEEP_ALIVE (Ollama), sleep mode (vLLM).',
    },
  ]
}

export const idleGpuHeld = defineDetector({
  id: 'idle-gpu-held',
  kinds: ['idle_gpu_held'],
  title: 'A GPU is held and does nothing',
  severity: 'info',
  watches: [...new Set([...metricsOf(COLUMNS), ...HOLDER_METRICS, ENGINE, WSL_METRIC])],
  everyMs: 1_000,
  options: {
    for_minutes: { default: 30, min: 0.05, max: 100_000, help: 'For how long nothing must have run while the memory is held; any work starts over.' },
    least_gib: { default: 1, min: 0.05, max: 1_000, help: 'Less memory than this is only a CUDA context, and no incident.' },
  },
  expression: {
    promql: `max by (gpu, uuid, gi) (max_over_time(${gpuUtilizationRatio.name}[1m]) or max_over_time(${ENGINE}{gi!=""}[1m])) < ${IDLE_RATIO}
and on (gpu, uuid, gi) sum by (gpu, uuid, gi) (${processGpuMemoryBytes.name}{type!="G"}) >= ${2 ** 30}
unless on () ${hostInfo.name}{wsl!=""}`,
    for: '30m',
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const holders = createHolders(present)
    const leastBytes = options.least_gib * 2 ** 30
    const units = createPerGpu((uuid) => new Map<string, Unit>([['', unitOf(uuid, undefined)]]))
    function unitOf(uuid: string, gi: string | undefined): Unit {
      const hold = createHold({ forMs: options.for_minutes * 60_000, clearMs: 0 })
      return { uuid, gi, hold, busyT: undefined, everBusy: false, oldest: undefined, reportedHealthy: false }
    }
    const unit = (uuid: string, gi: string | undefined): Unit => {
      const ofCard = units.of(uuid)
      let found = ofCard.get(gi ?? '')
      if (found === undefined) {
        if (ofCard.size >= MAX_STATES) ofCard.clear()
        ofCard.set(gi ?? '', (found = unitOf(uuid, gi)))
      }
      return found
    }
    const keyOf = ({ uuid, gi }: Unit): string => (gi === undefined ? uuid : `${uuid} ${gi}`)

    const over = (found: TypedFinding[], state: Unit, why: string): void => {
      // Also the first time of all: an incident from before a restart of the agent waits for it.
      if (!state.reportedHealthy) found.push({ kind: 'idle_gpu_held', key: keyOf(state), about: { uuid: state.uuid }, state: 'healthy', why })
      state.reportedHealthy = true
    }
    const busy = (t: number, found: TypedFinding[], state: Unit): void => {
      state.hold.see(t, false)
      over(found, state, 'it works again')
      state.busyT = t
      state.everBusy = true
    }
    const ended = ({ uuid, pid }: Holder): boolean => tracks.get(uuid, pid)?.endedT !== undefined

    const faultyFinding = (t: number, state: Unit, gpu: GpuHolders, its: readonly Holder[], name: string | undefined): TypedFinding => {
      const { uuid, gi, oldest } = state
      const bytes = its.reduce((sum, holder) => sum + holder.bytes, 0)
      const sinceT = Math.max(state.busyT ?? 0, oldest === undefined ? 0 : (firstSeen(tracks, oldest) ?? 0))
      const jobs = [...new Set(its.map(({ ownerText }) => ownerText))]
      const [first] = its
      const alone = jobs.length === 1 ? first : undefined
      const where = `GPU ${gpu.index}${gi === undefined ? '' : `, MIG instance ${gi}`}`
      const span = spanText(Math.max(1, t - sinceT))
      return {
        kind: 'idle_gpu_held',
        key: keyOf(state),
        about: {
          uuid,
          ...(its.length === 1 && first !== undefined ? { pid: first.pid } : {}),
          ...(alone?.container === undefined ? {} : { container: alone.container }),
          ...(alone?.containerId === undefined ? {} : { containerId: alone.containerId }),
        },
        state: 'faulty',
        severity: 'info',
        title: `${where}: ${gib(bytes)} are held, and nothing has run for ${span}`,
        verdict: `${gpuText({ index: gpu.index, name })}${gi === undefined ? '' : `, MIG instance ${gi},`} has done nothing for ${span}${state.everBusy ? '' : ' at least'}, while ${holdersText(its, gib)} ${its.length === 1 ? 'holds' : 'hold'} its memory.`,
        facts: {
          pattern: 'held_without_work',
          idle_seconds: Math.round((t - sinceT) / 1_000),
          since_ms: sinceT,
          process_bytes: bytes,
          jobs,
          other_processes: its.map(({ pid, bytes: held }) => ({ pid, bytes: held })),
          ...(gi === undefined ? {} : { mig_instance: gi }),
        },
        remedies: remediesOf(its),
      }
    }

    /** Nothing runs on the GPU: does a process hold its memory all that time? */
    const idle = (t: number, found: TypedFinding[], state: Unit, gpu: GpuHolders | undefined, name: string | undefined): void => {
      state.busyT ??= t
      if (gpu?.listed !== true) return void state.hold.see(t, undefined)
      const its = gpu.holders.filter(({ computes, gi }) => computes && (state.gi === undefined || gi === state.gi))
      const bytes = its.reduce((sum, holder) => sum + holder.bytes, 0)
      if (state.oldest !== undefined && (ended(state.oldest) || bytes < leastBytes)) {
        // A list may leave a process out once.
        if (!ended(state.oldest) && !its.some(({ pid }) => pid === state.oldest?.pid)) return void state.hold.see(t, undefined)
        state.hold.see(t, false)
        over(found, state, ended(state.oldest) ? 'the process that held it has ended' : 'its memory was given back')
        state.oldest = undefined
      }
      if (bytes < leastBytes) {
        state.hold.see(t, false)
        return over(found, state, 'no process holds its memory')
      }
      state.oldest ??= its.reduce(
        (oldest: Holder | undefined, next) => (oldest === undefined || (firstSeen(tracks, next) ?? t) < (firstSeen(tracks, oldest) ?? t) ? next : oldest),
        undefined,
      )
      if (state.hold.see(t, true) !== 'faulty') return
      state.reportedHealthy = false
      found.push(faultyFinding(t, state, gpu, its, name))
    }

    let slot = -1
    return {
      judge(t) {
        const found: TypedFinding[] = []
        const now = Math.floor(t / HOLDERS_MS)
        const look = now !== slot
        slot = now
        const listed = look ? holders.read(t) : undefined
        const wsl = look && underWsl(present)
        for (const row of rows.read().values()) {
          const { utilization, memory = 0, encoder = 0, decoder = 0 } = row.now
          const state = unit(row.uuid, undefined)
          if (utilization === undefined) {
            if (look) state.hold.see(t, undefined)
          } else if (Math.max(utilization, memory, encoder, decoder) >= IDLE_RATIO) busy(t, found, state)
          // Some drivers under WSL2 always report 0 (shared reference wsl2.md).
          else if (look && wsl && !state.everBusy) state.hold.see(t, undefined)
          else if (look) idle(t, found, state, listed?.get(row.uuid), row.name)
        }
        for (const { series, value } of present.of(ENGINE)) {
          const { uuid = '', gi } = series.labels
          if (gi === undefined) continue
          const state = unit(uuid, gi)
          if (value >= IDLE_RATIO) busy(t, found, state)
          else if (look) idle(t, found, state, listed?.get(uuid), undefined)
        }
        return found
      },
    }
  },
})
