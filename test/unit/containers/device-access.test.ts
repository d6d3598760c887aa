// What can be told of a container's access to its GPUs, from device nodes and rules as the kernel shows them; what cannot be told is unknown.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import { createDeviceAccessSource } from '../../../agent/sources/device-access.ts'
import { parseRules } from '../../../agent/sources/device-access/probe.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { reading, scrape, T } from '../incidents/scene.ts'
import { idOf } from './engine-server.ts'

const allows = (text: string, minor: number): boolean => {
  const rules = parseRules(text)
  return 'allows' in rules && rules.allows(195, minor)
}

describe('rules of a v1 device cgroup', () => {
  test.each<[text: string, zero: boolean, control: boolean]>([
    ['a *:* rwm\n', true, true],
    ['c 1:3 rwm\nc 195:0 rw\nc 195:255 rw\n', true, true],
    ['c 195:* rwm\n', true, true],
    ['c *:* m\nc 195:255 rw\n', false, true],
    ['c 195:0 r\nc 195:255 rwm\n', false, true],
    ['b 195:0 rwm\n', false, false],
    ['c 1:3 rwm\nb *:* m\nc *:* m\n', false, false],
    ['', false, false],
  ])('%j', (text, zero, control) => {
    expect([allows(text, 0), allows(text, 255)]).toEqual([zero, control])
  })
})

const ID = idOf('a')
const BOX = { container: 'trainer', container_id: ID.slice(0, 12) }
const canMake = process.getuid?.() === 0

describe.skipIf(!canMake)(`a container's access${canMake ? '' : ' (needs root, for device nodes)'}`, () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'warpwatch-access-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  const dev = (pid: number): string => join(root, `proc/${pid}/root/dev`)
  const node = (pid: number, name: string, minor: number): void => void execFileSync('mknod', [join(dev(pid), name), 'c', '195', String(minor)])
  const process_ = (pid: number, cgroup: string): void => {
    mkdirSync(dev(pid), { recursive: true })
    writeFileSync(join(root, `proc/${pid}/cgroup`), cgroup)
  }
  const rules = (text: string): void => {
    const folder = join(root, `cgroup/devices/docker/${ID}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(root, 'cgroup/devices/cgroup.procs'), '')
    writeFileSync(join(folder, 'devices.list'), text)
  }
  const V1 = `4:devices:/docker/${ID}\n`
  const V2 = `0::/docker/${ID}\n`
  /** Each call is one look; the pid and how the GPU was asked for as the source of containers told them. */
  const watched = () => {
    const latest = createLatestStore()
    let run: (t: number) => void | Promise<void> = () => {}
    let last: readonly string[] = []
    let t = T
    const begin = (): void => {
      latest.apply(scrape(T, 'gpu', [reading('gpu_info', { gpu: '0', uuid: 'GPU-0', minor: '0' }, 1)]))
      const source = createDeviceAccessSource({
        procRoot: join(root, 'proc'),
        cgroupRoot: join(root, 'cgroup'),
        inventory: latest.inventory,
      })
      void source.start({
        emit(event: Event) {
          if (event.type !== 'scrape') return
          const reported = event.readings.map(({ series, value }) => `${series.metric.name.replace('warpwatch_container_gpu_', '')} ${value}`)
          last = [...reported, ...event.gaps.map(({ reason }) => reason)]
        },
        every: (_, given) => {
          run = given
          return () => {}
        },
        log: { info: () => {}, warn: () => {}, error: () => {} },
      })
    }
    let begun = false
    return (pid: number, by = 'device_nodes'): readonly string[] => {
      if (!begun) begin()
      begun = true
      t += 10_000
      last = []
      const asked = by === '' ? [] : [reading('container_gpu_requested', { ...BOX, gpu: '0', uuid: 'GPU-0', by }, 1)]
      latest.apply(scrape(t, 'containers', [reading('container_info', { ...BOX, pid: String(pid) }, 1), ...asked]))
      void run(t)
      return last
    }
  }

  test('v1: node and rules are there; either is taken away and given back', () => {
    process_(10, V1)
    node(10, 'nvidia0', 0)
    node(10, 'nvidiactl', 255)
    rules('c 195:0 rw\nc 195:255 rw\n')
    const look = watched()
    expect(look(10)).toEqual(['node 1', 'accessible 1'])
    rules('c 195:255 rw\n')
    expect(look(10)).toEqual(['node 1', 'accessible 0'])
    rules('c 195:0 rw\n')
    expect(look(10), 'without nvidiactl nothing opens').toEqual(['node 1', 'accessible 0'])
    rules('c 195:* rw\n')
    expect(look(10)).toEqual(['node 1', 'accessible 1'])
    rmSync(join(dev(10), 'nvidia0'))
    // With the node goes the sign that it was given: it is remembered.
    expect(look(10, '')).toEqual(['node 0', 'accessible 0'])
    node(10, 'nvidia0', 0)
    rmSync(join(dev(10), 'nvidiactl'))
    expect(look(10, '')).toEqual(['node 1', 'accessible 0'])
    node(10, 'nvidiactl', 255)
    expect(look(10, '')).toEqual(['node 1', 'accessible 1'])
  })

  test('v2: the rules are hidden, so a node that is there is unknown; one that goes is a loss', () => {
    process_(10, V2)
    node(10, 'nvidia0', 0)
    const look = watched()
    expect(look(10)).toEqual(['node 1', 'not_supported'])
    rmSync(join(dev(10), 'nvidia0'))
    expect(look(10)).toEqual(['node 0', 'accessible 0'])
    node(10, 'nvidia0', 0)
    expect(look(10)).toEqual(['node 1', 'accessible 1'])
  })

  test('what was never seen there, what is no device, and a restart without the GPU are unknown, not lost', () => {
    process_(10, V1)
    rules('a *:* rwm\n')
    const look = watched()
    expect(look(10, 'device_request')).toEqual(['node 0', 'not_supported'])
    writeFileSync(join(dev(10), 'nvidia0'), '')
    expect(look(10)).toEqual(['node 0', 'not_supported'])
    rmSync(join(dev(10), 'nvidia0'))
    node(10, 'nvidia0', 0)
    expect(look(10)).toEqual(['node 1', 'accessible 1'])
    process_(11, V1)
    expect(look(11)).toEqual(['node 0', 'not_supported'])
  })

  test('nothing is said of a privileged container, of one without a GPU, and of a pid that is another container', () => {
    process_(10, V1)
    node(10, 'nvidia0', 0)
    rules('a *:* rwm\n')
    expect(watched()(10, 'privileged')).toEqual([])
    expect(watched()(10, '')).toEqual([])
    writeFileSync(join(root, 'proc/10/cgroup'), `4:devices:/docker/${idOf('b')}\n`)
    expect(watched()(10)).toEqual([])
    expect(watched()(99)).toEqual([])
  })
})
