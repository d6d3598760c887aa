// Power brake: the power supply limits a GPU.
import { defineKind } from './kind.ts'

export const powerBrake = defineKind({
  id: 'power_brake',
  title: 'Power brake: the power supply limits a GPU',
  layer: 'gpu',
  from: 'numbers',
  facts: ['active_reasons', 'power_watts', 'power_limit_watts', 'sm_clock_hertz', 'sm_clock_before_hertz', 'sm_clock_max_hertz', 'speed_loss_ratio'],
  needsReading: true,
  chart: ['power', 'sm_clock'],
  gpuState: 'slowed',
})
