// Children stuck in the kernel, where SIGKILL does not end them: frozen by the cgroup v1 freezer, which holds them in state D as a hung driver does.
import { accessSync, constants, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runScript, until } from './harness.ts'

const FREEZER = '/sys/fs/cgroup/freezer'
const writable = ((): boolean => {
  try {
    accessSync(join(FREEZER, 'cgroup.procs'), constants.W_OK)
    return true
  } catch {
    return false
  }
})()

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const ownChildren = (): string[] => readdirSync('/proc/self/task').flatMap((task) => read(`/proc/self/task/${task}/children`).trim().split(' ').filter(Boolean))

function createFreezer() {
  const group = join(FREEZER, `warpwatch-test-${process.pid}`)
  mkdirSync(group)
  const freezer = join(group, 'freezer.state')
  writeFileSync(freezer, 'FROZEN')
  // Whoever of our children is in a call that hangs is frozen there.
  const timer = setInterval(() => {
    for (const pid of ownChildren()) {
      const comm = read(`/proc/${pid}/comm`).trim()
      if (hung.some((prefix) => comm.startsWith(prefix))) writeFileSync(join(group, 'cgroup.procs'), pid)
    }
  }, 20)
  let hung: readonly string[] = []
  return {
    freeze: (prefixes: readonly string[]) => void (hung = prefixes),
    thaw() {
      hung = []
      writeFileSync(freezer, 'THAWED')
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      writeFileSync(freezer, 'THAWED')
      await until('the frozen to end', () => {
        for (const pid of read(join(group, 'cgroup.procs')).trim().split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
        return read(join(group, 'cgroup.procs')) === ''
      })
      rmdirSync(group)
    },
  }
}

describe.skipIf(!writable)('children that cannot be killed (needs root and the cgroup v1 freezer)', () => {
  test('are abandoned and counted; no probe is risked beyond the cap; the GPU returns when they come free', async () => {
    await using freezer = createFreezer()
    await using running = runScript({ gpus: 3 }, { maxUnkillable: 3 })
    await until('first readings', () => running.value('warpwatch_gpu_power_watts', { gpu: '2' }) !== undefined)
    freezer.freeze(['nvml:1:'])
    running.script.set({ gpus: 3, hang: [1] })
    const abandoned = () => running.value('warpwatch_agent_sampler_abandoned')
    await until('no more tries', () => /left out until one of the sampler processes/.test(running.gapOf(1)?.detail ?? ''))
    expect(running.value('warpwatch_gpu_power_watts', { gpu: '0' }), 'the others go on').toBe(100)
    await until('two counted', () => abandoned() === 2)
    running.script.set({ gpus: 3, watts: 60 })
    freezer.thaw()
    await until('GPU 1 is back', () => running.value('warpwatch_gpu_power_watts', { gpu: '1' }) === 60)
    await until('none left', () => abandoned() === 0)
  })

  test('stop new ones at the cap, which says so; the first that ends lets the agent go on', async () => {
    await using freezer = createFreezer()
    // On a busy machine a process that is just being born must not be over the deadline before it reaches the call that holds it: that one can be killed.
    await using running = runScript({ gpus: 1 }, { maxUnkillable: 2, startDeadlineMs: 3_000 })
    await until('first readings', () => running.value('warpwatch_gpu_power_watts') !== undefined)
    freezer.freeze(['nvml:-:'])
    running.script.set({ gpus: 1, hang: [-1] })
    process.kill(running.source.samplerPid() ?? 0, 'SIGKILL')
    await until('the cap', () => running.gapOf(undefined)?.detail?.startsWith('2 sampler processes hang in the driver') === true)
    expect(running.source.state()).toMatchObject({ kind: 'down', reason: 'timeout' })
    running.script.set({ gpus: 1 })
    freezer.thaw()
    await until('readings', () => running.value('warpwatch_gpu_power_watts') === 100)
  })
})
