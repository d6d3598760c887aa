// An uncaught exception comes from the probe and, mostly, from the program's own log: one crash is one incident, and counts once.
import { describe, expect, test } from 'vitest'
import type { AllocatorOom, LogLine } from '../../../agent/model/event.ts'
import { box, createScene, happened, line, oomText, only, T, uuid, type Box } from './scene.ts'

const reported = (t: number, { name, id }: Box, pid: number, text: string): LogLine => ({
  type: 'log',
  t,
  stream: 'container',
  origin: { container: name, container_id: id, path: `probe:${pid}` },
  text,
})
const oom = (t: number, pid: number, container?: string): AllocatorOom => ({
  type: 'allocator_oom',
  t,
  pid,
  uuid: uuid(0),
  ...(container === undefined ? {} : { container }),
  request_bytes: 2 ** 31,
  free_bytes: 2 ** 30,
  stats: { allocated_bytes: 5, reserved_bytes: 9 },
})

describe.each([
  ['the probe first', 0, 80],
  ['the log first', 80, 0],
])('%s', (_, byProbe, byLog) => {
  test('the OOM that the probe saw, the exception that it saw and the line of the log are one', () => {
    const scene = createScene()
    const trainer = box('trainer', [0], { pids: [4_000] })
    const t = scene.pass(T, 5, [trainer])
    const events = [
      { at: -10, event: oom(t - 10, 4_000, 'trainer') },
      { at: byProbe, event: reported(t + byProbe, trainer, 4_000, `OutOfMemoryError: ${oomText()}`) },
      { at: byLog, event: line(t + byLog, trainer, `torch.OutOfMemoryError: ${oomText()}`) },
      { at: 200, event: happened(t + 200, 'die', trainer, 1) },
    ]
    scene.feed(...events.toSorted((a, b) => a.at - b.at).map(({ event }) => event))
    const incident = only(scene)
    expect(incident).toMatchObject({ kind: 'cuda_oom', status: 'firing', count: 1 })
    expect(incident.subject).toMatchObject({ container: { name: 'trainer' }, process: { pid: 4_000 }, gpu: { uuid: uuid(0) } })
    expect(scene.diagnosis.figures().totals.get('cuda_oom')).toBe(1)
  })
})

test('where no log is read, the exception alone makes the incident of what the probe saw', () => {
  const scene = createScene()
  const trainer = box('trainer', [0], { pids: [4_000] })
  const t = scene.pass(T, 5, [trainer])
  scene.feed(oom(t, 4_000, 'trainer'))
  expect(scene.diagnosis.figures().firing).toEqual([])
  scene.feed(reported(t + 50, trainer, 4_000, `OutOfMemoryError: ${oomText()}`))
  expect(only(scene)).toMatchObject({ kind: 'cuda_oom', count: 1, status: 'firing' })
})

test('a program on the host: the probe’s OOM and its exception are one by the pid', () => {
  const scene = createScene()
  const t = scene.pass(T, 5, [])
  scene.feed(oom(t, 5_000), { type: 'log', t: t + 50, stream: 'file', origin: { path: 'probe:5000' }, text: `OutOfMemoryError: ${oomText()}` })
  const incident = only(scene)
  expect(incident).toMatchObject({ kind: 'cuda_oom', count: 1, facts: { pid: 5_000 } })
})

test('two crashes count twice, by whichever way', () => {
  const scene = createScene()
  const trainer = box('trainer', [0], { pids: [4_000] })
  let t = T
  for (let round = 0; round < 2; round++) {
    t = scene.pass(t, 30, [trainer])
    scene.feed(reported(t, trainer, 4_000, `OutOfMemoryError: ${oomText()}`), line(t + 20, trainer, oomText()), happened(t + 90, 'die', trainer, 1))
  }
  expect(only(scene).count).toBe(2)
})
