// A container that was given a GPU and uses none: it works on the CPU instead, or keeps a GPU that stands empty.
import { containerCpuSecondsTotal } from '../../metrics/container.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createHold, type Hold } from './parts/hold.ts'
import { createHolders, HOLDER_METRICS, type GpuHolders } from './parts/holders.ts'
import { createRates } from './parts/rates.ts'
import { grantsOf, REQUEST_METRIC, type GpuGrant } from './parts/requests.ts'
import { underWsl, WSL_METRIC } from './parts/wsl.ts'

const CPU = containerCpuSecondsTotal.name
const PROCESS = HOLDER_METRICS[0]
const EVERY_MS = 10_000
/** A card with no more than this in use stands empty. */
const EMPTY_BYTES = 2 ** 30
const MAX_STATES = 4_000
/** Not seen for so long: the container has ended, if containers are read at all. */
const ENDED_MS = 60_000

type State = { grant: GpuGrant; readonly hold: Hold; sinceT: number | undefined; reportedHealthy: boolean; seenT: number }

export const unusedGpu = defineDetector({
  id: 'unused-gpu',
  kinds: ['unused_gpu'],
  title: 'A container that was given a GPU uses none',
  severity: 'info',
  watches: [...HOLDER_METRICS, REQUEST_METRIC, CPU, WSL_METRIC],
  everyMs: EVERY_MS,
  options: {
    for_minutes: { default: 30, min: 0, max: 100_000, help: 'For how long it must run without a process on any GPU.' },
    // Exporters and servers that rest take a few hundredths of a core.
    busy_cores: { default: 0.5, min: 0, max: 1_000, help: 'CPU cores that a container keeps busy which works without its GPU; 0 = whether it works or not.' },
  },
  expression: { none: 'that a container has no process on any GPU is the absence of a series, which is also what a failed reading looks like' },
  create(options, { present }) {
    const holders = createHolders(present)
    const states = new Map<string, State>()
    const windowMs = Math.min(600_000, Math.max(60_000, options.for_minutes * 60_000))
    const rates = createRates(windowMs)

    const emptyOf = (grant: GpuGrant, gpus: ReadonlyMap<string, GpuHolders>): boolean =>
      // A container that asks for all GPUs did not choose; such requests block no other job.
      grant.uuids.size < gpus.size && [...grant.uuids].every((uuid) => (gpus.get(uuid)?.holders ?? []).reduce((sum, { bytes }) => sum + bytes, 0) < EMPTY_BYTES)

    const judgeOne = (t: number, grant: GpuGrant, gpus: ReadonlyMap<string, GpuHolders>, users: ReadonlySet<string>) => {
      const cores = rates.of(t, grant.containerId)
      if (users.has(grant.containerId)) return { faulty: false, cores, empty: false }
      const asked = [...grant.uuids].map((uuid) => gpus.get(uuid))
      const unread = asked.some((gpu) => gpu?.listed !== true || gpu.holders.some(({ process }) => process === undefined))
      if (unread || present.gapsOf(PROCESS).some(({ reason }) => reason === 'no_permission')) return { faulty: undefined, cores, empty: false }
      const empty = emptyOf(grant, gpus)
      const works = cores !== undefined && cores >= options.busy_cores
      return { faulty: works || empty ? true : cores === undefined ? undefined : false, cores, empty }
    }
    const faultyFinding = (t: number, state: State, cores: number | undefined, empty: boolean): TypedFinding => {
      const { container, containerId, gpus } = state.grant
      const works = cores !== undefined && cores >= options.busy_cores
      const span = spanText(Math.max(1, t - (state.sinceT ?? t)))
      const which = gpus.length === 1 ? `GPU ${gpus[0]}` : `GPUs ${gpus.join(', ')}`
      const [uuid] = state.grant.uuids
      const cpu = cores === undefined ? '' : ` (${Math.round(cores * 10) / 10} cores)`
      return {
        kind: 'unused_gpu',
        key: `given ${containerId}`,
        about: { container, containerId, ...(state.grant.uuids.size === 1 && uuid !== undefined ? { uuid } : {}) },
        state: 'faulty',
        severity: 'info',
        title: `Container ${container} was given ${which} and uses none`,
        verdict: `Container ${container} was given ${which}, but none of its processes has been on any GPU for ${span}. ${works ? `It works on the CPU meanwhile${cpu}: often CUDA cannot be used in it, and the program goes on without saying so.` : ''}${empty ? `${works ? ' ' : ''}No other process uses ${gpus.length === 1 ? 'it' : 'them'} either.` : ''}`,
        facts: {
          gpus,
          jobs: [`container ${container}`],
          since_ms: state.sinceT ?? t,
          idle_seconds: Math.round((t - (state.sinceT ?? t)) / 1_000),
          ...(cores === undefined ? {} : { cpu_cores: Math.round(cores * 100) / 100 }),
        },
        remedies: [
          {
            text: 'Ask the program whether it sees the GPU.',
            command: `docker exec ${container} python3 -c 'import torch; print(torch.version.cuda, torch.cuda.is_available())'`,
          },
          {
            text: 'Look for a variable that hides it: CUDA_VISIBLE_DEVICES empty, -1 or of another host; NVIDIA_VISIBLE_DEVICES=void.',
            command: `docker exec ${container} env | grep -E 'VISIBLE_DEVICES|CUDA'`,
          },
          { text: 'If it needs no GPU, start it without one, so that others get it.' },
        ],
      }
    }
    const healthy = (found: TypedFinding[], state: State, why: string): void => {
      if (state.reportedHealthy) return
      state.reportedHealthy = true
      const { container, containerId } = state.grant
      found.push({ kind: 'unused_gpu', key: `given ${containerId}`, about: { container, containerId }, state: 'healthy', why })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const gpus = holders.read(t)
        const running = new Set<string>()
        for (const { series, value } of present.of(CPU)) {
          const id = series.labels['container_id'] ?? ''
          running.add(id)
          rates.note(t, id, value)
        }
        if (underWsl(present)) return found
        const users = new Set<string>()
        for (const { holders: its } of gpus.values()) for (const { containerId } of its) if (containerId !== undefined) users.add(containerId)
        const grants = grantsOf(present)
        for (const grant of grants.values()) {
          if (grant.privileged) continue
          let state = states.get(grant.containerId)
          if (state === undefined) {
            if (states.size >= MAX_STATES) states.clear()
            const hold = createHold({ forMs: options.for_minutes * 60_000, clearMs: 0 })
            states.set(grant.containerId, (state = { grant, hold, sinceT: undefined, reportedHealthy: false, seenT: t }))
          }
          state.grant = grant
          state.seenT = t
          const { faulty, cores, empty } = judgeOne(t, grant, gpus, users)
          if (faulty === true) state.sinceT ??= t
          const held = state.hold.see(t, faulty)
          if (faulty === false) {
            state.sinceT = undefined
            if (held === 'healthy') healthy(found, state, users.has(grant.containerId) ? 'it uses a GPU' : 'it rests')
          } else if (held === 'faulty') {
            state.reportedHealthy = false
            found.push(faultyFinding(t, state, cores, empty))
          }
        }
        for (const [id, state] of states) {
          if (state.seenT === t) continue
          state.hold.see(t, undefined)
          // Other containers are read: so this one has ended.
          if (running.size === 0 || running.has(id) || Math.abs(t - state.seenT) < ENDED_MS) continue
          healthy(found, state, 'the container has ended')
          states.delete(id)
        }
        return found
      },
    }
  },
})
