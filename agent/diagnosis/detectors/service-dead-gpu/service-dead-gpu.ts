// A service answers that it is well while the GPU of its container is lost, hangs, or had a fault that nothing on it outlives.
// Whoever runs the service must act; the card has an incident of its own.
import { gpuSampleAgeSeconds } from '../../../metrics/gpu-identity.ts'
import type { Event } from '../../../model/event.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { upperFirst } from '../../../text/grammar.ts'
import { spanText } from '../../../text/span.ts'
import { xidEntry } from '../../xid/catalogue.ts'
import { defineDetector } from '../definition.ts'
import { CONTAINER_GPU_METRICS, createContainerGpus, type UsedGpu } from './container-gpus.ts'
import { createFatalXids } from './fatal-xids.ts'
import { concernsGpu, reasonText, troublesOf } from '../parts/gpu-trouble.ts'
import { createFindingDeduper, type FindingDeduper } from '../parts/per-gpu.ts'
import { createTargetChecks, type TargetChecks } from '../parts/target-checks.ts'
import { targetText } from '../parts/target-text.ts'
import { processText } from '../parts/who.ts'

const AGE = gpuSampleAgeSeconds.name
/** A GPU that nvidia-smi reads is read each five seconds. */
const READ_WITHIN_S = 15

/** How a GPU is dead, as text that follows "GPU 3 ". */
type Dead = { readonly why: string; readonly text: string; readonly xid?: number }
type State = {
  readonly deduper: FindingDeduper
  readonly target: string
  readonly container: string | undefined
  deadSince: number | undefined
  answered: number
  well: number
  raised: boolean
}

export const serviceDeadGpu = defineDetector({
  id: 'service-dead-gpu',
  kinds: ['service_dead_gpu'],
  title: 'A service answers while its GPU is dead',
  severity: 'critical',
  watches: [AGE, ...CONTAINER_GPU_METRICS],
  everyMs: 1_000,
  options: {
    checks: { default: 2, min: 1, max: 100, help: 'Checks that the service must answer well after its GPU has died.' },
  },
  expression: { none: 'Why a GPU cannot be read, and which container worked on it, is gone from the metrics with its readings.' },
  create(options, { present, tracks }) {
    const checks = createTargetChecks()
    const xids = createFatalXids(present)
    const used = createContainerGpus(present, tracks)
    const states = new Map<string, State>()
    const ended = new Set<string>()
    const numbers = new Map<string, number>()
    let tied = false

    const stateOf = ({ target, container }: TargetChecks, uuid: string): State => {
      const key = `${target} on ${uuid}`
      let state = states.get(key)
      if (state === undefined) {
        const about = { uuid, named: target, ...(container === undefined ? {} : { container }) }
        states.set(
          key,
          (state = {
            deduper: createFindingDeduper({ kind: 'service_dead_gpu', key, about }),
            target,
            container,
            deadSince: undefined,
            answered: 0,
            well: 0,
            raised: false,
          }),
        )
      }
      return state
    }
    /** undefined: it cannot be determined. */
    const deadOf = (t: number, { uuid, index, pids }: UsedGpu, read: ReadonlySet<string>): Dead | undefined | false => {
      const trouble = troublesOf(present).find(
        (candidate) => (candidate.kind === 'missing' || candidate.kind === 'hung') && concernsGpu(candidate, uuid, index),
      )
      if (trouble !== undefined) {
        const hung = trouble.kind === 'hung'
        return { why: hung ? 'driver_hung' : 'gpu_lost', text: `${hung ? 'does not answer' : 'is lost'}: ${reasonText(trouble, 'end')}` }
      }
      const fatal = xids.of(uuid)
      // What was started later uses a GPU that was repaired.
      const victims =
        fatal === undefined
          ? []
          : [...pids].flatMap((pid) => tracks.get(uuid, pid) ?? []).filter((track) => track.firstT < fatal.t && track.endedT === undefined)
      const [victim] = victims
      if (fatal !== undefined && victim !== undefined) {
        const { title } = xidEntry(fatal.xid)
        return {
          why: 'xid',
          text: `had Xid ${fatal.xid} (${title}) ${spanText(t - fatal.t)} ago, and ${processText(victim)}, which cannot go on after that, has not been started again.`,
          xid: fatal.xid,
        }
      }
      return read.has(uuid) ? false : undefined
    }
    const faultyFinding = (of: TargetChecks, gpu: UsedGpu, dead: Dead, state: State): TypedFinding => {
      const { target, container, status, latencySeconds } = of
      const name = `GPU ${Number.isInteger(gpu.index) ? gpu.index : '?'}`
      const restart = container === undefined ? {} : { command: `docker restart '${container}'` }
      return {
        kind: 'service_dead_gpu',
        key: `${target} on ${gpu.uuid}`,
        about: { uuid: gpu.uuid, named: target, ...(container === undefined ? {} : { container }) },
        state: 'faulty',
        severity: 'critical',
        title: `Service ${target} says it is well, but ${name} behind it is dead`,
        verdict: `${upperFirst(targetText(of))} answers its health check${status === undefined ? '' : ` with ${status}`}, but ${name}, on which its container works, ${dead.text} What it does on the GPU fails or waits.`,
        facts: {
          target,
          reason: dead.why,
          ...(dead.xid === undefined ? {} : { xid: dead.xid }),
          ...(status === undefined ? {} : { http_status: status }),
          ...(latencySeconds === undefined ? {} : { latency_ms: Math.round(latencySeconds * 1_000) }),
          ...(state.deadSince === undefined ? {} : { since_ms: state.deadSince }),
        },
        remedies: [
          {
            text: "Take the service out of use, whatever its health check says; the GPU's own incident says how to repair it.",
            command: 'warpwatch incidents',
          },
          { text: 'When the GPU responds again, restart the container: a process does not get its GPU back.', ...restart },
          { text: 'Let the health check use the GPU (allocate a byte, run a kernel), so that it fails when the GPU does.' },
        ],
      }
    }
    const judgeOne = (t: number, of: TargetChecks, gpu: UsedGpu, read: ReadonlySet<string>, found: TypedFinding[]): void => {
      const state = stateOf(of, gpu.uuid)
      const dead = deadOf(t, gpu, read)
      if (of.failed > 0 || dead === false) state.answered = 0
      else if (state.deadSince !== undefined && of.well > state.well) state.answered += of.well - state.well
      state.well = of.well
      if (dead === undefined) return
      if (dead === false) {
        state.deadSince = undefined
        state.raised = false
        state.deduper.healthy(found)
        return
      }
      state.deadSince ??= t
      if (state.raised && of.failed >= options.checks) {
        state.raised = false
        state.deduper.healthy(found, 'the service does not say any more that it is well')
        return
      }
      state.raised ||= state.answered >= options.checks
      if (state.raised) state.deduper.faulty(found, faultyFinding(of, gpu, dead, state))
    }
    const onEnd = (event: Event): void => {
      if (event.type !== 'container' || !(event.action === 'die' || event.action === 'died' || event.action === 'destroy')) return
      used.forget(event.container)
      for (const [key, { container }] of states) if (container === event.container) ended.add(key)
    }
    /** The next run of the container starts from what it then uses. */
    const endAll = (found: TypedFinding[]): void => {
      for (const key of ended) {
        const state = states.get(key)
        if (state?.raised === true) state.deduper.healthy(found, 'the container has ended')
        states.delete(key)
      }
      ended.clear()
    }
    return {
      ingest(event) {
        checks.ingest(event)
        // Without a service that is tied to a container nothing is to be known.
        if (tied) xids.ingest(event)
        onEnd(event)
        if (event.type === 'scrape' && event.source === 'targets') tied = [...checks.all()].some(({ container }) => container !== undefined)
      },
      judge(t) {
        const found: TypedFinding[] = []
        for (const [key, { target, raised, deduper }] of states) {
          if (checks.has(target)) continue
          if (raised) deduper.healthy(found, 'removed or changed in the configuration')
          states.delete(key)
        }
        if (!tied) return found
        if (ended.size > 0) endAll(found)
        const read = new Set<string>()
        for (const { series, value } of present.of(AGE)) {
          const { uuid, gpu } = series.labels
          if (uuid === undefined) continue
          numbers.set(uuid, Number(gpu))
          if (value <= READ_WITHIN_S) read.add(uuid)
        }
        used.look(
          t,
          (uuid) => numbers.get(uuid) ?? Number.NaN,
          (uuid) => read.has(uuid),
        )
        for (const of of checks.all()) if (of.container !== undefined) for (const gpu of used.of(of.container)) judgeOne(t, of, gpu, read, found)
        return found
      },
    }
  },
})
