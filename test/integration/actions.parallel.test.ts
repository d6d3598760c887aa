// Actions of the built agent when a GPU is lost: what a command gets of the environment, that one that hangs is ended, and that none runs again after kill -9.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler } from '../fakes/nvml/build.ts'
import { hostOf, withGpu } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { randomOf } from '../setup/random.ts'
import { rounds } from '../setup/rounds.ts'

const KILLS = rounds({ full: 20, quick: 3 })
const AT_ANY_MOMENT = rounds({ full: 200, quick: 5 })
const WHY = compiler === undefined ? ' (needs a C compiler)' : ''
const incidents = z.array(
  z.object({ id: z.string(), status: z.string(), actions: z.array(z.object({ action: z.string(), state: z.string(), text: z.string() })).default([]) }),
)

describe.skipIf(WHY !== '')(`actions${WHY}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-actions-'))
  const file = (name: string): string => join(folder, name)
  const linesOf = (name: string): readonly string[] => (existsSync(file(name)) ? readFileSync(file(name), 'utf8').trim().split('\n') : [])
  const script = (name: string, text: string): string => {
    writeFileSync(file(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    return file(name)
  }
  const match = 'match: {kind: [gpu_lost, gpu_missing]}'
  const config = `actions:
  - {name: note, ${match}, command: [${script('note.sh', `env > ${file('env')}; echo "$1" >> ${file('noted')}`)}, "{incident}"], env: [SITE], cooldown: 0s, per_hour: 1000}
  - {name: stuck, ${match}, command: [${script('stuck.sh', `trap '' TERM; echo $$ >> ${file('stuck')}; while :; do sleep 600; done`)}], timeout: 1s, cooldown: 0s}
  - {name: long, ${match}, command: [${script('long.sh', `echo $$ >> ${file('long')}; exec sleep 600`)}], timeout: 10m, cooldown: 0s, per_hour: 1000}
`
  const host = hostOf(2)
  let agent: RunningAgent | undefined
  const isThere = (pid: number): boolean => existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // Each test has agents of its own.
  afterEach(async () => {
    await agent?.stop()
    agent = undefined
  })
  afterAll(() => {
    // An agent that is killed leaves what it had started.
    for (const pid of linesOf('long').map(Number)) if (isThere(pid)) process.kill(pid, 'SIGKILL')
  })
  const start = (dataDir?: string): Promise<RunningAgent> =>
    startAgent({
      scenario: dataDir === undefined ? host : withGpu(host, 1, { lost: 1 }),
      config,
      env: { SITE: 'north', HF_TOKEN: 'planted-secret' },
      ...(dataDir === undefined ? { ready: true } : { dataDir }),
    })
  const statesOf = async (running: RunningAgent): Promise<Readonly<Record<string, string>>> => {
    const [first] = incidents.parse(await running.json('/api/v1/incidents')).filter(({ status }) => status === 'firing')
    if (first === undefined) return {}
    const one = incidents.element.parse(await running.json(`/api/v1/incidents/${first.id}`))
    return Object.fromEntries(one.actions.map(({ action, state }) => [action, state]))
  }

  test(`run once, with the variables that were named, however often the agent is killed: ${KILLS} kills`, async () => {
    let running = (agent = await start())
    const { dataDir } = running
    running.tell(withGpu(host, 1, { lost: 1 }))
    await poll(async () => (await statesOf(running))['stuck'] === 'timeout', { what: 'the command that hangs to be ended', deadlineMs: 90_000 })
    expect(await statesOf(running)).toEqual({ note: 'done', stuck: 'timeout', long: 'started' })
    expect(linesOf('stuck').map(Number).filter(isThere)).toEqual([])
    const names = linesOf('env').map((line) => line.slice(0, line.indexOf('=')))
    // PWD and the like are the shell's own.
    expect(names.filter((name) => !/^(?:WARPWATCH_|PWD$|OLDPWD$|SHLVL$|_$)/.test(name)).toSorted()).toEqual(['LC_ALL', 'PATH', 'SITE'])
    // The agent's own settings, which may hold tokens, have two underscores.
    expect(names.filter((name) => name.includes('__'))).toEqual([])
    expect(readFileSync(file('env'), 'utf8')).not.toContain('planted-secret')
    for (let kill = 0; kill < KILLS; kill++) {
      await running.kill()
      running = agent = await start(dataDir)
      await poll(async () => (await statesOf(running))['long'] === 'interrupted', { what: 'what became of the action that ran', deadlineMs: 60_000 })
    }
    expect(await statesOf(running)).toEqual({ note: 'done', stuck: 'timeout', long: 'interrupted' })
    expect([linesOf('noted').length, linesOf('stuck').length, linesOf('long').length]).toEqual([1, 1, 1])
  })

  test(`never twice for one GPU that is lost, at whatever moment the agent is killed: ${AT_ANY_MOMENT} kills`, async () => {
    const moment = randomOf(20_261_129)
    const GPUS = 16
    const once = `actions:
  - {name: once, ${match}, command: [${script('once.sh', `echo "$1" >> ${file('once')}; sleep 0.3`)}, "{uuid}"], cooldown: 0s, per_hour: 1000}
`
    const hostWith = (lost: number) => Array.from({ length: lost }, (_, gpu) => gpu).reduce((now, gpu) => withGpu(now, gpu, { lost: 1 }), hostOf(GPUS))
    for (let kills = 0; kills < AT_ANY_MOMENT;) {
      const first = (agent = await startAgent({ scenario: hostWith(0), config: once, ready: true }))
      let running = first
      const { dataDir } = running
      // A GPU that is lost before it was read has no UUID yet.
      await poll(async () => (await first.metrics()).value('warpwatch_gpu_memory_used_bytes', { gpu: String(GPUS - 1) }), { what: 'the GPUs to be read' })
      writeFileSync(file('once'), '')
      const noted = (): readonly string[] => linesOf('once').filter((line) => line !== '')
      running.tell(hostWith(1))
      await poll(() => noted().length === 1, { what: 'the action for the first GPU', deadlineMs: 60_000 })
      for (let lost = 2; lost <= GPUS && kills < AT_ANY_MOMENT; lost++, kills++) {
        running.tell(hostWith(lost))
        // Before it is noticed, while its action begins and runs, and after.
        await delay(moment() * 4_000)
        await running.kill()
        running = agent = await startAgent({ scenario: hostWith(lost), config: once, dataDir })
      }
      expect(new Set(noted()).size, `each once: ${noted().join(' ')}`).toBe(noted().length)
      await running.stop()
      agent = undefined
    }
  }, 3_600_000)
})
