// Faults that no Prometheus rule can say: they begin, and end, for the contract of all detectors.
import {
  batchHalving,
  fragmentationPressure,
  hostExhausted,
  inputBound,
  jobHang,
  jobSlowdown,
  memoryLeak,
  neighbourPressure,
  oomRestartLoop,
  progressStalled,
  serviceDeadGpu,
  sharedGpu,
  stragglerGpu,
  unusedGpu,
} from '../../../agent/diagnosis/detectors/index.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { containerEvent, eventsOf, logLine, oomOf, type Moment, type Probe } from '../../unit/detectors/memory-scene.ts'
import { createJob, type JobScene } from '../../unit/detectors/job-scene.ts'
import { checked, gpus, info } from '../../unit/detectors/target-scene.ts'
import { createMoments, type Card, type Moment as Use } from '../../unit/detectors/use-scene.ts'
import { CARD, scrapeOf, timeOf, within, type RuleScene } from './scene.ts'
import type { HangEvent } from '../../../agent/model/event.ts'

const MINUTE = 60
const memory = (name: string, detector: DetectorDefinition, minutes: number, tell: (second: number) => Moment): RuleScene => ({
  name,
  detector,
  fires: true,
  seconds: minutes * MINUTE,
  tell: (second) => eventsOf(second, tell(second)),
})
/** Each telling of the scene has counters of its own. */
const use = (name: string, detector: DetectorDefinition, seconds: number, tell: (second: number) => Use): RuleScene => {
  let moments = createMoments()
  return {
    name,
    detector,
    fires: true,
    seconds,
    tell(second) {
      if (second === 0) moments = createMoments()
      return moments(second, tell(second))
    },
  }
}
const training = (name: string, detector: DetectorDefinition, seconds: number, scene: JobScene): RuleScene => {
  let job = createJob(scene)
  return {
    name,
    detector,
    fires: true,
    seconds,
    tell(second) {
      if (second === 0) job = createJob(scene)
      return job(second)
    },
  }
}
const hang = (second: number, state: HangEvent['state']): HangEvent => ({
  type: 'hang',
  t: timeOf(second),
  job: 'train',
  container: 'train',
  state,
  since: timeOf(0),
  text: state === 'over' ? 'it makes progress again' : 'Hang since 14:02:11 UTC: Rank 1 waits for a lock, at /job/data.py:71 in next_batch.',
  cause: 'missing',
  confidence: 'computed',
  culprits: [1],
  stands_at: ['rank 1: /job/data.py:71 next_batch'],
  call_sites: [],
  ranks: [
    {
      rank: 1,
      culprit: true,
      gpu: '1',
      pid: 11,
      waits_for: 'a lock',
      stands_at: '/job/data.py:71 next_batch',
      calls: { 'all_reduce 7 of default_pg': 'not joined' },
    },
    { rank: 0, gpu: '0', pid: 10, waits_for: 'all_reduce 7 of default_pg', calls: { 'all_reduce 7 of default_pg': 'waits' } },
  ],
  remedies: ['Release the lock on every path.'],
  evidence: ['no progress for 31 s'],
})
const trainer = (probe: Probe, holds = probe.reserved + 0.5): Moment => ({ processes: [{ pid: 4242, container: 'trainer', holds, probe }] })
const step = (second: number, low: number, high: number): number => (second % 2 === 0 ? low : high)
const kept = (second: number): number => Math.max(0, Math.min(second, 45 * MINUTE) - 600) / 256
const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.'

/** Lives of 200 s that end for want of memory, and one that goes on. */
function lives(second: number): Moment {
  const turn = Math.min(4, Math.floor(second / 220))
  const age = second - turn * 220
  if (turn < 4 && age >= 200) return { processes: [] }
  const events = [
    ...(age === 0 ? [containerEvent(second, 'start', 'trainer')] : []),
    ...(turn < 4 && age === 199 ? [logLine(second, 'trainer', OOM), containerEvent(second, 'die', 'trainer', 1)] : []),
  ]
  return { processes: [{ pid: 1_000 + turn, container: 'trainer', holds: age < 5 ? 1 : 79 }], events }
}
function halved(second: number): Moment {
  const probe = { active: 10 + (second % 10 < 3 ? (second < 900 ? 60 : 30) : 0), reserved: 75, ooms: second < 900 ? 0 : 1 }
  return { ...trainer(probe, 76), events: second === 900 ? [oomOf(second, 4242, 2, { active: 70, reserved: 78, ooms: 1 })] : [] }
}
const rank = (index: number, second: number, slow: boolean): Card => ({
  jobs: [{ pid: 100 + index, gib: 60, container: 'trainer' }],
  utilization: 0.99,
  smMhz: 1_725 + 15 * ((index + second) % 3),
  ...(slow ? { smMhz: 1_200, temperature: 88, throttle: ['sw_thermal_slowdown'] } : {}),
})
const [a, b] = [
  { pid: 1, gib: 30, container: 'job-a' },
  { pid: 2, gib: 20, container: 'job-b' },
]

export const unruledScenes: readonly RuleScene[] = [
  memory('memory that leaks for a while', memoryLeak, 120, (second) => trainer({ active: step(second, 20, 40) + kept(second), reserved: 60 })),
  memory('memory in pieces', fragmentationPressure, 60, (second) => trainer({ active: 40, reserved: 76, split: within(second, 0, 1_500) ? 16 : 1 })),
  memory('a neighbour that grows', neighbourPressure, 80, (second) => ({
    processes: [
      { pid: 4242, container: 'trainer', holds: second % 300 < 60 ? 20 : 40 },
      { pid: 7, name: 'python', container: 'notebook', holds: within(second, 1_800, 3_000) ? 38 : 5 },
    ],
  })),
  memory('out of memory again and again', oomRestartLoop, 60, lives),
  memory('half of the work after a failure', batchHalving, 40, halved),
  use('a training that waits for its input', inputBound, 2_000, (second) => ({
    cards: [{ jobs: [{ pid: 11, gib: 50, container: 'train' }], utilization: second < 1_000 && second % 10 >= 6 ? 0 : 0.96 }],
    cores: { train: 3.9 },
    limits: { train: 4 },
  })),
  use('two jobs on one of two cards', sharedGpu, 1_500, (second) => ({
    cards: second < 1_000 ? [{ jobs: [a, b] }, { jobs: [], utilization: 0 }] : [{ jobs: [a] }, { jobs: [b] }],
    grants: { 'job-a': [0, 1], 'job-b': [0, 1] },
  })),
  use('one slow card of eight', stragglerGpu, 1_300, (second) => ({
    cards: Array.from({ length: 8 }, (_, index) => rank(index, second, index === 4 && within(second, 120, 800))),
  })),
  use('a container that works on the CPU', unusedGpu, 3_000, (second) => ({
    cards: [{ jobs: second < 2_400 ? [] : [{ pid: 5, gib: 8, container: 'dev' }], utilization: 0 }, { jobs: [b] }],
    grants: { dev: [0] },
    cores: { dev: 4 },
  })),
  {
    name: 'a host with unified memory that fills up, until its process is stopped',
    detector: hostExhausted,
    fires: true,
    seconds: 900,
    tell: (second) => [
      scrapeOf(second, 'host', { host_memory_total_bytes: 120e9, host_memory_available_bytes: second < 600 ? 90e9 - second * 0.12e9 : 90e9 }),
      scrapeOf(second, 'gpu', { 'gpu_info memory=unified': 1 }, { labels: CARD }),
    ],
  },
  training('a training that becomes slower', jobSlowdown, 1_200, { stepSeconds: (second) => (within(second, 500, 900) ? 1.5 : 1) }),
  {
    name: 'a training that hangs',
    detector: jobHang,
    fires: true,
    seconds: 300,
    tell: (second) => (second === 30 || second === 75 ? [hang(second, 'hangs')] : second === 120 ? [hang(second, 'over')] : []),
  },
  training('a training that stands still', progressStalled, 2_000, { stepSeconds: () => 1, pauses: (second) => within(second, 500, 1_500) }),
  {
    name: 'a service whose GPU is lost',
    detector: serviceDeadGpu,
    fires: true,
    seconds: 180,
    tell: (second) => [
      ...(second % 10 === 0 ? [info(second, 'ui', 'trainer')] : []),
      ...gpus(second, { state: within(second, 21, 90) ? 'lost' : 'well' }),
      ...(second % 10 === 0 ? [checked(second, 'well')] : []),
    ],
  },
]
