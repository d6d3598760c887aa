// Can each container still reach the GPUs that it was given? Its device nodes and its device cgroup, every ten seconds.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { GivenGpu, Inventory } from '../inventory/inventory.ts'
import { containerGpuAccessible, containerGpuNode } from '../metrics/container.ts'
import type { Gap, Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'
import { allowedBy, CONTROL, nodeOf, openBox, type Box } from './device-access/probe.ts'

export const accessMetrics = [containerGpuAccessible, containerGpuNode] as const

export type DeviceAccessOptions = {
  readonly procRoot: string
  readonly cgroupRoot: string
  readonly inventory: Pick<Inventory, 'byUuid' | 'containers'>
}

const EVERY_MS = 10_000
const MAX_CONTAINERS = 2_000

type Given = {
  readonly accessible: Series
  readonly node: Series
  readonly labels: Labels
  readonly minor: number
  /** Its node was seen in this life of the container. */
  seen: boolean
  /** Its node was gone, or a node of the container's control device was. */
  lost: boolean
}
type Running = { readonly id: string; readonly pid: string; readonly given: readonly GivenGpu[] }
type Tracked = { readonly pid: string; readonly gpus: Map<string, Given>; control: boolean }

/** cgroup v1 may mount the controller alone or joined with others. */
function devicesMount(cgroupRoot: string): string | undefined {
  const alone = join(cgroupRoot, 'devices')
  return existsSync(join(alone, 'cgroup.procs')) ? alone : undefined
}

export function createDeviceAccessSource({ procRoot, cgroupRoot, inventory }: DeviceAccessOptions): Source {
  const tracked = new Map<string, Tracked>()
  let said = false

  /** What it was given is remembered: with the node goes the sign that it was given. */
  const learn = (running: readonly Running[]): void => {
    for (const { id, pid, given } of running) {
      for (const { uuid, by, series } of given) {
        const minor = inventory.byUuid(uuid)?.minor
        // A privileged container has all devices, whether it wants them or not.
        if (by === 'privileged' || minor === undefined) continue
        let container = tracked.get(id)
        if (container?.pid !== pid) {
          if (tracked.size >= MAX_CONTAINERS) continue
          tracked.set(id, (container = { pid, gpus: new Map(), control: false }))
        }
        if (container.gpus.has(uuid)) continue
        const { by: _, ...labels } = series.labels
        container.gpus.set(uuid, {
          accessible: makeSeries(containerGpuAccessible, labels),
          node: makeSeries(containerGpuNode, labels),
          labels,
          minor,
          seen: false,
          lost: false,
        })
      }
    }
    const pids = new Map(running.map(({ id, pid }) => [id, pid]))
    for (const [id, { pid }] of tracked) if (pids.get(id) !== pid) tracked.delete(id)
  }
  const judge = (box: Box, container: Tracked, given: Given, readings: Reading[], gaps: Gap[]): void => {
    const { accessible, node: nodeSeries, labels, minor } = given
    const unknown = (why: Pick<Gap, 'reason' | 'detail'>): void => void gaps.push({ metric: containerGpuAccessible.name, labels, ...why })
    const node = nodeOf(box, `nvidia${minor}`)
    const control = nodeOf(box, CONTROL.name)
    if (typeof node === 'object') return unknown(node)
    if (node === 'there') given.seen = true
    if (control === 'there') container.control = true
    readings.push({ series: nodeSeries, value: node === 'there' ? 1 : 0 })
    const own = allowedBy(box, minor)
    const ctl = container.control ? allowedBy(box, CONTROL.minor) : true
    const missing = (node === 'missing' && given.seen) || (control === 'missing' && container.control)
    if (missing) given.lost = true
    if (missing || own === false || ctl === false) readings.push({ series: accessible, value: 0 })
    else if (node === 'missing') unknown({ reason: 'not_supported', detail: `no /dev/nvidia${minor} was seen in this container since it started` })
    else if (own === true && ctl === true) readings.push({ series: accessible, value: 1 })
    // What was lost with its node and has it again is as it was before, though the rules cannot be read.
    else if (given.lost) readings.push({ series: accessible, value: 1 })
    else unknown(typeof own === 'object' ? own : typeof ctl === 'object' ? ctl : { reason: 'not_supported' })
  }

  return {
    id: 'device-access',
    metrics: accessMetrics,
    start({ emit, every }) {
      const mount = devicesMount(cgroupRoot)
      every(EVERY_MS, (t) => {
        const begun = performance.now()
        learn([...inventory.containers()].flatMap(({ id, pid, given }) => (pid === undefined ? [] : [{ id, pid, given }])))
        if (tracked.size === 0 && !said) return
        said = tracked.size > 0
        const readings: Reading[] = []
        const gaps: Gap[] = []
        for (const [id, container] of tracked) {
          const box = openBox(procRoot, mount, container.pid, id)
          if (box !== undefined) for (const given of container.gpus.values()) judge(box, container, given, readings, gaps)
        }
        emit({ type: 'scrape', t, source: 'device-access', group: '', ttlMs: 2.5 * EVERY_MS, durationMs: performance.now() - begun, readings, gaps })
      })
    },
    stop: () => {},
  }
}

export const deviceAccess = defineSource({
  id: 'device-access',
  metrics: accessMetrics,
  needs: ['config', 'latest'],
  create({ config, latest }) {
    if (!config.containers.enabled || config.simulate.scenario !== 'off') return undefined
    return createDeviceAccessSource({ procRoot: config.host.proc_root, cgroupRoot: config.containers.cgroup_root, inventory: latest.inventory })
  },
})
