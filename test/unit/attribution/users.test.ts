// Names of users: the host's list and its changes, users inside a container, and lists that a container made to harm.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createHostUsers, imageUser, innerUid, parseUsers } from '../../../agent/attribution/users.ts'

function procOf(pid: number, passwd: string): string {
  const proc = mkdtempSync(join(tmpdir(), 'warpwatch-users-'))
  mkdirSync(join(proc, `${pid}/root/etc`), { recursive: true })
  writeFileSync(join(proc, `${pid}/root/etc/passwd`), passwd)
  return proc
}

test('the first name of a number counts; lines that are none are left out', () => {
  expect([...parseUsers('root:x:0:0::/root:/bin/sh\ntoor:x:0:0:::\n# note\nbad line\nada:x:1000:1000:Ada:/home/ada:\n:x:5:5:::\n')]).toEqual([
    [0, 'root'],
    [1000, 'ada'],
  ])
})

test('the list of the host, seen from inside a container, is read again when it changes', () => {
  const proc = procOf(1, 'ada:x:1000:1000:::\n')
  let now = 0
  const users = createHostUsers(proc, () => now)
  expect([users.name(1000), users.name(1001)]).toEqual(['ada', undefined])
  writeFileSync(join(proc, '1/root/etc/passwd'), 'ada:x:1000:1000:::\ngrace:x:1001:1001:::\n')
  expect(users.name(1001)).toBeUndefined()
  now = 61_000
  expect(users.name(1001)).toBe('grace')
})

test('a user of the host has another number inside a user namespace', () => {
  const map = '         0     100000      65536\n     70000       5000          1\n'
  expect([innerUid(map, 101_000), innerUid(map, 5_000), innerUid('0 0 4294967295', 7), innerUid('', 9)]).toEqual([1_000, 70_000, 7, 9])
})

test('an image’s list is only read where it is a plain file', () => {
  const proc = procOf(7, 'model:x:1000:1000:::\n')
  expect(imageUser(proc, 7, 1000)).toBe('model')
  const [linked, piped] = [8, 9]
  for (const pid of [linked, piped]) mkdirSync(join(proc, `${pid}/root/etc`), { recursive: true })
  symlinkSync('/etc/passwd', join(proc, `${linked}/root/etc/passwd`))
  execFileSync('mkfifo', [join(proc, `${piped}/root/etc/passwd`)])
  expect([imageUser(proc, linked, 0), imageUser(proc, piped, 0), imageUser(proc, 99, 0)]).toEqual([undefined, undefined, undefined])
})
