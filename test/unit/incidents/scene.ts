// A host told by events: GPUs, containers and their processes, and the diagnosis that listens, with the real judge of log lines.
import type { Diagnosis } from '../../../agent/diagnosis/diagnosis.ts'
import { explainRunEnd } from '../../../agent/diagnosis/explain.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Event, LogLine, Scrape } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import type { Labels } from '../../../agent/model/series.ts'
import { createHeardDiagnosis, type HeardDiagnosisOptions } from '../../setup/heard-diagnosis.ts'
import { seriesFor } from '../../setup/series.ts'

export const T = 1_763_600_000_000
export const UUIDS = Array.from({ length: 8 }, (_, index) => `GPU-0000000${index}-aaaa-bbbb-cccc-000000000000`)
export const uuid = (index: number): string => UUIDS[index] ?? ''
export const busOf = (index: number): string => `0000:${(0x1b + index * 8).toString(16)}:00`

export const reading = (name: string, labels: Labels, value: number): Reading => ({ series: seriesFor(name, labels), value })
export const scrape = (t: number, source: string, readings: readonly Reading[]): Scrape => ({
  type: 'scrape',
  t,
  source,
  group: 'test',
  ttlMs: 5_000,
  durationMs: 0,
  readings,
  gaps: [],
})

export type Box = {
  readonly name: string
  readonly id: string
  readonly gpus: readonly number[]
  readonly pids?: readonly number[]
  oomKills: number
  limit?: number
}
export const box = (name: string, gpus: readonly number[], more: Partial<Box> = {}): Box => ({
  name,
  id: Buffer.from(name.padEnd(6, '-')).toString('hex').slice(0, 12),
  gpus,
  oomKills: 0,
  ...more,
})

/** What the agent's sources would say of the host in one second. */
export function secondOf(t: number, boxes: readonly Box[], absentGpus: readonly number[] = []): readonly Event[] {
  const present = UUIDS.map((_, index) => index).filter((index) => !absentGpus.includes(index))
  const gpus = present.flatMap((index) => {
    const place = { gpu: String(index), uuid: uuid(index) }
    return [
      reading('gpu_info', { ...place, name: 'Test GPU', pci_bus_id: `0000${busOf(index).toUpperCase()}.0` }, 1),
      reading('gpu_memory_used_bytes', place, 1e9 * (index + 1)),
      reading('gpu_utilization_ratio', place, 0.5),
    ]
  })
  const containers = boxes.flatMap(({ name, id, gpus: its, pids = [], oomKills, limit }) => {
    const labels = { container: name, container_id: id, image: 'test:1' }
    return [
      reading('container_info', { ...labels, state: 'running' }, 1),
      reading('container_memory_bytes', labels, 5e8),
      reading('container_oom_kills_total', labels, oomKills),
      ...(limit === undefined ? [] : [reading('container_memory_limit_bytes', labels, limit)]),
      ...its.map((index) => reading('container_gpu_requested', { ...labels, gpu: String(index), uuid: uuid(index), by: 'device_request' }, 1)),
      ...pids.map((pid, n) => {
        const index = its[n % its.length] ?? 0
        return reading(
          'process_gpu_memory_bytes',
          { gpu: String(index), uuid: uuid(index), pid: String(pid), process: 'python', inner_pid: String(n + 1), ...labels },
          4e9 + n,
        )
      }),
    ]
  })
  return [scrape(t, 'gpu', gpus), scrape(t, 'containers', containers)]
}

export const line = (t: number, from: Box | 'kernel' | { readonly path: string }, text: string): LogLine => ({
  type: 'log',
  t,
  stream: from === 'kernel' ? 'kernel' : 'path' in from ? 'file' : 'container',
  origin: from === 'kernel' ? {} : 'path' in from ? from : { container: from.name, container_id: from.id },
  text,
})
export const happened = (t: number, action: string, { name, id }: Box, exitCode?: number): Event => ({
  type: 'container',
  t,
  action,
  container: name,
  container_id: id,
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
})

export const oomText = (gpu = 0, request = '2.50 GiB'): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${request}. GPU ${gpu} has a total capacity of 23.50 GiB of which 1.20 GiB is free. ` +
  'Including non-PyTorch memory, this process has 22.25 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.'
export const xidText = (index: number, xid: number, pid?: number): string =>
  `NVRM: Xid (PCI:${busOf(index)}): ${xid}, ${pid === undefined ? '' : `pid=${pid}, name=python, `}Ch 00000008, intr 00000000`
export const ncclText = (rank: number): string =>
  `[rank${rank}]:[E1120 10:00:00.123456789 ProcessGroupNCCL.cpp:607] [Rank ${rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.`
/** The two lines of a kill by a container's limit, as the kernel prints them. */
export const killLines = (id: string, pid: number): readonly string[] => [
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-${id.padEnd(64, '0')}.scope,mems_allowed=0,oom_memcg=/system.slice/docker-${id.padEnd(64, '0')}.scope,task_memcg=/system.slice/docker-${id.padEnd(64, '0')}.scope,task=python,pid=${pid},uid=0`,
  `Memory cgroup out of memory: Killed process ${pid} (python) total-vm:9264412kB, anon-rss:4064896kB, file-rss:872kB, shmem-rss:0kB, UID:0 pgtables:164kB oom_score_adj:0`,
]

export type Scene = {
  readonly diagnosis: Diagnosis
  /** All that was reported, in order. */
  readonly reported: Incident[]
  readonly feed: (...events: readonly Event[]) => void
  /** Seconds of the host pass, from one after `from`; returns the last. */
  readonly pass: (from: number, seconds: number, boxes: readonly Box[], absentGpus?: readonly number[]) => number
  /** The newest words about each incident, in the order of their beginning. */
  readonly incidents: () => readonly Incident[]
}
export function createScene(options: Partial<HeardDiagnosisOptions> = {}): Scene {
  const reported: Incident[] = []
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    judgeRunEnd: (lines, known, know) => explainRunEnd(logScanner(), lines, known, know),
    hostname: 'gpu-01',
    onChange: (incident) => reported.push(incident),
    ...options,
  })
  const feed = (...events: readonly Event[]): void => events.forEach(diagnosis.ingest)
  return {
    diagnosis,
    reported,
    feed,
    pass(from, seconds, boxes, absentGpus) {
      for (let n = 1; n <= seconds; n++) feed(...secondOf(from + n * 1_000, boxes, absentGpus))
      return from + seconds * 1_000
    },
    incidents() {
      diagnosis.flush()
      return [...new Map(reported.map((incident) => [incident.id, incident])).values()].sort((a, b) => a.started_at - b.started_at)
    },
  }
}
/** The only incident of a scene. */
export function only({ incidents }: Scene): Incident {
  const found = incidents()
  const [first] = found
  if (found.length !== 1 || first === undefined)
    throw new Error(`expected one incident, came ${found.map(({ kind, title }) => `${kind} (${title})`).join(', ') || 'none'}`)
  return first
}
