// Containers' logs through a real Podman: whole seconds as times, frames with and without a terminal, the last words of a crash.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf, linesOf, runContainerLogs, textOf, type ContainerLogs } from '../setup/container-logs.ts'
import { podmanMissing, startPodman, type TestPodman } from '../setup/podman.ts'
import { poll } from '../setup/poll.ts'

const sh = (script: string): readonly string[] => ['sh', '-c', script]

describe.skipIf(podmanMissing !== undefined)(`container logs with a real Podman${podmanMissing === undefined ? '' : ` (${podmanMissing})`}`, () => {
  let podman: TestPodman
  let data = ''
  let run: ContainerLogs
  beforeAll(async () => {
    podman = await startPodman()
    data = mkdtempSync(join(tmpdir(), 'warpwatch-podman-logs-'))
    run = runContainerLogs(podman.socketPath, data)
    const id = await podman.run({ name: 'ready', command: sh('echo FAULT-ready; sleep 600') })
    await poll(() => faultsOf(run.events, 'ready').length === 1, { what: 'the first stream', deadlineMs: 20_000 })
    await podman.call('DELETE', `/containers/${id}?force=1`)
  })
  afterAll(async () => {
    await run?.close()
    await podman?.close()
    rmSync(data, { recursive: true, force: true })
  })
  const whole = async (name: string, count: number): Promise<void> => {
    await poll(() => faultsOf(run.events, name).length >= count, {
      what: () => `${count} faults of ${JSON.stringify(linesOf(run.events, name))}`,
      deadlineMs: 20_000,
    })
  }

  test('one that prints a fault and dies at once', async () => {
    await podman.run({ name: 'crash', command: sh('echo before; echo FAULT-last >&2; exit 1') })
    await whole('crash', 1)
    expect(textOf(linesOf(run.events, 'crash')).split('\n').sort()).toEqual(['FAULT-last', 'before'])
  })

  test('many equal and unequal lines within one second: each once', async () => {
    await podman.run({ name: 'busy', command: sh('for i in 1 2 3 4 5 6 7 8 9; do echo step; echo FAULT-$i; sleep 0.2; done; echo FAULT-end; sleep 600') })
    await whole('busy', 10)
    expect(faultsOf(run.events, 'busy')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 'end'].map((text) => `FAULT-${text}`))
    expect(textOf(linesOf(run.events, 'busy')).match(/step/g)).toHaveLength(9)
  })

  test('a container with a terminal', async () => {
    await podman.run({ name: 'terminal', command: sh('echo before; echo FAULT-a; sleep 0.5; echo FAULT-b; sleep 600'), tty: true })
    await whole('terminal', 2)
    expect(textOf(linesOf(run.events, 'terminal')).split('\n')).toEqual(['before', 'FAULT-a', 'FAULT-b'])
  })
})
