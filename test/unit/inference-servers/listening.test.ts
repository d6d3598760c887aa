// Which sockets are looked up in the kernel's tables, which cost milliseconds each, and which are not.
import { appendFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createListeningOf } from '../../../agent/sources/inference-servers/listening.ts'
import { makeProc } from './proc.ts'

const HEAD = '  sl  local_address rem_address   st\n'
const row = (inode: number, port: string): string => `   0: 0100007F:${port} 00000000:0000 0A 0:0 00:0 0 0 0 ${inode} 1\n`

test('a socket is looked up twice, a new one again, and one that listens is remembered', () => {
  const proc = makeProc([{ pid: 50, argv: ['python3'] }])
  const table = join(proc.root, '50/net/tcp')
  const opens = (fd: number, inode: number): void => symlinkSync(`socket:[${inode}]`, join(proc.root, `50/fd/${fd}`))
  const listeningOf = createListeningOf(proc.root)
  opens(3, 700)
  expect([listeningOf([50]), listeningOf([50])]).toEqual([[], []])
  // Whoever read the table a third time would see this.
  writeFileSync(table, HEAD + row(700, '1F40'))
  expect(listeningOf([50])).toEqual([])
  opens(4, 701)
  appendFileSync(table, row(701, '1F90'))
  expect(listeningOf([50])).toEqual([{ pid: 50, host: '127.0.0.1', port: 8_080 }])
  writeFileSync(table, HEAD)
  expect(listeningOf([50])).toEqual([{ pid: 50, host: '127.0.0.1', port: 8_080 }])
  proc.end(50)
  expect(listeningOf([50])).toEqual([])
  proc.remove()
})
