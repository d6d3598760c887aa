// The host source against this machine, against a made-up /proc, and against file systems that do not answer.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Event, Scrape } from '../../../agent/model/event.ts'
import type { HostOptions } from '../../../agent/sources/host.ts'
import { createHostSource } from '../../../agent/sources/host.ts'
import { createStatfs } from '../../../agent/sources/host/statfs.ts'

async function firstScrapes(options: HostOptions = {}): Promise<Readonly<Record<'fast' | 'slow', Scrape>>> {
  const source = createHostSource(options)
  const found: Partial<Record<string, Scrape>> = {}
  await new Promise<void>((resolve) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const emit = (event: Event): void => {
      if (event.type === 'scrape') found[event.group] = event
      if (found['fast'] !== undefined && found['slow'] !== undefined) resolve()
    }
    void source.start({ emit, every: () => () => {}, log })
  })
  await source.stop()
  const { fast, slow } = found
  if (fast === undefined || slow === undefined) throw new Error('two scrapes were waited for')
  return { fast, slow }
}
const valueOf = ({ readings }: Scrape, key: string): number | undefined => readings.find(({ series }) => series.key === `warpwatch_host_${key}`)?.value

describe.skipIf(process.platform !== 'linux')('this machine (needs Linux)', () => {
  test('agrees with what Node and the kernel say by other ways', async () => {
    const { fast, slow } = await firstScrapes()
    expect(valueOf(fast, 'memory_total_bytes')).toBe(totalmem())
    expect(valueOf(fast, 'cpu_cores')).toBe(cpus().length)
    const idle = cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1_000
    expect(valueOf(fast, 'cpu_seconds_total{mode="idle"}')).toBeGreaterThan(0.9 * idle)
    expect(valueOf(fast, 'cpu_seconds_total{mode="idle"}')).toBeLessThan(1.1 * idle)
    expect(Math.abs(Date.now() / 1_000 - Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) - (valueOf(fast, 'boot_time_seconds') ?? 0))).toBeLessThan(
      5,
    )
    const shm = statfsSync('/dev/shm')
    expect(valueOf(slow, 'shm_total_bytes')).toBe(shm.blocks * shm.bsize)
    expect(slow.readings.filter(({ series }) => series.metric.name.endsWith('_info'))).toHaveLength(1)
    expect([...fast.readings, ...slow.readings].filter(({ value }) => !Number.isFinite(value) || value < 0)).toEqual([])
    const keys = [...fast.readings, ...slow.readings].map(({ series }) => series.key)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('a made-up /proc', () => {
  let proc = ''
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(proc, name)), { recursive: true })
    writeFileSync(join(proc, name), text)
  }
  beforeEach(() => (proc = mkdtempSync(join(tmpdir(), 'warpwatch-proc-'))))
  afterEach(() => rmSync(proc, { recursive: true, force: true }))

  test('everything is missing: a gap for each metric, and no reading but who the host is', async () => {
    const { fast, slow } = await firstScrapes({ procRoot: proc, sysRoot: proc, hostname: 'box' })
    expect(fast.readings).toEqual([])
    expect(slow.readings.map(({ series }) => series.labels['hostname'])).toEqual(['box'])
    expect(new Set(fast.gaps.map(({ reason }) => reason))).toEqual(new Set(['not_supported']))
    const metrics = createHostSource().metrics.map(({ name }) => name)
    const reported = new Set([...fast.gaps, ...slow.gaps].map(({ metric }) => metric))
    // A host without InfiniBand lacks nothing.
    expect(metrics.filter((name) => !reported.has(name) && !name.includes('infiniband'))).toEqual(['warpwatch_host_info'])
  })

  test("the host's own files are read, also through its PID 1", async () => {
    put('stat', 'cpu  100 0 0 200 0 0 0 0\ncpu0 100 0 0 200 0 0 0 0\nbtime 5\n')
    put('1/net/dev', 'x |\n eth0: 10 0 0 0 0 0 0 0 20 0 0 0 0 0 0 0\n veth1: 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n')
    put('1/mountinfo', '27 1 254:0 / /data rw - ext4 /dev/vda rw\n28 1 254:1 / /gone rw - ext4 /dev/vdb rw\n')
    mkdirSync(join(proc, '1/root/data'), { recursive: true })
    mkdirSync(join(proc, '1/root/dev/shm'), { recursive: true })
    put('1/root/etc/os-release', 'PRETTY_NAME="Made Up 1"\n')
    put('vmstat', 'pgpgin 1\noom_kill 3\n')
    put('class/infiniband/mlx5_0/ports/1/counters/port_rcv_data', '25\n')
    const { fast, slow } = await firstScrapes({ procRoot: proc, sysRoot: proc, hostname: 'box' })
    expect(valueOf(fast, 'cpu_seconds_total{mode="user"}')).toBe(1)
    expect(valueOf(slow, 'oom_kills_total')).toBe(3)
    expect(valueOf(slow, 'network_receive_bytes_total{interface="eth0"}')).toBe(10)
    expect(slow.readings.filter(({ series }) => series.labels['interface'] === 'veth1')).toEqual([])
    expect(valueOf(slow, 'disk_total_bytes{mountpoint="/data",device="/dev/vda",fstype="ext4"}')).toBeGreaterThan(0)
    expect(slow.gaps.find(({ labels }) => labels['mountpoint'] === '/gone')).toMatchObject({
      metric: 'warpwatch_host_disk_total_bytes',
      reason: 'not_supported',
    })
    expect(valueOf(slow, 'infiniband_receive_bytes_total{device="mlx5_0",port="1"}')).toBe(100)
    expect(slow.gaps.find(({ metric }) => metric === 'warpwatch_host_infiniband_transmit_bytes_total')).toMatchObject({
      labels: { device: 'mlx5_0', port: '1' },
    })
    expect(slow.readings.find(({ series }) => series.metric.name === 'warpwatch_host_info')?.series.labels).toMatchObject({ hostname: 'box', os: 'Made Up 1' })
  })

  test('files with other contents than expected', async () => {
    put('stat', 'nonsense\n')
    put('meminfo', 'MemTotal: many kB\n')
    put('pressure/cpu', 'who knows\n')
    put('loadavg', '\n')
    const { fast } = await firstScrapes({ procRoot: proc, hostname: 'box' })
    expect(fast.readings).toEqual([])
    expect(fast.gaps.find(({ metric }) => metric === 'warpwatch_host_cpu_cores')).toMatchObject({ reason: 'parse_error' })
    expect(fast.gaps.find(({ metric, labels }) => metric === 'warpwatch_host_pressure_ratio' && labels['resource'] === 'cpu')).toMatchObject({
      reason: 'parse_error',
    })
    expect(fast.gaps.find(({ metric }) => metric === 'warpwatch_host_load1')).toMatchObject({ reason: 'parse_error' })
  })
})

describe('a file system that does not answer', () => {
  const answer = { bsize: 10, blocks: 5, bfree: 3, bavail: 2 }

  test('hangs after the deadline, is not asked again until it came back, and costs the others nothing', async () => {
    const asked: string[] = []
    let comeBack = (): void => {}
    const ask = createStatfs((path) => {
      asked.push(path)
      return path === '/dead' && asked.length < 3 ? new Promise((resolve) => (comeBack = () => resolve(answer))) : Promise.resolve(answer)
    }, 20)
    expect(await ask('/dead')).toBe('hangs')
    expect(await ask('/dead')).toBe('hangs')
    expect(await ask('/alive')).toEqual({ totalBytes: 50, freeBytes: 30, availableBytes: 20 })
    expect(asked).toEqual(['/dead', '/alive'])
    comeBack()
    await expect.poll(() => ask('/dead')).toEqual({ totalBytes: 50, freeBytes: 30, availableBytes: 20 })
  })

  test('two of them, and no more threads are given to any', async () => {
    const asked: string[] = []
    const ask = createStatfs((path) => {
      asked.push(path)
      return new Promise(() => {})
    }, 20)
    expect([await ask('/a'), await ask('/b'), await ask('/c')]).toEqual(['hangs', 'hangs', 'hangs'])
    expect(asked).toEqual(['/a', '/b'])
  })
})
