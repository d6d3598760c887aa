// Ways to a server that the host's own network does not lead to: a socket made in its network namespace by the sampler's child, and Unix sockets.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { createHttpClient } from '../../../agent/lib/http-client.ts'
import { createConnections } from '../../../agent/sampler/connections.ts'
import { createDialer } from '../../../agent/sources/inference-servers/dial.ts'
import { parseUnix } from '../../../agent/sources/inference-servers/listening.ts'
import { reachOf, type Way } from '../../../agent/sources/inference-servers/reach.ts'
import { poll } from '../../setup/poll.ts'

const endings: (() => void)[] = []
afterEach(() => {
  for (const end of endings.splice(0).toReversed()) end()
})
const isRoot = process.getuid?.() === 0

/** The sampler's child, which needs no driver for this. */
function connector() {
  const child = fork(join(import.meta.dirname, '../../../agent/sampler/child-main.ts'), [], { serialization: 'json', stdio: 'ignore' })
  const connections = createConnections((request) => child.send(request))
  child.on('message', (message, handle) => void connections.take(message, handle))
  endings.push(() => child.disconnect())
  return connections.connect
}
/** A web server in a network namespace of its own, on its loopback alone. */
async function serverInside(host: string): Promise<{ readonly pid: number; readonly port: number }> {
  const program = `const s=require('http').createServer((q,a)=>a.end('inside '+q.url));s.listen(0,'${host}',()=>console.log(process.pid,s.address().port))`
  const child = spawn('unshare', ['--net', 'sh', '-c', `ip link set lo up && exec ${process.execPath} -e "$0"`, program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endings.push(() => child.kill('SIGKILL'))
  const [said]: unknown[] = await once(child.stdout, 'data')
  const [pid = 0, port = 0] = String(said).split(' ').map(Number)
  return { pid, port }
}
async function asked(connect: () => Promise<Socket>, path: string): Promise<string> {
  const client = createHttpClient({ connect, keep: 1 })
  endings.push(client.close)
  const result = await client.exchange({ url: new URL(path, 'http://localhost'), timeoutMs: 5_000, maxBytes: 1_000 })
  return 'answer' in result ? `${result.answer.status} ${result.answer.body.toString()}` : result.failure.text
}
const dial = (way: Way, inside?: ReturnType<typeof connector>) => createDialer([way], () => inside)

test.skipIf(!isRoot).each(['127.0.0.1', '::1'])('on %s of another network namespace', async (host) => {
  const { pid, port } = await serverInside(host)
  const inside = connector()
  const reach = reachOf('/proc', readlinkSync('/proc/self/ns/net'), { pid, host, port })
  const [way] = reach.ways ?? []
  if (way === undefined) throw new Error('expected a way')
  const connect = dial(way, inside)
  // The child has two seconds for each, and on a busy machine takes longer to begin.
  await poll(async () => !(await asked(connect, '/')).includes('did not answer within'), { what: 'the child to answer' })
  expect([await asked(connect, '/a'), await asked(connect, '/b')]).toEqual(['200 inside /a', '200 inside /b'])
  // The child came home: it still makes connections in the namespace that it is asked for.
  const nobody = await asked(dial({ kind: 'inside', namespace: '/proc/self/ns/net', host: '127.0.0.1', port: 1 }, inside), '/')
  expect(nobody).toContain('nobody listens there')
  expect(await asked(dial({ kind: 'inside', namespace: '/proc/999999999/ns/net', host, port }, inside), '/')).toContain('ENOENT')
})

test('a Unix socket by its path in the file system of the process, whatever its length, and no link is followed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unix-way-'))
  endings.push(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'server.sock')
  const server = createServer((request, answer) => answer.end(`by path ${request.url}`)).listen(path)
  endings.push(() => server.close())
  await once(server, 'listening')
  const at = (other: string) => dial({ kind: 'unix', process: '/proc/self', path: other })
  expect(await asked(at(path), '/x')).toBe('200 by path /x')
  symlinkSync(path, join(folder, 'link.sock'))
  writeFileSync(join(folder, 'file.sock'), '')
  expect(await asked(at(join(folder, 'link.sock')), '/')).toContain('no socket')
  expect(await asked(at(join(folder, 'file.sock')), '/')).toContain('no socket')
  expect(await asked(at(join(folder, 'none.sock')), '/')).toContain('ENOENT')
})

test('listening Unix sockets with a path, as the kernel lists them', () => {
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
ffff8b8c41d5d800: 00000002 00000000 00010000 0001 01 24021 /tmp/with a blank.sock
ffff8b8c41d5d900: 00000003 00000000 00000000 0001 03 24022 /tmp/with a blank.sock
ffff8b8c41d5da00: 00000002 00000000 00010000 0001 01 24023 @abstract
ffff8b8c41d5db00: 00000002 00000000 00010000 0005 01 24024 /run/seqpacket
`
  expect([...parseUnix(table)]).toEqual([['24021', { path: '/tmp/with a blank.sock' }]])
})
