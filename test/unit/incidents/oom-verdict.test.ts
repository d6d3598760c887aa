// The verdict of an out-of-memory incident: PyTorch's own figures before the message's, neighbours by name, what grew before, remedies with numbers.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { AllocatorOom, AllocatorSample, Event } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { box, createScene, happened, line, only, reading, scrape, T, uuid, type Scene } from './scene.ts'

const GIB = 2 ** 30
const MIB = 2 ** 20
const TOTAL = 24 * GIB
const CONTEXT = 600 * MIB
const trainer = box('trainer', [0])
const notebook = box('notebook', [0])
const TRAINER = 4_242
const NOTEBOOK = 5_555

type Second = { readonly allocated: number; readonly reserved: number; readonly notebook?: number; readonly outside?: number; readonly probe?: boolean }

const holds = (pid: number, { name, id }: typeof trainer, bytes: number) =>
  reading('process_gpu_memory_bytes', { gpu: '0', uuid: uuid(0), pid: String(pid), process: 'python', container: name, container_id: id }, bytes)

/** One second of a GPU with a job on it, and perhaps a neighbour. */
function secondOf(
  t: number,
  { allocated, reserved, notebook: other = 0, outside = 0, probe = true }: Second,
  more: Partial<AllocatorSample> = {},
  neighbour = NOTEBOOK,
): readonly Event[] {
  const used = reserved + CONTEXT + outside + other
  const place = { gpu: '0', uuid: uuid(0) }
  return [
    scrape(t, 'gpu', [reading('gpu_memory_used_bytes', place, used), reading('gpu_memory_free_bytes', place, TOTAL - used)]),
    scrape(t, 'processes', [holds(TRAINER, trainer, reserved + CONTEXT + outside), ...(other === 0 ? [] : [holds(neighbour, notebook, other)])]),
    ...(probe
      ? [
          {
            type: 'allocator' as const,
            t: t + 400,
            pid: TRAINER,
            uuid: uuid(0),
            container: 'trainer',
            backend: 'native' as const,
            expandable: false,
            limit_bytes: null,
            stats: { allocated_bytes: allocated, reserved_bytes: reserved, inactive_split_bytes: 0 },
            ...more,
          },
        ]
      : []),
  ]
}
const minutes = (scene: Scene, count: number, at: (minute: number) => Second, more: Partial<AllocatorSample> = {}): number => {
  for (let second = 0; second < count * 60; second++) scene.feed(...secondOf(T + second * 1_000, at(second / 60), more))
  return T + count * 60_000
}
const oomOf = (t: number, allocated: number, reserved: number, request: number, free: number, limit = TOTAL): AllocatorOom => ({
  type: 'allocator_oom',
  t,
  pid: TRAINER,
  uuid: uuid(0),
  container: 'trainer',
  request_bytes: request,
  limit_bytes: limit,
  free_bytes: free,
  stats: { allocated_bytes: allocated, reserved_bytes: reserved, num_ooms: 1 },
})
const gib = (bytes: number): string => `${(bytes / GIB).toFixed(2)} GiB`
const message = (allocated: number, reserved: number, request: number, free: number, processes = ''): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${gib(request)}. GPU 0 has a total capacity of ${gib(TOTAL)} of which ${gib(free)} is free. ${processes}` +
  `Of the allocated memory ${gib(allocated)} is allocated by PyTorch, and ${gib(reserved - allocated)} is reserved by PyTorch but unallocated.`
const texts = ({ remedies }: Incident): string => remedies.map(({ text, command = '' }) => `${text} ${command}`).join('\n')

describe('the verdict of an OOM', () => {
  test('names the neighbour that grew, with pid, container and bytes, and is of PyTorch’s own figures', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const t = minutes(scene, 20, (minute) => ({ allocated: 8 * GIB, reserved: 9 * GIB, notebook: (2 + 0.6 * minute) * GIB }))
    const free = TOTAL - 9 * GIB - CONTEXT - 14 * GIB
    scene.feed(oomOf(t, 8 * GIB, 9 * GIB, 2 * GIB, free), line(t + 5, trainer, message(8 * GIB, 9 * GIB, 2 * GIB, free)), happened(t + 900, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('other_process')
    expect(incident.facts).toMatchObject({ requested_bytes: 2 * GIB, free_bytes: free, allocated_bytes: 8 * GIB, other_processes: [{ pid: NOTEBOOK }] })
    expect(incident.verdict).toMatch(/notebook.*5555.*grew by.*PyTorch's own/s)
    expect(texts(incident)).toMatch(/Move container notebook, process 5555.*were lacking/)
    expect(incident.count).toBe(1)
  })

  test('failing again names whom it finds then, not who was there the first time', () => {
    const scene = createScene()
    const state = { allocated: 8 * GIB, reserved: 9 * GIB, notebook: 14 * GIB }
    const free = TOTAL - 9 * GIB - CONTEXT - 14 * GIB
    const t = minutes(scene, 6, () => state)
    const fail = (at: number) =>
      scene.feed(
        oomOf(at, 8 * GIB, 9 * GIB, 2 * GIB, free),
        line(at + 5, trainer, message(8 * GIB, 9 * GIB, 2 * GIB, free)),
        happened(at + 900, 'die', trainer, 1),
      )
    fail(t)
    for (let second = 1; second <= 30; second++) scene.feed(...secondOf(t + second * 1_000, state, {}, NOTEBOOK + 1))
    fail(t + 31_000)
    const incident = only(scene)
    expect(incident.count).toBe(2)
    expect(incident.facts.other_processes).toEqual([{ pid: NOTEBOOK + 1, bytes: 14 * GIB }])
    expect(texts(incident)).toContain(`ps -o pid,user,lstart,args -p ${NOTEBOOK + 1}`)
  })

  test.each([14, 10])('does not count a neighbour of %i GiB together with the one that took its place', (gib) => {
    const scene = createScene()
    const state = { allocated: 8 * GIB, reserved: 9 * GIB, notebook: gib * GIB }
    const free = TOTAL - 9 * GIB - CONTEXT - gib * GIB
    const t = minutes(scene, 6, () => state)
    for (let second = 0; second < 5; second++) scene.feed(...secondOf(t + second * 1_000, state, {}, NOTEBOOK + 1))
    scene.feed(oomOf(t + 4_500, 8 * GIB, 9 * GIB, 8 * GIB, free), line(t + 4_505, trainer, message(8 * GIB, 9 * GIB, 8 * GIB, free)))
    scene.feed(happened(t + 5_400, 'die', trainer, 1))
    expect(only(scene).facts.other_processes).toEqual([{ pid: NOTEBOOK + 1, bytes: gib * GIB }])
  })

  test('gives no hourly rate for what came at once, and a container the host’s GPU with the most room instead of a number to set inside', () => {
    const scene = createScene()
    const other = { gpu: '3', uuid: uuid(3) }
    const t = minutes(scene, 12, () => ({ allocated: 8 * GIB, reserved: 9 * GIB, notebook: 2 * GIB }))
    for (let second = 0; second < 20; second++)
      scene.feed(
        ...secondOf(t + second * 1_000, { allocated: 8 * GIB, reserved: 9 * GIB, notebook: 14 * GIB }),
        scrape(t + second * 1_000, 'gpu', [reading('gpu_memory_used_bytes', other, GIB), reading('gpu_memory_free_bytes', other, 23 * GIB)]),
      )
    scene.feed(oomOf(t + 20_000, 8 * GIB, 9 * GIB, 2 * GIB, TOTAL - 23 * GIB - CONTEXT), happened(t + 20_900, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.verdict).toContain('grew by 12.00 GiB, most of it within the last minute before.')
    expect(texts(incident)).toContain('--gpus device=3')
    expect(texts(incident)).toContain('GPU 3 of this host has the most free memory now (23.00 GiB)')
    expect(texts(incident)).not.toContain('export CUDA_VISIBLE_DEVICES')
  })

  test('calls a growing job too large though pieces lie about, and says by how much', () => {
    const scene = createScene()
    const t = minutes(scene, 40, (minute) => ({ allocated: (8 + 0.3 * minute + (Math.floor(minute * 60) % 5) * 0.2) * GIB, reserved: 21 * GIB }))
    const [allocated, reserved] = [20 * GIB, 23 * GIB]
    scene.feed(oomOf(t, allocated, reserved, GIB, 100 * MIB), happened(t + 500, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes).toEqual(['capacity', 'fragmentation'])
    expect(incident.verdict).toMatch(/in use grew by .* an hour.*Without the pieces.*later/s)
    expect(texts(incident)).toContain('look for tensors that are kept')
  })

  test('calls it fragmentation where the same job had more in use before and fitted', () => {
    const scene = createScene()
    const t = minutes(scene, 30, (minute) => ({ allocated: (10 + (Math.floor(minute * 60) % 6)) * GIB, reserved: 20 * GIB }))
    scene.feed(oomOf(t, 12 * GIB, 23 * GIB, 2 * GIB, 200 * MIB), happened(t + 500, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes).toEqual(['fragmentation'])
    expect(incident.verdict).toContain('did not grow before')
    expect(texts(incident)).toContain('expandable_segments:True')
  })

  test('does not advise expandable segments where they are on', () => {
    const scene = createScene()
    const t = minutes(scene, 10, () => ({ allocated: 14 * GIB, reserved: 20 * GIB }), { expandable: true })
    scene.feed(oomOf(t, 12 * GIB, 23 * GIB, 2 * GIB, 200 * MIB), happened(t + 500, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('fragmentation')
    expect(texts(incident)).toContain('is on already')
    expect(texts(incident)).not.toContain('export PYTORCH_CUDA_ALLOC_CONF')
  })

  test('finds the fraction that the message does not print, and the one that would have been enough', () => {
    const limit = 12 * GIB
    const scene = createScene()
    const t = minutes(scene, 10, () => ({ allocated: 10 * GIB, reserved: 11 * GIB }), { limit_bytes: limit })
    const free = TOTAL - 11 * GIB - CONTEXT
    scene.feed(oomOf(t, 10.9 * GIB, 11 * GIB, 2 * GIB, free, limit), line(t + 5, trainer, message(10.9 * GIB, 11 * GIB, 2 * GIB, free)))
    const incident = only(scene)
    expect(incident.facts).toMatchObject({ causes: ['fraction_cap'], allowed_bytes: limit, total_bytes: TOTAL })
    expect(texts(incident)).toContain('at least 0.55')
  })

  test('says what lies outside PyTorch where that grew', () => {
    const scene = createScene()
    const t = minutes(scene, 30, (minute) => ({ allocated: 10 * GIB, reserved: 11 * GIB, outside: 0.4 * minute * GIB }))
    const free = TOTAL - 11 * GIB - CONTEXT - 12 * GIB
    scene.feed(oomOf(t, 10.5 * GIB, 11 * GIB, 3 * GIB, free), happened(t + 500, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('non_pytorch_memory')
    expect(incident.verdict).toMatch(/outside PyTorch.*grew by/s)
  })

  test('of a single request that no such card can hold names the request', () => {
    const scene = createScene()
    const t = minutes(scene, 3, () => ({ allocated: 4 * GIB, reserved: 5 * GIB }))
    scene.feed(oomOf(t, 4 * GIB, 4.5 * GIB, 60 * GIB, 18 * GIB), happened(t + 500, 'die', trainer, 1))
    expect(only(scene).facts.causes).toEqual(['oversized_request'])
  })

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

  test('names the batch that would have fitted where the log names the batch', () => {
    const scene = createScene()
    const t = minutes(scene, 12, (minute) => ({ allocated: (Math.floor(minute * 60) % 2 === 0 ? 6 : 20) * GIB, reserved: 21 * GIB }))
    scene.feed(
      line(t - 10, trainer, 'epoch 3 batch_size=32'),
      oomOf(t, 20 * GIB, 20.5 * GIB, 4 * GIB, 2.9 * GIB),
      line(t + 5, trainer, message(20 * GIB, 20.5 * GIB, 4 * GIB, 2.9 * GIB)),
    )
    // 1.1 GiB were lacking of the 18 above the floor of 6: 7 % with a margin.
    expect(texts(only(scene))).toMatch(/about 7 % smaller would have fitted, 29 instead of 32/)
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
    expect(incident.verdict).toMatch(/driver counted 5\.\d+ GiB for this process just before, and 17\.00 GiB for container notebook, process 5555/)
    expect(incident.facts.other_processes).toEqual([{ pid: NOTEBOOK, bytes: 17 * GIB }])
  })
})
