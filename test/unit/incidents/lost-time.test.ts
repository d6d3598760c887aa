// GPU time lost to crashes: on each GPU that the job held, since its last saved state or its first sight, once for each crash.
import { describe, expect, test } from 'vitest'
import { createIncidentsSource } from '../../../agent/sources/incidents.ts'
import { incidentReport } from '../../../agent/diagnosis/incidents/report.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Source } from '../../../agent/model/source.ts'
import { box, createScene, happened, line, oomText, only, T, uuid, xidText, type Scene } from './scene.ts'

const rows = ({ diagnosis }: Scene) => diagnosis.figures().lost.map(({ kind, gpu, seconds }) => [kind, gpu, Math.round(seconds)])

describe('GPU time lost', () => {
  test('counts every GPU of the container from its first sight, and tells it in verdict, facts, report and metric', () => {
    const scene = createScene()
    let t = scene.pass(T, 60, [])
    const trainer = box('trainer', [2, 3], { pids: [4_000, 4_001] })
    t = scene.pass(t, 600, [trainer])
    scene.feed(line(t, trainer, oomText()), happened(t + 400, 'die', trainer, 1))
    scene.pass(t, 3, [])
    const incident = only(scene)
    expect(incident.facts.gpu_seconds_lost).toBeGreaterThanOrEqual(1_198)
    expect(incident.facts.gpu_seconds_lost).toBeLessThanOrEqual(1_201)
    expect(incident.verdict).toContain('The crash lost 20 GPU minutes (2 GPUs, 10 min since the job was first seen there).')
    expect(incidentReport(incident, 'gpu-01')).toMatch(/gpu\\?_seconds\\?_lost/)
    expect(rows(scene).map(([kind, gpu]) => [kind, gpu])).toEqual([
      ['cuda_oom', '2'],
      ['cuda_oom', '3'],
    ])
    expect(lostReadings(scene)).toEqual([
      { kind: 'cuda_oom', gpu: '2', uuid: uuid(2) },
      { kind: 'cuda_oom', gpu: '3', uuid: uuid(3) },
    ])
  })

  test('begins at the last state that the job saved, and not at one that failed to be saved', () => {
    const scene = createScene()
    let t = scene.pass(T, 60, [])
    const trainer = box('trainer', [1], { pids: [4_000] })
    t = scene.pass(t, 600, [trainer])
    scene.feed(line(t, trainer, '[INFO|trainer.py:3410] Saving model checkpoint to out/checkpoint-500'))
    t = scene.pass(t, 120, [trainer])
    scene.feed(line(t, trainer, 'Saving checkpoint failed: disk is slow'))
    t = scene.pass(t, 60, [trainer])
    scene.feed(line(t, trainer, oomText()), happened(t + 300, 'die', trainer, 1))
    scene.pass(t, 2, [])
    expect(only(scene).verdict).toContain('3 GPU minutes (one GPU, 3 min since the last state that was saved)')
    expect(rows(scene)).toEqual([['cuda_oom', '1', 180]])
  })

  test('says "at least" of a job that ran before the agent', () => {
    const scene = createScene()
    const trainer = box('trainer', [0], { pids: [4_000] })
    const t = scene.pass(T, 300, [trainer])
    scene.feed(line(t, trainer, oomText()), happened(t + 300, 'die', trainer, 1))
    scene.pass(t, 2, [])
    expect(only(scene).verdict).toContain('lost at least 5 GPU minutes')
  })

  test('adds up over a restart loop, each life once', () => {
    const scene = createScene()
    let t = scene.pass(T, 20, [])
    for (let life = 0; life < 4; life++) {
      const trainer = box('trainer', [0], { pids: [4_000 + life] })
      t = scene.pass(t, 90, [trainer])
      scene.feed(line(t, trainer, oomText()), happened(t + 200, 'die', trainer, 1))
      t = scene.pass(t, 5, [])
    }
    const incident = only(scene)
    expect(incident.count).toBe(4)
    expect(incident.verdict).toMatch(/The 4 crashes lost 6 GPU minutes in all\.$/)
    expect(incident.verdict.match(/crash/g)).toHaveLength(1)
    expect(incident.facts.gpu_seconds_lost).toBeGreaterThan(350)
    expect(incident.facts.gpu_seconds_lost).toBeLessThanOrEqual(361)
  })

  test('counts one crash of a run whose processes are missed before its engine tells of the end', () => {
    const scene = createScene()
    let t = scene.pass(T, 60, [])
    const trainer = box('trainer', [2, 3], { pids: [4_000, 4_001] })
    t = scene.pass(t, 600, [trainer])
    scene.feed(line(t, trainer, oomText()))
    t = scene.pass(t, 6, [])
    scene.feed(happened(t, 'die', trainer, 1))
    scene.pass(t, 3, [])
    expect(only(scene).verdict).toMatch(/The crash lost 20 GPU minutes \(2 GPUs, 10 min since the job was first seen there\)\.$/)
  })

  test('counts the time of a GPU once where the jobs that share it die together', () => {
    const scene = createScene()
    let t = scene.pass(T, 60, [])
    const [embedder, reranker] = [box('embedder', [5], { pids: [4_000, 4_001] }), box('reranker', [5], { pids: [4_002] })]
    t = scene.pass(t, 300, [embedder])
    t = scene.pass(t, 300, [embedder, reranker])
    scene.feed(line(t, 'kernel', xidText(5, 79, 4_000)))
    for (const job of [embedder, reranker])
      scene.feed(line(t + 10, job, 'RuntimeError: CUDA error: unspecified launch failure'), happened(t + 300, 'die', job, 1))
    scene.pass(t, 3, [])
    const incident = only(scene)
    expect(incident.verdict).toMatch(/The 2 crashes lost 10 GPU minutes in all\.$/)
    expect(rows(scene)).toEqual([['xid', '5', expect.closeTo(600, -1)]])
  })

  test('is none for a program that went on, for one that ended well, and for one without a fault', () => {
    const trainer = box('trainer', [0], { pids: [4_000] })
    const wentOn = createScene()
    let t = wentOn.pass(T, 100, [trainer])
    wentOn.feed(line(t, trainer, oomText()))
    wentOn.pass(t, 100, [trainer])
    const endedWell = createScene()
    t = endedWell.pass(T, 100, [trainer])
    endedWell.feed(line(t, trainer, oomText()), happened(t + 500, 'die', trainer, 0))
    endedWell.pass(t, 30, [])
    const noFault = createScene()
    t = noFault.pass(T, 100, [trainer])
    noFault.feed(happened(t + 500, 'die', trainer, 1))
    t = noFault.pass(t, 90, [])
    for (const scene of [wentOn, endedWell, noFault]) expect(rows(scene)).toEqual([])
    expect(only(wentOn).facts.gpu_seconds_lost).toBeUndefined()
    expect(only(endedWell).facts.gpu_seconds_lost).toBeUndefined()
  })

  test('counts an end that came before the words', () => {
    const scene = createScene()
    let t = scene.pass(T, 30, [])
    const trainer = box('trainer', [0], { pids: [4_000] })
    t = scene.pass(t, 100, [trainer])
    scene.feed(happened(t + 100, 'die', trainer, 1))
    t = scene.pass(t, 4, [])
    scene.feed(line(t, trainer, oomText()))
    scene.pass(t, 2, [])
    expect(rows(scene)).toEqual([['cuda_oom', '0', 99]])
  })
})

/** Labels of what the source of incidents tells of lost time. */
function lostReadings({ diagnosis }: Scene): readonly unknown[] {
  const reported: Scrape[] = []
  const source: Source = createIncidentsSource(diagnosis.figures)
  void source.start({
    emit: (event) => void (event.type === 'scrape' && reported.push(event)),
    every: (_, run) => {
      void run(T)
      return () => {}
    },
    log: { error() {}, warn() {}, info() {} },
  })
  return reported
    .flatMap(({ readings }) => readings)
    .flatMap(({ series }) => (series.metric.name === 'warpwatch_gpu_seconds_lost_total' ? [series.labels] : []))
}
