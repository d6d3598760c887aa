// Each scenario shows what its line says, when it says so, and again in the next round.
import { describe, expect, test } from 'vitest'
import type { AllocatorOom, AllocatorSample, Event } from '../../../agent/model/event.ts'
import { deaths, scrapesOf, simulate, texts, valuesBy, type SimulatedSecond } from './simulate.ts'

const GIB = 2 ** 30
const ooms = (story: readonly SimulatedSecond[]): readonly (AllocatorOom & { readonly second: number })[] =>
  story.flatMap(({ second, events }) => events.flatMap((event: Event) => (event.type === 'allocator_oom' ? [{ ...event, second }] : [])))
const at = (story: readonly SimulatedSecond[], second: number): SimulatedSecond => {
  const reported = story.find((one) => one.second === second)
  if (reported === undefined) throw new Error(`the story has no second ${second}`)
  return reported
}
const valueOf = (reported: SimulatedSecond, metric: string, gpu: string): number | undefined => valuesBy(reported, metric, 'gpu').get(gpu)

describe('healthy', () => {
  test('an hour in which nothing dies', () => {
    const story = simulate('healthy', 3_600)
    expect(deaths(story)).toEqual([])
    expect(texts(story, 'kernel')).toEqual([])
    const retries = story.flatMap(({ events }) =>
      events.filter((event): event is AllocatorSample => event.type === 'allocator').map(({ stats }) => stats.num_alloc_retries ?? 0),
    )
    expect(Math.max(...retries)).toBe(0)
  })

  test('memory behaves like a caching allocator: reserved stays while allocated comes and goes, and is never below it', () => {
    const samples = simulate('healthy', 300).flatMap(({ events }) =>
      events.filter((event) => event.type === 'allocator' && event.container === 'pretrain-trainer-1'),
    )
    const [first] = samples
    const ofOne = samples.flatMap((sample) => (sample.type === 'allocator' && first?.type === 'allocator' && sample.pid === first.pid ? [sample.stats] : []))
    const reserved = new Set(ofOne.map((stats) => stats.reserved_bytes))
    const allocated = new Set(ofOne.map((stats) => stats.allocated_bytes))
    expect(allocated.size).toBeGreaterThan(200)
    expect(reserved.size).toBeLessThan(10)
    expect(ofOne.every((stats) => (stats.reserved_bytes ?? 0) >= (stats.active_bytes ?? 0) + (stats.inactive_split_bytes ?? 0))).toBe(true)
  })
})

describe.each([
  ['oom-leak', 420],
  ['oom-fragmentation', 500],
  ['oom-neighbour', 480],
])('%s', (scenario, seconds) => {
  const story = simulate(scenario, seconds)
  const found = ooms(story)

  test('finetune-lora runs out of memory, is restarted, and it happens again', () => {
    expect(found.length).toBe(2)
    expect(found[0]?.second).toBeGreaterThan(60)
    expect(found[0]?.second).toBeLessThan(240)
    expect(deaths(story)).toEqual(found.map(({ second }) => ({ second, container: 'finetune-lora' })))
    const starts = story.flatMap(({ events }) => events.filter((event) => event.type === 'container' && event.action === 'start'))
    expect(starts.length).toBeGreaterThanOrEqual(1)
  })

  test('its log says so in the words of PyTorch, with numbers that agree', () => {
    const lines = texts(story, 'container').filter(({ text }) => text.startsWith('torch.OutOfMemoryError: CUDA out of memory.'))
    expect(lines.map(({ second }) => second)).toEqual(found.map(({ second }) => second))
    for (const oom of found) {
      expect(oom.request_bytes).toBeGreaterThan(oom.free_bytes ?? 0)
      expect(oom.stats.num_ooms).toBe(1)
    }
  })

  test('the cause is the one that the scenario is about', () => {
    const [oom] = found
    if (oom === undefined) throw new Error('expected a failure')
    const stranded = (oom.stats.reserved_bytes ?? 0) - (oom.stats.allocated_bytes ?? 0)
    const others = (oom.limit_bytes ?? 0) - (oom.free_bytes ?? 0) - (oom.stats.reserved_bytes ?? 0)
    const cause = stranded > 20 * GIB ? 'oom-fragmentation' : others > 20 * GIB ? 'oom-neighbour' : 'oom-leak'
    expect(cause).toBe(scenario)
  })
})

describe('xid', () => {
  const story = simulate('xid', 300)

  test('the kernel log, the counters and the containers agree', () => {
    expect(texts(story, 'kernel').map(({ second, text }) => `${second} ${/: (\d+), /.exec(text)?.[1] ?? text}`)).toEqual(['45 31', '120 63', '285 31'])
    expect(deaths(story).map(({ second }) => second)).toEqual([45, 285])
    expect(valuesBy(at(story, 299), 'gpu_xid_errors_total', 'xid')).toEqual(
      new Map([
        ['63', 1],
        ['31', 2],
      ]),
    )
    expect(texts(story, 'kernel')[0]?.text).toMatch(/^NVRM: Xid \(PCI:0000:[0-9a-f]{2}:00\): 31, pid=\d+, name=python, /)
  })
})

describe('throttling', () => {
  const story = simulate('throttling', 200)
  const activeAt = (second: number, gpu: string): readonly string[] =>
    scrapesOf(at(story, second)).flatMap(({ readings }) =>
      readings.flatMap(({ series, value }) =>
        series.metric.name === 'warpwatch_gpu_throttle_active' && series.labels['gpu'] === gpu && value === 1 ? [series.labels['reason'] ?? ''] : [],
      ),
    )

  test('a hot GPU slows down and says why, its neighbour does not', () => {
    const slow = Array.from({ length: 60 }, (_, index) => 80 + index).filter((second) => activeAt(second, '0').includes('sw_thermal_slowdown'))
    expect(slow.length).toBeGreaterThan(20)
    const [second = 80] = slow
    expect(valueOf(at(story, second), 'gpu_temperature_celsius', '0')).toBeGreaterThanOrEqual(84)
    expect(activeAt(second, '2')).toEqual([])
    expect(activeAt(5, '0')).toEqual([])
    expect(activeAt(199, '0')).toEqual([])
  })

  test('a capped GPU never draws more than its limit', () => {
    for (let second = 30; second < 150; second++) expect(valueOf(at(story, second), 'gpu_power_watts', '4')).toBeLessThanOrEqual(305)
  })
})

describe('lost-gpu', () => {
  const story = simulate('lost-gpu', 260)

  test('its readings are gone, with the reason, until it is back', () => {
    const used = (second: number): boolean => valueOf(at(story, second), 'gpu_memory_used_bytes', '5') !== undefined
    expect([44, 45, 100, 179, 180, 259].map(used)).toEqual([true, false, false, false, true, true])
    const gaps = scrapesOf(at(story, 100)).flatMap((scrape) => scrape.gaps.filter((gap) => gap.reason === 'gpu_lost'))
    expect(gaps.map((gap) => gap.labels['gpu'])).toEqual(['5'])
  })

  test('every group of the lost GPU is emptied, not left to go stale', () => {
    const uuid = [...valuesBy(at(story, 0), 'gpu_info', 'uuid').keys(), ...scrapesOf(at(story, 44)).flatMap(({ group }) => group.split('/')[0] ?? '')]
    const lost = scrapesOf(at(story, 45))
      .filter(({ gaps }) => gaps.some((gap) => gap.reason === 'gpu_lost'))[0]
      ?.group.split('/')[0]
    expect(uuid).toContain(lost)
    const emptied = scrapesOf(at(story, 45)).filter(({ group }) => group.startsWith(`${lost}/`))
    expect(new Map(emptied.map(({ group, readings }) => [group.split('/')[1], readings.length]))).toEqual(
      new Map([
        ['fast', 0],
        ['processes', 0],
        ['rare', 0],
        ['slow', 0],
      ]),
    )
  })
})

describe('hung-driver', () => {
  const story = simulate('hung-driver', 200)

  test('only the hung GPU falls silent, and the age of its sample rises', () => {
    const reported = at(story, 100)
    expect(valueOf(reported, 'gpu_memory_used_bytes', '3')).toBeUndefined()
    expect(valuesBy(reported, 'gpu_memory_used_bytes', 'gpu').size).toBe(7)
    expect(valueOf(reported, 'gpu_sample_age_seconds', '3')).toBe(61)
    expect(valueOf(reported, 'gpu_sample_age_seconds', '2')).toBe(0)
    expect(scrapesOf(reported).flatMap(({ gaps }) => gaps.filter(({ reason }) => reason === 'timeout').map(({ labels }) => labels['gpu']))).toEqual(['3'])
    expect(valueOf(at(story, 130), 'gpu_sample_age_seconds', '3')).toBe(0)
  })
})

describe('mig', () => {
  test('the instances have their own memory and processes, and utilization is not told', () => {
    const reported = at(simulate('mig', 30), 10)
    const instances = scrapesOf(reported).flatMap(({ readings }) =>
      readings.flatMap(({ series, value }) =>
        series.metric.name === 'warpwatch_gpu_memory_used_bytes' && series.labels['gi'] !== undefined
          ? [{ place: [series.labels['gi'], series.labels['ci']], value }]
          : [],
      ),
    )
    expect(instances.map(({ place }) => place)).toEqual([
      ['1', '0'],
      ['2', '0'],
    ])
    expect(instances.every(({ value }) => value > GIB)).toBe(true)
    expect(valueOf(reported, 'gpu_utilization_ratio', '7')).toBeUndefined()
    expect(valueOf(reported, 'gpu_utilization_ratio', '6')).toBeGreaterThan(0)
  })
})

describe('kubernetes', () => {
  const story = simulate('kubernetes', 480)
  const kernel = texts(story, 'kernel').map(({ text }) => text)

  test('a pod outgrows its memory limit, the kernel kills it there, and it is started again', () => {
    expect(deaths(story).map(({ container }) => container)).toEqual(['finetune', 'finetune'])
    const kills = kernel.filter((text) => text.startsWith('Memory cgroup out of memory: Killed process '))
    expect(kills).toHaveLength(2)
    expect(kernel.filter((text) => text.includes('oom_memcg=/kubepods.slice/'))).toHaveLength(2)
  })
})

describe('slurm', () => {
  const story = simulate('slurm', 480)

  test('a job uses up its memory, is killed there, and comes again as another job', () => {
    const jobs = texts(story, 'kernel').flatMap(({ text }) => /oom_memcg=\S*\/job_(\d+)\//.exec(text)?.[1] ?? [])
    expect(jobs).toEqual(['48230', '48240'])
    expect(texts(story, 'file').map(({ text }) => text)).toEqual([
      expect.stringContaining('oom_kill event in StepId=48230.batch'),
      expect.stringContaining('oom_kill event in StepId=48240.batch'),
    ])
  })

  test('each job comes with its user, and its end with what Slurm says of it', () => {
    const reported = story.flatMap(({ events }) => events.filter((event) => event.type === 'process'))
    const finetune = reported.filter(({ action, slurm_name: name, pid }) =>
      action === 'seen' ? name === 'finetune' : reported.some((one) => one.pid === pid && one.slurm_name === 'finetune'),
    )
    expect(finetune.map(({ action, slurm_job: job, slurm_user: user, outcome }) => [action, job, user, outcome])).toEqual([
      ['seen', '48230', 'jonas', undefined],
      ['exit', undefined, undefined, 'out_of_memory'],
      ['seen', '48240', 'jonas', undefined],
      ['exit', undefined, undefined, 'out_of_memory'],
      ['seen', '48250', 'jonas', undefined],
    ])
    expect(reported.filter(({ slurm_job: job, action }) => job === undefined && action === 'seen').map(({ user }) => user)).toEqual(['ops'])
  })
})

describe('mig', () => {
  test('an instance is full while the card has free memory', () => {
    const story = simulate('mig', 240)
    const [first] = ooms(story)
    expect(first?.mig_uuid).toBeDefined()
    expect(first?.free_bytes).toBeLessThan(0.5 * GIB)
    const free = scrapesOf(at(story, (first?.second ?? 0) - 1)).flatMap(({ readings }) =>
      readings.flatMap(({ series: { metric, labels }, value }) =>
        metric.name === 'warpwatch_gpu_memory_free_bytes' && labels['gpu'] === '7' && labels['gi'] === undefined ? [value] : [],
      ),
    )
    expect(free[0]).toBeGreaterThan(10 * GIB)
  })
})
