// Names of the labels that say whose a reading is, in the order in which they are written.
import type { Subject } from '../model/metric.ts'

export const GPU_LABELS = ['gpu', 'uuid'] as const
/** Also for MIG instances, whose `uuid` is that of the GPU they are part of. */
export const MIG_LABELS = [...GPU_LABELS, 'gi', 'ci'] as const
/** `container_id` is shortened to 12 hex digits. */
export const CONTAINER_LABELS = ['container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod'] as const
/** `name`: as configured, else the container's, else family and port; `pid`: of the process that listens; `gpu`: indexes, joined by commas. */
export const SERVER_LABELS = ['name', 'container', 'pid', 'gpu'] as const
const PROCESS_LABELS = ['pid', 'process', 'type', 'inner_pid', 'slurm_job', 'unit', 'user', ...CONTAINER_LABELS, ...MIG_LABELS] as const

/** Labels that name the subject itself, by subject: fields of its row in the API. Any other label is a dimension of the measure. */
export const IDENTITY_LABELS: Readonly<Record<Subject, ReadonlySet<string>>> = {
  gpu: new Set(MIG_LABELS),
  mig: new Set(MIG_LABELS),
  container: new Set(CONTAINER_LABELS),
  process: new Set(PROCESS_LABELS),
  allocator: new Set(PROCESS_LABELS),
  host: new Set(),
  driver: new Set(),
  target: new Set(),
  job: new Set(['job', 'rank']),
  inference: new Set(SERVER_LABELS),
  incident: new Set(),
  agent: new Set(),
}
