// What another process's file system holds is looked at only where the kernel alone answers for it.
import { closeSync, fstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { openLocalDirectory } from '../../../agent/lib/local-directory.ts'
import { fuseUnavailable, startSilentFuse } from '../../setup/silent-fuse.ts'

let process_ = ''
beforeEach(() => {
  process_ = mkdtempSync(join(tmpdir(), 'ww-local-'))
  mkdirSync(join(process_, 'root/dev'), { recursive: true })
})
afterEach(() => rmSync(process_, { recursive: true, force: true }))

describe('a local file system', () => {
  test('is listed, and its entries held without following links', () => {
    writeFileSync(join(process_, 'root/dev/one'), '12345')
    symlinkSync('one', join(process_, 'root/dev/two'))
    const dev = openLocalDirectory(process_, 'dev')
    expect(readdirSync(dev.path).toSorted()).toEqual(['one', 'two'])
    const held = [dev.hold('one'), dev.holdOwn('two')]
    expect(held.map((fd) => fstatSync(fd).isFile())).toEqual([true, false])
    expect(() => dev.hold('three')).toThrow('ENOENT')
    for (const fd of held) closeSync(fd)
    dev.close()
  })
  test('a directory that is a link leads nowhere', () => {
    symlinkSync('dev', join(process_, 'root/tmp'))
    expect(() => openLocalDirectory(process_, 'tmp')).toThrow(/ELOOP|ENOTDIR/)
  })
})

const reason = fuseUnavailable()
describe.skipIf(reason !== undefined)(`a FUSE file system that never answers${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('is not asked anything: as a directory', async () => {
    await using silent = await startSilentFuse('directories')
    for (const name of ['tmp', 'dev'])
      expect(() => openLocalDirectory(`/proc/${silent.pid}`, name)).toThrow(`EREMOTE: /proc/${silent.pid}/root/${name} (fuse.silent)`)
    const files = createHostFiles().within(`/proc/${silent.pid}/root`)
    for (const path of ['/tmp', '/dev', '/dev/nvidia0']) await expect(files.stat(path)).rejects.toThrow('EREMOTE')
    expect(silent.asked()).toBe(0)
  })
  test('is not asked anything: as an entry', async () => {
    await using silent = await startSilentFuse('entries')
    const dev = openLocalDirectory(`/proc/${silent.pid}`, 'dev')
    expect(readdirSync(dev.path).toSorted()).toEqual(['nvidia0', 'nvidiactl'])
    expect(() => dev.hold('nvidia0')).toThrow('EREMOTE')
    expect(() => dev.holdOwn('nvidia0')).toThrow('EREMOTE')
    dev.close()
    await expect(createHostFiles().within(`/proc/${silent.pid}/root`).lstat('/dev/nvidiactl')).rejects.toThrow('EREMOTE')
    expect(silent.asked()).toBe(0)
  })
})
