// Which GPUs the kubelet gave to which pod, as it says itself: known before a process has memory, on MIG cards too, and for pods that see every device node.
import { existsSync } from 'node:fs'
import { containerGpuAssigned } from '../metrics/container.ts'
import type { Gap, Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'
import { placeOf, type Known } from './pod-resources/device-id.ts'
import { listPodResources, type Listed } from './pod-resources/kubelet.ts'
import type { Assignment } from './pod-resources/list-response.ts'

const ID = 'pod-resources'
const EVERY_MS = 10_000
const TTL_MS = 25_000
const TIMEOUT_MS = 5_000

export type PodResourcesOptions = { readonly socketPath: string; readonly inventory: Known }

/** Devices of other vendors and resources that are none are not ours to miss. */
const isNvidia = ({ resource }: Assignment, id: string): boolean => resource.startsWith('nvidia.com/') || /^(?:GPU|MIG)-/.test(id)

export function createPodResourcesSource({ socketPath, inventory }: PodResourcesOptions): Source {
  const known = new Map<string, Series>()
  let stop = (): void => undefined
  let failed: string | undefined

  /** The same object for the same labels, by which readers keep what they made of it. */
  const seriesOf = (labels: Labels): Series => {
    const made = makeSeries(containerGpuAssigned, labels)
    const before = known.get(made.key)
    if (before !== undefined) return before
    known.set(made.key, made)
    return made
  }
  const read = (assignments: readonly Assignment[]): { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] } => {
    const found = new Set<Series>()
    const gaps: Gap[] = []
    for (const assignment of assignments) {
      const { namespace, pod, container, resource, deviceIds } = assignment
      const unknown: string[] = []
      for (const id of deviceIds) {
        const place = placeOf(id, inventory)
        if (place !== undefined) found.add(seriesOf({ ...place, container, namespace, pod, resource }))
        else if (isNvidia(assignment, id)) unknown.push(id)
      }
      // The list of GPUs comes with the first scrape of the gpu source.
      if (unknown.length === 0 || inventory.gpus().length === 0) continue
      const detail = `the kubelet gave it ${unknown.slice(0, 8).join(', ')} of ${resource}, which is none of the GPUs and MIG instances that this host shows now`
      gaps.push({ metric: containerGpuAssigned.name, labels: { container, namespace, pod }, reason: 'not_supported', detail })
    }
    for (const [key, series] of known) if (!found.has(series)) known.delete(key)
    return { readings: Array.from(found, (series) => ({ series, value: 1 })), gaps }
  }
  const reportedOf = (listed: Listed): ReturnType<typeof read> => {
    if (!('failed' in listed)) return read(listed.assignments)
    const reason = listed.timedOut === true ? 'timeout' : /\bE(?:ACCES|PERM)\b/.test(listed.failed) ? 'no_permission' : 'driver_error'
    return { readings: [], gaps: [{ metric: containerGpuAssigned.name, labels: {}, reason, detail: `${socketPath}: ${listed.failed}` }] }
  }

  return {
    id: ID,
    metrics: [containerGpuAssigned],
    start({ emit, every, log }) {
      let [stopped, busy] = [false, false]
      const ask = async (): Promise<void> => {
        // No kubelet here, or not yet.
        if (busy || !existsSync(socketPath)) return
        busy = true
        const begun = performance.now()
        const listed = await listPodResources(socketPath, TIMEOUT_MS)
        busy = false
        if (stopped) return
        const now = 'failed' in listed ? listed.failed : undefined
        if (now !== undefined && now !== failed) log.warn(`${socketPath}: ${now}; which GPUs pods were given is known from device nodes and memory alone`)
        if (now === undefined && failed !== undefined) log.info(`${socketPath}: the kubelet answers again`)
        failed = now
        // The second in which the answer came: a time of the past would move the detectors back.
        const t = Math.floor(Date.now() / 1_000) * 1_000
        emit({ type: 'scrape', t, source: ID, group: '', ttlMs: TTL_MS, durationMs: performance.now() - begun, ...reportedOf(listed) })
      }
      const stopAsking = every(EVERY_MS, ask)
      stop = () => {
        stopped = true
        stopAsking()
      }
      void ask()
    },
    stop: () => stop(),
  }
}

export const podResources = defineSource({
  id: ID,
  metrics: [containerGpuAssigned],
  needs: ['config', 'latest'],
  create({ config, latest }) {
    const { enabled, pod_resources_socket: socketPath } = config.containers
    if (!enabled || socketPath === '' || config.simulate.scenario !== 'off') return undefined
    return createPodResourcesSource({ socketPath, inventory: latest.inventory })
  },
})
