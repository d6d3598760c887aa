// The driver as a whole: how many GPUs it lists, and whether its libraries fit its kernel module.
import { defineMetric } from '../model/metric.ts'

export const gpusPresent = defineMetric({
  name: 'warpwatch_gpus_present',
  subject: 'driver',
  kind: 'gauge',
  unit: '{gpu}',
  help: 'GPUs that the driver lists; absent while the driver does not answer.',
  labels: [],
})
export const gpusExpected = defineMetric({
  name: 'warpwatch_gpus_expected',
  subject: 'driver',
  kind: 'gauge',
  unit: '{gpu}',
  help: 'GPUs that this host should have: gpu.expected_gpus, or as many as it had before.',
  labels: [],
})
export const driverLibraryMismatch = defineMetric({
  name: 'warpwatch_driver_library_mismatch',
  subject: 'driver',
  kind: 'gauge',
  unit: '1',
  help: '1 while no installed libnvidia-ml is of the version of the loaded kernel module, so that new programs cannot use the GPUs, else 0; absent where one of the two versions is not known.',
  labels: ['kernel_version', 'library_version'],
})
