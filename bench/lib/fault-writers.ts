// Containers of a real engine that each print one fault, and when: what latencies are measured from.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestDocker } from '../../test/setup/docker.ts'
import { poll } from '../../test/setup/poll.ts'
import { get } from './agent-process.ts'
import { createRandom } from './random.ts'

const FAULT =
  'Traceback (most recent call last):\n  File "/app/train.py", line 31, in <module>\n    loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 77.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.\n'

type Writer = { readonly name: string; readonly file: FileHandle; readonly follow: Socket; readonly id: string }

export type FaultRounds = {
  readonly docker: TestDocker
  readonly agentUrl: string
  readonly rounds: number
  /** In one round; each fault needs a container of its own: the same one again counts up, and is reported once a second. */
  readonly containers: number
}
export type FaultTimes = {
  /** That this container's fault was heard of now. */
  readonly heard: (container: string) => void
  /** Milliseconds from the write to `heard`, by container. */
  readonly reported: ReadonlyMap<string, number>
  /** The same to the line on the engine's own stream, as `docker logs -f` reads it. */
  readonly byEngine: ReadonlyMap<string, number>
  readonly run: () => Promise<void>
}

/** A container that prints what is written to a pipe, and the engine's stream of its log. */
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

export function createFaultRounds({ docker, agentUrl, rounds, containers }: FaultRounds): FaultTimes {
  const random = createRandom(7)
  const writtenAt = new Map<string, number>()
  const reported = new Map<string, number>()
  const byEngine = new Map<string, number>()
  const note = (at: Map<string, number>, name: string): void => {
    const written = writtenAt.get(name)
    if (written !== undefined && !at.has(name)) at.set(name, performance.now() - written)
  }
  const runRound = async (folder: string, round: number): Promise<void> => {
    const writers: Writer[] = []
    for (let n = 0; n < containers; n++) writers.push(await startWriter(docker, folder, `quick-${round}-${n}`, (name) => note(byEngine, name)))
    const known = async (): Promise<boolean> => {
      const text = (await get(`${agentUrl}/api/v1/containers`)) ?? ''
      return writers.every(({ name }) => text.includes(`"${name}"`))
    }
    await poll(known, { what: 'the agent to know all containers', everyMs: 100 })
    for (const { name, file } of writers) {
      await file.write(`step 1 loss 0.5\n`)
      // Not in step with anybody's timers.
      await delay(100 + random() * 150)
      writtenAt.set(name, performance.now())
      await file.write(FAULT)
    }
    await poll(() => writers.every(({ name }) => reported.has(name) && byEngine.has(name)), { what: () => `all, came ${reported.size} and ${byEngine.size}` })
    for (const { id, file, follow } of writers) {
      follow.destroy()
      await docker.call('DELETE', `/containers/${id}?force=1`)
      await file.close()
    }
  }
  return {
    heard: (name) => note(reported, name),
    reported,
    byEngine,
    async run() {
      const folder = mkdtempSync(join(tmpdir(), 'warpwatch-faults-'))
      try {
        for (let round = 0; round < rounds; round++) await runRound(folder, round)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}
