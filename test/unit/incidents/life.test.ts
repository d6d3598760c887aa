// How long an incident lives: quiet ends it, silence and jumps of the clock do not; what is kept around it; what a restart remembers.
import { rounds } from '../../setup/rounds.ts'
import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../agent/model/incident.ts'
import { quietMs } from '../../../agent/diagnosis/incidents/rules.ts'
import { box, createScene, happened, line, oomText, only, secondOf, T, xidText } from './scene.ts'

const trainer = box('trainer', [1], { pids: [77] })
const begin = () => {
  const scene = createScene()
  const t = scene.pass(T, 150, [trainer])
  scene.feed(line(t, trainer, oomText()))
  return { scene, t }
}

describe('an incident resolves', () => {
  test('after its quiet period, and the next fault is a new one', () => {
    const { scene, t } = begin()
    const almost = scene.pass(t, quietMs('cuda_oom') / 1_000 - 5, [trainer])
    expect(only(scene).status).toBe('firing')
    const after = scene.pass(almost, 10, [trainer])
    const resolved = only(scene)
    expect(resolved.status).toBe('resolved')
    expect((resolved.resolved_at ?? 0) - t).toBeGreaterThanOrEqual(quietMs('cuda_oom'))
    expect(scene.diagnosis.figures().firing).toEqual([])
    scene.feed(line(after + 5, trainer, oomText()))
    expect(scene.incidents().map(({ status }) => status)).toEqual(['resolved', 'firing'])
    expect(new Set(scene.incidents().map(({ id }) => id)).size).toBe(2)
  })

  test('not because nothing is heard any more', () => {
    const { scene, t } = begin()
    // A day without any event, then a few seconds.
    scene.pass(t + 86_400_000, 60, [trainer])
    expect(only(scene).status).toBe('firing')
  })

  test('not because the clock jumped, forwards or back', () => {
    const { scene, t } = begin()
    let at = scene.pass(t + 7 * 86_400_000, 20, [trainer])
    at = scene.pass(at - 30 * 86_400_000, 20, [trainer])
    expect(only(scene).status).toBe('firing')
    scene.pass(at, quietMs('cuda_oom') / 1_000, [trainer])
    expect(only(scene).status).toBe('resolved')
  })

  test('of a GPU only while that GPU answers', () => {
    const scene = createScene()
    const t = scene.pass(T, 5, [trainer])
    scene.feed(line(t, 'kernel', xidText(1, 79)))
    const silent = scene.pass(t, quietMs('xid') / 1_000 + 60, [], [1])
    expect(only(scene).status).toBe('firing')
    scene.pass(silent, 3, [])
    expect(only(scene).status).toBe('resolved')
  })
})

describe('evidence', () => {
  test('holds every second from 120 s before to 30 s after', () => {
    const { scene, t } = begin()
    expect(only(scene).evidence.series[0]?.t.at(-1)).toBe(t)
    scene.pass(t, 60, [trainer])
    const { series, processes } = only(scene).evidence
    const used = series.find(({ metric, labels }) => metric === 'warpwatch_gpu_memory_used_bytes' && labels['gpu'] === '1')
    expect(used?.t).toEqual(Array.from({ length: 151 }, (_, n) => t - 120_000 + n * 1_000))
    expect(used?.value.every((value) => value === 2e9)).toBe(true)
    expect(series.map(({ metric }) => metric)).toContain('warpwatch_container_memory_bytes')
    // Other GPUs are none of its business.
    expect(new Set(series.flatMap(({ labels }) => labels['gpu'] ?? []))).toEqual(new Set(['1']))
    expect(processes).toMatchObject([{ pid: 77, inner_pid: 1, process: 'python', container: 'trainer', gpu: '1', gpu_memory_bytes: 4e9 }])
  })

  test('holds the lines around the fault without their secrets', () => {
    const scene = createScene()
    const before = Array.from({ length: 40 }, (_, n) => line(T + n, trainer, `step ${n}`))
    scene.feed(...before, line(T + 40, trainer, 'login with token=hf_abcdefghijklmnopqrstuvwxyz'), line(T + 50, trainer, oomText()))
    for (let n = 0; n < 40; n++) scene.feed(line(T + 60 + n, trainer, `cleanup ${n} https://user:hunter2hunter2@example.org/x`))
    const { log_lines: lines } = only(scene).evidence
    expect(lines.filter(({ matched }) => matched).map(({ text }) => text)).toEqual([oomText()])
    expect(lines.length).toBeLessThanOrEqual(45)
    expect(lines[0]?.text).toBe('step 22')
    expect(lines.at(-1)?.text).toContain('cleanup')
    expect(JSON.stringify(lines)).not.toMatch(/abcdefghij|hunter2/)
  })
})

describe('the books', () => {
  test('stay small under a flood of different faults', () => {
    const scene = createScene()
    for (let n = 0; n < rounds({ full: 2_000, quick: 750 }); n++) {
      scene.feed(line(T + n * 500, box(`job-${n}`, []), oomText()))
      if (n % 2 === 0) scene.feed(...secondOf(T + n * 500, []))
    }
    expect(scene.diagnosis.firing().length).toBeLessThanOrEqual(501)
    expect(scene.reported.every(({ evidence }) => evidence.log_lines.length < 100)).toBe(true)
  })

  test('of what fired go on after a restart of the agent', () => {
    const { scene, t } = begin()
    scene.feed(line(t + 1, trainer, oomText()))
    const before = only(scene)
    const next = createScene()
    next.diagnosis.restore([before])
    expect(next.diagnosis.figures().firing).toEqual([summaryOf(before)])
    const later = next.pass(t + 30_000, 5, [trainer])
    next.feed(line(later, trainer, oomText()), happened(later + 1, 'die', trainer, 1))
    expect(only(next)).toMatchObject({ id: before.id, count: 3, started_at: before.started_at, facts: { exit_code: 1 } })
    next.pass(later, quietMs('cuda_oom') / 1_000 + 5, [trainer])
    expect(only(next).status).toBe('resolved')
  })

  test('give the same for the same events', () => {
    const reported = [1, 2].map(() => {
      const { scene, t } = begin()
      scene.feed(line(t + 5, 'kernel', xidText(1, 31, 77)), happened(t + 9, 'die', trainer, 1))
      scene.pass(t, 40, [trainer])
      return JSON.stringify(scene.incidents())
    })
    expect(reported[0]).toBe(reported[1])
    expect(reported[0]).toContain('"id":"')
  })
})
