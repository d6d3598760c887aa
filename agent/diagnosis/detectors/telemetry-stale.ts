// A source that was reporting has stopped, though no call hangs and no GPU is gone: the state is unknown, and must not count as healthy.
import { agentSamplerHangsTotal, agentSamplerRestartsTotal, agentSourceUp } from '../../metrics/agent-sources.ts'
import { driverLibraryMismatch, gpusExpected, gpusPresent } from '../../metrics/driver.ts'
import { gpuPresent } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import type { TypedFinding } from '../../model/finding.ts'
import type { Facts } from '../../model/facts.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { concernsGpu, isWide, reasonText, troublesOf, type Trouble } from './parts/gpu-trouble.ts'
import { createHold } from './parts/hold.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const COLUMNS = {
  /** Every GPU that can be read reports this; a GPU that never did (unified memory) is not evaluated. */
  used: { metric: gpuMemoryUsedBytes.name },
  listed: { metric: gpuPresent.name },
}
const PRESENT = gpusPresent.name
const EXPECTED = gpusExpected.name
/** Sources that report each second, whatever happens. Logs, engine events and probes report only when something happens. */
const STEADY = ['host', 'containers'] as const
/** How old the newest reading of a steady source may be. */
const LATE_MS = 5_000
/** Evaluated each second. A longer step means that the agent was stopped: no source was silent then, and the first look comes before the readings. */
const MAX_STEP_MS = 5_000
/** Period of the fast readings (agent/sampler/protocol.ts). */
const INTERVAL_MS = 1_000

const CHECK = {
  text: 'See what the agent says of it, and which gaps it reports.',
  command: 'journalctl -u warpwatch -n 50; curl -s localhost:9839/api/v1/gaps',
}
const GPU_REMEDIES = [
  { text: 'See whether the driver answers other programs.', command: 'nvidia-smi; cat /proc/driver/nvidia/version' },
  { text: 'See whether the kernel module is loaded, and what it said.', command: "lsmod | grep nvidia; sudo dmesg -T | grep -iE 'NVRM|nvidia' | tail" },
  CHECK,
]

export const telemetryStale = defineDetector({
  id: 'telemetry-stale',
  kinds: ['telemetry_stale'],
  title: 'A source has fallen silent',
  severity: 'warning',
  watches: [...metricsOf(COLUMNS), PRESENT, EXPECTED],
  everyMs: 1_000,
  options: {
    intervals: { default: 10, min: 3, max: 3_600, help: 'Intervals of one second without a complete reading of a GPU.' },
    source_seconds: { default: 30, min: 5, max: 86_400, help: 'For how long the source of the host or of containers must be silent.' },
    clear_seconds: { default: 3, min: 0, max: 3_600, help: 'For how long it must report again until it is resolved.' },
  },
  // For containers only the gaps show it, which are no metric: the source reports each second even where there are no containers.
  expression: {
    promql: `((${gpuPresent.name} == 1 and on (gpu, uuid) max_over_time(${gpuMemoryUsedBytes.name}[6h]))
  unless on (gpu, uuid) ${gpuMemoryUsedBytes.name}
  unless on (gpu, uuid) increase(${agentSamplerHangsTotal.name}[5m]) > 0)
or (${gpusExpected.name} > 0
  unless on () ${gpuMemoryUsedBytes.name}
  unless on () ${gpusPresent.name}
  unless on () increase(${agentSamplerRestartsTotal.name}{reason="hang"}[5m]) > 0
  unless on () ${driverLibraryMismatch.name} == 1)
or ${agentSourceUp.name}{source="host"} == 0`,
    for: '10s',
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const clearMs = options.clear_seconds * 1_000
    const holdOf = (forMs: number) => createHold({ forMs, clearMs, maxStepMs: MAX_STEP_MS })
    const gpuMs = options.intervals * INTERVAL_MS
    const states = createPerGpu((uuid) => ({
      hold: holdOf(gpuMs),
      deduper: createFindingDeduper({ kind: 'telemetry_stale', key: uuid, about: { uuid } }),
      reported: false,
      /** Another detector explains the silence, until readings return. */
      explained: false,
      raw: undefined as boolean | undefined,
      why: undefined as Trouble | undefined,
    }))
    const all = { hold: holdOf(gpuMs), deduper: createFindingDeduper({ kind: 'telemetry_stale', key: 'gpu', about: {} }), explained: false }
    const steady = STEADY.map((source) => ({
      source,
      hold: holdOf(options.source_seconds * 1_000),
      deduper: createFindingDeduper({ kind: 'telemetry_stale', key: source, about: {} }),
      wasWell: false,
    }))
    const hostFinding = (
      key: string,
      severity: 'warning' | 'critical',
      title: string,
      verdict: string,
      remedies: typeof GPU_REMEDIES,
      facts: Facts,
    ): TypedFinding => ({
      kind: 'telemetry_stale',
      key,
      about: {},
      state: 'faulty',
      severity,
      title,
      verdict,
      facts,
      remedies,
    })

    /** It began as silence, and now another detector knows why. */
    const superseded = (found: TypedFinding[], { hold, deduper }: Pick<typeof all, 'hold' | 'deduper'>): void => {
      if (hold.settled() !== 'faulty') return
      hold.settle('unknown')
      deduper.healthy(found, 'another incident gives its cause')
    }

    const gpus = (t: number, found: TypedFinding[]): void => {
      const troubles = troublesOf(present)
      const cards = rows.read()
      const wide = troubles.find(isWide)
      // A reader that hangs on one card may keep the others waiting.
      const hangs = troubles.some(({ kind }) => kind === 'hung')
      let [known, silent, explained] = [0, 0, 0]
      for (const { uuid, index, now } of cards.values()) {
        const state = states.of(uuid)
        state.raw = undefined
        if (now.used !== undefined) {
          state.reported = true
          state.explained = false
          state.raw = false
          known++
          continue
        }
        if (!state.reported) continue
        known++
        const why = troubles.length === 0 ? undefined : troubles.find((trouble) => !isWide(trouble) && concernsGpu(trouble, uuid, index))
        state.why = why
        if ((why !== undefined && why.kind !== 'failing') || now.listed === 0) state.explained = true
        if (state.explained) {
          explained++
          superseded(found, state)
        } else {
          state.raw = true
          silent++
        }
      }
      if (silent + explained < known) all.explained = false
      // A driver that hangs, is of another version or lists no card has incidents of its own kind.
      else if (wide !== undefined && (wide.kind !== 'failing' || present.of(PRESENT)[0]?.value === 0)) {
        all.explained = true
        superseded(found, all)
      }
      const wanted = known > 0 || (present.of(EXPECTED)[0]?.value ?? 0) > 0
      const down = wide !== undefined && silent + explained === known && (known === 0 || silent > 0)
      const nothing = wanted && !all.explained && !hangs && (down || (silent > 1 && silent + explained === known))
      const held = all.hold.see(t, nothing ? true : known > silent + explained ? false : undefined)
      if (held === 'healthy') all.deduper.healthy(found, 'GPUs are read again')
      else if (held === 'faulty') {
        const because = wide === undefined ? 'No source of GPU readings has reported, and none says why.' : reasonText(wide)
        const title = 'No GPU is read any more'
        all.deduper.faulty(
          found,
          hostFinding('gpu', 'critical', title, `Nothing is known of any GPU of this host. ${because}`, GPU_REMEDIES, { source: 'gpu' }),
        )
      }
      for (const { uuid, index, name } of cards.values()) {
        const state = states.of(uuid)
        // What concerns all GPUs is one incident.
        const one = state.hold.see(t, nothing || ((all.explained || hangs) && state.raw === true) ? undefined : state.raw)
        if (one === 'healthy') state.deduper.healthy(found, 'the GPU is read again')
        if (one !== 'faulty') continue
        const users = usersOf(tracks, uuid)
        const because = state.why === undefined ? '' : ` ${reasonText(state.why)}`
        state.deduper.faulty(found, {
          kind: 'telemetry_stale',
          key: uuid,
          about: { uuid },
          state: 'faulty',
          severity: 'warning',
          title: `GPU ${index}: no readings any more`,
          verdict: `${gpuText({ index, name })} has given no complete reading for more than ${options.intervals} s, though no call hangs and the driver still has it: whether it is well is not known.${because}${concerns(users)}`,
          facts: { gpu_index: index, source: 'gpu', ...(users.length === 0 ? {} : { affected: users }) },
          remedies: GPU_REMEDIES,
        })
      }
    }
    const others = (t: number, found: TypedFinding[]): void => {
      for (const entry of steady) {
        const { source, hold, deduper } = entry
        const heard = present.heard(source)
        if (heard === undefined) continue
        const late = Math.abs(t - heard) > LATE_MS
        // A host without an engine has none to lose.
        const gap = present.gapsOf(source).find(({ reason }) => reason !== 'not_supported')
        const well = !late && gap === undefined
        entry.wasWell ||= well
        // What never worked is a matter of setting up, not a fault.
        if (!entry.wasWell) continue
        const held = hold.see(t, !well)
        if (held === 'healthy') deduper.healthy(found, 'it reports again')
        if (held !== 'faulty') continue
        const what = source === 'host' ? 'the host' : 'containers'
        const because = gap === undefined ? `Its last reading is ${Math.round((t - heard) / 1_000)} s old.` : `${gap.detail ?? gap.reason}.`
        const title = gap === undefined ? `No readings of ${what} any more` : `Readings of ${what} are incomplete`
        const verdict = `The source of ${what} was reporting and has stopped; their current state is not known. ${because}`
        deduper.faulty(found, hostFinding(source, 'warning', title, verdict, [CHECK], { source }))
      }
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        gpus(t, found)
        others(t, found)
        return found
      },
    }
  },
})
