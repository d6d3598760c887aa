// Containers' logs through a real Docker engine: the last words of a crash, what was said while the agent was down, no line twice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../agent/attribution/directory.ts'
import type { Event, LogLine } from '../../agent/model/event.ts'
import type { Source } from '../../agent/model/source.ts'
import { createContainerLogsSource } from '../../agent/sources/container-logs.ts'
import { createContainersSource } from '../../agent/sources/containers.ts'
import { createContainerRoster } from '../../agent/sources/containers/roster.ts'
import { createCursorStore } from '../../agent/store/cursors.ts'
import { dockerMissing, startDocker } from '../setup/docker.ts'
import type { TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { runSource } from '../setup/run-source.ts'
import type { RunningSource } from '../setup/run-source.ts'

const NEEDLE = Buffer.from('FAULT')
const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(NEEDLE)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

describe.skipIf(dockerMissing !== undefined)(`container logs with a real Docker engine${dockerMissing === undefined ? '' : ` (${dockerMissing})`}`, () => {
  let docker: TestDocker
  let data = ''
  let run: (RunningSource & { readonly close: () => Promise<void> }) | undefined
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

  /** The two sources as the agent runs them: one asks the engine for containers, the other reads their logs. */
  const start = (maxStreams = 64): RunningSource => {
    const roster = createContainerRoster()
    const directory = createContainerDirectory()
    const cursors = createCursorStore({ directory: data, log: quiet })
    const parts = [
      createContainersSource({ sockets: [docker.socketPath], cgroupRoot: '/sys/fs/cgroup', procRoot: '/proc', directory, gpus: () => [], roster }),
      createContainerLogsSource({ roster, directory, cursors, interesting, maxStreams }),
    ]
    const both: Source = {
      id: 'both',
      metrics: [],
      start: (context) => parts.forEach((part) => void part.start(context)),
      stop: async () => void (await Promise.all(parts.map(async (part) => await part.stop()))),
    }
    const running = runSource(both)
    run = {
      ...running,
      close: async () => {
        await running.stop()
        cursors.close()
      },
    }
    return run
  }
  const said = (events: readonly Event[], name: string): readonly LogLine[] =>
    events.filter((event) => event.type === 'log').filter(({ origin }) => origin.container === name)
  const textOf = (lines: readonly LogLine[]): string => lines.map(({ text }) => text).join('\n')
  const faults = (events: readonly Event[], name: string): readonly string[] => textOf(said(events, name)).match(/FAULT-\w+/g) ?? []
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
      everyMs: 2,
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
      { what: () => `20 lines, came ${seen.size}`, everyMs: 1, deadlineMs: 30_000 },
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
    // Turned over about six times; slowly enough that the engine itself does not fall behind.
    const script = `i=0; while [ $i -lt 30000 ]; do echo "$i ${filler}"; i=$((i+1)); [ $((i%300)) = 0 ] && echo FAULT-$i; [ $((i%500)) = 0 ] && sleep 0.05; done; sleep 600`
    await docker.run({ name: 'turned', command: sh(script), host: { LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '5' } } } })
    await poll(() => faults(events, 'turned').includes('FAULT-30000'), { what: 'its last fault', deadlineMs: 30_000 })
    expect(faults(events, 'turned')).toEqual(Array.from({ length: 100 }, (_, n) => `FAULT-${300 * (n + 1)}`))
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

  test('a line of 40 KiB, and a flood beside a fault: nothing lost, sampling in time', async () => {
    const { events, value } = start()
    await ready()
    await docker.run({ name: 'wide', command: sh('dd if=/dev/zero bs=40000 count=1 2>/dev/null | busybox tr "\\0" x; echo FAULT-wide; sleep 600') })
    await poll(() => faults(events, 'wide').length === 1, { what: 'the end of a long line' })
    const ticks: number[] = []
    let last = performance.now()
    const timer = setInterval(() => {
      ticks.push(performance.now() - last)
      last = performance.now()
    }, 100)
    const began = performance.now()
    await docker.run({
      name: 'flood',
      command: sh('yes "some ordinary line of a training log, step 1000 loss 0.1" | busybox head -n 1000000; echo FAULT-end; sleep 600'),
    })
    await poll(() => faults(events, 'flood').length === 1, { what: 'the fault behind a million lines', deadlineMs: 50_000 })
    clearInterval(timer)
    const seconds = (performance.now() - began) / 1000
    console.log(`1,000,000 lines in ${seconds.toFixed(1)} s, longest pause between 100 ms ticks ${Math.max(...ticks).toFixed(0)} ms`)
    expect(Math.max(...ticks)).toBeLessThan(1_000)
    await poll(() => (value('warpwatch_agent_log_lines_total', { stream: 'container' }) ?? 0) >= 1_000_000, { what: 'the count', deadlineMs: 15_000 })
  })
})
