// The NVIDIA GPU of a laptop: never opened while it is suspended, left alone when nobody uses it, read again when someone does.
import { describe, expect, it, test } from 'vitest'
import { createFiles } from '../../../agent/drm/files.ts'
import { createRuntimeSleep, type RuntimeSleep } from '../../../agent/sources/gpu/runtime-sleep.ts'
import { below, treeReader } from '../../fakes/cards/tree.ts'
import { runScript, until } from './harness.ts'

const SLOT = '0000:01:00.0'
const DEVICE = `/t/sys/bus/pci/devices/${SLOT}`

function laptop(more: Readonly<Record<string, string>> = {}) {
  const files: Record<string, string | Buffer> = {
    ...below(DEVICE, { vendor: '0x10de', class: '0x030000', 'power/control': 'auto', 'power/runtime_status': 'suspended', ...more }),
    // The sound function of the card sleeps by itself.
    ...below('/t/sys/bus/pci/devices/0000:01:00.1', { vendor: '0x10de', class: '0x040300', 'power/control': 'on' }),
    ...below('/t/sys/bus/pci/devices/0000:00:02.0', { vendor: '0x8086', class: '0x030000', 'power/control': 'on' }),
    [`/t/proc/driver/nvidia/gpus/${SLOT}/power`]: 'Runtime D3 status:          Enabled (fine-grained)\nVideo Memory:               Off',
  }
  const links: Record<string, string> = {}
  const sleep = createRuntimeSleep(createFiles(treeReader(() => ({ files, links }))), { sys: '/t/sys', proc: '/t/proc' })
  return {
    sleep,
    status: (text: string): void => void (files[`${DEVICE}/power/runtime_status`] = text),
    /** A process that opens the card, or closes it. */
    holder(pid: number, comm: string, holds: boolean): void {
      files[`/t/proc/${pid}/comm`] = comm
      if (holds) links[`/t/proc/${pid}/fd/7`] = '/dev/nvidia0'
      else delete links[`/t/proc/${pid}/fd/7`]
    },
    set: (path: string, text: string): void => void (files[path] = text),
  }
}
/** The answers of each second of a span. */
const seconds = (sleep: RuntimeSleep, from: number, to: number): readonly boolean[] =>
  Array.from({ length: to - from }, (_, at) => sleep.mayRead((from + at) * 1_000))

describe('a laptop', () => {
  it('is not opened while it is suspended, and at once when a program opens it', () => {
    const host = laptop()
    expect(new Set(seconds(host.sleep, 0, 600))).toEqual(new Set([false]))
    expect(host.sleep.suspended()).toEqual([SLOT])
    host.status('active')
    expect(host.sleep.mayRead(600_000)).toBe(false)
    host.holder(900, 'python3', true)
    expect(seconds(host.sleep, 601, 604)).toContain(true)
  })

  it('is not opened because something looked at the bus', () => {
    const host = laptop()
    seconds(host.sleep, 0, 5)
    host.status('active')
    expect(seconds(host.sleep, 5, 15)).not.toContain(true)
    host.status('suspended')
    expect(seconds(host.sleep, 15, 60)).not.toContain(true)
  })

  it('is let go when nobody uses it, read again after it slept and woke', () => {
    const host = laptop({ 'power/runtime_status': 'active' })
    expect(seconds(host.sleep, 0, 29)).not.toContain(false)
    host.sleep.sampled(29_000, true, [])
    expect(seconds(host.sleep, 30, 59)).not.toContain(false)
    // The sampler, the daemon of the driver, and a desktop that draws with it do not count.
    host.holder(50, 'nvml:0:12', true)
    host.holder(51, 'nvidia-persiste', true)
    host.holder(52, 'Xorg', true)
    host.sleep.sampled(58_000, false, [52])
    expect(seconds(host.sleep, 59, 62)).toContain(false)
    host.status('suspended')
    expect(seconds(host.sleep, 62, 200)).not.toContain(true)
    host.status('active')
    expect(seconds(host.sleep, 200, 216).indexOf(true)).toBe(15)
  })

  it('is kept while a program holds it, even one that does nothing', () => {
    const host = laptop({ 'power/runtime_status': 'active' })
    host.holder(900, 'jupyter', true)
    expect(seconds(host.sleep, 0, 300)).not.toContain(false)
    host.holder(900, 'jupyter', false)
    expect(seconds(host.sleep, 300, 340)).toContain(false)
  })

  it('that stays awake without us is read again, and let go ever more seldom', () => {
    const host = laptop({ 'power/runtime_status': 'active' })
    const answers = seconds(host.sleep, 0, 3_600)
    const closed = answers.filter((may) => !may).length
    expect(closed).toBeGreaterThan(100)
    expect(closed).toBeLessThan(600)
    expect(answers.slice(100, 200)).toContain(true)
  })
})

it.each([
  ['a server', { 'power/control': 'on', 'power/runtime_status': 'active' }, undefined],
  ['a desktop card whose driver cannot', { 'power/runtime_status': 'active' }, 'Runtime D3 status:          Not supported'],
  ['a card of an old driver that never slept', { 'power/runtime_status': 'active', 'power/runtime_suspended_time': '0' }, ''],
])('%s is always read', (_, files, power) => {
  const host = laptop(files)
  if (power !== undefined) host.set(`/t/proc/driver/nvidia/gpus/${SLOT}/power`, power)
  expect(new Set(seconds(host.sleep, 0, 700))).toEqual(new Set([true]))
})

test('the source: no child while the GPU sleeps, one when it may be read, and none again; what it says meanwhile', async () => {
  let may = false
  const ticks: ((t: number) => unknown)[] = []
  const sleep: RuntimeSleep = { mayRead: () => may, sampled: () => undefined, suspended: () => (may ? [] : [SLOT]) }
  await using running = runScript({ gpus: 1 }, { sleep }, (_period, run) => {
    ticks.push(run)
    return () => {}
  })
  const tick = (): void => ticks.forEach((run) => run(Date.now()))
  tick()
  expect(running.source.samplerPid()).toBeUndefined()
  expect(running.gapOf(undefined)?.detail).toContain('asleep')
  expect(running.states).toEqual([])

  may = true
  tick()
  await until('a reading', () => running.value('warpwatch_gpu_power_watts') !== undefined)
  expect(running.gapOf(undefined)).toBeUndefined()
  const pid = running.source.samplerPid()
  expect(pid).toBeDefined()

  may = false
  tick()
  expect(running.source.samplerPid()).toBeUndefined()
  await until('the end of the child', () => {
    try {
      process.kill(pid ?? 0, 0)
      return false
    } catch {
      return true
    }
  })
  expect(running.value('warpwatch_gpu_power_watts')).toBeUndefined()
  expect(running.value('warpwatch_gpu_asleep')).toBe(1)
  expect(running.value('warpwatch_gpu_utilization_ratio')).toBe(0)
  expect(running.age(0)).toBeUndefined()
  expect(running.store.gaps().find(({ metric }) => metric === 'warpwatch_gpu_power_watts')?.detail).toContain('asleep')
  expect(running.log.join('\n')).not.toContain('restarted')
})
