// A service passes its health check although the GPU of its container is lost, hangs or had a fatal Xid.
import { defineKind } from './kind.ts'

export const serviceDeadGpu = defineKind({
  id: 'service_dead_gpu',
  title: 'A service reports healthy while its GPU is dead',
  layer: 'telemetry',
  from: 'numbers',
  facts: ['target', 'reason', 'xid', 'http_status', 'latency_ms', 'since_ms'],
  follows: [{ causes: ['container_lost_gpu', 'gpu_missing', 'driver_hung', 'gpu_lost', 'xid'], on: 'either', withinMinutes: 10, lateMinutes: 1 }],
  chart: ['utilization'],
})
