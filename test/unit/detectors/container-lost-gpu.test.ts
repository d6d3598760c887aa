// A container whose access to its GPU is taken away: one incident with its name, joined by what its log says, over when the access is back or the container ends.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { containerLostGpu } from '../../../agent/diagnosis/detectors/index.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { group, story, watch } from './driver-scene.ts'
import { reading, T, uuid } from '../incidents/scene.ts'

const BOX = { container: 'trainer', container_id: '0123456789ab' }
type State = 'reaches' | 'cgroup' | 'node' | 'half' | 'unknown' | 'ended'

function scrapesOf(second: number, state: State): readonly Scrape[] {
  const t = T + second * 1_000
  const of = (gpu: number, accessible: number, node: number) => [
    reading('container_gpu_accessible', { ...BOX, gpu: String(gpu), uuid: uuid(gpu) }, accessible),
    reading('container_gpu_node', { ...BOX, gpu: String(gpu), uuid: uuid(gpu) }, node),
  ]
  const reported = {
    reaches: () => [...of(0, 1, 1), ...of(1, 1, 1)],
    cgroup: () => [...of(0, 0, 1), ...of(1, 0, 1)],
    node: () => [...of(0, 0, 0), ...of(1, 0, 0)],
    half: () => [...of(0, 1, 1), ...of(1, 0, 0)],
    unknown: () => [],
    ended: () => [],
  }[state]()
  return [
    { ...group(t, '', reported, [], 'device-access'), ttlMs: 5_000 },
    group(t, 'identity', state === 'ended' ? [] : [reading('container_info', { ...BOX, state: 'running' }, 1)], [], 'containers'),
  ]
}
const run = (seconds: number, state: (second: number) => State) =>
  watch(seconds, (second) => ({ more: scrapesOf(second, state(second)) }), { definitions: [containerLostGpu] })

describe('container_lost_gpu', () => {
  test('the device cgroup of a running container: told with its name and GPUs, over when it may again', () => {
    const turns = run(60, (second) => (second < 10 || second >= 40 ? 'reaches' : 'cgroup'))
    expect(story(turns)).toEqual(['15 container_lost_gpu trainer critical', '45 container_lost_gpu trainer healthy'])
    expect(turns[0]?.fault).toMatchObject({ title: 'Container trainer lost its GPUs', facts: { gpus_lost: ['0', '1'] }, about: { container: 'trainer' } })
    expect(turns[0]?.fault?.verdict).toContain('systemctl daemon-reload')
    expect(turns[0]?.fault?.remedies.some(({ command }) => command === 'docker restart trainer')).toBe(true)
  })

  test('the node of one GPU of two', () => {
    const [turn] = run(30, (second) => (second < 10 ? 'reaches' : 'half'))
    expect(turn?.fault).toMatchObject({ title: 'Container trainer lost GPU 1', facts: { gpus_lost: ['1'] } })
    expect(turn?.fault?.verdict).toContain('device node in its /dev is gone')
  })

  test('what cannot be read any more is not well, a container that has ended is over', () => {
    expect(story(run(600, (second) => (second < 20 ? 'node' : 'unknown')))).toEqual(['5 container_lost_gpu trainer critical'])
    const turns = run(100, (second) => (second < 20 ? 'node' : 'ended'))
    expect(story(turns)).toEqual(['5 container_lost_gpu trainer critical', '50 container_lost_gpu trainer healthy'])
    expect(turns[1]?.why).toBe('the container has ended')
  })

  test.each<[name: string, state: (second: number) => State]>([
    ['a container with its GPUs', () => 'reaches'],
    ['an access that is gone for four seconds: a reload that mends itself', (second) => (second >= 10 && second < 14 ? 'cgroup' : 'reaches')],
    ['rules that cannot be read', () => 'unknown'],
    ['a container that ends', (second) => (second < 20 ? 'reaches' : 'ended')],
  ])('quiet: %s', (_, state) => {
    expect(story(run(200, state))).toEqual([])
  })

  test.each([
    ['before', 4],
    ['after', 12],
  ])('the line of its log that comes %s it is of the same incident, whose root it is', (_, at) => {
    const found = new Map<string, Incident>()
    const diagnosis = createHeardDiagnosis({
      judge: createLogJudge(logScanner()).judge,
      detection: createDetection({ definitions: [containerLostGpu] }),
      hostname: 'gpu-host',
      onChange: (incident) => found.set(incident.id, incident),
    })
    for (let second = 0; second < 60; second++) {
      for (const event of scrapesOf(second, second < 40 ? 'cgroup' : 'reaches')) diagnosis.ingest(event)
      if (second !== at) continue
      const origin = { container: 'trainer', container_id: '0123456789ab' }
      diagnosis.ingest({ type: 'log', t: T + at * 1_000 + 500, stream: 'container', origin, text: 'Failed to initialize NVML: Unknown Error' })
    }
    diagnosis.flush()
    expect([...found.values()].map(({ kind, status, subject }) => [kind, status, subject.container?.name])).toEqual([
      ['container_lost_gpu', 'resolved', 'trainer'],
    ])
    expect([...found.values()][0]?.consequences.map(({ kind }) => kind)).toEqual(['nvml_unknown_error'])
  })
})
