// From events to incidents: one crash is one incident, with its root, its consequences, whom it hit and what was seen.
import { describe, expect, test } from 'vitest'
import { box, createScene, happened, killLines, line, ncclText, oomText, only, T, uuid, xidText } from './scene.ts'

describe('a PyTorch OOM in a container', () => {
  test('names the container, the host’s GPU behind its own number, the process and the end', () => {
    const scene = createScene()
    const trainer = box('trainer', [3, 5], { pids: [4_000, 4_001], limit: 64e9 })
    const t = scene.pass(T, 10, [trainer])
    scene.feed(line(t + 100, trainer, oomText(1)), happened(t + 200, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident).toMatchObject({ kind: 'cuda_oom', severity: 'critical', status: 'firing', count: 1, started_at: t + 100, fired_at: t + 100 })
    expect(incident.subject).toEqual({
      container: { name: 'trainer', id: trainer.id, image: 'test:1' },
      gpu: { index: 5, uuid: uuid(5), name: 'Test GPU' },
      process: { pid: 4_001, inner_pid: 2, name: 'python' },
    })
    expect(incident.facts).toMatchObject({ gpu_index: 1, exit_code: 1, total_bytes: 23.5 * 2 ** 30 })
    expect(incident.verdict).toContain('GPU 5 (GPU 1 inside the container)')
    expect(incident.remedies.length).toBeGreaterThan(0)
    expect(incident.evidence.container).toEqual({ memory_limit_bytes: 64e9, gpus: [uuid(3), uuid(5)] })
    expect(incident.evidence.processes.map(({ pid }) => pid)).toEqual([4_001])
    expect(incident.evidence.log_lines).toEqual([{ t: t + 100, stream: 'container', origin: 'trainer', text: oomText(1), matched: true }])
  })

  test('has its consequences on other ranks, ten minutes later too, and the exit that was told before the line', () => {
    const scene = createScene()
    const trainer = box('trainer', [0, 1, 2, 3])
    const t = scene.pass(T, 5, [trainer])
    scene.feed(line(t, trainer, oomText()))
    const late = scene.pass(t, 600, [trainer])
    scene.feed(...[1, 2, 3].map((rank) => line(late + rank, trainer, ncclText(rank))), happened(late + 10, 'die', trainer, 1))
    const incident = only(scene)
    expect(incident.kind).toBe('cuda_oom')
    expect(incident.count).toBe(1)
    expect(incident.consequences.map(({ kind }) => kind)).toEqual(['nccl_error'])
    expect(incident.facts.exit_code).toBe(1)
  })

  test('becomes the root though its line came last, under the same id', () => {
    const scene = createScene()
    const trainer = box('trainer', [0])
    const t = scene.pass(T, 2, [trainer])
    scene.feed(line(t, trainer, ncclText(1)), happened(t + 5, 'die', trainer, 1), line(t + 50, trainer, oomText()))
    expect(scene.reported[0]?.kind).toBe('nccl_error')
    const incident = only(scene)
    expect([incident.id, incident.kind, incident.facts.exit_code]).toEqual([scene.reported[0]?.id, 'cuda_oom', 1])
    expect(incident.consequences.map(({ kind }) => kind)).toEqual(['nccl_error'])
    expect(scene.diagnosis.figures().totals.get('cuda_oom')).toBe(1)
  })

  test('in a restart loop counts up', () => {
    const scene = createScene()
    const trainer = box('trainer', [0])
    let t = T
    for (let round = 0; round < 5; round++) {
      t = scene.pass(t, 120, [trainer])
      scene.feed(line(t, trainer, oomText()), happened(t + 10, 'die', trainer, 1), happened(t + 900, 'start', trainer))
    }
    expect(only(scene).count).toBe(5)
  })

  test('in two containers is two incidents, also on one GPU', () => {
    const scene = createScene()
    const [a, b] = [box('a', [0]), box('b', [0])]
    const t = scene.pass(T, 2, [a, b])
    scene.feed(line(t, a, oomText()), line(t + 1, b, oomText()))
    expect(scene.incidents().map(({ subject }) => subject.container?.name)).toEqual(['a', 'b'])
  })

  test('counts through CUDA_VISIBLE_DEVICES where the engine told of it', () => {
    const trainer = box('trainer', [1, 4, 6])
    const scene = createScene({ settingsOf: () => ({ env: { CUDA_VISIBLE_DEVICES: '2,0' }, shm_size_bytes: 64 }) })
    const t = scene.pass(T, 5, [trainer])
    scene.feed(line(t, trainer, oomText(0)))
    expect(only(scene)).toMatchObject({ subject: { gpu: { index: 6, uuid: uuid(6) } }, evidence: { container: { shm_size_bytes: 64 } } })
  })

  test('says the number of the text alone where nobody knows which GPUs the container sees', () => {
    const scene = createScene()
    const stranger = box('stranger', [])
    scene.feed(line(T, stranger, oomText(2)))
    expect(only(scene).subject).toEqual({ container: { name: 'stranger', id: stranger.id }, gpu: { index: 2 } })
  })

  test('that only the probe saw is no incident, unless the container dies of it', () => {
    const trainer = box('trainer', [4], { pids: [4_242] })
    const oom = (t: number) =>
      ({
        type: 'allocator_oom',
        t,
        pid: 4_242,
        uuid: uuid(4),
        container: 'trainer',
        request_bytes: 2 ** 31,
        limit_bytes: 2 ** 34,
        free_bytes: 2 ** 29,
        stats: {},
      }) as const
    const handled = createScene()
    const t = handled.pass(T, 5, [trainer])
    handled.feed(oom(t))
    handled.pass(t, 120, [trainer])
    expect(handled.incidents()).toEqual([])
    const fatal = createScene()
    fatal.pass(T, 5, [trainer])
    fatal.feed(oom(t), happened(t + 500, 'die', trainer, 1))
    expect(only(fatal)).toMatchObject({ kind: 'cuda_oom', subject: { gpu: { index: 4 } }, facts: { requested_bytes: 2 ** 31, exit_code: 1 } })
  })
})

describe('a kill by the kernel', () => {
  const reported = (trainer: ReturnType<typeof box>, t: number) => {
    const [constraint = '', killed = ''] = killLines(trainer.id, 7_672)
    return {
      kernel: [line(t, 'kernel', constraint), line(t + 1, 'kernel', killed)],
      engine: happened(t + 20, 'oom', trainer),
      end: happened(t + 30, 'die', trainer, 137),
    }
  }
  test('told by kernel, engine, counter and end is one kill', () => {
    const scene = createScene()
    const trainer = box('trainer', [0], { limit: 4 * 2 ** 30 })
    const t = scene.pass(T, 5, [trainer])
    const { kernel, engine, end } = reported(trainer, t)
    scene.feed(...kernel, engine, end)
    trainer.oomKills = 1
    scene.pass(t, 3, [trainer])
    expect(only(scene)).toMatchObject({
      kind: 'host_oom_kill',
      count: 1,
      subject: { container: { name: 'trainer' }, process: { pid: 7_672 } },
      facts: { pid: 7_672, process: 'python', exit_code: 137 },
      consequences: [],
    })
  })

  test.each([
    ['engine first', [2, 0, 1, 3]],
    ['end first', [3, 2, 0, 1]],
    ['the kernel’s second line alone', [2, 1, 3]],
  ])('is one, whoever is heard first: %s', (_, order) => {
    const scene = createScene()
    const trainer = box('trainer', [0])
    const t = scene.pass(T, 5, [trainer])
    const { kernel, engine, end } = reported(trainer, t)
    const all = [...kernel, engine, end]
    scene.feed(...order.flatMap((n) => all[n] ?? []))
    expect(only(scene)).toMatchObject({ kind: 'host_oom_kill', count: 1, subject: { container: { name: 'trainer' } }, facts: { pid: 7_672 } })
  })

  test('of a child, while the container lives on, is seen by the counter alone', () => {
    const scene = createScene()
    const loader = box('loader', [0])
    const t = scene.pass(T, 5, [loader])
    loader.oomKills = 2
    scene.pass(t, 2, [loader])
    expect(only(scene)).toMatchObject({ kind: 'host_oom_kill', count: 2, status: 'firing', subject: { container: { name: 'loader' } } })
  })

  test('before the agent began is none, and 137 alone is none', () => {
    const scene = createScene()
    const loader = box('loader', [0], { oomKills: 7 })
    const t = scene.pass(T, 5, [loader])
    scene.feed(happened(t, 'die', loader, 137))
    scene.pass(t, 70, [loader])
    expect(scene.incidents()).toEqual([])
  })
})

describe('an Xid', () => {
  test('a thousand times is one incident with its count, told in a handful of messages', () => {
    const scene = createScene()
    const trainer = box('trainer', [2], { pids: [900] })
    const t = scene.pass(T, 5, [trainer])
    for (let n = 0; n < 1_000; n++) scene.feed(line(t + n, 'kernel', xidText(2, 63)))
    const incident = only(scene)
    expect(incident).toMatchObject({ kind: 'xid', count: 1_000, facts: { xid: 63 }, subject: { gpu: { index: 2, uuid: uuid(2) } } })
    expect(scene.reported.length).toBeLessThan(5)
    expect(incident.evidence.log_lines.length).toBeLessThan(100)
  })

  test('has the kernel’s lines of its own GPU and of none, not those of another GPU', () => {
    const scene = createScene()
    const t = scene.pass(T, 5, [box('trainer', [2], { pids: [900] })])
    scene.feed(
      line(t, 'kernel', xidText(3, 63)),
      line(t + 1, 'kernel', 'pcieport 0000:40:01.0: AER: Corrected error received'),
      line(t + 2, 'kernel', xidText(2, 48)),
      line(t + 3, 'kernel', xidText(4, 63)),
      line(t + 4, 'kernel', xidText(2, 45)),
    )
    const logged =
      scene
        .incidents()
        .find(({ facts }) => facts.xid === 48)
        ?.evidence.log_lines.map(({ text }) => text) ?? []
    expect(logged).toContain(xidText(2, 48))
    expect(logged).toContain('pcieport 0000:40:01.0: AER: Corrected error received')
    expect(logged).not.toContain(xidText(3, 63))
    expect(logged).not.toContain(xidText(4, 63))
  })

  test('names the process and the container it hit, and the program’s own words are its consequence', () => {
    const scene = createScene()
    const trainer = box('trainer', [6], { pids: [900] })
    const t = scene.pass(T, 5, [trainer])
    scene.feed(
      line(t, trainer, 'RuntimeError: CUDA error: an illegal memory access was encountered'),
      line(t + 40, 'kernel', xidText(6, 31, 900)),
      happened(t + 90, 'die', trainer, 1),
    )
    const incident = only(scene)
    expect(incident).toMatchObject({
      kind: 'xid',
      facts: { xid: 31, exit_code: 1 },
      subject: { gpu: { index: 6 }, container: { name: 'trainer' }, process: { pid: 900 } },
    })
    expect(incident.consequences.map(({ kind }) => kind)).toEqual(['illegal_memory_access'])
  })

  test('of a lost GPU takes the crashes of all containers on it along, and no other', () => {
    const scene = createScene()
    const [a, b, c] = [box('a', [5]), box('b', [5]), box('c', [1])]
    const t = scene.pass(T, 5, [a, b, c])
    scene.feed(line(t, 'kernel', `NVRM: Xid (PCI:${busOf5}): 79, GPU has fallen off the bus.`))
    for (const its of [a, b, c]) scene.feed(line(t + 500, its, 'RuntimeError: CUDA error: unspecified launch failure'))
    const [lost, other] = scene.incidents()
    expect(scene.incidents()).toHaveLength(2)
    expect(['xid', 'gpu_lost']).toContain(lost?.kind)
    expect(lost?.consequences.map(({ container }) => container).filter((name) => name !== undefined)).toEqual(['a', 'b'])
    expect(other?.subject.container?.name).toBe('c')
  })
  const busOf5 = '0000:43:00'
})

describe('what does not belong together', () => {
  test('a rate limit before an OOM is an incident of its own', () => {
    const scene = createScene()
    const trainer = box('trainer', [0])
    scene.feed(
      line(T, trainer, 'huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/org/model'),
      line(T + 20_000, trainer, oomText()),
    )
    expect(scene.incidents().map(({ kind }) => kind)).toEqual(['hub_rate_limited', 'cuda_oom'])
  })

  test('a log file is a job of its own', () => {
    const scene = createScene()
    scene.feed(line(T, { path: '/var/log/a.log' }, oomText()), line(T + 1, { path: '/var/log/b.log' }, oomText()))
    expect(scene.incidents()).toHaveLength(2)
  })
})
