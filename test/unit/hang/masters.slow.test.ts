// Which containers of a host are one job: those whose ranks meet at the same address, and at localhost only in the same network.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { gather } from '../../../agent/hang/live/gather.ts'
import { findPythons } from '../../setup/pythons.ts'

const available = process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['--net', 'true']).status === 0
const python = available ? findPythons().at(-1)?.path : undefined

describe.skipIf(python === undefined)('ranks in two containers (needs root, network namespaces and Python 3)', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** A rank that waits for its input, in this network or in one of its own. */
  const start = async (rank: number, address: string, own: boolean): Promise<number> => {
    const program = [python ?? '', '-c', 'print("begun", flush=True); input()']
    const [command = '', ...args] = own ? ['unshare', '--net', ...program] : program
    const env = { ...process.env, RANK: String(rank), WORLD_SIZE: '2', MASTER_ADDR: address, MASTER_PORT: '29500' }
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
    children.push(child)
    await once(child.stdout, 'data')
    return child.pid ?? 0
  }
  const ranksOf = async (address: string, own: boolean): Promise<readonly number[]> => {
    const [mine, other] = [await start(0, address, false), await start(1, address, own)]
    const silence = { seconds: 60, usualSeconds: 1, since: 0, by: 'log' } as const
    const reply = await gather({ roots: [mine], others: [other], seconds: 0.05, log: [], silence, gpus: {}, containers: {}, ras: false, pipes: false }, '')
    return reply.ranks.filter(({ pid }) => pid !== undefined).map(({ rank }) => rank)
  }

  test.each([
    ['at localhost in one network are one job', 'localhost', false, [0, 1]],
    ['at localhost in networks of their own are two', 'localhost', true, [0]],
    ['at an address that is no loopback are one job', '10.9.8.7', true, [0, 1]],
  ])('that meet %s', async (_, address, own, ranks) => {
    expect((await ranksOf(address, own)).toSorted((a, b) => a - b)).toEqual(ranks)
  })
})
