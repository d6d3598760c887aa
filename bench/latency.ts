// How soon a fault is told: from the line that a container writes to the incident on the live stream, beside the engine's own `docker logs -f`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing, startDocker, type TestDocker } from '../test/setup/docker.ts'
import { poll } from '../test/setup/poll.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { createRandom } from './lib/random.ts'
import { percentile, printTable } from './lib/table.ts'

/** Each fault needs a container of its own: the same one again counts up, and is told once a second. */
const ROUNDS = 6
const CONTAINERS = 20
const LIMIT_MS = 300
const FAULT =
  'Traceback (most recent call last):\n  File "/app/train.py", line 31, in <module>\n    loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 77.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.\n'

type Writer = { readonly name: string; readonly file: FileHandle; readonly follow: Socket; readonly id: string }
const told = z.object({ incident: z.object({ subject: z.object({ container: z.object({ name: z.string() }).optional() }) }) })

/** A container that prints what is written to a pipe, and the engine's stream of its log, as `docker logs -f` reads it. */
async function startWriter(docker: TestDocker, folder: string, name: string, onFault: (name: string) => void): Promise<Writer> {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  const id = await docker.run({ name, command: ['cat', '/pipe'], host: { Binds: [`${path}:/pipe`] } })
  const file = await open(path, 'r+')
  const follow = connect(docker.socketPath)
  follow.on('data', (bytes) => {
    if (bytes.includes('OutOfMemoryError')) onFault(name)
  })
  follow.write(`GET /containers/${id}/logs?stdout=1&stderr=1&follow=1 HTTP/1.0\r\nHost: docker\r\n\r\n`)
  return { name, file, follow, id }
}

export async function run(): Promise<void> {
  if (dockerMissing !== undefined) {
    process.stdout.write(`latency: skipped, ${dockerMissing}\n`)
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-latency-'))
  const docker = await startDocker()
  const scenario = scenarioFile(eightH100())
  const agent = startAgentProcess({
    port: 19_842,
    env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '', WARPWATCH_CONTAINERS__ENGINES: docker.socketPath },
  })
  const random = createRandom(7)
  const writtenAt = new Map<string, number>()
  const byAgent = new Map<string, number>()
  const byEngine = new Map<string, number>()
  const note = (at: Map<string, number>, name: string): void => {
    const written = writtenAt.get(name)
    if (written !== undefined && !at.has(name)) at.set(name, performance.now() - written)
  }
  try {
    await poll(async () => (await get(`${agent.url}/readyz`))?.includes('"ready"'), { what: 'the agent to be ready', deadlineMs: 20_000 })
    const socket = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      if (text.startsWith('{"type":"incident"')) note(byAgent, told.parse(JSON.parse(text)).incident.subject.container?.name ?? '')
    })
    mkdirSync(join(folder, 'pipes'))
    for (let round = 0; round < ROUNDS; round++) {
      const writers: Writer[] = []
      for (let n = 0; n < CONTAINERS; n++) writers.push(await startWriter(docker, join(folder, 'pipes'), `quick-${round}-${n}`, (name) => note(byEngine, name)))
      const known = async (): Promise<boolean> => {
        const containers = (await get(`${agent.url}/api/v1/containers`)) ?? ''
        return writers.every(({ name }) => containers.includes(`"${name}"`))
      }
      await poll(known, { what: 'the agent to know all containers', everyMs: 100 })
      for (const { name, file } of writers) {
        await file.write(`step 1 loss 0.5\n`)
        // Not in step with anybody's timers.
        await delay(100 + random() * 150)
        writtenAt.set(name, performance.now())
        await file.write(FAULT)
      }
      await poll(() => writers.every(({ name }) => byAgent.has(name) && byEngine.has(name)), { what: () => `all, came ${byAgent.size} and ${byEngine.size}` })
      for (const { id, file, follow } of writers) {
        follow.destroy()
        await docker.call('DELETE', `/containers/${id}?force=1`)
        await file.close()
      }
    }
    socket.terminate()
  } finally {
    await agent.stop()
    await docker.close()
    scenario.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  const figures = (at: ReadonlyMap<string, number>): readonly number[] => [...at.values()]
  const [agentMedian, engineMedian] = [percentile(figures(byAgent), 0.5), percentile(figures(byEngine), 0.5)]
  const worst = percentile(figures(byAgent), 0.99)
  const both = (at: ReadonlyMap<string, number>): string => `${percentile(figures(at), 0.5).toFixed(1)} · ${percentile(figures(at), 0.99).toFixed(1)}`
  printTable([
    {
      what: `line written to incident on the stream, p50 · p99 of ${byAgent.size}, ms`,
      figure: both(byAgent),
      limit: `p99 ${LIMIT_MS}`,
      ok: worst <= LIMIT_MS,
    },
    { what: 'the same line through docker logs -f, ms', figure: both(byEngine) },
    { what: 'ratio of the medians', figure: `${(agentMedian / engineMedian).toFixed(0)} : 1 (100 ms are the wait for the rest of a traceback)` },
  ])
}

if (import.meta.main) await run()
