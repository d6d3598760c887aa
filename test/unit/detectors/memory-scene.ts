// One card of 80 GiB and the processes on it, second by second, through one detector: what it says of whom and when.
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import type { AllocatorOom, AllocatorStats, ContainerEvent, Event, LogLine } from '../../../agent/model/event.ts'
import { reading, scrape, T, uuid } from '../incidents/scene.ts'
import { turnsOf, type Turn } from './turns.ts'

export const GIB = 2 ** 30
export const CAPACITY = 80 * GIB
export const GPU = uuid(0)

/** Figures in GiB. */
export type Probe = {
  readonly active: number
  readonly reserved: number
  readonly split?: number
  readonly retries?: number
  readonly ooms?: number
  readonly expandable?: boolean
  readonly backend?: 'native' | 'cudaMallocAsync' | 'other'
  readonly limit?: number
}
export type Process = {
  readonly pid: number
  readonly name?: string
  readonly container?: string
  /** GiB on the driver's list; without it the driver does not name the process. */
  readonly holds?: number
  readonly probe?: Probe
}
export type Moment = {
  readonly processes: readonly Process[]
  readonly events?: readonly Event[]
  /** GiB that are used by nobody on the driver's list. */
  readonly unlisted?: number
  /** Nothing of the card is read. */
  readonly blind?: true
}

export const statsOf = ({ active, reserved, split = 0, retries = 0, ooms = 0 }: Probe): AllocatorStats => ({
  allocated_bytes: active * GIB,
  active_bytes: active * GIB,
  reserved_bytes: reserved * GIB,
  inactive_split_bytes: split * GIB,
  requested_bytes: active * GIB,
  num_alloc_retries: retries,
  num_ooms: ooms,
})
const timeOf = (second: number): number => T + second * 1_000

export const containerEvent = (second: number, action: string, container: string, exitCode?: number): ContainerEvent => ({
  type: 'container',
  t: timeOf(second) + 300,
  action,
  container,
  container_id: idOf(container),
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
})
export const logLine = (second: number, container: string, text: string): LogLine => ({
  type: 'log',
  t: timeOf(second) + 100,
  stream: 'container',
  origin: { container, container_id: idOf(container) },
  text,
})
export const oomOf = (second: number, pid: number, asked: number, probe: Probe, container?: string): AllocatorOom => ({
  type: 'allocator_oom',
  t: timeOf(second) + 50,
  pid,
  uuid: GPU,
  request_bytes: asked * GIB,
  stats: statsOf(probe),
  ...(container === undefined ? {} : { container }),
})
const idOf = (container: string): string => Buffer.from(container.padEnd(6, '-')).toString('hex').slice(0, 12)

export function eventsOf(second: number, { processes, events = [], unlisted = 0, blind }: Moment): readonly Event[] {
  const t = timeOf(second)
  const place = { gpu: '0', uuid: GPU }
  const listed = processes.flatMap(({ pid, name = 'python3', container, holds }) =>
    holds === undefined
      ? []
      : [
          reading(
            'process_gpu_memory_bytes',
            { ...place, pid: String(pid), process: name, ...(container === undefined ? {} : { container, container_id: idOf(container) }) },
            holds * GIB,
          ),
        ],
  )
  const used = processes.reduce((sum, { holds = 0 }) => sum + holds * GIB, unlisted * GIB)
  const card = [...listed, reading('gpu_memory_used_bytes', place, used), reading('gpu_memory_free_bytes', place, Math.max(0, CAPACITY - used))]
  return [
    scrape(t, blind === true ? 'host' : 'gpu', blind === true ? [] : card),
    ...processes.flatMap(({ pid, container, probe }): readonly Event[] =>
      probe === undefined
        ? []
        : [
            {
              type: 'allocator',
              t: t + 10,
              pid,
              uuid: GPU,
              ...(container === undefined ? {} : { container }),
              ...(probe.backend === undefined ? {} : { backend: probe.backend }),
              expandable: probe.expandable ?? false,
              limit_bytes: probe.limit === undefined ? null : probe.limit * GIB,
              stats: statsOf(probe),
            },
          ],
    ),
    ...events,
  ]
}

/** What the detector says, second by second. */
export const watch = (
  definition: DetectorDefinition,
  seconds: number,
  tell: (second: number) => Moment,
  options: Readonly<Record<string, number>> = {},
): readonly Turn[] => turnsOf(definition, seconds, (second) => eventsOf(second, tell(second)), options)
export { firstFault, statesOf, type Turn } from './turns.ts'
