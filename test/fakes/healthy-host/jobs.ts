// What runs on the healthy host through day and night: the jobs of the simulated host, with the hours of the day, long evaluations and long rests.
import { GIB } from '../../../agent/sources/simulated/allocator.ts'
import { embedding, idle, notebook, serving, training, type Workload } from '../../../agent/sources/simulated/workloads.ts'
import type { ProcessPlan } from '../../../agent/sources/simulated/jobs.ts'

export type Clock = { second: number }
const HOUR = 3_600
/** From noon through the night to the next morning in eight hours: 1 by day, 0 at night. */
export const dayAt = (second: number): number => (1 + Math.cos((2 * Math.PI * second) / (7 * HOUR))) / 2

/** Each half hour for three minutes: longer inputs, which take half as much again and give it back. */
const evaluated =
  (workload: Workload, weightsGib: number, spikeGib: number): Workload =>
  (age, random) => {
    const within = age % (HOUR / 2)
    if (age < 600 || within > 180) return workload(age, random)
    return {
      allocatedBytes: (weightsGib + spikeGib * (0.85 + 0.15 * random())) * GIB,
      utilization: 0.88 + 0.1 * random(),
      pcieBytesPerSecond: 2e8,
      cpuCores: 3,
    }
  }
/** Users sleep: at night a request comes now and then. */
const byDay =
  (workload: Workload, clock: Clock): Workload =>
  (age, random) => {
    const demand = workload(age, random)
    if (age < 30) return demand
    const share = Math.max(0.01, dayAt(clock.second))
    return random() < 0.15 + 0.85 * share
      ? { ...demand, utilization: Math.max(0, demand.utilization) * (0.2 + 0.8 * share) }
      : { ...demand, utilization: 0, cpuCores: 0.3 }
  }
/** At night nobody types for up to `restS`; what they computed stays. */
const nightly = (busy: Workload, calm: Workload, clock: Clock): Workload => {
  return (age, random) => (dayAt(clock.second) > 0.3 ? busy : calm)(age, random)
}

/** By the names of the plan of agent/sources/simulated/jobs.ts. */
export function healthyWorkload({ box, script, gpu, workload }: ProcessPlan, clock: Clock): Workload {
  // Of a larger host: many small ones, as they are.
  if (script === '/srv/worker.py') return workload
  if (box === 'pretrain-trainer-1') return evaluated(training(44, 17, 9.4e10), 44, 25)
  if (box === 'finetune-lora') return evaluated(training(21, 12), 21, 18)
  if (box === 'chat-vllm-1') return byDay(serving(69, 240), clock)
  if (script === '/srv/embed.py') return byDay(embedding(4.5, 3.5), clock)
  if (script === '/srv/rerank.py') return byDay(embedding(7, 2), clock)
  // Twenty-five minutes without a word: nearly an idle GPU.
  if (box === 'notebook-lab-1') return nightly(notebook(gpu === 6 ? 5 : 12, 170), notebook(gpu === 6 ? 5 : 12, 1_500), clock)
  return idle(script === '/home/ops/bench.py' ? 1 : 9)
}
