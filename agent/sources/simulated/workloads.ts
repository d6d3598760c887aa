// What the jobs want from second to second: memory, and how busy they keep their GPU. Shapes, not measurements.
import { GIB } from './allocator.ts'
import type { Random } from './random.ts'

export type Demand = {
  readonly allocatedBytes: number
  /** Share of the GPU's time, 0 to 1. */
  readonly utilization: number
  /** Over PCIe, to and from the GPU. */
  readonly pcieBytesPerSecond: number
  /** Between the GPUs of one job. */
  readonly nvlinkBytesPerSecond?: number
  /** CPU cores that the process keeps busy. */
  readonly cpuCores: number
}
/** `age` is the process's age in seconds. */
export type Workload = (age: number, random: Random) => Demand

const SPREAD = 0.5

/** Makes no progress: in a collective that others do not join, where the GPU and a core spin, or elsewhere. */
export const STANDING: Readonly<Record<'spins' | 'waits', Omit<Demand, 'allocatedBytes'>>> = {
  spins: { utilization: 1, pcieBytesPerSecond: 0, cpuCores: 1 },
  waits: { utilization: 0, pcieBytesPerSecond: 0, cpuCores: 0.01 },
}

/** Weights are read from disk first: memory rises in a line, the GPU waits. */
function loading(age: number, seconds: number, bytes: number): Demand | undefined {
  if (age >= seconds) return undefined
  return { allocatedBytes: (bytes * (age + 1)) / seconds, utilization: 0.02, pcieBytesPerSecond: bytes / seconds, cpuCores: 1.6 }
}

/** A rank of data-parallel training: steps of one shape, an evaluation with a larger batch, a checkpoint now and then. `nvlink`: bytes per second of its gradients. */
export function training(weightsGib: number, activationsGib: number, nvlink = 0): Workload {
  const weights = weightsGib * GIB
  const activations = activationsGib * GIB
  return (age, random) => {
    const start = loading(age, 18, weights)
    if (start !== undefined) return start
    const within = (age - 18) % 240
    if (within >= 228) return { allocatedBytes: weights, utilization: 0.06, pcieBytesPerSecond: 2.2e9, cpuCores: 2.5 } // checkpoint
    if (within >= 200)
      return { allocatedBytes: weights + activations * (1.1 + 0.12 * random()), utilization: 0.9 + 0.08 * random(), pcieBytesPerSecond: 3e8, cpuCores: 3 }
    return {
      allocatedBytes: weights + activations * (0.5 + SPREAD * random()),
      utilization: 0.94 + 0.06 * random(),
      pcieBytesPerSecond: 6e8,
      nvlinkBytesPerSecond: nvlink * (0.9 + 0.2 * random()),
      cpuCores: 3.4,
    }
  }
}

/** A server that takes its memory at the start and follows its users' day, here of some minutes. */
export function serving(bytesGib: number, loadPeriodS: number): Workload {
  const bytes = bytesGib * GIB
  return (age, random) => {
    const start = loading(age, 25, bytes)
    if (start !== undefined) return start
    const load = 0.45 + 0.3 * Math.sin((2 * Math.PI * age) / loadPeriodS) + 0.2 * (random() - 0.5)
    return { allocatedBytes: bytes, utilization: load, pcieBytesPerSecond: 4e7 * load, cpuCores: 0.6 + load }
  }
}

/** Requests of varying length: small, restless. */
export function embedding(weightsGib: number, burstGib: number): Workload {
  const [weights, burst] = [weightsGib * GIB, burstGib * GIB]
  return (age, random) => {
    const start = loading(age, 6, weights)
    if (start !== undefined) return start
    const length = random() ** 3
    return { allocatedBytes: weights + burst * length, utilization: 0.04 + 0.14 * length, pcieBytesPerSecond: 2e7, cpuCores: 0.3 }
  }
}

/** Interactive work: bursts with thinking in between, and what was computed stays in variables. */
export function notebook(largestGib: number, periodS: number): Workload {
  const largest = largestGib * GIB
  return (age, random) => {
    const [round, within] = [Math.floor(age / periodS), age % periodS]
    const kept = largest * (0.3 + 0.4 * ((round % 3) / 3))
    if (within > 24) return { allocatedBytes: kept, utilization: 0, pcieBytesPerSecond: 0, cpuCores: 0.02 }
    return { allocatedBytes: kept + largest * 0.3 * (within / 24), utilization: 0.35 + 0.3 * random(), pcieBytesPerSecond: 1e8, cpuCores: 1 }
  }
}

/** Forgotten: holds memory and does nothing. */
export function idle(bytesGib: number): Workload {
  return () => ({ allocatedBytes: bytesGib * GIB, utilization: 0, pcieBytesPerSecond: 0, cpuCores: 0.01 })
}
