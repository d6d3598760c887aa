// What the checks of containers are on: the allocator's settings, Python's packages, mounts, rights, the toolkit's files.
import { describe, expect, test } from 'vitest'
import { parseAllocConf } from '../../../agent/doctor/parts/alloc-conf.ts'
import { cacheFolders, hubFolder } from '../../../agent/doctor/parts/cache-folders.ts'
import { parseCdiSpec } from '../../../agent/doctor/parts/cdi.ts'
import { mayWrite, parseIdentity, parseLimits, type Identity } from '../../../agent/doctor/container/process.ts'
import { mountOf, parseMounts } from '../../../agent/doctor/parts/mount-table.ts'
import { parseTorchVersion, runsOn } from '../../../agent/doctor/container/python-packages.ts'
import { olderThan, parseToolkitConfig } from '../../../agent/doctor/parts/toolkit-files.ts'
import { isBounded } from '../../setup/bounded.ts'
import { buildScene } from './scene.ts'

describe("the allocator's settings", () => {
  test.each([
    'expandable_segments:True',
    'max_split_size_mb:128, garbage_collection_threshold:0.6',
    'roundup_power2_divisions:[256:1,512:2,1024:4,>:8],expandable_segments:False',
    'roundup_power2_divisions:4',
    'backend:cudaMallocAsync',
    'pinned_use_cuda_host_register:True,pinned_num_register_threads:8',
    '',
  ])('%s is fine', (text) => expect(parseAllocConf(text).problems).toEqual([]))

  test.each([
    ['expandable_segments=True', 'refused', /not with "="/],
    ['max_split_size_mb:16', 'refused', /at least 20/],
    ['max_split_size_mb:128MB', 'refused', /without a unit/],
    ['garbage_collection_threshold:80', 'refused', /between 0 and 1/],
    ['roundup_power2_divisions:[256:3]', 'refused', /powers of two/],
    ['backend:cudamallocasync', 'refused', /cudaMallocAsync/],
    ['max_split_size:128', 'refused', /"max_split_size_mb" is/],
    ['constructor:1', 'unknown', /constructor/],
    ['a_new_option_of_tomorrow:1', 'unknown', /not among/],
    ['expandable_segments:True,expandable_segments:True', 'no effect', /twice/],
    ['backend:cudaMallocAsync,expandable_segments:True', 'no effect', /ignores expandable_segments/],
  ])('%s: %s', (text, level, words) => {
    const [problem] = parseAllocConf(text).problems
    expect(problem?.level).toBe(level)
    expect(problem?.message).toMatch(words)
  })
})

test.each([
  [['sm_80', 'sm_90'], '9.0', 'binary'],
  [['sm_80'], '8.6', 'binary'],
  [['sm_86'], '8.0', 'no'],
  [['sm_90'], '10.0', 'no'],
  [['sm_90', 'compute_90'], '12.0', 'ptx'],
  [['sm_90a'], '9.0', 'binary'],
  [['sm_120'], '12.1', 'binary'],
  [['compute_90a'], '10.0', 'no'],
  [['nonsense'], '9.0', 'no'],
] as const)('code for %j on %s: %s', (architectures, capability, verdict) => expect(runsOn(architectures, capability)).toBe(verdict))

test('the version of PyTorch, old and new ways of writing', () => {
  expect(parseTorchVersion("__version__ = '1.13.1+cu117'\ncuda = '11.7'\nhip = None\n")).toEqual({ version: '1.13.1+cu117', cuda: '11.7' })
  expect(parseTorchVersion("__version__ = '2.9.0+rocm6.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482'\n")).toEqual({
    version: '2.9.0+rocm6.4',
    hip: '6.4.43482',
  })
  expect(parseTorchVersion('raise ImportError')).toBeUndefined()
})

test('limits of a process', () => {
  const limits = parseLimits(
    'Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \nMax locked memory         unlimited            unlimited            bytes     \n',
  )
  expect(limits.get('open files')).toEqual({ soft: 1024, hard: 524_288 })
  expect(limits.get('locked memory')?.soft).toBe(Number.POSITIVE_INFINITY)
})

test('limits: a line of blanks costs no more than another', () => {
  // It took seconds while the blanks could be divided in many ways.
  expect(isBounded(() => expect(parseLimits(`Max locked memory ${' '.repeat(65_536)} x`).size).toBe(0))).toBe(true)
})

test('mounts: the longest that covers a path, the last of those over each other', () => {
  const mounts = parseMounts(
    '1 0 0:50 / / rw - overlay overlay rw\n2 1 8:1 / /models rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw\n3 1 0:52 / /my\\040models ro - 9p C:\\134 rw,aname=drvfs\n4 1 0:51 / /models ro - nfs4 server:/x rw\nnonsense\n',
  )
  expect(mountOf(mounts, '/models/hub')).toMatchObject({ type: 'nfs4', readOnly: true })
  expect(mountOf(mounts, '/models2')).toMatchObject({ type: 'overlay', readOnly: false })
  expect(mountOf(mounts, '/my models')).toMatchObject({ type: '9p', source: 'C:\\', readOnly: true })
})

test("the toolkit's settings: sections, comments, lists left out", () => {
  const config = parseToolkitConfig(
    'disable-require = false # no\n#no-cgroups = true\n[nvidia-container-cli]\nldconfig = "@/sbin/ldconfig"\nno-cgroups=true\nlist = ["a", "b"]\n[nvidia-container-runtime.modes.cdi]\nkind = \'x\'\n',
  )
  expect([...config]).toEqual([
    ['disable-require', 'false'],
    ['nvidia-container-cli.ldconfig', '@/sbin/ldconfig'],
    ['nvidia-container-cli.no-cgroups', 'true'],
    ['nvidia-container-runtime.modes.cdi.kind', 'x'],
  ])
  expect(['1.17.7', '1.9.0', '1.17.8', '1.18.0~rc.1', '2.0'].map((version) => olderThan(version, [1, 17, 8]))).toEqual([true, true, false, false, false])
})

test('a CDI specification as JSON, and one that is none', () => {
  const spec = parseCdiSpec(
    'x',
    '{"cdiVersion":"0.6.0","kind":"nvidia.com/gpu","devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/a","hostPath":"/run/dev/a"}]}}]}',
  )
  expect(spec).toMatchObject({ devices: ['0'], hostPaths: ['/run/dev/a'] })
  expect(parseCdiSpec('x', '[]').problem).toMatch(/expected cdiVersion/)
})

test('cache folders: what is set, and the default', () => {
  const env = new Map([
    ['HOME', '/home/u'],
    ['HF_HOME', '~/hf'],
    ['TRITON_CACHE_DIR', 'relative'],
  ])
  expect(cacheFolders(env)).toEqual([{ by: 'HF_HOME', path: '/home/u/hf', models: true, set: true }])
  expect(cacheFolders(new Map([['HOME', '/']]))).toEqual([{ by: 'HOME', path: '/.cache/huggingface', models: true, set: false }])
  expect(hubFolder(new Map([['HF_HOME', '/m']]))).toBe('/m/hub')
})

test.skipIf(process.getuid?.() !== 0)('who may write where: owner, group, others, capabilities and user namespaces', async () => {
  const { around, root, remove } = await buildScene({ files: { '/a/owned/x': '', '/a/shared': { folder: true } } })
  try {
    const { chmodSync, chownSync } = await import('node:fs')
    chownSync(`${root}/a/owned`, 1000, 2000)
    chmodSync(`${root}/a/owned`, 0o570)
    chmodSync(`${root}/a/shared`, 0o777)
    const who = (uid: number, gids: readonly number[], overrides = false, known = true): Identity => ({ uid, gids, overrides, knows: () => known })
    const can = async (identity: Identity, path: string): Promise<boolean | undefined> => (await mayWrite(around.files, identity, () => false, path))?.can
    // The owner's bits decide for the owner, though its group may write.
    expect(await can(who(1000, [2000]), '/a/owned')).toBe(false)
    expect(await can(who(5, [7, 2000]), '/a/owned')).toBe(true)
    expect(await can(who(5, [7]), '/a/owned/new')).toBe(false)
    expect(await can(who(5, [7]), '/a/shared/new/deeper')).toBe(true)
    expect(await can(who(0, [0], true), '/a/owned')).toBe(true)
    expect(await can(who(0, [0], true, false), '/a/owned')).toBe(false)
    expect(await can(who(0, [0], true), '/a/owned/x')).toBe(false)
  } finally {
    remove()
  }
  const mapped = parseIdentity(
    'Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t4 24\nCapEff:\t000001ffffffffff\n',
    '         0       1000          1\n         1     100000      65536\n',
  )
  expect(mapped).toMatchObject({ uid: 1000, gids: [1000, 4, 24], overrides: true })
  expect([mapped.knows(1000), mapped.knows(0), mapped.knows(100_005)]).toEqual([true, false, true])
})
