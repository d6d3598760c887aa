// Files below a root that someone else has filled: links lead nowhere outside, nothing but files is read, and what cannot be read says why.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'

const top = mkdtempSync(join(tmpdir(), 'warpwatch-files-'))
const root = join(top, 'root')
const listener = createServer()
beforeAll(async () => {
  mkdirSync(join(root, 'etc/deep'), { recursive: true })
  writeFileSync(join(top, 'secret'), 'outside')
  writeFileSync(join(root, 'etc/inside'), 'inside')
  writeFileSync(join(root, 'secret'), 'the one inside')
  symlinkSync('/etc/inside', join(root, 'absolute'))
  symlinkSync('../../../../../../../../secret', join(root, 'etc/deep/up'))
  symlinkSync(`${top}/secret`, join(root, 'full'))
  symlinkSync('/etc', join(root, 'folder'))
  symlinkSync('/secret', join(root, 'etc/deep/absolute'))
  symlinkSync('loop', join(root, 'loop'))
  symlinkSync('/proc/self/root/etc/passwd', join(root, 'magic'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  await new Promise<void>((resolve) => listener.listen(join(root, 'socket'), resolve))
})
afterAll(() => {
  listener.close()
  rmSync(top, { recursive: true, force: true })
})
const files = createHostFiles(root)

describe('links', () => {
  test('an absolute one begins at the root', async () => {
    expect(await files.readText('/absolute')).toBe('inside')
    expect(await files.realpath('/absolute')).toBe('/etc/inside')
    expect(await files.readText('/folder/inside')).toBe('inside')
    expect(await files.readText('/etc/deep/absolute')).toBe('the one inside')
  })
  test('`..` ends at the root', async () => {
    expect(await files.readText('/etc/deep/up')).toBe('the one inside')
    expect(await files.readText('/../../../secret')).toBe('the one inside')
  })
  test('one that names a path outside finds nothing', async () => {
    expect(await files.readText('/full')).toBeUndefined()
    expect(await files.readText('/magic')).toBeUndefined()
  })
  test('one in a circle is told', async () => {
    await expect(files.readText('/loop')).rejects.toThrow(/loop: its links go round in circles/)
    expect(await files.readlink('/loop')).toBe('loop')
    expect((await files.lstat('/loop'))?.kind).toBe('link')
  })
  test('a root within a root keeps to itself', async () => {
    const inner = files.within('/etc')
    expect(await inner.readText('/inside')).toBe('inside')
    expect(await inner.readText('/../secret')).toBeUndefined()
  })
})

describe('what is no file', () => {
  test('is not read: nobody waits for a pipe', async () => {
    await expect(files.readText('/pipe')).rejects.toThrow(/must be a file, not a pipe/)
    await expect(files.readText('/socket')).rejects.toThrow(/not a socket/)
    await expect(files.readText('/etc')).rejects.toThrow(/not a directory/)
    expect((await files.stat('/pipe'))?.kind).toBe('pipe')
  })
  test('is absent where it is absent', async () => {
    expect(await files.readText('/none')).toBeUndefined()
    expect(await files.list('/none')).toBeUndefined()
    expect(await files.list('/etc/inside')).toBeUndefined()
    expect(await files.stat('/etc/inside/below')).toBeUndefined()
    expect(await files.exists('/etc')).toBe(true)
  })
})

test('what is read is bounded, and files of the kernel without a size are read whole', async () => {
  writeFileSync(join(root, 'large'), 'z'.repeat(1_000_000))
  expect((await files.readText('/large'))?.length).toBe(256 * 1024)
  expect((await files.readText('/large', 10))?.length).toBe(10)
  const real = createHostFiles()
  expect(await real.readText('/proc/self/status')).toMatch(/^Name:.*VmRSS/s)
  expect(await real.readText('/proc/self/mountinfo')).toMatch(/\n$/)
})

test('devices tell their numbers', async () => {
  const facts = await createHostFiles().stat('/dev/null')
  expect([facts?.kind, facts?.major, facts?.minor]).toEqual(['character device', 1, 3])
})

test('the root of a process is looked into as it sees it', async () => {
  const own = createHostFiles().within(`/proc/${process.pid}/root`)
  expect(await own.readText('/etc/os-release')).toBe(await createHostFiles().readText('/etc/os-release'))
})

test.skipIf(process.getuid?.() === 0)('what may not be read says so', async () => {
  writeFileSync(join(root, 'locked'), '')
  chmodSync(join(root, 'locked'), 0)
  await expect(files.readText('/locked')).rejects.toThrow(/no permission; run as root/)
  expect(await files.openable('/locked')).toBe(false)
})
