// Incidents and messages for the tests of messages: from the simulated host, and from log lines through the real judge.
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import * as detectors from '../../../agent/diagnosis/detectors/index.ts'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Fault } from '../../../agent/model/fault.ts'
import type { Incident, IncidentSubject } from '../../../agent/model/incident.ts'
import type { Message, MessageItem } from '../../../agent/model/notification.ts'
import { outgoing } from '../../../alerts/messages/outgoing.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { simulate } from '../simulated/simulate.ts'

export const HOST = 'gpu-node-07'
export const T = Date.parse('2026-05-01T03:12:07Z')

/** As the agent keeps them at the end of the story, in the order in which they began. */
export function simulated(scenario: string, seconds: number): readonly Incident[] {
  const found = new Map<string, Incident>()
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    detection: createDetection({ definitions: Object.values(detectors), settings: {}, onForecast: () => {} }),
    hostname: HOST,
    onChange: (incident) => found.set(incident.id, incident),
  })
  for (const { events } of simulate(scenario, seconds)) events.forEach(diagnosis.ingest)
  diagnosis.flush()
  return [...found.values()].toSorted((a, b) => a.started_at - b.started_at)
}

const explained = new Map<string, Fault | undefined>()
/** The first fault of a log; scenes tell the same one hundreds of times. */
function firstFault(log: string): Fault | undefined {
  if (!explained.has(log)) explained.set(log, explainText(logScanner(), log)[0])
  return explained.get(log)
}

/** What `explain` says of a log, as an incident of someone. */
export function incidentOf(log: string, subject: IncidentSubject, more: Partial<Incident> = {}): Incident {
  const fault = firstFault(log)
  if (fault === undefined) throw new Error(`expected a fault in the log, came none: ${log}`)
  const { evidence: shown, ...words } = fault
  const marked = new Set(shown.map(({ line }) => line))
  return {
    ...words,
    id: `${fault.kind.slice(0, 4)}${JSON.stringify(subject).length.toString(16).padStart(4, '0')}`,
    status: 'firing',
    subject,
    started_at: T,
    fired_at: T,
    last_seen_at: T,
    count: 1,
    consequences: [],
    evidence: {
      log_lines: log.split('\n').map((text, i) => ({ t: T, stream: 'container', text, ...(marked.has(i + 1) ? { matched: true as const } : {}) })),
      series: [],
      processes: [],
    },
    ...more,
  }
}

export const gpu = (index: number): NonNullable<IncidentSubject['gpu']> => ({
  index,
  uuid: `GPU-0000000${index}-aaaa-bbbb-cccc-000000000000`,
  name: 'NVIDIA H100 80GB HBM3',
})

export const xid79 = (index: number, more: Partial<Incident> = {}): Incident =>
  incidentOf(
    `NVRM: Xid (PCI:0000:${(0x1b + index * 8).toString(16)}:00): 79, pid=4242, name=python, GPU has fallen off the bus.`,
    { gpu: gpu(index) },
    {
      id: `79000000000000${String(index).padStart(2, '0')}`,
      ...more,
    },
  )
export const oom = (more: Partial<Incident> = {}): Incident =>
  incidentOf(
    `step 1200 loss 2.1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU ${more.subject?.gpu?.index ?? 3} has a total capacity of 79.11 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.01 GiB memory in use. Of the allocated memory 76.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.`,
    { container: { name: 'trainer', id: '0123456789ab', image: 'lab/train:3' }, process: { pid: 4242, name: 'python' }, gpu: gpu(3) },
    { id: '00000000000000aa', ...more },
  )
export const hostOomKill = (): Incident =>
  incidentOf(
    'Memory cgroup out of memory: Killed process 4187 (python) total-vm:98765432kB, anon-rss:33554432kB, file-rss:12kB, shmem-rss:0kB, UID:0 pgtables:71234kB oom_score_adj:0',
    { container: { name: 'loader', id: 'ba9876543210', image: 'lab/data:7', namespace: 'research', pod: 'loader-0' }, process: { pid: 4187, name: 'python' } },
    { id: '00000000000000bb' },
  )
export const driverMismatch = (): Incident =>
  incidentOf('Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95', { host: { name: HOST } }, { id: '00000000000000cc' })

export const resolvedAfter = (incident: Incident, ms: number, more: Partial<Incident> = {}): Incident => ({
  ...incident,
  status: 'resolved',
  resolved_at: incident.started_at + ms,
  ...more,
})

export const item = (incident: Incident, reason: MessageItem['reason'] = 'new'): MessageItem => ({
  event: incident.status === 'resolved' ? 'resolved' : 'firing',
  reason: incident.status === 'resolved' ? 'resolved' : reason,
  incident: outgoing(incident),
})
export function messageOf(items: readonly MessageItem[], more: Partial<Message> = {}): Message {
  const count = new Set(items.map(({ incident }) => incident.id)).size
  return { key: 'wn-1', t: T + 400, host: HOST, base_url: 'http://gpu-node-07:9839', local_url: 'http://127.0.0.1:9839', items, count, ...more }
}

/** Ten jobs die of want of memory again and again, cards fall off the bus, the driver hangs. */
export function storm(count: number): Message {
  const incidents = Array.from({ length: count }, (_, i) => {
    const id = `f${String(i).padStart(15, '0')}`
    if (i % 10 === 9) return xid79(i % 8, { id })
    return oom({ id, subject: { container: { name: `trainer-${i}`, image: 'lab/train:3' }, gpu: gpu(i % 8) }, severity: i % 3 === 0 ? 'warning' : 'critical' })
  })
  return messageOf(incidents.map((incident) => item(incident)))
}
