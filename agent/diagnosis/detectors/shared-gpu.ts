// Jobs of different containers on one GPU while another GPU, which they could use as well, stands empty: mostly everybody took the first one.
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryUnattributedBytes } from '../../metrics/gpu-memory.ts'
import type { Remedy } from '../../model/fault.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { gib } from '../../text/bytes.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createHolders, HOLDER_METRICS, holdersText, type GpuHolders, type Holder } from './parts/holders.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { grantsOf, REQUEST_METRIC, type GpuGrant } from './parts/requests.ts'

const COLUMNS = {
  utilization: { metric: gpuUtilizationRatio.name },
  unattributed: { metric: gpuMemoryUnattributedBytes.name },
}
const IDLE_RATIO = 0.005

/** Of each job on the card, its largest process. */
function jobsOn({ holders }: GpuHolders, leastBytes: number): readonly Holder[] {
  const found = new Map<string, Holder>()
  for (const holder of holders) {
    const job = holder.owner.startsWith('container ') || holder.owner.startsWith('job ')
    if (job && holder.computes && holder.bytes >= leastBytes && !found.has(holder.owner)) found.set(holder.owner, holder)
  }
  return [...found.values()]
}

const remediesOf = (empty: string, jobs: readonly Holder[]): readonly Remedy[] => [
  {
    text: `Give one of them GPU ${empty}: by its own variable (numbers count within what its container was given), or by its container.`,
    command: `CUDA_VISIBLE_DEVICES=${empty} python …   # or: docker run --gpus '"device=${empty}"' …`,
  },
  {
    text: 'See what each was given and takes: without CUDA_VISIBLE_DEVICES every program takes the first GPU that it sees.',
    command: `docker exec ${jobs[0]?.container ?? 'CONTAINER'} sh -c 'echo $CUDA_VISIBLE_DEVICES; nvidia-smi -L'`,
  },
]

export const sharedGpu = defineDetector({
  id: 'shared-gpu',
  kinds: ['shared_gpu'],
  title: 'Two jobs share a GPU while another is empty',
  severity: 'warning',
  watches: [...new Set([...metricsOf(COLUMNS), ...HOLDER_METRICS, REQUEST_METRIC])],
  everyMs: 10_000,
  options: {
    for_minutes: { default: 10, min: 0, max: 10_000, help: 'For how long they must share the one while the other is empty.' },
    clear_seconds: { default: 60, min: 0, max: 3_600, help: 'For how long that must have ended, until it is over.' },
    least_gib: { default: 1, min: 0.05, max: 1_000, help: 'A process that holds less is not counted as a job; a GPU on which more is used is not empty.' },
  },
  expression: { none: 'it joins who holds what with what each container was given, and with which other GPUs are empty' },
  create(options, { present }) {
    const rows = createGpuRows(present, COLUMNS)
    const holders = createHolders(present)
    const leastBytes = options.least_gib * 2 ** 30
    const states = createPerGpu((uuid) => ({
      hold: createHold({ forMs: options.for_minutes * 60_000, clearMs: options.clear_seconds * 1_000 }),
      deduper: createFindingDeduper({ kind: 'shared_gpu', key: `shared ${uuid}`, about: { uuid } }),
      sinceT: undefined as number | undefined,
    }))
    /** Of those that stand empty, the ones which a job of the card could use: it was given them, or it is not known what any job was given. */
    const usable = (jobs: readonly Holder[], empty: readonly GpuHolders[], grants: ReadonlyMap<string, GpuGrant>) => {
      const known = jobs.flatMap(({ containerId }) => {
        const grant = containerId === undefined ? undefined : grants.get(containerId)
        return grant === undefined || grant.privileged ? [] : [grant]
      })
      if (known.length === 0) return { gpus: empty, given: false }
      return { gpus: empty.filter(({ uuid }) => known.some(({ uuids }) => uuids.has(uuid))), given: true }
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const all = rows.read()
        const listed = holders.read(t)
        const grants = grantsOf(present)
        const empty: GpuHolders[] = []
        const unread: GpuHolders[] = []
        for (const gpu of listed.values()) {
          const now = all.get(gpu.uuid)?.now
          const used = gpu.holders.some(({ computes, bytes, gi }) => gi !== undefined || (computes && bytes >= leastBytes))
          if (used || (now?.utilization ?? 0) >= IDLE_RATIO || (now?.unattributed ?? 0) >= leastBytes) continue
          if (gpu.listed && now?.utilization !== undefined && now.unattributed !== undefined) empty.push(gpu)
          else unread.push(gpu)
        }
        for (const gpu of listed.values()) {
          const { uuid, index, holders: its } = gpu
          const state = states.of(uuid)
          if (!gpu.listed) {
            state.hold.see(t, undefined)
            continue
          }
          const jobs = its.some(({ gi }) => gi !== undefined) ? [] : jobsOn(gpu, leastBytes)
          const { gpus, given } = jobs.length < 2 ? { gpus: [], given: false } : usable(jobs, empty, grants)
          const [other] = gpus
          if (other === undefined && jobs.length > 1 && usable(jobs, unread, grants).gpus.length > 0) {
            state.hold.see(t, undefined)
            continue
          }
          if (other === undefined) {
            if (state.hold.see(t, false) === 'healthy')
              state.deduper.healthy(found, jobs.length < 2 ? 'no two jobs share it any more' : 'no GPU is empty for them any more')
            if (state.hold.settled() !== 'faulty') state.sinceT = undefined
            continue
          }
          state.sinceT ??= t
          if (state.hold.see(t, true) !== 'faulty') continue
          const names = jobs.map(({ ownerText }) => ownerText)
          const idle = gpus.map((each) => String(each.index))
          const span = spanText(Math.max(1, t - state.sinceT))
          state.deduper.faulty(found, {
            kind: 'shared_gpu',
            key: `shared ${uuid}`,
            about: { uuid },
            state: 'faulty',
            severity: given ? 'warning' : 'info',
            title: `GPU ${index} is shared by ${names.join(' and ')} while GPU ${idle.join(', ')} ${idle.length === 1 ? 'is' : 'are'} empty`,
            verdict: `${gpuText({ index, name: all.get(uuid)?.name })} has carried ${jobs.length} jobs for ${span}: ${holdersText(jobs, gib)}. Meanwhile GPU ${idle.join(', ')} ${idle.length === 1 ? 'is' : 'are'} empty${given ? ', which one of them was given as well' : ''}: they take time and memory from each other without need.`,
            facts: {
              gpus: [String(index)],
              idle_gpus: idle,
              jobs: names,
              other_processes: jobs.map(({ pid, bytes }) => ({ pid, bytes })),
              since_ms: state.sinceT,
            },
            remedies: remediesOf(String(other.index), jobs),
          })
        }
        return found
      },
    }
  },
})
