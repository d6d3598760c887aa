// Whose figures an out-of-memory incident tells: PyTorch's own before the message's, the driver's beside words without any.
import { describe, expect, test } from 'vitest'
import { GIB, MIB, TOTAL, trainer, TRAINER, NOTEBOOK, minutes, oomOf, gib, message } from './oom-scene.ts'
import { box, createScene, happened, line, only, T, uuid } from './scene.ts'

describe('an OOM as it is told', () => {
  test('without a probe is of the message, with the batch that would have fitted left open and the neighbours from the driver', () => {
    const scene = createScene()
    const t = minutes(scene, 5, () => ({ allocated: 0, reserved: 20 * GIB, probe: false }))
    const listed = `Process ${TRAINER} has ${gib(20.6 * GIB)} memory in use. `
    scene.feed(line(t, trainer, message(19.5 * GIB, 20 * GIB, 4 * GIB, 3.4 * GIB, listed)))
    const incident = only(scene)
    expect(incident.facts.causes).toEqual(['capacity'])
    expect(incident.verdict).toContain('from the message')
    // Inside a container PyTorch does not know itself in the list.
    expect(incident.facts.process_bytes).toBeCloseTo(20.6 * GIB, -8)
    expect(incident.facts.other_processes).toBeUndefined()
  })

  test.each(['probe', 'log'])('is of the host’s GPU under one title where the %s tells it first, and again with the last failure’s figures', (first) => {
    const scene = createScene()
    const third = box('trainer', [3], { pids: [TRAINER] })
    const fails = (t: number, asked: number): void => {
      const probe = { ...oomOf(t, 20 * GIB, 21 * GIB, asked * GIB, 2 * GIB), uuid: uuid(3) }
      const log = line(t + 5, third, message(20 * GIB, 21 * GIB, asked * GIB, 2 * GIB))
      scene.feed(...(first === 'probe' ? [probe, log] : [log, probe]), happened(t + 900, 'die', third, 1))
    }
    const t = scene.pass(T, 20, [third])
    fails(t, 4)
    const alone = only(scene)
    expect(alone.title).toBe('trainer ran out of memory on GPU 3: it needs more than 24.0 GiB')
    expect(alone.verdict).toMatch(/^PyTorch asked for 4 GiB on GPU 3\b.* and 2 GiB was free\./)
    fails(scene.pass(t, 90, [third]), 3)
    const reported = only(scene)
    expect(reported.count).toBe(2)
    expect(reported.title).toBe(alone.title)
    expect(reported.verdict).toMatch(/^PyTorch asked for 3 GiB on GPU 3\b.* and 2 GiB was free\./)
  })

  test('that nothing but the probe and the end of its container tell names the host’s GPU', () => {
    const scene = createScene()
    const third = box('trainer', [3], { pids: [TRAINER] })
    const t = scene.pass(T, 20, [third])
    scene.feed({ ...oomOf(t, 20 * GIB, 21 * GIB, 4 * GIB, 2 * GIB), uuid: uuid(3) }, happened(t + 900, 'die', third, 1))
    const { title, verdict } = only(scene)
    expect(title).toBe('trainer ran out of memory on GPU 3: it needs more than 24.0 GiB')
    expect(verdict).toMatch(/^PyTorch asked for 4 GiB on GPU 3 and 2 GiB was free\./)
  })

  test('shows the words of a failure that comes late, as the figures are of it', () => {
    const scene = createScene()
    const t = minutes(scene, 2, () => ({ allocated: 20 * GIB, reserved: 21 * GIB }))
    const failing = (at: number, asked: number) => scene.feed(line(at, trainer, message(20 * GIB, 21 * GIB, asked * GIB, 2 * GIB)))
    failing(t, 4)
    failing(scene.pass(t, 60, [trainer]), 3)
    const { facts, evidence, count } = only(scene)
    expect(count).toBe(2)
    expect(facts.requested_bytes).toBe(3 * GIB)
    expect(evidence.log_lines.filter(({ matched }) => matched).map(({ text }) => /allocate (\S+) GiB/.exec(text)?.[1])).toEqual(['4.00', '3.00'])
  })

  test('PyTorch’s warning and its exception are one failure', () => {
    const scene = createScene()
    const t = minutes(scene, 2, () => ({ allocated: 20 * GIB, reserved: 21 * GIB }))
    const warning = `[W1120 10:00:00.000000000 CUDACachingAllocator.cpp:3933] memory allocation failed with OOM on device 0 while trying to allocate ${4 * GIB} bytes (free: ${2 * GIB}, total: ${TOTAL}).`
    const error = message(20 * GIB, 21 * GIB, 4 * GIB, 2 * GIB)
    scene.feed(line(t, trainer, warning), line(t + 20, trainer, error))
    expect(only(scene).count).toBe(1)
    // Ten seconds later the next attempt is another failure.
    scene.feed(line(t + 10_000, trainer, warning), line(t + 10_020, trainer, error))
    expect(only(scene).count).toBe(2)
  })

  test('does not take the figures of a failure that the program caught just before', () => {
    const scene = createScene()
    const t = minutes(scene, 3, () => ({ allocated: 12 * GIB, reserved: 13 * GIB }))
    scene.feed(oomOf(t, 12 * GIB, 13 * GIB, 12 * GIB, 9 * GIB), line(t + 3_000, trainer, message(20 * GIB, 21 * GIB, 4 * GIB, 2 * GIB)))
    const { facts, verdict } = only(scene)
    expect(facts).toMatchObject({ requested_bytes: 4 * GIB, free_bytes: 2 * GIB, allocated_bytes: 20 * GIB })
    expect(verdict).toContain('from the message')
  })

  test('in a MIG instance is not taken for a fraction, nor are the other tenants for neighbours', () => {
    const scene = createScene()
    const t = minutes(scene, 10, () => ({ allocated: 4 * GIB, reserved: 4.3 * GIB, notebook: 12 * GIB }), { mig_uuid: 'MIG-1' })
    scene.feed({ ...oomOf(t, 4 * GIB, 4.3 * GIB, GIB, 100 * MIB, 5 * GIB), mig_uuid: 'MIG-1' }, happened(t + 500, 'die', trainer, 1))
    const { facts, verdict } = only(scene)
    expect(facts).toMatchObject({ causes: ['capacity'], total_bytes: 5 * GIB })
    expect(facts.allowed_bytes).toBeUndefined()
    expect(verdict).not.toContain('notebook')
  })

  test('words without figures stand beside what the driver counted', () => {
    const scene = createScene()
    const t = minutes(scene, 2, () => ({ allocated: 0, reserved: 5 * GIB, notebook: 17 * GIB, probe: false }))
    scene.feed(line(t, trainer, 'RuntimeError: CUDA error: out of memory'))
    const incident = only(scene)
    expect(incident.verdict).toMatch(/driver counted 5\.\d+ GiB for this process just before, and 17 GiB for container notebook, process 5555/)
    expect(incident.facts.other_processes).toEqual([{ pid: NOTEBOOK, bytes: 17 * GIB }])
  })
})
