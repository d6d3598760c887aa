// Finding a container's cgroup and reading its numbers, v1, v2 and hybrid, with files missing and paths that lead astray.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openCgroupHierarchy } from '../../../agent/sources/containers/cgroup-hierarchy.ts'
import { createCgroupReader } from '../../../agent/sources/containers/cgroup-reader.ts'
import type { CgroupReader } from '../../../agent/sources/containers/cgroup-reader.ts'
import { createCgroupTree, V2_FILES } from './cgroup-tree.ts'
import { idOf } from './engine-server.ts'

const [A, B] = [idOf('a'), idOf('b')]
let tree: ReturnType<typeof createCgroupTree>
let reader: CgroupReader | undefined
afterEach(() => {
  reader?.close()
  tree.close()
})
const begin = (version: 1 | 2) => {
  tree = createCgroupTree(version)
  return openCgroupHierarchy(tree.root, tree.proc)
}

describe('numbers', () => {
  test.each([
    { version: 2, path: `/system.slice/docker-${A}.scope`, lines: '0::', limit: 65_536, cores: 4 },
    { version: 1, path: `/docker/${A}`, lines: '7:memory:', limit: 'unlimited', cores: 1.5 },
  ] as const)('cgroup v$version', ({ version, path, limit, cores }) => {
    const hierarchy = begin(version)
    tree.add(path)
    tree.process(7, version === 2 ? `0::${path}\n` : `12:pids:${path}\n7:memory:${path}\n3:cpu,cpuacct:${path}\n0::/docker/nothing\n`)
    const cgroup = hierarchy.ofProcess(7, A)
    if (cgroup === undefined) throw new Error('expected a cgroup, found none')
    expect(cgroup.version).toBe(version)
    reader = createCgroupReader(cgroup)
    expect(reader.read()).toEqual({ cpuSeconds: 2.5, memoryBytes: 7_000, oomKills: 3 })
    expect(reader.readBounds()).toEqual({ memoryLimitBytes: limit, pids: 2 })
    expect(reader.readCpuModes()).toEqual({ user: 2, system: 0.5 })
    expect(reader.readCpuLimit()).toBe(cores)
    writeFileSync(join(cgroup.cpuLimit ?? '', version === 2 ? 'cpu.max' : 'cpu.cfs_quota_us'), version === 2 ? 'max 100000\n' : '-1\n')
    expect(reader.readCpuLimit()).toBe('unlimited')
    // Read again each time, also through files kept open.
    writeFileSync(join(cgroup.pids ?? '', 'pids.current'), '11\n')
    expect(reader.readBounds()).toMatchObject({ pids: 11 })
    expect(reader.readPressure()).toEqual(
      version === 1
        ? []
        : [
            { resource: 'cpu', kind: 'some', seconds: 1.5 },
            { resource: 'cpu', kind: 'full', seconds: 0 },
            { resource: 'memory', kind: 'some', seconds: 2 },
            { resource: 'memory', kind: 'full', seconds: 1 },
            { resource: 'io', kind: 'some', seconds: 0 },
          ],
    )
  })

  test('while it uses no CPU its memory is read again each tenth time, otherwise at once', () => {
    const hierarchy = begin(2)
    tree.add(`/docker/${A}`)
    const cgroup = hierarchy.at(`/docker/${A}`)
    if (cgroup === undefined) throw new Error('expected a cgroup, found none')
    reader = createCgroupReader(cgroup)
    const first = reader.read()
    writeFileSync(join(cgroup.memory ?? '', 'memory.current'), '8000\n')
    const idle = Array.from({ length: 10 }, () => reader?.read())
    expect(idle.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => first))
    expect(idle[9]).toMatchObject({ cpuSeconds: 2.5, memoryBytes: 5_000 })
    writeFileSync(join(cgroup.memory ?? '', 'memory.current'), '9000\n')
    writeFileSync(join(cgroup.cpu ?? '', 'cpu.stat'), 'usage_usec 2600000\n')
    expect(reader.read()).toMatchObject({ cpuSeconds: 2.6, memoryBytes: 6_000 })
  })

  test('what cannot be read is a reason, the rest goes on', () => {
    const hierarchy = begin(2)
    const { 'memory.current': _current, 'pids.current': _pids, ...files } = V2_FILES
    tree.add(`/docker/${A}`, { ...files, 'cpu.stat': 'nonsense\n', 'memory.max': 'max\n' })
    reader = createCgroupReader(hierarchy.at(`/docker/${A}`))
    expect(reader.read()).toMatchObject({
      cpuSeconds: { reason: 'parse_error' },
      memoryBytes: { reason: 'not_supported' },
      oomKills: 3,
    })
    expect(reader.readCpuModes()).toMatchObject({ user: { reason: 'parse_error' }, system: { reason: 'parse_error' } })
    expect(reader.readBounds()).toMatchObject({
      memoryLimitBytes: 'unlimited',
      pids: { reason: 'not_supported', detail: expect.stringContaining('pids.current') },
    })
  })

  test('a removed cgroup is gone', () => {
    const hierarchy = begin(2)
    tree.add(`/docker/${A}`)
    const cgroup = hierarchy.at(`/docker/${A}`)
    tree.remove(`/docker/${A}`)
    reader = createCgroupReader(cgroup)
    expect(reader.read()).toBe('gone')
    expect(reader.readPressure()).toBe('gone')
    expect(reader.readCpuModes()).toBeUndefined()
    expect(reader.readBounds()).toBe('gone')
  })

  test('v1 with a controller that is not mounted', () => {
    tree = createCgroupTree(1)
    rmSync(join(tree.root, 'pids'), { recursive: true })
    const hierarchy = openCgroupHierarchy(tree.root, tree.proc)
    tree.write(`memory/docker/${A}`, { 'cgroup.procs': '7\n', 'memory.usage_in_bytes': '5\n' })
    reader = createCgroupReader(hierarchy.at(`/docker/${A}`))
    expect(reader.read()).toMatchObject({ cpuSeconds: { reason: 'not_supported' } })
    expect(reader.readCpuModes()).toBeUndefined()
    expect(reader.readBounds()).toMatchObject({ pids: { reason: 'not_supported' } })
  })
})

describe('places', () => {
  test('a process in a child cgroup belongs to the container above', () => {
    const hierarchy = begin(2)
    tree.add(`/machine.slice/libpod-${A}.scope`)
    tree.write(`/machine.slice/libpod-${A}.scope/container`, { 'cgroup.procs': '7\n' })
    tree.process(7, `0::/machine.slice/libpod-${A}.scope/container\n`)
    expect(hierarchy.ofProcess(7, A)?.memory).toBe(join(tree.root, `machine.slice/libpod-${A}.scope`))
  })

  test('a path with `..`, of another container, or of a process that ended leads nowhere', () => {
    const hierarchy = begin(2)
    tree.add(`/docker-${A}.scope`)
    // Joined to the root, this would be a directory beside it, and it is there.
    tree.write(`../docker-${A}.scope`, V2_FILES)
    tree.process(7, `0::/../docker-${A}.scope\n`)
    tree.process(8, `0::/docker-${B}.scope\n`)
    tree.process(9, '0::/\n')
    for (const pid of [7, 8, 9, 10]) expect(hierarchy.ofProcess(pid, A)).toBeUndefined()
    expect(hierarchy.at('/../../etc').memory).toBeUndefined()
  })

  test('the walk finds containers at any depth, nested ones too, and no monitors', () => {
    const hierarchy = begin(2)
    tree.add(`/kubepods.slice/kubepods-pod1.slice/cri-containerd-${A}.scope`)
    tree.add(`/docker/${B}/docker/${idOf('c')}`)
    tree.add(`/machine.slice/libpod-conmon-${idOf('d')}.scope`)
    tree.add('/system.slice/ssh.service')
    expect(hierarchy.walk().toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: A, runtime: 'containerd', path: `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${A}.scope` },
      { id: B, runtime: 'docker', path: `/docker/${B}` },
      { id: idOf('c'), runtime: 'docker', path: `/docker/${B}/docker/${idOf('c')}` },
    ])
  })
})
