// Host memory where the kernel has GPU memory as NUMA nodes without CPUs.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { collect } from '../../../agent/sources/host/aspect.ts'
import { memory } from '../../../agent/sources/host/memory.ts'

function host(hasCpu: string): Readonly<Record<string, number>> {
  const root = mkdtempSync(join(tmpdir(), 'nodes-'))
  const files: Readonly<Record<string, string>> = {
    'proc/meminfo': 'MemTotal: 600 kB\nMemFree: 300 kB\nMemAvailable: 400 kB\nBuffers: 1 kB\nCached: 90 kB\n',
    'sys/devices/system/node/has_cpu': hasCpu,
    'sys/devices/system/node/has_memory': '0,2',
    'sys/devices/system/node/node0/meminfo': 'Node 0 MemTotal: 480 kB\nNode 0 MemFree: 200 kB\nNode 0 FilePages: 80 kB\n',
    'sys/devices/system/node/node2/meminfo': 'Node 2 MemTotal:       96 kB\nNode 2 MemFree:        80 kB\nNode 2 FilePages:      10 kB\n',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const out = collect()
  void memory.create({ proc: join(root, 'proc'), sys: join(root, 'sys'), root: '' })(out)
  return Object.fromEntries(out.readings.map(({ series, value }) => [series.metric.name.replace('warpwatch_host_memory_', ''), value / 1024]))
}

test('memory of GPUs is none of the host', () => {
  expect(host('0-1')).toMatchObject({ total_bytes: 504, free_bytes: 220, available_bytes: 310, cached_bytes: 80 })
})
test('where every node has CPUs it is what the kernel says', () => {
  expect(host('0,2')).toMatchObject({ total_bytes: 600, available_bytes: 400 })
})
