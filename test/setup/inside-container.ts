// Runs inside a container of the host's pid namespace, without the engine's socket, and writes down what it sees: inside-container.ts CGROUP_ROOT PID OUTPUT
import { renameSync, writeFileSync } from 'node:fs'
import { createContainerDirectory } from '../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../agent/attribution/process.ts'
import { createContainersSource } from '../../agent/sources/containers.ts'
import { poll } from './poll.ts'
import { runSource } from './run-source.ts'

const [cgroupRoot = '', pid = '', output = ''] = process.argv.slice(2)
const directory = createContainerDirectory()
const identity = createProcessIdentifier({ procRoot: '/proc', directory })(Number(pid))
const run = runSource(createContainersSource({ sockets: [], cgroupRoot, procRoot: '/proc', directory, gpus: () => [] }))
await poll(() => run.of('warpwatch_container_memory_bytes').length >= 2 && run.of('warpwatch_container_pids').length >= 2, {
  what: 'both containers',
  deadlineMs: 30_000,
})
const limits = Object.fromEntries(run.of('warpwatch_container_memory_limit_bytes').map(({ series, value }) => [series.labels['container_id'], value]))
await run.stop()
writeFileSync(`${output}.part`, JSON.stringify({ container: identity?.container, innerPid: identity?.innerPid, limits }))
renameSync(`${output}.part`, output)
