// What NVML's accounting mode knows of processes that no look at the process lists has seen.
import { defineMetric } from '../model/metric.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuAccountingMode = defineMetric({
  name: 'warpwatch_gpu_accounting_mode',
  subject: 'gpu',
  field: 'accounting_mode',
  kind: 'gauge',
  unit: '1',
  help: "Whether NVML's accounting mode is on (1): the driver then writes down each process, those that end within a second included (nvidia-smi -am 1, as root).",
  labels: GPU_LABELS,
  history: false,
})
export const gpuUnseenProcessesTotal = defineMetric({
  name: 'warpwatch_gpu_unseen_processes_total',
  subject: 'gpu',
  field: 'unseen_processes_total',
  kind: 'counter',
  unit: '{process}',
  help: 'Processes that used the GPU and ended between two looks at its process list, by NVML accounting; absent while the accounting mode is off.',
  labels: GPU_LABELS,
  history: false,
})
export const gpuUnseenProcessSecondsTotal = defineMetric({
  name: 'warpwatch_gpu_unseen_process_seconds_total',
  subject: 'gpu',
  field: 'unseen_process_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'How long those processes lasted together.',
  labels: GPU_LABELS,
  history: false,
})
