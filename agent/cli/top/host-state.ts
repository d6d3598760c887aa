// What `top` knows of one host: its last frame, its incidents, and the last minute of each GPU.
import type { IncidentSummary } from '../../model/incident.ts'
import type { FrameMessage, GpuRow, LiveMessage } from '../../model/live.ts'
import type { Severity } from '../../model/severity.ts'

/** Seconds that a sparkline shows. */
export const HISTORY = 60
const MAX_INCIDENTS = 500

export type Minute = { readonly utilization: readonly (number | undefined)[]; readonly memory: readonly (number | undefined)[] }
export type HostState = {
  readonly name: () => string
  readonly simulated: () => boolean
  readonly frame: () => FrameMessage | undefined
  /** Firing ones, the worst first; among the equally bad the newest. */
  readonly firing: () => readonly IncidentSummary[]
  readonly minute: (uuid: string) => Minute
  /** When the last message came, by this machine's clock. */
  readonly heardAt: () => number | undefined
  /** Why nothing comes; undefined while it does. */
  readonly problem: () => string | undefined
  readonly take: (message: LiveMessage, now: number) => void
  readonly lost: (problem: string) => void
}

const RANK: Readonly<Record<Severity, number>> = { critical: 0, warning: 1, info: 2 }

export function createHostState(initial: string): HostState {
  let [name, simulated] = [initial, false]
  let frame: FrameMessage | undefined
  let heard: number | undefined
  let problem: string | undefined
  let firing: readonly IncidentSummary[] = []
  const incidents = new Map<string, IncidentSummary>()
  const minutes = new Map<string, { utilization: (number | undefined)[]; memory: (number | undefined)[] }>()

  const remember = (gpu: GpuRow): void => {
    const minute = minutes.get(gpu.uuid) ?? { utilization: [], memory: [] }
    minutes.set(gpu.uuid, minute)
    const { memory_used_bytes: used, memory_total_bytes: total } = gpu
    minute.utilization.push(gpu.utilization_ratio)
    minute.memory.push(used === undefined || total === undefined ? undefined : used / total)
    for (const values of [minute.utilization, minute.memory]) if (values.length > HISTORY) values.shift()
  }
  const sorted = (): readonly IncidentSummary[] =>
    [...incidents.values()].toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || b.started_at - a.started_at || (a.id < b.id ? -1 : 1))

  return {
    name: () => name,
    simulated: () => simulated,
    frame: () => frame,
    firing: () => firing,
    minute: (uuid) => minutes.get(uuid) ?? { utilization: [], memory: [] },
    heardAt: () => heard,
    problem: () => problem,
    take(message, now) {
      heard = now
      problem = undefined
      if (message.type === 'hello') {
        ;({ host: name, simulated } = message)
        // Those that ended while nobody listened are not sent again.
        incidents.clear()
        firing = []
      } else if (message.type === 'frame') {
        frame = message
        const known = new Set(message.gpus.map(({ uuid }) => uuid))
        for (const uuid of minutes.keys()) if (!known.has(uuid)) minutes.delete(uuid)
        for (const gpu of message.gpus) remember(gpu)
      } else {
        const { incident } = message
        if (incident.status === 'firing' && incidents.size < MAX_INCIDENTS) incidents.set(incident.id, incident)
        else incidents.delete(incident.id)
        firing = sorted()
      }
    },
    lost: (why) => void (problem = why),
  }
}
