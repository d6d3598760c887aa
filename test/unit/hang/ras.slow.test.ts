// The client of NCCL's RAS against servers that answer well, late, half, or with rubbish: bounded, and never a command that changes something.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { askStatus, isSafe, pollRas, versionIn } from '../../../agent/hang/live/ras.ts'
import { readRas } from '../../../agent/hang/evidence/ras.ts'
import { createEvidence } from '../../../agent/hang/model.ts'
import { findPythons } from '../../setup/pythons.ts'

const RANK = join(import.meta.dirname, '../../fakes/hang/ras.py')
/** What asks from within the network namespace of a rank. */
const CHILD = join(import.meta.dirname, '../../../agent/hang/live/child-main.ts')

const servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** What the server was sent, and what it answers to each line. */
async function serve(answer: (line: string, socket: Socket) => void): Promise<{ readonly port: number; readonly lines: readonly string[] }> {
  const lines: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\n').filter(Boolean)) {
        lines.push(line)
        answer(line, socket)
      }
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, lines }
}
const STATUS = JSON.stringify({
  nccl_version: '2.29.7',
  timestamp: '2026-11-23 14:02:11',
  communicators: [
    {
      hash: '0x1',
      secondary_hash: '0x2',
      size: 2,
      ranks: [0, 1].map((rank) => ({ rank, host: '10.0.0.1', pid: 70 + rank, collective_counts: { AllReduce: 9 - rank } })),
    },
    { hash: '0x0', size: 0, ranks: [] },
  ],
})
const good = (status: string) => (line: string, socket: Socket) => (line.startsWith('SET') ? void socket.write('OK\n') : void socket.end(status))

describe('a status of RAS', () => {
  test('is asked for as JSON, with two commands and no other', async () => {
    const { port, lines } = await serve(good(STATUS))
    expect(readRas(await askStatus('127.0.0.1', port)).comms).toMatchObject([{ size: 2, ranks: [{ place: '10.0.0.1:70' }, {}] }])
    expect(lines).toEqual(['SET FORMAT json', 'STATUS'])
  })
  test('is not asked for where it would come as text', async () => {
    const { port, lines } = await serve((_, socket) => void socket.write('ERROR: Unknown command SET FORMAT json\n'))
    await expect(askStatus('127.0.0.1', port)).rejects.toThrow('does not answer in JSON: ERROR: Unknown command')
    expect(lines).toEqual(['SET FORMAT json'])
  })
  test.each<[string, (line: string, socket: Socket) => void, string]>([
    ['says nothing', () => {}, 'no whole answer within 0.3 s'],
    ['does not end its answer', (line, socket) => void socket.write(line.startsWith('SET') ? 'OK\n' : STATUS.slice(0, 50)), 'no whole answer within 0.3 s'],
    ['hangs up', (_, socket) => void socket.end(), 'it closed the connection'],
    ['never answers the status', (line, socket) => void (line.startsWith('SET') && socket.write('OK\n')), 'no whole answer within 0.3 s'],
    ['sends for ever', (line, socket) => void socket.write(line.startsWith('SET') ? 'OK\n' : Buffer.alloc(17 * 2 ** 20, 'x')), 'the answer is too long'],
    ['sends rubbish first', (_, socket) => void socket.write('\u0000\u0001\n'), 'does not answer in JSON'],
  ])('of a server that %s', async (_, answer, problem) => {
    const { port } = await serve(answer)
    await expect(askStatus('127.0.0.1', port, problem.includes('0.3') ? 300 : 20_000)).rejects.toThrow(problem)
  })
  test.each([
    ['nothing', ''],
    ['half of it', STATUS.slice(0, 80)],
    ['rubbish', '\u0000'.repeat(1000)],
    ['of another kind', '{"nccl_version":"2.29.7"}'],
  ])('that is %s is refused in one line', async (_, status) => {
    const { port } = await serve(good(status))
    const text = await askStatus('127.0.0.1', port)
    expect(() => readRas(text)).toThrow(/^no RAS answer/)
  })
  test('is refused where nobody listens', async () => {
    await expect(askStatus('127.0.0.1', 1)).rejects.toThrow('ECONNREFUSED')
  })
})

const python = process.platform === 'linux' && process.getuid?.() === 0 ? findPythons().at(-1)?.path : undefined

describe.skipIf(python === undefined)('the ranks of a job (needs root and Python 3)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ras-'))
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })
  /** A process that has NCCL of this version, and what it was asked. */
  async function rankOf(port: number, count: number, version = '2.29.7', ...more: readonly string[]) {
    const library = join(folder, `libnccl.so.${version}`)
    writeFileSync(library, 'library')
    const env = { ...process.env, NCCL_RAS_ADDR: `localhost:${port}` }
    const child = spawn(python ?? '', [RANK, String(port), library, String(count), ...more], { stdio: ['ignore', 'pipe', 'inherit'], env })
    children.push(child)
    let said = ''
    await new Promise<void>((resolve) => child.stdout.on('data', (chunk: Buffer) => ((said += chunk.toString()), said.includes('ready') && resolve())))
    return { pid: child.pid ?? 0, asked: () => said.split('\n').filter((line) => line !== '' && !line.startsWith('ready')) }
  }
  async function freePort(): Promise<number> {
    const { port } = await serve(() => {})
    await new Promise<void>((resolve) => void servers.pop()?.close(() => resolve()))
    return port
  }
  const counts = (poll: Awaited<ReturnType<typeof pollRas>>) => poll?.comms.map(({ ranks }) => ranks.map((rank) => rank.counts['AllReduce']))

  test('in another network namespace are asked there', async () => {
    const { pid, asked } = await rankOf(28_028, 7, '2.29.7', 'netns')
    let evidence = createEvidence()
    // A query has a deadline, which a busy machine can miss.
    const ask = async (): Promise<ReturnType<typeof counts>> => {
      evidence = createEvidence()
      return counts(await pollRas(new Map([[0, pid]]), CHILD, evidence))
    }
    await expect.poll(ask, { timeout: 50_000 }).toEqual([[7]])
    expect(evidence.problems).toEqual([])
    await expect.poll(() => [...new Set(asked())]).toEqual(['SET FORMAT json', 'STATUS'])
  })
  test('of two jobs on one port: never the answer of the other', async () => {
    const port = await freePort()
    const [one, other] = [await rankOf(port, 1), await rankOf(port, 2)]
    for (const [{ pid }, count] of [
      [one, 1],
      [other, 2],
    ] as const) {
      const evidence = createEvidence()
      const poll = await pollRas(new Map([[0, pid]]), CHILD, evidence)
      expect(poll === undefined ? evidence.problems : counts(poll)).toEqual(poll === undefined ? ['NCCL RAS: another job answers on its port'] : [[count]])
    }
    const commands = [...one.asked(), ...other.asked()]
    expect(commands.length).toBeGreaterThanOrEqual(4)
    expect(commands.filter((line) => line !== 'SET FORMAT json' && line !== 'STATUS')).toEqual([])
  })
  test('whose NCCL can crash when it is asked are not asked', async () => {
    const { pid, asked } = await rankOf(await freePort(), 1, '2.28.9')
    expect(await pollRas(new Map([[0, pid]]), CHILD, createEvidence())).toBeUndefined()
    expect(asked()).toEqual([])
  })
})

describe('which NCCL may be asked', () => {
  test('by the name of its file, or of the package around it', () => {
    expect(versionIn(['/usr/lib/x86_64-linux-gnu/libnccl.so.2.29.7'], () => [])).toBe('2.29.7')
    const beside = (folder: string): string[] => (folder === '/venv/site-packages' ? ['torch', 'nvidia_nccl_cu12-2.27.5.dist-info'] : [])
    expect(versionIn(['/venv/site-packages/nvidia/nccl/lib/libnccl.so.2'], beside)).toBe('2.27.5')
    expect(versionIn(['/opt/libnccl.so.2'], () => [])).toBeUndefined()
  })
  test.each([
    ['2.29.2', true],
    ['2.29.7', true],
    ['2.30.1', true],
    ['3.0.0', true],
    ['2.29.1', false],
    ['2.28.9', false],
    ['2.27.7', false],
    [undefined, false],
  ])('%s: %s', (version, safe) => expect(isSafe(version)).toBe(safe))
})
