// Following an engine: the picture stays right through events, restarts, hangs and refusals.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEngineClient } from '../../../agent/sources/containers/engine.ts'
import { startEngineWatch } from '../../../agent/sources/containers/engine-watch.ts'
import type { EngineWatch } from '../../../agent/sources/containers/engine-watch.ts'
import type { ContainerEvent } from '../../../agent/model/event.ts'
import { poll } from '../../setup/poll.ts'
import { idOf, inspected, json, listed, serveContainers, startEngineServer } from './engine-server.ts'
import type { EngineServer } from './engine-server.ts'

const [A, B] = [idOf('a'), idOf('b')]
let server: EngineServer
let watch: EngineWatch | undefined
let containers: Map<string, { list: object; inspect: object }>
let nano = 1_000_000

beforeEach(async () => {
  server = await startEngineServer()
  containers = new Map([[A, { list: listed(A, 'one'), inspect: inspected(A, 'one') }]])
  server.handle = serveContainers(containers)
})
afterEach(async () => {
  await watch?.stop()
  await server.close()
})

function start(own: { readonly listEveryMs?: number; readonly timeoutMs?: number; readonly unconfirmed?: () => readonly string[] } = {}) {
  const present = new Map<string, string>()
  const events: ContainerEvent[] = []
  const lines: string[] = []
  const log = {
    info: (text: string) => void lines.push(text),
    warn: (text: string) => void lines.push(`WARN ${text}`),
    error: (text: string) => void lines.push(`ERROR ${text}`),
  }
  let asked = 0
  const made = startEngineWatch({
    socketPath: server.socketPath,
    client: createEngineClient({ socketPath: server.socketPath, timeoutMs: own.timeoutMs ?? 5_000 }),
    log,
    listEveryMs: own.listEveryMs ?? 60_000,
    firstRetryMs: 20,
    maxRetryMs: 50,
    onContainer: (container) => {
      asked++
      present.set(container.identity.id, `${container.identity.name} pid ${container.pid}`)
    },
    onGone: (id) => present.delete(id),
    onEvent: (event) => void events.push(event),
    onState: () => undefined,
    ...(own.unconfirmed === undefined ? {} : { unconfirmed: own.unconfirmed }),
  })
  watch = made
  return { watch: made, present, events, lines, asked: () => asked }
}
const event = (action: string, id: string, attributes: Readonly<Record<string, string>> = {}): object => {
  nano += 1_000
  return { Type: 'container', Action: action, Actor: { ID: id, Attributes: { name: 'two', image: 'img:2', ...attributes } }, timeNano: Date.now() * 1e6 + nano }
}
const following = async (): Promise<void> => void (await poll(() => server.followers() > 0, { what: 'the event stream' }))

describe('engine watch', () => {
  test('start, die and rename show at once; the events go on with their exit code and without exec noise', async () => {
    const { present, events } = start()
    await poll(() => present.get(A) === 'one pid 1', { what: 'the list' })
    await following()
    containers.set(B, { list: listed(B, 'two'), inspect: inspected(B, 'two', { state: { Pid: 77 } }) })
    server.event(event('exec_create: sh -c secret', A))
    server.event(event('start', B))
    await poll(() => present.get(B) === 'two pid 77', { what: 'the started container' })
    containers.set(B, { list: listed(B, 'zwei'), inspect: inspected(B, 'zwei', { state: { Pid: 77 } }) })
    server.event(event('rename', B))
    await poll(() => present.get(B) === 'zwei pid 77', { what: 'the new name' })
    containers.delete(B)
    server.event(event('die', B, { exitCode: '137' }))
    await poll(() => !present.has(B), { what: 'the end' })
    expect(events.map(({ action }) => action)).toEqual(['start', 'rename', 'die'])
    expect(events.at(-1)).toMatchObject({ type: 'container', container: 'two', container_id: B.slice(0, 12), image: 'img:2', exit_code: 137 })
  })

  test('of containers that change together a later event may come first', async () => {
    const { present, events } = start()
    await poll(() => present.get(A) === 'one pid 1', { what: 'the list' })
    await following()
    containers.set(B, { list: listed(B, 'two'), inspect: inspected(B, 'two', { state: { Pid: 77 } }) })
    const started = event('start', B)
    server.event(event('die', A, { exitCode: '0' }))
    server.event(started)
    await poll(() => present.get(B) === 'two pid 77' && !present.has(A), { what: 'both' })
    expect(events.map(({ action }) => action)).toEqual(['die', 'start'])
  })

  test('a storm of events asks for each container once more, not once for each event', async () => {
    const serve = serveContainers(containers)
    let inspections = 0
    server.handle = (path, ...rest) => {
      if (path.startsWith(`/containers/${A}/json`)) inspections++
      return serve(path, ...rest)
    }
    const { present } = start()
    await poll(() => present.get(A) === 'one pid 1', { what: 'the list' })
    await following()
    for (let i = 0; i < 5_000; i++) server.event(event('start', A))
    containers.set(A, { list: listed(A, 'one'), inspect: inspected(A, 'one', { state: { Pid: 9 } }) })
    server.event(event('update', A))
    await poll(() => present.get(A) === 'one pid 9', { what: 'the state after the last event' })
    expect(inspections).toBeLessThan(1_000)
  })

  test('a list mends what no event told', async () => {
    const { present } = start({ listEveryMs: 30 })
    await poll(() => present.has(A), { what: 'the first list' })
    containers.set(B, { list: listed(B, 'two'), inspect: inspected(B, 'two') })
    containers.delete(A)
    await poll(() => present.has(B) && !present.has(A), { what: 'the next list' })
    expect([...present.keys()]).toEqual([B])
  })

  test('with each list the end of those is asked for that were never listed', async () => {
    const missing: string[] = []
    const { present, events } = start({ listEveryMs: 30, unconfirmed: () => missing })
    await poll(() => present.has(A), { what: 'the first list' })
    const ended = { Running: false, Status: 'exited', Pid: 0, ExitCode: 3, FinishedAt: '2026-11-24T01:02:03.004Z' }
    containers.set(B, { list: listed(B, 'two'), inspect: inspected(B, 'two', { state: ended }) })
    missing.push(B)
    const end = await poll(() => events[0], { what: 'its end' })
    expect(end).toMatchObject({ action: 'die', container: 'two', exit_code: 3, t: Date.parse(ended.FinishedAt) })
  })

  test('an engine that restarts is followed again, its containers are asked again, its missed events come once', async () => {
    const { present, events, lines } = start()
    await poll(() => present.get(A) === 'one pid 1', { what: 'the list' })
    await following()
    const before = event('pause', A)
    server.event(before)
    await poll(() => events.length === 1, { what: 'the event' })
    await server.unlisten()
    await poll(() => lines.some((line) => line.startsWith('WARN')), { what: 'the warning' })
    expect(watch?.failure()?.message).toMatch(/there is no such socket|no process listens|ended|aborted|hang up/)
    containers.set(A, { list: listed(A, 'one'), inspect: inspected(A, 'one', { state: { Pid: 2 } }) })
    await server.listen()
    await poll(() => present.get(A) === 'one pid 2', { what: 'the new pid' })
    await following()
    // Both are in the seconds that are asked for again.
    server.event(before)
    server.event(event('unpause', A))
    await poll(() => events.length > 1, { what: 'the event after' })
    expect(events.map(({ action }) => action)).toEqual(['pause', 'unpause'])
    expect(watch?.failure()).toBeUndefined()
    expect(lines.at(-1)).toMatch(/answers again/)
  })

  test('a hanging engine is a timeout with one warning; it keeps what it knew, and heals', async () => {
    const { present, lines } = start({ listEveryMs: 30, timeoutMs: 500 })
    await poll(() => present.has(A), { what: 'the list' })
    server.handle = () => undefined
    const error = await poll(() => watch?.failure(), { what: 'the failure' })
    expect(error.reason).toBe('timeout')
    const tries = server.calls.length
    await poll(() => server.calls.length > tries + 4, { what: 'some more tries' })
    expect(lines.filter((line) => line.startsWith('WARN'))).toHaveLength(1)
    expect(present.has(A)).toBe(true)
    server.handle = serveContainers(containers)
    await poll(() => watch?.failure() === undefined, { what: 'the engine to heal' })
  })

  test('a proxy that refuses the events leaves the list', async () => {
    server.handle = (path, answer) =>
      path.startsWith('/events') ? json(answer, 403, { message: 'forbidden' }) : serveContainers(containers)(path, answer, answer.req)
    const { present, lines } = start({ listEveryMs: 30 })
    await poll(() => present.has(A), { what: 'the list' })
    containers.delete(A)
    await poll(() => !present.has(A), { what: 'the next list' })
    expect(watch?.failure()).toBeUndefined()
    expect(lines.some((line) => line.includes('listed every'))).toBe(true)
  })

  test('one container with an answer of another form does not hide the rest', async () => {
    containers.set(B, { list: listed(B, 'odd'), inspect: { Id: B, State: 'running' } })
    const { present } = start()
    await poll(() => present.size === 2, { what: 'both containers' })
    expect(present.get(B)).toBe('odd pid undefined')
    expect(present.get(A)).toBe('one pid 1')
  })

  test('an inspection that an end overtakes does not bring the container back', async () => {
    const { present } = start()
    await poll(() => present.has(A), { what: 'the list' })
    await following()
    let release: (() => void) | undefined
    server.handle = (_path, answer) => void (release = () => json(answer, 200, inspected(B, 'two')))
    server.event(event('start', B))
    const answerNow = await poll(() => release, { what: 'the inspection' })
    server.event(event('die', B))
    containers.set(A, { list: listed(A, 'one'), inspect: inspected(A, 'renamed') })
    server.handle = serveContainers(containers)
    server.event(event('rename', A))
    await poll(() => present.get(A) === 'renamed pid 1', { what: 'a later event' })
    answerNow()
    server.event(event('unpause', A))
    containers.set(A, { list: listed(A, 'one'), inspect: inspected(A, 'again') })
    server.event(event('rename', A))
    await poll(() => present.get(A) === 'again pid 1', { what: 'a still later event' })
    expect(present.has(B)).toBe(false)
  })
})
