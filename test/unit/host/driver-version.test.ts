// The loaded kernel module against the library on disk, from files as the driver and the packages make them.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compareVersions, kernelModuleVersion } from '../../../agent/sources/driver-version.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'warpwatch-versions-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))
const put = (path: string, text = ''): string => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  return join(root, path)
}
const module = (line: string): string =>
  put('proc/driver/nvidia/version', `NVRM version: ${line}\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n`)
/** Made as packages make it: a link to a file that bears the version. */
const library = (folder: string, version: string): string => {
  put(`${folder}/libnvidia-ml.so.${version}`)
  symlinkSync(`libnvidia-ml.so.${version}`, join(root, folder, 'libnvidia-ml.so.1'))
  return join(root, folder, 'libnvidia-ml.so.1')
}
const compare = (...libraries: string[]) => compareVersions({ procRoot: join(root, 'proc'), sysRoot: join(root, 'sys'), libraries: () => libraries })

describe('driver and library', () => {
  test.each([
    ['NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024', '550.90.07'],
    ['NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build  (dvs-builder@U16-I1)  Fri Aug 16 21:22:33 UTC 2024', '560.35.03'],
    ['NVIDIA UNIX Open Kernel Module for aarch64  570.86.15  Release Build', '570.86.15'],
    ['NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12', '390.157'],
  ])('%s', (line, version) => {
    module(line)
    expect(kernelModuleVersion(join(root, 'proc'), join(root, 'sys'))).toBe(version)
  })

  test('without /proc/driver/nvidia sysfs tells; without both nobody does', () => {
    expect(compare(library('lib', '560.35.03'))).toBeUndefined()
    put('sys/module/nvidia/version', '550.90.07\n')
    expect(compare(join(root, 'lib/libnvidia-ml.so.1'))).toEqual({ kernel: '550.90.07', library: '560.35.03', differ: true })
  })

  test('equal, different, and one of two that fits', () => {
    module('NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024')
    const [old, same] = [library('old', '535.183.01'), library('lib', '550.90.07')]
    expect(compare(same)).toMatchObject({ differ: false })
    expect(compare(old)).toEqual({ kernel: '550.90.07', library: '535.183.01', differ: true })
    expect(compare(old, same)).toMatchObject({ differ: false })
  })

  test('a library whose name bears no version, or that is not there, tells nothing', () => {
    module('NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024')
    expect(compare(put('lib/libnvidia-ml.so.1'))).toBeUndefined()
    expect(compare(join(root, 'none/libnvidia-ml.so.1'))).toBeUndefined()
    expect(compare()).toBeUndefined()
  })
})
