// Runs inside the virtual machine: the containers source with a real Docker engine on cgroup v2. Prints one line per check, ends with 1 on the first failure.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createContainerDirectory } from '../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../agent/attribution/process.ts'
import { createContainersSource } from '../../agent/sources/containers.ts'
import { startDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { runSource } from '../setup/run-source.ts'

const CGROUPS = '/sys/fs/cgroup'
// Everything is ten times slower without KVM.
const SLOW = { deadlineMs: 60_000 } as const
const PREFIX = 'warpwatch_container'
const passed = (what: string): void => console.log(`ok ${what}`)

assert(existsSync(`${CGROUPS}/cgroup.controllers`), 'expected cgroup v2 at /sys/fs/cgroup')
const kernelText = (id: string, file: string): string => {
  const [path] = globSync(`${CGROUPS}/**/*${id}*/${file}`)
  assert(path !== undefined, `expected ${file} of ${id}`)
  return readFileSync(path, 'utf8')
}
const field = (text: string, name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])

const docker = await startDocker({ ramdisk: true })
const directory = createContainerDirectory()
const run = runSource(createContainersSource({ sockets: [docker.socketPath], cgroupRoot: CGROUPS, procRoot: '/proc', directory, gpus: () => [] }))

const labels = { 'com.docker.compose.project': 'shop', 'com.docker.compose.service': 'web' }
const id = await docker.run({ name: 'busy', command: ['sh', '-c', 'while :; do :; done'], labels, host: { Memory: 64 * 1024 * 1024 } })
const busy = { container: 'busy', container_id: id.slice(0, 12), image: 'warpwatch-test:1', compose_project: 'shop', compose_service: 'web' }
await poll(() => (run.value(`${PREFIX}_cpu_seconds_total`, busy) ?? 0) > 0.2, { what: 'CPU time', ...SLOW })
passed('a container appears with its labels')

const before = field(kernelText(id, 'cpu.stat'), 'usage_usec') / 1e6
const scrapes = run.scrapes('numbers').length
await poll(() => run.scrapes('numbers').length > scrapes, { what: 'the next scrape', ...SLOW })
const cpu = run.value(`${PREFIX}_cpu_seconds_total`, busy) ?? Number.NaN
const after = field(kernelText(id, 'cpu.stat'), 'usage_usec') / 1e6
assert(cpu >= before && cpu <= after, `expected CPU seconds between ${before} and ${after}, got ${cpu}`)
passed('CPU time is that of cpu.stat')

const kernelWorkingSet = (): number => Number(kernelText(id, 'memory.current')) - field(kernelText(id, 'memory.stat'), 'inactive_file')
await poll(
  async () => {
    const first = kernelWorkingSet()
    const seen = run.scrapes('numbers').length
    await poll(() => run.scrapes('numbers').length > seen, { what: 'the next scrape', ...SLOW })
    return kernelWorkingSet() === first && run.value(`${PREFIX}_memory_bytes`, busy) === first
  },
  { what: () => `memory to be ${kernelWorkingSet()}, it is ${run.value(`${PREFIX}_memory_bytes`, busy)}`, ...SLOW },
)
assert.equal(run.value(`${PREFIX}_memory_limit_bytes`, busy), 64 * 1024 * 1024)
assert.equal(run.value(`${PREFIX}_pids`, busy), 1)
passed('working set, limit and pids are the files of the kernel')

const identity = createProcessIdentifier({ procRoot: '/proc', directory })(await docker.inspectPid(id))
assert.equal(identity?.container?.name, 'busy')
assert.equal(identity?.innerPid, 1)
passed('its process is known as its own')

const hasPressure = existsSync('/proc/pressure/cpu')
await poll(() => run.scrapes('pressure').length > 0, { what: 'a scrape of the pressure', ...SLOW })
await poll(() => !hasPressure || (run.value(`${PREFIX}_pressure_waiting_seconds_total`, { ...busy, resource: 'cpu', kind: 'some' }) ?? -1) >= 0, {
  what: 'pressure',
  ...SLOW,
})
passed(hasPressure ? 'pressure is told' : 'this kernel has no pressure files')

const oomCommand = 'while [ ! -e /go ]; do sleep 1; done; dd if=/dev/zero of=/dev/null bs=256M count=1; sleep 600'
const oomId = await docker.run({ name: 'childoom', command: ['sh', '-c', oomCommand], host: { Memory: 64 * 1024 * 1024, MemorySwap: 64 * 1024 * 1024 } })
await poll(() => run.value(`${PREFIX}_oom_kills_total`, { container: 'childoom' }) === 0, { what: 'no kill at first', ...SLOW })
const exec: unknown = JSON.parse((await docker.call('POST', `/containers/${oomId}/exec`, { Cmd: ['sh', '-c', ': > /go'] })).body)
await docker.call('POST', `/exec/${typeof exec === 'object' && exec !== null && 'Id' in exec ? String(exec.Id) : ''}/start`, { Detach: true })
await poll(() => (run.value(`${PREFIX}_oom_kills_total`, { container: 'childoom' }) ?? 0) >= 1, { what: 'the kill', ...SLOW })
assert.equal(run.value(`${PREFIX}_oom_kills_total`, { container: 'childoom' }), field(kernelText(oomId, 'memory.events'), 'oom_kill'))
assert.equal(run.value(`${PREFIX}_info`, { container: 'childoom' }), 1)
await poll(() => run.events.some((event) => event.type === 'container' && event.container === 'childoom' && event.action === 'oom'), {
  what: 'the event',
  ...SLOW,
})
passed('a child killed for memory is counted while the container lives on')

await docker.call('DELETE', `/containers/${id}?force=1`)
await poll(() => run.of(`${PREFIX}_memory_bytes`).every(({ series }) => series.labels['container'] !== 'busy'), { what: 'its series to go', ...SLOW })
passed('an ended container leaves')
await run.stop()

const unnamed = runSource(
  createContainersSource({ sockets: [], cgroupRoot: CGROUPS, procRoot: '/proc', directory: createContainerDirectory(), gpus: () => [] }),
)
await poll(() => unnamed.value(`${PREFIX}_oom_kills_total`, { container: oomId.slice(0, 12) }), { what: 'numbers by id', ...SLOW })
await unnamed.stop()
passed('without the socket: numbers by id')
await docker.close()
