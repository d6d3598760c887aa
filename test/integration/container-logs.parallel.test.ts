// Containers' logs through a real Docker engine: the last words of a crash, what was said while the agent was down, no line twice.
// Long: about 75 s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf as faults, linesOf as said, runContainerLogs, textOf, type ContainerLogs } from '../setup/container-logs.ts'
import { dockerMissing, startDocker } from '../setup/docker.ts'
import type { TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { rounds } from '../setup/rounds.ts'

/** Lines. */
const FLOOD = rounds({ full: 1_000_000, quick: 300_000 })

describe.skipIf(dockerMissing !== undefined)(`container logs with a real Docker engine${dockerMissing === undefined ? '' : ` (${dockerMissing})`}`, () => {
  let docker: TestDocker
  let data = ''
  let run: ContainerLogs | undefined
  beforeAll(async () => {
    docker = await startDocker()
    data = mkdtempSync(join(tmpdir(), 'warpwatch-logs-'))
  })
  const end = async (): Promise<void> => {
    await run?.close()
    run = undefined
  }
  afterEach(end)
  afterAll(async () => {
    await docker?.close()
    rmSync(data, { recursive: true, force: true })
  })

  const start = (maxStreams?: number, maxTracked?: number): ContainerLogs =>
    (run = runContainerLogs(docker.socketPath, data, {
      ...(maxStreams === undefined ? {} : { maxStreams }),
      ...(maxTracked === undefined ? {} : { maxTracked }),
    }))
  const sh = (script: string): readonly string[] => ['sh', '-c', script]
  const ready = async (): Promise<void> => {
    const id = await docker.run({ name: `ready-${Math.random().toString(36).slice(2)}`, command: sh('echo FAULT-ready; sleep 600') })
    await poll(() => run?.events.some((event) => event.type === 'log' && event.origin.container_id === id.slice(0, 12)), { what: 'the first stream' })
    await docker.call('DELETE', `/containers/${id}?force=1`)
  }

  test('one that prints a fault and dies at once: its last line, its context, its name, soon', async () => {
    const { events } = start()
    await ready()
    const began = Date.now()
    await docker.run({ name: 'crash', command: sh('echo before; echo FAULT-last >&2; exit 1') })
    await poll(() => faults(events, 'crash').length > 0, {
      what: () => `the line, of ${JSON.stringify(events.filter((event) => event.type === 'log'))}`,
    })
    const lines = said(events, 'crash')
    expect(textOf(lines)).toContain('before')
    expect(lines.at(-1)).toMatchObject({ stream: 'container', origin: { container: 'crash', container_id: expect.stringMatching(/^[0-9a-f]{12}$/) } })
    expect(lines.at(-1)?.t).toBeGreaterThanOrEqual(began - 1_000)
  })

  test('each line becomes an event; how soon is printed', async () => {
    const { events } = start()
    await ready()
    await docker.run({ name: 'talker', command: sh('i=0; while [ $i -lt 20 ]; do echo FAULT-n$i; i=$((i+1)); sleep 0.3; done; sleep 600') })
    const seen = new Map<string, number>()
    await poll(
      () => {
        for (const line of said(events, 'talker')) if (!seen.has(line.text)) seen.set(line.text, Date.now() - line.t)
        return seen.size >= 20
      },
      { what: () => `20 lines, came ${seen.size}`, everyMs: 10, deadlineMs: 30_000 },
    )
    const delays = [...seen.values()].sort((a, b) => a - b)
    console.log(`line to event, ms: median ${delays[10]}, worst ${delays.at(-1)}`)
    expect([...seen.keys()]).toEqual(Array.from({ length: 20 }, (_, n) => `FAULT-n${n}`))
  })

  test('one that died while the agent was down is told of at the start, once; running ones go on where they were', async () => {
    const first = start()
    await docker.run({ name: 'long', command: sh('echo FAULT-a; while [ ! -e /go ]; do sleep 0.05; done; echo FAULT-b; sleep 600') })
    await poll(() => faults(first.events, 'long').length === 1, { what: 'its first fault' })
    await end()
    const dead = await docker.run({ name: 'died-alone', command: sh('echo FAULT-alone; exit 3') })
    await poll(async () => (await docker.call('GET', `/containers/${dead}/json`)).body.includes('"Status":"exited"'), { what: 'its end' })
    const exec: unknown = JSON.parse((await docker.call('POST', '/containers/long/exec', { Cmd: sh('echo > /go') })).body)
    await docker.call('POST', `/exec/${typeof exec === 'object' && exec !== null && 'Id' in exec ? String(exec.Id) : ''}/start`, { Detach: true })
    const second = start()
    await poll(() => faults(second.events, 'died-alone').length > 0 && faults(second.events, 'long').length > 0, { what: 'both' })
    expect(faults(second.events, 'long')).toEqual(['FAULT-b'])
    expect(faults(second.events, 'died-alone')).toEqual(['FAULT-alone'])
    await end()
    const third = start()
    await ready()
    expect(faults(third.events, 'long')).toEqual([])
    expect(faults(third.events, 'died-alone')).toEqual([])
  })

  test('one that restarts again and again: every run told once, few requests', async () => {
    const { events } = start()
    await ready()
    await docker.run({
      name: 'loop',
      command: sh('echo FAULT-$(cat /proc/sys/kernel/random/uuid | dd bs=8 count=1 2>/dev/null); exit 1'),
      host: { RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 5 } },
    })
    const inEngine = async (): Promise<readonly string[]> =>
      (await docker.call('GET', '/containers/loop/logs?stdout=1&stderr=1')).body.match(/FAULT-\w+/g) ?? []
    await poll(async () => (await inEngine()).length === 6, { what: 'six runs', deadlineMs: 40_000 })
    const expected = await inEngine()
    await poll(() => faults(events, 'loop').length >= 6, { what: () => `six, came ${faults(events, 'loop').length}`, deadlineMs: 20_000 })
    expect([...faults(events, 'loop')].sort()).toEqual([...expected].sort())
  })

  test('with fewer streams than containers all are read', async () => {
    const { events } = start(1)
    const names = ['turn-a', 'turn-b', 'turn-c']
    for (const name of names) await docker.run({ name, command: sh(`sleep 0.5; echo FAULT-${name.slice(-1)}; sleep 600`) })
    await poll(() => names.every((name) => faults(events, name).length > 0), { what: 'each of them', deadlineMs: 20_000 })
    expect(names.map((name) => faults(events, name).length)).toEqual([1, 1, 1])
  })

  test('a log that the engine turns over while it is followed: each line once', async () => {
    const { events } = start()
    await ready()
    const filler = 'x'.repeat(130)
    // Turned over about six times, and as many files are kept: who reads late on a busy machine misses none.
    const script = `i=0; while [ $i -lt 30000 ]; do echo "$i ${filler}"; i=$((i+1)); [ $((i%300)) = 0 ] && echo FAULT-$i; [ $((i%500)) = 0 ] && sleep 0.05; done; sleep 600`
    await docker.run({ name: 'turned', command: sh(script), host: { LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '20' } } } })
    await poll(() => faults(events, 'turned').includes('FAULT-30000'), { what: 'its last fault', deadlineMs: 30_000 })
    expect(faults(events, 'turned')).toEqual(Array.from({ length: 100 }, (_, n) => `FAULT-${300 * (n + 1)}`))
  })

  test('a log that is turned over again and again while nobody reads: the engine leaves a file out, and it is read all the same', async () => {
    const { events } = start()
    await ready()
    const filler = 'x'.repeat(130)
    const script = `i=0; while [ $i -lt 60000 ]; do echo "$i ${filler}"; i=$((i+1)); [ $((i%1200)) = 0 ] && echo FAULT-$i; [ $((i%400)) = 0 ] && sleep 0.06; done; echo FAULT-end; sleep 600`
    const host = { LogConfig: { Type: 'json-file', Config: { 'max-size': '3m', 'max-file': '20' } } }
    await docker.run({ name: 'stalled', command: sh(script), host })
    await poll(() => faults(events, 'stalled').length > 3, { what: 'the first faults' })
    // The whole process does not move, as on a machine that is far too busy.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_000)
    await poll(() => faults(events, 'stalled').includes('FAULT-end'), { what: () => `its end, came ${faults(events, 'stalled').at(-1)}`, deadlineMs: 40_000 })
    expect(faults(events, 'stalled')).toEqual([...Array.from({ length: 50 }, (_, n) => `FAULT-${1_200 * (n + 1)}`), 'FAULT-end'])
  })

  test('pauses of a program, read late: nothing twice, nothing lost, and the stream goes on', async () => {
    const { events } = start()
    await ready()
    await docker.run({ name: 'pausing', command: sh('i=0; while [ $i -lt 12 ]; do echo FAULT-$i; i=$((i+1)); sleep 0.7; done; sleep 600') })
    await poll(() => faults(events, 'pausing').length > 1, { what: 'the first faults' })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
    await poll(() => faults(events, 'pausing').includes('FAULT-11'), { what: () => `its end, came ${faults(events, 'pausing').at(-1)}`, deadlineMs: 30_000 })
    expect(faults(events, 'pausing')).toEqual(Array.from({ length: 12 }, (_, n) => `FAULT-${n}`))
  })

  test('a container with a terminal: its log has no frames, its lines end as a terminal ends them', async () => {
    const { events } = start()
    await ready()
    const script = 'echo before; printf "\\033[31mFAULT-red\\033[0m\\n"; echo FAULT-err >&2; sleep 0.5; printf "10%%\\r20%%\\rFAULT-bar\\n"; exit 1'
    await docker.run({ name: 'terminal', command: sh(script), tty: true })
    await poll(() => faults(events, 'terminal').length === 3, { what: () => `three faults of ${JSON.stringify(said(events, 'terminal'))}` })
    expect(textOf(said(events, 'terminal')).split('\n')).toEqual(['before', 'FAULT-red', 'FAULT-err', '10%', '20%', 'FAULT-bar'])
  })

  test('more containers than are tracked: it is said how many wait, and they are read when there is room', async () => {
    const before = (await docker.call('GET', '/containers/json?all=1')).body.matchAll(/"Id":"([0-9a-f]{64})"/g)
    for (const [, id] of before) await docker.call('DELETE', `/containers/${id}?force=1`)
    const { events, gaps, lines } = start(64, 2)
    await ready()
    const names = ['room-a', 'room-b', 'room-c']
    const ids: string[] = []
    for (const name of names) ids.push(await docker.run({ name, command: sh(`echo FAULT-${name.slice(-1)}; sleep 600`) }))
    const left = (): readonly string[] => names.filter((name) => faults(events, name).length === 0)
    const full = () => gaps().filter(({ metric, labels }) => metric === 'container-logs' && Object.keys(labels).length === 0)
    await poll(() => left().length < 3 && full().length > 0, { what: () => `a gap, came ${JSON.stringify(gaps())}`, deadlineMs: 20_000 })
    expect(full()[0]?.detail).toMatch(/logs of \d+ containers are not read: expected at most 2 containers/)
    expect(lines.filter((line) => /not read: expected at most 2/.test(line))).toHaveLength(1)
    for (const id of ids) if (!left().includes(names[ids.indexOf(id)] ?? '')) await docker.call('DELETE', `/containers/${id}?force=1`)
    await poll(() => left().length === 0, { what: () => `all, without ${left().join(', ')}`, deadlineMs: 20_000 })
  })

  test('an engine that ends and comes back: what its containers say then is read, and nothing twice', async () => {
    const { events } = start()
    const script = 'echo FAULT-$(cat /proc/sys/kernel/random/uuid | dd bs=8 count=1 2>/dev/null); sleep 600'
    await docker.run({ name: 'phoenix', command: sh(script), host: { RestartPolicy: { Name: 'always' } } })
    await poll(() => faults(events, 'phoenix').length === 1, { what: 'its first run' })
    await docker.stopDaemon()
    await docker.startDaemon()
    const inEngine = async (): Promise<readonly string[]> => (await docker.call('GET', '/containers/phoenix/logs?stdout=1')).body.match(/FAULT-\w+/g) ?? []
    await poll(async () => (await inEngine()).length === 2, { what: 'its second run', deadlineMs: 20_000 })
    await poll(() => faults(events, 'phoenix').length >= 2, { what: 'its second line', deadlineMs: 20_000 })
    expect(faults(events, 'phoenix')).toEqual(await inEngine())
  })

  test('a line of 40 KiB, and a flood beside a fault: nothing lost, timers get their turn', async () => {
    const { events, value } = start()
    await ready()
    await docker.run({ name: 'wide', command: sh('dd if=/dev/zero bs=40000 count=1 2>/dev/null | busybox tr "\\0" x; echo FAULT-wide; sleep 600') })
    await poll(() => faults(events, 'wide').length === 1, { what: 'the end of a long line' })
    let ticks = 0
    const timer = setInterval(() => ticks++, 100)
    await docker.run({
      name: 'flood',
      command: sh(`yes "some ordinary line of a training log, step 1000 loss 0.1" | busybox head -n ${FLOOD}; echo FAULT-end; sleep 600`),
    })
    await poll(() => faults(events, 'flood').length === 1, { what: 'the fault behind the flood', deadlineMs: 50_000 })
    clearInterval(timer)
    // The flood takes seconds; how late a timer is meanwhile is measured in bench/.
    expect(ticks).toBeGreaterThan(0)
    await poll(() => (value('warpwatch_agent_log_lines_total', { stream: 'container' }) ?? 0) >= FLOOD, { what: 'the count', deadlineMs: 15_000 })
  })
})
