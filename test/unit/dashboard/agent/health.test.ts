// The agent's own health, as the page judges it: figures, sources, gaps, cost, and what speaks against believing what one sees.
import { describe, expect, test } from 'vitest'
import { coresOf, recordCost, recordedSince, stepsOf, COST } from '../../../../dashboard/src/features/agent/cost-lanes.ts'
import { parseFigures } from '../../../../dashboard/src/features/agent/figures.ts'
import { gapGroups, newestGap } from '../../../../dashboard/src/features/agent/gap-groups.ts'
import { parseGaps, parseGroups, sourceRows, type GapEntry, type GroupRow } from '../../../../dashboard/src/features/agent/source-rows.ts'
import { doubts, verdictOf, type Evidence } from '../../../../dashboard/src/features/agent/doubts.ts'
import { createTimeline } from '../../../../dashboard/src/parts/live/timeline.ts'
import { metricName, took } from '../../../../dashboard/src/text/agent.ts'

const T = 1_795_000_000_000
const group = (source: string, name: string, readings: number, more: Partial<GroupRow> = {}): GroupRow => ({
  source,
  group: name,
  t: T,
  readings,
  gaps: 0,
  ...more,
})
const gap = (source: string, metric: string, reason: string, more: Partial<GapEntry> = {}): GapEntry => ({ source, metric, reason, labels: {}, t: T, ...more })

describe('the page of metrics', () => {
  const figures = parseFigures(
    [
      '# HELP warpwatch_agent_source_up 1 while …',
      '# TYPE warpwatch_agent_source_up gauge',
      'warpwatch_agent_source_up{source="gpu"} 1',
      'warpwatch_agent_source_up{source="odd \\"name\\" \\\\ {a=\\"b\\"}\\n"} 0',
      'process_cpu_seconds_total 2.103257',
      'warpwatch_agent_gaps_total{source="gpu",reason="timeout"} 4',
      'warpwatch_agent_gaps_total{source="host",reason="timeout"} 1e1',
      'warpwatch_gpu_power_watts{gpu="0"} 300',
      'warpwatch_agent_broken{',
      '',
    ].join('\n'),
  )
  test('gives the figures of the agent alone, by name and labels', () => {
    expect(figures.one('process_cpu_seconds_total')).toBe(2.103257)
    expect(figures.all('warpwatch_agent_source_up').map(({ labels }) => labels['source'])).toEqual(['gpu', 'odd "name" \\ {a="b"}\n'])
    expect(figures.sum('warpwatch_agent_gaps_total', { reason: 'timeout' })).toBe(14)
    expect(figures.one('warpwatch_agent_gaps_total', { source: 'host' })).toBe(10)
    expect(figures.one('warpwatch_gpu_power_watts')).toBeUndefined()
    expect(figures.sum('warpwatch_agent_history_bytes')).toBeUndefined()
  })
})

describe('sources', () => {
  const up = (source: string, value: number): string => `warpwatch_agent_source_up{source="${source}"} ${value}`
  const figures = parseFigures([up('gpu', 1), up('host', 0), up('nvidia-smi', 0), up('containers', 1), up('allocator', 1), up('journald', 1)].join('\n'))
  const rows = sourceRows(
    [
      group('gpu', 'self', 7),
      group('gpu', 'nvml', 0, { gaps: 1 }),
      group('containers', 'numbers', 60),
      group('containers', 'identity', 40, { t: T - 3_000, gaps: 1 }),
      group('allocator', 'self', 13),
      group('journald', 'all', 8),
    ],
    [
      gap('gpu', 'gpu', 'not_supported', { detail: 'no library' }),
      gap('nvidia-smi', 'nvidia-smi', 'not_supported'),
      gap('containers', 'containers', 'not_supported', { detail: 'no engine' }),
      gap('allocator', 'allocator', 'driver_error', { detail: 'the socket is taken' }),
      gap('journald', 'warpwatch_agent_log_lag_seconds', 'parse_error'),
      // All of one card, which is not all of the source.
      gap('journald', 'journald', 'timeout', { labels: { gpu: '3' } }),
    ],
    figures,
  )
  const of = (name: string) => rows.find(({ source }) => source === name)

  test('what a source counts of itself is no reading of the host, where it says that something is wrong', () => {
    expect(rows.map(({ source, status }) => [source, status])).toEqual([
      ['gpu', 'absent'],
      ['host', 'silent'],
      ['nvidia-smi', 'absent'],
      ['containers', 'partly'],
      ['allocator', 'silent'],
      ['journald', 'reads'],
    ])
  })
  test('one that looks and finds none of what it reads is not silent: containers on a host that runs none', () => {
    const down = parseFigures(up('containers', 0))
    expect(sourceRows([group('containers', 'numbers', 0)], [], down)).toMatchObject([{ status: 'absent', newest: undefined }])
    expect(sourceRows([group('containers', 'numbers', 0, { gaps: 1 })], [], down)).toMatchObject([{ status: 'silent' }])
    expect(sourceRows([], [], down)).toMatchObject([{ status: 'silent' }])
  })
  test('the newest of its groups, and their sums', () => {
    expect(of('containers')).toMatchObject({ newest: T, readings: 100, gaps: 1 })
    expect(of('gpu')?.newest).toBeUndefined()
    expect(of('host')?.newest).toBeUndefined()
  })
  test('an answer of another shape is refused', () => {
    expect(() => parseGroups([{ source: 'gpu' }])).toThrow('sources must be a list')
    expect(() => parseGaps({})).toThrow('gaps must be a list')
  })
})

describe('gaps', () => {
  test('by reason, by figure, with the GPUs they concern; what the hardware does not offer comes last', () => {
    const fans = [0, 1, 2].map((gpu) =>
      gap('gpu', 'warpwatch_gpu_fan_speed_ratio', 'not_supported', { labels: { gpu: String(gpu), uuid: `GPU-${gpu}` }, detail: 'no fan' }),
    )
    const groups = gapGroups([...fans, gap('containers', 'warpwatch_container_memory_bytes', 'no_permission', { labels: { container: 'train' } })])
    expect(groups.map(({ reason, count }) => [reason, count])).toEqual([
      ['no_permission', 1],
      ['not_supported', 3],
    ])
    expect(groups[1]?.groups).toEqual([{ metric: 'warpwatch_gpu_fan_speed_ratio', source: 'gpu', detail: 'no fan', where: 'GPUs 0–2', count: 3 }])
    expect(groups[0]?.groups[0]?.where).toBe('train')
  })
  const row = (reason: string, max: readonly (number | null)[]) => ({
    metric: 'warpwatch_agent_gaps_total',
    labels: { source: 'gpu', reason },
    step_ms: 60_000,
    t: max.map((_, i) => i * 60_000),
    min: max,
    mean: max,
    max,
  })
  test('the newest is the last rise of its counter, a restart of the agent included', () => {
    expect(newestGap([row('timeout', [2, 2, 5, 5])], 'timeout')).toBe(120_000)
    expect(newestGap([row('timeout', [null, 3, 3, 3])], 'timeout')).toBe(60_000)
    expect(newestGap([row('timeout', [9, 9, 1, 1])], 'timeout')).toBe(120_000)
    expect(newestGap([row('timeout', [2, 2, 2])], 'timeout')).toBeUndefined()
    expect(newestGap([row('timeout', [1, 2])], 'no_permission')).toBeUndefined()
  })
})

describe('is what I see true?', () => {
  const fine: Evidence = {
    sources: [{ source: 'host', status: 'reads', why: undefined, newest: T, tookSeconds: 0.001, readings: 30, gaps: 0 }],
    gaps: [],
    figures: parseFigures('warpwatch_agent_history_degraded 0\nwarpwatch_agent_sink_dropped_total{sink="live"} 0'),
    simulated: false,
    silentFor: undefined,
    lastFrame: T,
    gpusInTrouble: [],
    gpus: 8,
    clockAheadMs: 300,
    now: T + 20_000,
  }
  const reported = (more: Partial<Evidence>) => {
    const evidence = { ...fine, ...more }
    const found = doubts(evidence)
    return { levels: found.map(({ level }) => level), texts: found.map(({ text }) => text), verdict: verdictOf(found, evidence) }
  }
  test('yes, where nothing speaks against it', () => {
    expect(reported({})).toEqual({ levels: [], texts: [], verdict: { level: 'good', text: 'Yes' } })
  })
  test('what the hardware does not offer, and a clock that differs, make it no less true', () => {
    const { levels, texts, verdict } = reported({ gaps: [gap('gpu', 'warpwatch_gpu_fan_speed_ratio', 'not_supported')], clockAheadMs: -185_000 })
    expect(levels).toEqual(['note', 'note'])
    expect(texts[0]).toContain('3 min 5 s behind the agent')
    expect(verdict.level).toBe('good')
  })
  test('a silent source, a hung GPU, missing figures and a history in memory are told, and each makes it less than whole', () => {
    const silent = { source: 'host', status: 'silent', why: undefined, newest: T, tookSeconds: 0.001, readings: 0, gaps: 0 } as const
    expect(reported({ sources: [silent] }).texts).toEqual(['Host: nothing was read for 20 s'])
    expect(reported({ gpusInTrouble: ['GPU 3 does not answer'] }).verdict.level).toBe('warn')
    expect(reported({ gaps: [gap('gpu', 'warpwatch_gpu_power_watts', 'no_permission')] }).texts).toEqual(['1 figure missing: no permission to read it'])
    expect(reported({ figures: parseFigures('warpwatch_agent_history_degraded 1') }).verdict).toEqual({ level: 'warn', text: 'Yes, but incomplete' })
    expect(reported({ gpus: 0 }).texts).toEqual(['No GPU is read'])
    const off = gap('gpu', 'gpu', 'not_supported', { detail: 'gpu.source is off' })
    expect(reported({ gpus: 0, gaps: [off] }).texts).toEqual(['No GPU is read: gpu.source is off'])
  })
  test('no, where it is old or made up; the worst stands first', () => {
    expect(reported({ silentFor: 12, gpus: 0 })).toMatchObject({ levels: ['bad', 'warn'], verdict: { level: 'bad', text: 'No: it is old' } })
    expect(reported({ simulated: true }).verdict).toEqual({ level: 'bad', text: 'No: it is simulated' })
    const noFan = gap('gpu', 'warpwatch_gpu_fan_speed_ratio', 'not_supported')
    expect(reported({ simulated: true, gaps: [noFan] }).texts[1]).toBe('1 figure is not offered by the simulated hardware')
    expect(reported({ simulated: true, silentFor: 12 }).verdict.text).toBe('No: it is old')
  })
})

describe('cost', () => {
  test('cores from the counter of CPU seconds; a new process has no past', () => {
    const steps = stepsOf({ t: [0, 10_000, 20_000, 30_000, 90_000], mean: [1, 1.5, null, 0.2, 0.8], step_ms: 10_000 })
    expect(steps.map(({ from, to }) => [from, to])).toEqual([
      [0, 10_000],
      [10_000, 30_000],
      [30_000, 40_000],
      [90_000, 100_000],
    ])
    expect(coresOf(steps).map(({ from, value }) => [from, Number(value.toFixed(4))])).toEqual([
      [10_000, 0.05],
      [90_000, 0.01],
    ])
  })
  test('stands on the timeline of the charts, without the step that still changes', () => {
    const timeline = createTimeline()
    timeline.advance(1_000)
    const series = { metric: 'process_resident_memory_bytes', labels: {}, step_ms: 10_000, t: [970_000, 980_000, 990_000], min: [], mean: [5, 6, 7], max: [] }
    expect(recordCost(timeline, 'memory', [series])).toBe(6)
    expect([975, 985, 995].map((second) => timeline.at(COST.memory, second))).toEqual([5, 6, undefined])
    expect(recordCost(timeline, 'busy', [])).toBeUndefined()
    expect([[], [series], [{ ...series, mean: [null, null, 7] }]].map(recordedSince)).toEqual([undefined, undefined, 990_000])
  })
})

test('words', () => {
  expect(metricName('warpwatch_gpu_fan_speed_ratio')).toBe('GPU fan speed')
  expect(metricName('allocator')).toBe('PyTorch probes')
  expect([undefined, 0.0001, 0.0254, 1.24].map(took)).toEqual(['–', '< 1 ms', '25 ms', '1.2 s'])
})
