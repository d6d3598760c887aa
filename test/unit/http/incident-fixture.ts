// One incident, and one silence, with everything that they can have.
import type { Incident } from '../../../agent/model/incident.ts'
import type { Silence } from '../../../agent/model/maintenance.ts'
import type { NotifierRow } from '../../../agent/model/notification.ts'
import { GPU0, T } from './fixture.ts'

export const INCIDENT: Incident = {
  id: '0123456789abcdef',
  kind: 'cuda_oom',
  severity: 'critical',
  status: 'resolved',
  title: 'Out of GPU memory',
  verdict: 'It asked for more than there was.',
  subject: {
    gpu: { index: 0, uuid: GPU0['uuid'] ?? '', name: 'Test GPU', pci_bus_id: '0000:1b:00' },
    container: { name: 'trainer', id: '0123456789ab', image: 'trainer:1', namespace: 'ml', pod: 'trainer-0' },
    process: { pid: 4_242, inner_pid: 1, name: 'python3' },
  },
  facts: { gpu_index: 0, requested_bytes: 2 ** 31, causes: ['fragmentation', 'capacity'], other_processes: [{ pid: 9, bytes: 5 }], exit_code: 1 },
  remedies: [{ text: 'Let segments grow', command: 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True' }],
  started_at: T,
  fired_at: T,
  resolved_at: T + 900_000,
  last_seen_at: T + 10,
  count: 2,
  consequences: [
    {
      kind: 'nccl_error',
      severity: 'critical',
      title: 'Timed out',
      verdict: 'It waited.',
      facts: { rank: 1, timeout_ms: 600_000 },
      container: 'trainer',
      first_seen_at: T,
      last_seen_at: T + 10,
      count: 7,
    },
  ],
  resolution: 'set healthy by kim',
  story: 'aaaaaaaaaaaaaaaa',
  part_of: { id: 'bbbbbbbbbbbbbbbb', kind: 'memory_leak' },
  led_to: [{ id: 'cccccccccccccccc', kind: 'target_down' }],
  silenced: { until: T + 3_600_000, id: '0a0b0c0d0e0f' },
  acknowledged: { at: T + 60_000, by: 'kim', note: 'looking' },
  evidence: {
    log_lines: [{ t: T, stream: 'container', origin: 'trainer', text: 'CUDA out of memory', matched: true }],
    series: [{ metric: 'warpwatch_gpu_memory_used_bytes', labels: GPU0, t: [T - 1_000, T], value: [1, 2] }],
    processes: [{ pid: 4_242, inner_pid: 1, process: 'python3', gpu: '0', uuid: GPU0['uuid'] ?? '', container: 'trainer', gpu_memory_bytes: 4e9 }],
    container: {
      memory_limit_bytes: 1,
      shm_size_bytes: 2,
      ipc_mode: 'host',
      runtime: 'nvidia',
      privileged: true,
      gpu_request: 'all',
      gpus: ['GPU-1'],
      env: { CUDA_VISIBLE_DEVICES: '0' },
    },
  },
}

export const NOTIFIER: NotifierRow = {
  name: 'ops',
  type: 'slack',
  host: 'hooks.slack.com',
  status: 'retrying',
  waiting: 2,
  oldest_waiting_at: T - 60_000,
  delivered: 7,
  failed_tries: 3,
  expired: 1,
  set_aside: 1,
  last_delivered_at: T - 90_000,
  last_error: { at: T - 1_000, text: 'the receiver answered with status 503' },
  next_try_at: T + 1_000,
}
export const SILENCE: Silence = {
  id: '0a0b0c0d0e0f',
  kind: 'cuda_oom',
  gpu: '0',
  container: 'trainer',
  severity: 'critical',
  created_at: T,
  until: T + 3_600_000,
  reason: 'a larger batch is tried',
  by: 'kim',
}
