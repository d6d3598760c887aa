// The driver does not answer: a native call about a GPU, or about all of them, does not return.
import { agentSamplerHangsTotal } from '../../metrics/agent-sources.ts'
import { gpuPresent, gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { isWide, reasonText, troublesOf, unreadAt, type Trouble } from './parts/gpu-trouble.ts'
import { createHold } from './parts/hold.ts'
import { createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const HANGS = agentSamplerHangsTotal.name
const COLUMNS = {
  used: { metric: gpuMemoryUsedBytes.name },
  age: { metric: gpuSampleAgeSeconds.name },
  /** Identifies a GPU that hung before its UUID was read. */
  listed: { metric: gpuPresent.name },
}
/** Two periods of agent/sources/gpu-presence.ts. */
const NAMELESS_MS = 10_000
/** More GPUs than any host has. */
const MAX_STATES = 1_024

type State = ReturnType<typeof makeState>
const makeState = (
  key: string,
  { uuid, index }: Pick<Trouble, 'uuid' | 'index'>,
  options: { readonly for_seconds: number; readonly clear_seconds: number },
) => ({
  key,
  uuid,
  index,
  // Where only the index is known, the UUID may follow a moment later.
  hold: createHold({ forMs: uuid === undefined && index !== undefined ? NAMELESS_MS : options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
  deduper: createFindingDeduper({ kind: 'driver_hung', key, about: uuid === undefined ? {} : { uuid } }),
  trouble: undefined as Trouble | undefined,
  /** When it was first seen: the start of the hang where the sample age is not known. */
  sinceT: 0,
})

export const driverHung = defineDetector({
  id: 'driver-hung',
  kinds: ['driver_hung'],
  title: 'The driver is not responding',
  severity: 'critical',
  watches: [...metricsOf(COLUMNS), HANGS],
  everyMs: 1_000,
  options: {
    for_seconds: { default: 1, min: 0, max: 3_600, help: 'For how long after the first call that did not return in time (gpu.deadline_ms).' },
    clear_seconds: { default: 3, min: 0, max: 3_600, help: 'For how long the GPU must answer again, until it is over.' },
  },
  expression: {
    promql: `${gpuSampleAgeSeconds.name} > 5 and on (gpu, uuid) increase(${agentSamplerHangsTotal.name}[5m]) > 0`,
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const states = new Map<string, State>()
    /** An incident from before a restart stays open until one healthy finding arrives. */
    const stateOf = (key: string, trouble: Pick<Trouble, 'uuid' | 'index'>): State => {
      let state = states.get(key)
      if (state === undefined) {
        if (states.size >= MAX_STATES) for (const oldest of states.keys()) if (states.delete(oldest)) break
        states.set(key, (state = makeState(key, trouble, options)))
      }
      return state
    }
    const callOf = (uuid: string | undefined): { readonly function?: string; readonly hangs?: number } => {
      let [name, hangs] = ['', 0]
      for (const { series, value } of present.of(HANGS)) {
        if (series.labels['uuid'] !== uuid || value < hangs) continue
        ;[name, hangs] = [series.labels['function'] ?? '', value]
      }
      return { ...(name === '' || name === 'unknown' ? {} : { function: name }), ...(hangs === 0 ? {} : { hangs }) }
    }
    const report = (found: TypedFinding[], t: number, state: State, trouble: Trouble): void => {
      const { key, uuid, index } = state
      const row = uuid === undefined ? undefined : rows.read().get(uuid)
      const users = uuid === undefined ? [] : usersOf(tracks, uuid)
      const all = index === undefined
      const whom = all ? 'The NVIDIA driver' : gpuText({ index, name: row?.name })
      const age = row?.now.age ?? (t - state.sinceT) / 1_000
      const call = callOf(uuid)
      const which = call.function === undefined ? 'An NVML call' : `The NVML call ${call.function}`
      const pick = all ? '' : ` -i ${index}`
      state.deduper.faulty(found, {
        kind: 'driver_hung',
        key,
        about: uuid === undefined ? {} : { uuid },
        state: 'faulty',
        severity: 'critical',
        title: all ? 'The NVIDIA driver is not responding' : `GPU ${index}: driver not responding`,
        verdict: `${whom} has not answered for ${Math.round(age)} s. ${which} is stuck; nvidia-smi and new programs will hang on it too. ${reasonText(trouble)}${concerns(users)}`,
        facts: { ...(all ? {} : { gpu_index: index }), sample_age_seconds: Math.round(age), ...call, ...(users.length === 0 ? {} : { affected: users }) },
        remedies: [
          {
            text: 'See what the kernel logged: Xids, hung tasks, GSP time-outs.',
            command: "sudo dmesg -T | grep -iE 'NVRM|Xid|GSP|blocked for more' | tail -30",
          },
          { text: 'See which processes wait in the driver (state D) and where.', command: "ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /^D/'" },
          {
            text: `Stop the processes on ${all ? 'the GPUs' : 'the GPU'}, then reset ${all ? 'them' : 'it'}.`,
            command: `sudo timeout 60 nvidia-smi --gpu-reset${pick}`,
          },
          {
            text: 'If processes stay in state D, only a reboot helps. Until then Warpwatch keeps trying the GPU by itself.',
            command: 'sudo reboot',
          },
        ],
      })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const cards = rows.read()
        for (const state of states.values()) state.trouble = undefined
        let allHang: Trouble | undefined
        for (const trouble of troublesOf(present)) {
          if (trouble.kind !== 'hung') continue
          if (isWide(trouble)) allHang = trouble
          const { index } = trouble
          const uuid = trouble.uuid ?? (index === undefined ? undefined : unreadAt(cards, index))
          const state = stateOf(uuid ?? (index === undefined ? 'driver' : `gpu ${index}`), { uuid, index })
          state.trouble = trouble
        }
        let anyAnswers = false
        for (const { uuid, index, now } of cards.values()) {
          if (now.used === undefined) continue
          anyAnswers = true
          stateOf(uuid, { uuid, index })
        }
        if (anyAnswers) stateOf('driver', { uuid: undefined, index: undefined })
        for (const state of states.values()) {
          const { uuid, index, trouble, hold, deduper } = state
          // While the whole driver hangs there is one finding for it, and none per GPU.
          const hidden = allHang !== undefined && trouble !== allHang
          const answers =
            index === undefined
              ? anyAnswers
              : uuid === undefined
                ? [...cards.values()].some((card) => card.index === index && card.now.used !== undefined)
                : cards.get(uuid)?.now.used !== undefined
          const held = hold.see(t, hidden ? undefined : trouble !== undefined ? true : answers ? false : undefined)
          if (trouble !== undefined && state.sinceT === 0) state.sinceT = t
          if (held === 'healthy') {
            state.sinceT = 0
            deduper.healthy(found, index === undefined ? 'the driver answers again' : 'the GPU answers again')
          } else if (held === 'faulty' && trouble !== undefined) report(found, t, state, trouble)
        }
        return found
      },
    }
  },
})
