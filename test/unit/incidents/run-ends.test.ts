// How a container's run ended, from its last lines and the engine's word: whichever comes first.
import { expect, test } from 'vitest'
import type { LogTail } from '../../../agent/model/event.ts'
import { box, createScene, happened, line, oomText, only, T, type Box } from './scene.ts'

const tail = (t: number, { name, id }: Box, lines: readonly string[]): LogTail => ({
  type: 'log_tail',
  t,
  origin: { container: name, container_id: id },
  lines,
})
const TRACEBACK = [
  'step 400 loss 1.2',
  'Traceback (most recent call last):',
  '  File "/app/finetune.py", line 131, in <module>',
  '    main(config)',
  '  File "/app/finetune.py", line 88, in main',
  '    rate = config["learning_rate"]',
  "KeyError: 'learning_rate'",
]

test.each([
  ['the log first', [0, 10]],
  ['the engine first', [10, 0]],
])('an exception that nothing caught, with the line of the user: %s', (_, [tailAt = 0, diedAt = 0]) => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  const events = [tail(t + tailAt, trainer, TRACEBACK), happened(t + diedAt, 'die', trainer, 1)]
  scene.feed(...events.toSorted((a, b) => a.t - b.t))
  const incident = only(scene)
  expect(incident).toMatchObject({ kind: 'python_exception', severity: 'critical', facts: { exception: 'KeyError', frame: 'finetune.py:88' } })
  expect(incident.subject.container?.name).toBe('trainer')
})

test('the log comes late, as an engine on a busy host gives it: judged then', () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  scene.feed(happened(t, 'die', trainer, 1))
  const late = scene.pass(t, 20, [])
  expect(scene.diagnosis.firing()).toEqual([])
  scene.feed(tail(late, trainer, TRACEBACK))
  expect(only(scene)).toMatchObject({ kind: 'python_exception', facts: { exception: 'KeyError' } })
})

test('a reading that was begun before the end and told after it does not end the wait for the log', () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  scene.feed(happened(t + 1_005, 'die', trainer, 1))
  scene.pass(t, 1, [trainer])
  scene.feed(tail(t + 1_500, trainer, TRACEBACK))
  expect(only(scene)).toMatchObject({ kind: 'python_exception' })
})

test('an engine that answers late: its event names the container for which an id stands in, and a later list without the name does not take it away', () => {
  const scene = createScene()
  const trainer = box('trainer', [])
  const unnamed = { ...trainer, name: trainer.id }
  const t = scene.pass(T, 5, [unnamed])
  scene.feed(happened(t, 'start', trainer))
  scene.pass(t, 1, [unnamed])
  scene.feed(tail(t + 1_010, unnamed, TRACEBACK), happened(t + 1_020, 'die', trainer, 1))
  expect(only(scene).subject.container).toMatchObject({ name: 'trainer', id: trainer.id })
})

test('read to its end before the engine tells of its start, as one that ends at once may be', () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  scene.feed(tail(t + 40, trainer, TRACEBACK), happened(t + 5, 'start', trainer), happened(t + 20, 'die', trainer, 1))
  expect(only(scene)).toMatchObject({ kind: 'python_exception' })
})

test('what an earlier run said last is not the end of this one', () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  scene.feed(tail(t, trainer, TRACEBACK), happened(t + 10, 'start', trainer), happened(t + 20, 'die', trainer, 1))
  scene.pass(t + 20, 70, [])
  expect(scene.diagnosis.firing()).toEqual([])
})

test('a container without a GPU is told too, but wakes nobody', () => {
  const scene = createScene()
  const web = box('web', [])
  const t = scene.pass(T, 5, [web])
  scene.feed(tail(t, web, TRACEBACK), happened(t + 5, 'die', web, 1))
  expect(only(scene)).toMatchObject({ kind: 'python_exception', severity: 'info' })
})

test('a signal alone, after the log did not come', () => {
  const scene = createScene()
  const trainer = box('trainer', [0])
  const t = scene.pass(T, 5, [trainer])
  scene.feed(happened(t, 'die', trainer, 139))
  expect(scene.diagnosis.firing()).toEqual([])
  scene.pass(t, 8, [trainer])
  expect(only(scene)).toMatchObject({ kind: 'segfault', facts: { exit_code: 139 } })
})

test('silent: exit 0 with a quoted traceback, a container that was stopped, an OOM that the log told of already', () => {
  const scene = createScene()
  const [well, stopped, oom] = [box('well', [0]), box('stopped', [1]), box('oom', [2], { pids: [4_000] })]
  const t = scene.pass(T, 5, [well, stopped, oom])
  scene.feed(
    tail(t, well, TRACEBACK),
    happened(t + 1, 'die', well, 0),
    happened(t + 2, 'kill', stopped),
    tail(t + 3, stopped, TRACEBACK),
    happened(t + 4, 'die', stopped, 143),
    line(t + 5, oom, `torch.OutOfMemoryError: ${oomText()}`),
    tail(t + 6, oom, ['Traceback (most recent call last):', '  File "/app/a.py", line 1, in <module>', `torch.OutOfMemoryError: ${oomText()}`]),
    happened(t + 7, 'die', oom, 1),
  )
  scene.pass(t, 10, [well, stopped, oom])
  expect(scene.diagnosis.firing().map(({ kind, subject }) => `${kind} ${subject.container?.name}`)).toEqual(['cuda_oom oom'])
})
