// The containers source with a real Docker engine and the real kernel: names, numbers, limits, OOM kills, restarts, ends, an engine that goes and comes.
import { existsSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../agent/attribution/process.ts'
import type { ContainerEvent } from '../../agent/model/event.ts'
import { createContainersSource } from '../../agent/sources/containers.ts'
import { dockerMissing, startDocker } from '../setup/docker.ts'
import type { TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { runSource } from '../setup/run-source.ts'
import type { RunningSource } from '../setup/run-source.ts'

const CGROUPS = '/sys/fs/cgroup'
const PREFIX = 'warpwatch_container'

/** The kernel's figure, found and read by the test's own means: `v2` is the file's name there, `v1` its name and controller. */
function kernelFile(id: string, v2: string, v1: readonly [controller: string, file: string]): string {
  const [found] = [...globSync(`${CGROUPS}/${v1[0]}/**/*${id}*/${v1[1]}`), ...globSync(`${CGROUPS}/**/*${id}*/${v2}`)]
  if (found === undefined) throw new Error(`expected ${v1[1]} or ${v2} of ${id} under ${CGROUPS}, found neither`)
  return found
}
const field = (text: string, name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])

function kernelCpuSeconds(id: string): number {
  const file = kernelFile(id, 'cpu.stat', ['cpuacct', 'cpuacct.usage'])
  const text = readFileSync(file, 'utf8')
  return file.endsWith('cpu.stat') ? field(text, 'usage_usec') / 1e6 : Number(text) / 1e9
}
function kernelWorkingSet(id: string): number {
  const usage = Number(readFileSync(kernelFile(id, 'memory.current', ['memory', 'memory.usage_in_bytes']), 'utf8'))
  const statFile = kernelFile(id, 'memory.stat', ['memory', 'memory.stat'])
  const stat = readFileSync(statFile, 'utf8')
  return usage - field(stat, stat.includes('total_inactive_file') ? 'total_inactive_file' : 'inactive_file')
}

describe.skipIf(dockerMissing !== undefined)(`a real Docker engine${dockerMissing === undefined ? '' : ` (${dockerMissing})`}`, () => {
  let docker: TestDocker
  let source: RunningSource | undefined
  const directory = createContainerDirectory()
  beforeAll(async () => {
    docker = await startDocker()
  })
  afterEach(async () => {
    await source?.stop()
    source = undefined
  })
  afterAll(async () => await docker?.close())

  const start = (sockets: readonly string[] = [docker.socketPath]): RunningSource => {
    source = runSource(createContainersSource({ sockets, cgroupRoot: CGROUPS, procRoot: '/proc', directory, gpus: () => [] }))
    return source
  }
  const actions = (run: RunningSource, name: string): readonly ContainerEvent[] =>
    run.events.filter((event) => event.type === 'container').filter(({ container }) => container === name)
  /** Labels of the series of one container: this host may run others, which the source sees too. */
  const of = (run: RunningSource, metric: string, id: string) =>
    run.of(PREFIX + metric).flatMap(({ series }) => (series.labels['container_id'] === id.slice(0, 12) ? [series.labels] : []))
  const remove = async (id: string): Promise<void> => void (await docker.call('DELETE', `/containers/${id}?force=1`))

  test('a container appears with its name, image and compose labels; its processes are known as its own', async () => {
    const run = start()
    const labels = { 'com.docker.compose.project': 'shop', 'com.docker.compose.service': 'web' }
    const id = await docker.run({ name: 'shop-web-1', command: ['sleep', '600'], labels })
    const expected = { container: 'shop-web-1', container_id: id.slice(0, 12), image: 'warpwatch-test:1', compose_project: 'shop', compose_service: 'web' }
    await poll(() => run.value(`${PREFIX}_memory_bytes`, expected), { what: 'its memory' })
    const pid = await docker.inspectPid(id)
    expect(of(run, '_info', id)).toEqual([{ ...expected, runtime: 'runc', pid: String(pid), state: 'running', started: expect.stringMatching(/^\d{10}$/) }])
    expect(run.value(`${PREFIX}_memory_limit_bytes`, expected), 'unlimited').toBeUndefined()
    await poll(() => actions(run, 'shop-web-1').length >= 2, { what: 'its events' })
    expect(actions(run, 'shop-web-1').map(({ action }) => action)).toEqual(['create', 'start'])

    const identity = createProcessIdentifier({ procRoot: '/proc', directory })(pid)
    expect(identity).toMatchObject({ name: 'sleep', innerPid: 1, container: { id, name: 'shop-web-1', composeService: 'web' } })

    await docker.call('POST', `/containers/${id}/stop?t=0`)
    await poll(() => run.value(`${PREFIX}_memory_bytes`, expected) === undefined && run.value(`${PREFIX}_info`, expected) === undefined, {
      what: 'its series to go',
    })
    expect(of(run, '_cpu_seconds_total', id)).toEqual([])
    expect(actions(run, 'shop-web-1').at(-1)?.action).toMatch(/die|stop/)
    await remove(id)
  })

  test("CPU time, working set and limit are the kernel's", async () => {
    const run = start()
    const id = await docker.run({ name: 'busy', command: ['sh', '-c', 'while :; do :; done'], host: { Memory: 64 * 1024 * 1024 } })
    const labels = { container: 'busy' }
    await poll(() => (run.value(`${PREFIX}_cpu_seconds_total`, labels) ?? 0) > 0.2, { what: 'CPU time' })
    const scrapes = run.scrapes('numbers').length
    const before = kernelCpuSeconds(id)
    await poll(() => run.scrapes('numbers').length > scrapes, { what: 'the next scrape' })
    const between = run.value(`${PREFIX}_cpu_seconds_total`, labels)
    const after = kernelCpuSeconds(id)
    expect(between).toBeGreaterThanOrEqual(before)
    expect(between).toBeLessThanOrEqual(after)
    expect(run.value(`${PREFIX}_memory_limit_bytes`, labels)).toBe(64 * 1024 * 1024)
    expect(run.value(`${PREFIX}_pids`, labels)).toBe(1)

    // A figure that may change at any time is compared when it was the same before and after a scrape.
    await poll(
      async () => {
        const first = kernelWorkingSet(id)
        const seen = run.scrapes('numbers').length
        await poll(() => run.scrapes('numbers').length > seen, { what: 'the next scrape' })
        return kernelWorkingSet(id) === first && run.value(`${PREFIX}_memory_bytes`, labels) === first
      },
      { what: () => `memory to be ${kernelWorkingSet(id)}, it is ${run.value(`${PREFIX}_memory_bytes`, labels)}`, deadlineMs: 20_000 },
    )
    await remove(id)
  })

  test('a CPU limit is told in cores, none where there is none', async () => {
    const run = start()
    const ids = [
      await docker.run({ name: 'limited', command: ['sleep', '600'], host: { NanoCpus: 500_000_000 } }),
      await docker.run({ name: 'unlimited', command: ['sleep', '600'] }),
    ]
    await poll(() => run.value(`${PREFIX}_cpu_limit_cores`, { container: 'limited' }) === 0.5, { what: 'the limit', deadlineMs: 20_000 })
    const before = run.scrapes('identity').length
    await poll(() => run.scrapes('identity').length > before && run.value(`${PREFIX}_pids`, { container: 'unlimited' }) !== undefined, {
      what: 'the next word about both',
      deadlineMs: 20_000,
    })
    expect(run.value(`${PREFIX}_cpu_limit_cores`, { container: 'unlimited' })).toBeUndefined()
    for (const id of ids) await remove(id)
  })

  test('a child killed for memory is counted, though the container lives on', async () => {
    const run = start()
    const command = 'while [ ! -e /go ]; do sleep 0.1; done; dd if=/dev/zero of=/dev/null bs=256M count=1; sleep 600'
    const id = await docker.run({ name: 'childoom', command: ['sh', '-c', command], host: { Memory: 64 * 1024 * 1024 } })
    const labels = { container: 'childoom' }
    await poll(() => run.value(`${PREFIX}_oom_kills_total`, labels) === 0, { what: 'no kill at first' })
    const go: unknown = JSON.parse((await docker.call('POST', `/containers/${id}/exec`, { Cmd: ['sh', '-c', ': > /go'] })).body)
    const exec = typeof go === 'object' && go !== null && 'Id' in go ? String(go.Id) : ''
    await docker.call('POST', `/exec/${exec}/start`, { Detach: true })
    await poll(() => (run.value(`${PREFIX}_oom_kills_total`, labels) ?? 0) >= 1, { what: 'the kill' })
    await poll(() => actions(run, 'childoom').some(({ action }) => action === 'oom'), { what: 'the event' })
    // The engine may say it more than once.
    expect([...new Set(actions(run, 'childoom').map(({ action }) => action))]).toEqual(['create', 'start', 'oom'])
    expect(run.value(`${PREFIX}_info`, labels)).toBe(1)
    await remove(id)
    await poll(() => actions(run, 'childoom').find(({ action }) => action === 'die')?.exit_code === 137, { what: 'its end with the exit code' })
  })

  test('restarts by the policy are counted', async () => {
    const run = start()
    const command = 'if [ -e /done ]; then sleep 600; else : > /done; exit 3; fi'
    const id = await docker.run({ name: 'again', command: ['sh', '-c', command], host: { RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 } } })
    await poll(() => run.value(`${PREFIX}_restarts_total`, { container: 'again' }) === 1, { what: 'the restart' })
    await poll(() => run.value(`${PREFIX}_pids`, { container: 'again' }) === 1, { what: 'the numbers of the new cgroup' })
    expect(actions(run, 'again').map(({ action, exit_code: code }) => (code === undefined ? action : `${action} ${code}`))).toEqual([
      'create',
      'start',
      'die 3',
      'start',
    ])
    await remove(id)
  })

  test('rename, pause and a restart by hand are followed', async () => {
    const run = start()
    const id = await docker.run({ name: 'first', command: ['sleep', '600'] })
    await poll(() => run.value(`${PREFIX}_memory_bytes`, { container: 'first' }), { what: 'its memory' })
    await docker.call('POST', `/containers/${id}/rename?name=second`)
    await poll(
      () =>
        run.value(`${PREFIX}_memory_bytes`, { container: 'second' }) !== undefined && run.value(`${PREFIX}_memory_bytes`, { container: 'first' }) === undefined,
      {
        what: 'the new name',
      },
    )
    await docker.call('POST', `/containers/${id}/pause`)
    await poll(() => run.value(`${PREFIX}_info`, { container: 'second', state: 'paused' }), { what: 'the pause' })
    await docker.call('POST', `/containers/${id}/unpause`)
    await docker.call('POST', `/containers/${id}/restart?t=0`)
    const pid = await docker.inspectPid(id)
    await poll(() => run.value(`${PREFIX}_info`, { container: 'second', state: 'running', pid: String(pid) }), { what: 'the new process' })
    await poll(() => run.value(`${PREFIX}_memory_bytes`, { container: 'second' }) !== undefined && run.gaps().length === 0, {
      what: () => `the numbers again, without a gap; there are ${JSON.stringify(run.gaps())}`,
    })
    expect(of(run, '_info', id).map(({ container }) => container)).toEqual(['second'])
    await remove(id)
  })

  test('without the socket: the same numbers by id', async () => {
    const id = await docker.run({ name: 'unnamed', command: ['sleep', '600'], host: { Memory: 32 * 1024 * 1024 } })
    source = runSource(createContainersSource({ sockets: [], cgroupRoot: CGROUPS, procRoot: '/proc', directory: createContainerDirectory(), gpus: () => [] }))
    const run = source
    const labels = { container: id.slice(0, 12), container_id: id.slice(0, 12) }
    await poll(() => run.value(`${PREFIX}_memory_limit_bytes`, labels) === 32 * 1024 * 1024, { what: 'its limit' })
    expect(run.value(`${PREFIX}_info`, { ...labels, runtime: 'docker', pid: String(await docker.inspectPid(id)) })).toBe(1)
    await remove(id)
    await poll(() => run.value(`${PREFIX}_memory_bytes`, labels) === undefined, { what: 'its series to go' })
  })

  test('the engine stops and starts again while we run', async () => {
    const run = start()
    const before = await docker.run({ name: 'before', command: ['sleep', '600'] })
    await poll(() => run.value(`${PREFIX}_memory_bytes`, { container: 'before' }), { what: 'its memory' })
    await docker.stopDaemon()
    const gap = await poll(() => run.gaps().find(({ metric }) => metric === 'containers'), { what: 'the gap' })
    expect(gap.labels).toEqual({ engine: docker.socketPath })
    expect(gap.detail).toContain(docker.socketPath)
    await poll(() => of(run, '_memory_bytes', before).length === 0, { what: 'the series of what ended with the engine to go', deadlineMs: 20_000 })
    await docker.startDaemon()
    const id = await docker.run({ name: 'after', command: ['sleep', '600'] })
    await poll(() => run.value(`${PREFIX}_memory_bytes`, { container: 'after' }) !== undefined && run.gaps().length === 0, {
      what: () => `a container of the new engine, without a gap; there are ${JSON.stringify(run.gaps())}`,
    })
    expect(run.lines.filter((line) => line.startsWith('warn')).length).toBeGreaterThanOrEqual(1)
    await remove(id)
  })

  test('the agent in a container of the host pid namespace, without the socket: who owns a pid, and numbers by id', async () => {
    const id = await docker.run({ name: 'neighbour', command: ['sleep', '600'], host: { Memory: 48 * 1024 * 1024 } })
    const out = mkdtempSync(join(tmpdir(), 'warpwatch-inside-'))
    const script = join(import.meta.dirname, '../setup/inside-container.ts')
    const pid = await docker.inspectPid(id)
    const libraries = ['/host/lib/x86_64-linux-gnu', '/host/usr/lib/x86_64-linux-gnu', '/host/usr/lib64', '/host/usr/lib'].join(':')
    const node = [join('/host', realpathSync('/lib64/ld-linux-x86-64.so.2')), '--library-path', libraries, join('/host', process.execPath)]
    const agent = await docker.run({
      name: 'agent',
      command: [...node, join('/host', script), '/host/sys/fs/cgroup', String(pid), '/out/result.json'],
      host: { PidMode: 'host', Binds: ['/:/host:ro', `${out}:/out`] },
    })
    try {
      await poll(() => existsSync(join(out, 'result.json')), { what: 'what the agent saw', deadlineMs: 40_000 })
      const seen: unknown = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'))
      expect(seen).toMatchObject({ container: { id, name: id.slice(0, 12) }, innerPid: 1, limits: { [id.slice(0, 12)]: 48 * 1024 * 1024 } })
    } finally {
      await remove(agent)
      await remove(id)
      rmSync(out, { recursive: true, force: true })
    }
  })

  test('a directory that is no cgroup tree: names, and gaps for the numbers', async () => {
    const id = await docker.run({ name: 'nowhere', command: ['sleep', '600'] })
    source = runSource(
      createContainersSource({ sockets: [docker.socketPath], cgroupRoot: join(import.meta.dirname, 'none'), procRoot: '/proc', directory, gpus: () => [] }),
    )
    const run = source
    await poll(() => run.gaps().some(({ metric, labels }) => metric === `${PREFIX}_memory_bytes` && labels['container'] === 'nowhere'), { what: 'the gaps' })
    expect(run.value(`${PREFIX}_info`, { container: 'nowhere' })).toBe(1)
    expect(of(run, '_memory_bytes', id)).toEqual([])
    await remove(id)
  })
})
