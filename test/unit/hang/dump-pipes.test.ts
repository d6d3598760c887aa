// Ranks that all wait, of which only their dumps say who disagrees: asked for through the pipe that the job has set up, and through nothing else.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { askForDumps, pipeName } from '../../../agent/hang/live/dump-pipes.ts'
import { gather } from '../../../agent/hang/live/gather.ts'
import { createEvidence, rankOf } from '../../../agent/hang/model.ts'
import type { LookReply } from '../../../agent/hang/live/request.ts'
import { findPythons } from '../../setup/pythons.ts'
import { dumpOf, steps, waiting, type Groups } from './job-folder.ts'

const available = process.platform === 'linux' && process.getuid?.() === 0
const python = available ? findPythons().at(-1)?.path : undefined
const WORLD: Groups = { '0': { desc: 'default_pg', ranks: [0, 1, 2] } }
const OTHER_SIZE = steps(8, { state: 'scheduled', size: 128 })

/** Waits as in a collective; a thread of its own answers the pipe as PyTorch's monitor does: any byte makes a dump. */
const RANK = `
import os, shutil, sys, threading, time
folder, rank = sys.argv[1], os.environ['RANK']
pipe = f'{folder}/pipe_{rank}.pipe'
os.mkfifo(pipe)
reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
def answer():
    while True:
        if os.read(reader, 128):
            shutil.copy(f'{folder}/ready_{rank}', f'{folder}/dump_{rank}')
            with open(f'{folder}/asked_{rank}', 'a') as asked: asked.write('x')
        time.sleep(0.02)
threading.Thread(target=answer, daemon=True).start()
library = 'def all_reduce(event):\\n    event.wait()\\n'
names = {}
exec(compile(library, '/venv/lib/python3/site-packages/torch/distributed/distributed_c10d.py', 'exec'), names)
print('begun', flush=True)
names['all_reduce'](threading.Event())
`

describe('the pipe of a rank', () => {
  test.each([
    [{ TORCH_NCCL_DEBUG_INFO_PIPE_FILE: '/scratch/pipe_' }, '/scratch/pipe_3.pipe'],
    [{ TORCH_FR_DEBUG_INFO_PIPE_FILE: 'fr' }, 'fr3.pipe'],
    [{ TORCH_NCCL_DEBUG_INFO_PIPE_FILE: '' }, undefined],
    [{}, undefined],
  ])('by %j', (environment, name) => {
    expect(pipeName(new Map(Object.entries(environment)), 3)).toBe(name)
  })
})

describe.skipIf(python === undefined)('three ranks that wait in one collective (needs root and Python 3)', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  type Job = {
    readonly folder: string
    readonly ranks: ReadonlyMap<number, number>
    readonly look: (pipes?: boolean) => Promise<LookReply>
    readonly asked: () => readonly string[]
  }
  async function job(setUp = true): Promise<Job> {
    const folder = mkdtempSync(join(tmpdir(), 'pipes-'))
    mkdirSync(join(folder, 'kept'))
    const ranks = new Map<number, number>()
    for (const rank of [0, 1, 2]) {
      writeFileSync(join(folder, `ready_${rank}`), dumpOf(WORLD, rank === 2 ? OTHER_SIZE : waiting))
      const env = {
        ...process.env,
        RANK: String(rank),
        WORLD_SIZE: '3',
        TORCH_NCCL_DEBUG_INFO_TEMP_FILE: join(folder, 'dump_'),
        ...(setUp ? { TORCH_NCCL_DEBUG_INFO_PIPE_FILE: join(folder, 'pipe_') } : {}),
      }
      const child = spawn(python ?? '', ['-c', RANK, folder], { stdio: ['ignore', 'pipe', 'inherit'], env })
      children.push(child)
      await once(child.stdout, 'data')
      ranks.set(rank, child.pid ?? 0)
    }
    const since = Date.now() / 1000 - 30
    const silence = { seconds: 30, usualSeconds: 1, since, by: 'log' } as const
    return {
      folder,
      ranks,
      look: (pipes = true) =>
        gather({ roots: [...ranks.values()], others: [], seconds: 0.2, log: [], silence, gpus: {}, containers: {}, ras: false, pipes }, ''),
      asked: () =>
        [0, 1, 2]
          .map((rank) => join(folder, `asked_${rank}`))
          .filter(existsSync)
          .map((path) => readFileSync(path, 'utf8')),
    }
  }

  test('their dumps come, and the one that disagrees is named; a second look finds them and asks no more', async () => {
    const { look, asked } = await job()
    const named = { verdict: 'hang', cause: 'mismatch', culprits: [2], confidence: 'computed', problems: [] }
    expect(await look()).toMatchObject(named)
    expect(await look()).toMatchObject(named)
    expect(asked()).toEqual(['x', 'x', 'x'])
  })

  test('a dump from before the standstill says nothing of it', async () => {
    const { folder, look } = await job()
    writeFileSync(join(folder, 'dump_0'), dumpOf(WORLD, OTHER_SIZE))
    const hourAgo = Date.now() / 1000 - 3_600
    utimesSync(join(folder, 'dump_0'), hourAgo, hourAgo)
    expect(await look()).toMatchObject({ verdict: 'hang', culprits: [2] })
  })

  test('a rank is not asked that has ended, or in which C code keeps the GIL', async () => {
    const { ranks } = await job()
    const evidence = createEvidence()
    rankOf(evidence, 0).threads.push({ id: '1', frames: [], holdsGil: true })
    rankOf(evidence, 1).alive = false
    expect([...askForDumps(ranks, evidence).keys()]).toEqual([2])
  })

  test.each([
    ['the job has set up no pipe', false, true],
    ['it is switched off', true, false],
  ])('nothing is written where %s', async (_, setUp, pipes) => {
    const { look, asked } = await job(setUp)
    expect(await look(pipes)).toMatchObject({ verdict: 'hang', culprits: [] })
    expect(asked()).toEqual([])
  })
})
