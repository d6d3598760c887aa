// The verdict of an out-of-memory incident: neighbours by name, what grew before, remedies with numbers.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { GIB, MIB, TOTAL, CONTEXT, gib, trainer, NOTEBOOK, TRAINER, secondOf, minutes, oomOf, message, texts } from './oom-scene.ts'
import type { Event } from '../../../agent/model/event.ts'
import { createScene, happened, line, only, reading, scrape, T, uuid } from './scene.ts'

const GPU_IDLE = [reading('gpu_memory_used_bytes', { gpu: '0', uuid: uuid(0) }, 0), reading('gpu_memory_free_bytes', { gpu: '0', uuid: uuid(0) }, TOTAL)]
const SECOND_RUN = 4_343
const HELPER = 4_444
/** The same second of the next run of the container, which has another pid. */
function renamed(event: Event): Event {
  if (event.type === 'allocator') return { ...event, pid: SECOND_RUN }
  if (event.type !== 'scrape' || event.source !== 'processes') return event
  const bytes = event.readings[0]?.value ?? 0
  const labels = { gpu: '0', uuid: uuid(0), pid: String(SECOND_RUN), process: 'python', container: trainer.name, container_id: trainer.id }
  return scrape(event.t, 'processes', [reading('process_gpu_memory_bytes', labels, bytes)])
}

describe('the verdict of an OOM', () => {
  test('names the neighbour that grew, with pid, container and bytes, and is of PyTorch’s own figures', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const t = minutes(scene, 20, (minute) => ({ allocated: 8 * GIB, reserved: 9 * GIB, notebook: (2 + 0.6 * minute) * GIB }))
    const free = TOTAL - 9 * GIB - CONTEXT - 14 * GIB
    scene.feed(oomOf(t, 8 * GIB, 9 * GIB, 2 * GIB, free), line(t + 5, trainer, message(8 * GIB, 9 * GIB, 2 * GIB, free)), happened(t + 900, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('other_process')
    expect(incident.facts).toMatchObject({ requested_bytes: 2 * GIB, free_bytes: free, allocated_bytes: 8 * GIB, other_processes: [{ pid: NOTEBOOK }] })
    expect(incident.verdict).toMatch(/notebook.*5555.*took .*reported by PyTorch/s)
    expect(texts(incident)).toMatch(/Move container notebook, process 5555.*the job was .* short/)
    expect(incident.count).toBe(1)
  })

  test('does not advise to move away what the same container started', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const holders: readonly (readonly [pid: number, bytes: number])[] = [
      [TRAINER, 9 * GIB + CONTEXT],
      [HELPER, 14 * GIB],
    ]
    const held = holders.map(([pid, bytes]) => {
      const labels = { gpu: '0', uuid: uuid(0), pid: String(pid), process: 'python', container: trainer.name, container_id: trainer.id }
      return reading('process_gpu_memory_bytes', labels, bytes)
    })
    const helper = (t: number): Event => scrape(t, 'processes', held)
    const free = TOTAL - 9 * GIB - CONTEXT - 14 * GIB
    for (let second = 0; second < 300; second++) {
      const at = T + second * 1_000
      scene.feed(...secondOf(at, { allocated: 8 * GIB, reserved: 9 * GIB, outside: 14 * GIB }).filter(({ type }) => type !== 'scrape'), helper(at))
    }
    const t = T + 300_000
    const listed = `Process ${HELPER} has 14.00 GiB memory in use. Including non-PyTorch memory, this process has ${gib(9 * GIB + CONTEXT)} memory in use. `
    scene.feed(line(t, trainer, message(8 * GIB, 9 * GIB, 2 * GIB, free, listed)), happened(t + 900, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('other_process')
    expect(incident.verdict).toContain(`Process ${HELPER} of the same container holds 14 GiB`)
    expect(incident.title).toContain(`process ${HELPER} holds 14.0 GiB`)
    expect(texts(incident)).toContain(`Look what process ${HELPER} of the same container does`)
    expect(texts(incident)).not.toContain('Move ')
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

  test('names the KV cache that a server keeps on the same card, and the share that would have left room', () => {
    const scene = createScene()
    const t = minutes(scene, 12, () => ({ allocated: 8 * GIB, reserved: 9 * GIB, notebook: 13 * GIB }))
    const server = { name: 'chat', container: 'chat', pid: '7', gpu: '0' }
    scene.feed(
      scrape(t, 'inference-servers', [
        reading('inference_server_info', { ...server, server: 'vllm', memory_share: '0.55' }, 1),
        reading('inference_memory_bytes', { ...server, part: 'kv_cache', source: 'log' }, 9.5 * GIB),
      ]),
      ...secondOf(t, { allocated: 8 * GIB, reserved: 9 * GIB, notebook: 13 * GIB }),
    )
    scene.feed(oomOf(t + 1_000, 8 * GIB, 9 * GIB, 2 * GIB, TOTAL - 22 * GIB - CONTEXT), happened(t + 1_900, 'die', trainer, 1))
    // 2 GiB asked for and 1 GiB of margin are an eighth of 24 GiB: 0.42 is the next lower hundredth.
    expect(only(scene).verdict).toContain('The KV cache of chat was given 9.5 GiB by gpu_memory_utilization 0.55; 0.42 would leave 3.12 GiB to others.')
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
    expect(incident.verdict).toContain('took 12 GiB, most of it within the last minute.')
    expect(texts(incident)).toContain('--gpus device=3')
    expect(texts(incident)).toContain('GPU 3 of this host has the most free memory now (23 GiB)')
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

  test('says what is outside PyTorch where that grew', () => {
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

  test('names the batch that would have fitted where the log names the batch', () => {
    const scene = createScene()
    const t = minutes(scene, 12, (minute) => ({ allocated: (Math.floor(minute * 60) % 2 === 0 ? 6 : 20) * GIB, reserved: 21 * GIB }))
    scene.feed(
      line(t - 10, trainer, 'epoch 3 batch_size=32'),
      oomOf(t, 20 * GIB, 20.5 * GIB, 4 * GIB, 2.9 * GIB),
      line(t + 5, trainer, message(20 * GIB, 20.5 * GIB, 4 * GIB, 2.9 * GIB)),
    )
    // 1.1 GiB were lacking of the 18 above the floor of 6: 7 % with a margin.
    expect(texts(only(scene))).toMatch(/about 7 % smaller: it would have fitted, 29 instead of 32/)
  })

  test('of what came in the last minutes alone says so, and promises nothing of a smaller batch', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const rising = (minute: number): number => (8 + (minute > 12 ? 5 * (minute - 12) : 0)) * GIB
    const t = minutes(scene, 14.5, (minute) => ({ allocated: rising(minute), reserved: rising(minute) + GIB }))
    scene.feed(line(t - 10, trainer, 'batch_size=32'), oomOf(t, 20.5 * GIB, 21.5 * GIB, 3 * GIB, 1.9 * GIB), happened(t + 900, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.facts.causes?.[0]).toBe('capacity')
    expect(incident.verdict).toMatch(
      /What the job has in use rose by 12(?:\.\d)? GiB above its highest of the 11 min before, most of it within the last 3 min\./,
    )
    expect(incident.remedies[0]?.text).toMatch(/^Look for what the job began to do in its last 3 min: tensors that are kept/)
    expect(texts(incident)).not.toContain('would have fitted')
  })

  test.each([
    ['it has had as much before', (minute: number) => (minute > 4 && minute < 6 ? 20.5 : minute > 12 ? 20.5 : 8)],
    ['it has had as much when it started', (minute: number) => (minute < 1 ? 20.5 : minute > 12 ? 20.5 : 8)],
    ['it is young', (minute: number) => (minute > 12 ? 20.5 : minute > 9 ? 8 : 0)],
  ])('has nothing to say of the last minutes where %s', (_why, at) => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const t = minutes(scene, 14.5, (minute) => ({ allocated: at(minute) * GIB, reserved: (at(minute) + 1) * GIB, probe: at(minute) > 0 }))
    scene.feed(oomOf(t, 20.5 * GIB, 21.5 * GIB, 3 * GIB, 1.9 * GIB), happened(t + 900, 'die', trainer, 1))
    expect(only(scene).verdict).not.toContain('rose by')
  })
})

describe('a job that fails again', () => {
  const leaking = (second: number): number => (second < 60 ? 8 : 8 + (second - 60) * 0.08 + (second % 4 === 0 ? 0 : 1)) * GIB
  /** A run of three minutes that grows until it fails. */
  const run = (scene: ReturnType<typeof createScene>, from: number): number => {
    for (let second = 0; second < 180; second++) {
      const allocated = leaking(second)
      scene.feed(...secondOf(from + second * 1_000, { allocated, reserved: allocated + GIB }))
    }
    const t = from + 180_000
    scene.feed(oomOf(t, 18 * GIB, 19 * GIB, 5 * GIB, 4 * GIB), happened(t + 900, 'die', trainer, 1))
    return t
  }

  test('within its first minutes: what grew is said, and no batch promised', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    run(scene, T)
    const { title, verdict, remedies } = only(scene)
    expect(title).toMatch(/^trainer ran out of memory on GPU 0: its memory grew by \d/)
    expect(verdict).toMatch(/What the job has in use grew by \d+(?:\.\d{1,2})? GiB in the 2 min before\./)
    expect(remedies[0]?.text).toContain('look for tensors that are kept')
    expect(remedies.map(({ text }) => text).join(' ')).not.toContain('would have fitted')
  })

  test('before it has a past of its own: measured by what it had in use for long before', () => {
    const scene = createScene({ detection: createDetection({ definitions: [] }) })
    const t = minutes(scene, 12, () => ({ allocated: 8 * GIB, reserved: 9 * GIB }))
    // Other processes end and start: the driver's list comes without it.
    for (let second = 0; second < 5; second++) scene.feed(scrape(t + second * 1_000, 'processes', []), scrape(t + second * 1_000, 'gpu', GPU_IDLE))
    for (let second = 5; second < 45; second++) {
      const events = secondOf(t + second * 1_000, { allocated: 20 * GIB, reserved: 21 * GIB })
      scene.feed(...events.map((event) => renamed(event)))
    }
    scene.feed({ ...oomOf(t + 45_000, 20 * GIB, 21 * GIB, 3 * GIB, 2 * GIB), pid: SECOND_RUN }, happened(t + 46_000, 'die', trainer, 1))
    expect(only(scene).verdict).toMatch(/rose by 12 GiB above its highest of the \d+ min before/)
  })
})
