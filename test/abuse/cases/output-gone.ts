// Nobody reads what the agent says: the reader of its pipe goes away, or its log is a file on a full disk.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { get } from '../../setup/agent.ts'
import { freeAddress } from '../../setup/free-port.ts'
import { poll } from '../../setup/poll.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { samplesCome } from '../parts/sampling.ts'
import { startScene } from '../parts/scene.ts'

const MAIN = join(import.meta.dirname, '../../../dist/main.js')

export const outputClosed: AbuseCase = {
  id: 'output-closed',
  area: 'process',
  fault: 'the reader of stdout and stderr goes away while the agent has something to log',
  promised: 'it goes on as if nothing had happened',
  hasShortForm: true,
  besideOthers: true,
  async run() {
    await using scene = await startScene()
    const agent = scene.agent()
    await samplesCome(agent, 1)
    agent.closeOutput()
    // Of this it tells by several lines.
    rmSync(scene.dataDir, { recursive: true })
    scene.crash()
    await samplesCome(agent, 2)
    await scene.allHeard()
    const ready = await agent.get('/readyz')
    return { held: ready.status === 200, observed: `0 of 1 incidents lost, /readyz answers ${ready.status}` }
  },
}

export const outputFull: AbuseCase = {
  id: 'output-full',
  area: 'process',
  fault: 'every line of the log fails with ENOSPC (/dev/full)',
  promised: 'the same',
  hasShortForm: false,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-output-'))
    const full = openSync('/dev/full', 'w')
    const listen = await freeAddress()
    const child = spawn(process.execPath, [MAIN, 'run', '--listen', listen, '--data-dir', join(folder, 'data')], { stdio: ['ignore', full, full] })
    const ended = once(child, 'exit')
    try {
      const ready = async (): Promise<boolean> => (await get(`http://${listen}/readyz`).catch(() => undefined))?.status === 200
      await poll(ready, { what: () => `an agent that is ready; exit code ${child.exitCode}`, deadlineMs: 30_000, everyMs: 100 })
      rmSync(join(folder, 'data'), { recursive: true })
      await poll(() => get(`http://${listen}/metrics`).then(({ text }) => /warpwatch_agent_history_bytes [1-9]/.test(text)), {
        what: 'a history',
        deadlineMs: 30_000,
        everyMs: 200,
      })
      const held = child.exitCode === null && (await ready())
      return { held, observed: held ? 'ready before and after' : `ended with ${child.exitCode}` }
    } finally {
      child.kill('SIGTERM')
      await ended
      closeSync(full)
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
