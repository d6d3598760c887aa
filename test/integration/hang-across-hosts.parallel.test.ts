// A job with ranks on two hosts, each with an agent: both agents name the rank that all wait for, and where it is. A host is a PID namespace with a name of its own.
// Long: about 50 s.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'
import { findPythons } from '../setup/pythons.ts'
import { runCli } from '../unit/cli/run-cli.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const canUnshare =
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['--pid', '--uts', '--fork', '--mount-proc', 'true']).status === 0
const python = canUnshare ? findPythons().at(-1)?.path : undefined

/** Once they are to stand still, all but rank 3 wait in a collective; it waits for a lock. */
const RANK = `
import os, sys, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'site-packages'))
from torch.distributed.distributed_c10d import all_reduce
rank = int(os.environ['RANK'])
lock = threading.Lock()

def load():
    lock.acquire()
    lock.acquire()

still = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stand-still')
for step in range(1, 10000):
    print(f'step {step}/10000 loss {1 / step:.4f}', flush=True)
    time.sleep(0.25)
    if os.path.exists(still):
        load() if rank == 3 else all_reduce()
`
/** As torch waits: below its own Python there is only native code. */
const COLLECTIVE = `
import threading
lock = threading.Lock()
lock.acquire()
def all_reduce():
    lock.acquire()
`
const hangs = z.array(z.looseObject({ id: z.string(), kind: z.string(), title: z.string() }))
const hang = z.looseObject({
  verdict: z.string(),
  facts: z.looseObject({
    culprit_ranks: z.array(z.string()).optional(),
    stands_at: z.array(z.string()).optional(),
    ranks: z.array(z.looseObject({ rank: z.number(), host: z.string().optional(), elsewhere: z.boolean().optional() })).optional(),
  }),
})

describe.skipIf(python === undefined)('a job on two hosts (needs root, namespaces and Python 3)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'two-hosts-'))
  const agents: RunningAgent[] = []

  const jobs: ChildProcess[] = []

  /** The first process of the agent's namespace, by its number outside. */
  const firstOf = ({ pid }: RunningAgent): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const inside = (agent: RunningAgent, ...command: readonly string[]): readonly string[] => [
    '--target',
    firstOf(agent),
    '--pid',
    '--mount',
    '--uts',
    ...command,
  ]

  const start = async (name: string, listen: string, other: { readonly name: string; readonly listen: string }, ranks: readonly number[]): Promise<void> => {
    const log = join(folder, `${name}.log`)
    writeFileSync(log, '')
    const begun = ranks.map((rank, local) => `RANK=${rank} LOCAL_RANK=${local} ${python ?? ''} ${join(folder, 'train.py')} >> ${log} 2>&1 &`)
    writeFileSync(join(folder, `${name}.sh`), `export WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 MASTER_ADDR=node-a MASTER_PORT=29500\n${begun.join('\n')}\nwait\n`)
    const agent = await startAgent({
      through: ['unshare', '--pid', '--uts', '--fork', '--mount-proc', '--kill-child=SIGTERM', 'sh', '-c', `hostname ${name}; exec "$@"`, 'sh'],
      listen,
      config: `hangs: { after: 4s, look: 500ms }\nlogs: { files: [${log}] }\nhosts: [{ name: ${other.name}, url: 'http://${other.listen}' }]\n`,
    })
    agents.push(agent)
    const exec = [process.execPath, MAIN, 'exec', '--listen', listen, '--name', 'nightly', '--', 'sh', join(folder, `${name}.sh`)]
    jobs.push(spawn('nsenter', inside(agent, ...exec), { stdio: 'ignore' }))
  }
  beforeAll(async () => {
    const [a, b] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
    mkdirSync(join(folder, 'site-packages/torch/distributed'), { recursive: true })
    for (const path of ['torch/__init__.py', 'torch/distributed/__init__.py']) writeFileSync(join(folder, 'site-packages', path), '')
    writeFileSync(join(folder, 'site-packages/torch/distributed/distributed_c10d.py'), COLLECTIVE)
    writeFileSync(join(folder, 'train.py'), RANK)
    await start('node-a', a, { name: 'node-b', listen: b }, [0, 1])
    await start('node-b', b, { name: 'node-a', listen: a }, [2, 3])
    // Once both agents know the rhythm of the job.
    for (const agent of agents) {
      const seen = new Set<number>()
      await poll(
        async () => {
          for (const { name, value } of (await agent.metrics()).samples) if (name === 'warpwatch_job_step') seen.add(value)
          return seen.size >= 8
        },
        { what: () => `eight steps of the job; the agent said: ${agent.stderr().slice(-2_000)}` },
      )
    }
    writeFileSync(join(folder, 'stand-still'), '')
  })
  afterAll(async () => {
    for (const agent of agents) {
      // unshare ignores the signal; with the agent, the first of its namespace, the ranks end.
      process.kill(Number(firstOf(agent)), 'SIGTERM')
      await agent.stop()
    }
    for (const job of jobs) if (job.exitCode === null && job.signalCode === null) await once(job, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  const found = async (agent: RunningAgent): Promise<z.infer<typeof hang>> =>
    poll(
      async () => {
        const [incident] = hangs.parse(await agent.json('/api/v1/incidents')).filter(({ kind }) => kind === 'job_hang')
        if (incident === undefined) return undefined
        const whole = hang.parse(await agent.json(`/api/v1/incidents/${incident.id}`))
        // The first look may come before the other agent's: the next one has all ranks.
        return whole.facts.ranks?.length === 4 ? whole : undefined
      },
      { what: () => `the incident; the agent said: ${agent.stderr().slice(-2_000)}`, deadlineMs: 200_000, everyMs: 500 },
    )

  test('both agents name rank 3 and the line at which it stands', async () => {
    const line = RANK.split('\n').findIndex((text) => text.includes('    lock.acquire()')) + 2
    for (const [at, agent] of agents.entries()) {
      const { facts } = await found(agent)
      const elsewhere = facts.ranks?.filter((row) => row.elsewhere === true).map(({ rank, host }) => `${rank} ${host ?? ''}`)
      expect(elsewhere?.toSorted(), `among ${JSON.stringify(facts)}`).toEqual(at === 0 ? ['2 node-b', '3 node-b'] : ['0 node-a', '1 node-a'])
      expect(facts.culprit_ranks).toEqual(['3'])
      expect(facts.stands_at?.join()).toContain(`train.py:${line} load`)
      expect(JSON.stringify(facts)).toContain('node-b')
    }
  })

  test('hang by the name of the job asks the agents of the other hosts too', async () => {
    const [agent] = agents
    if (agent === undefined) throw new Error('expected an agent on node-a')
    const command = inside(agent, process.execPath, MAIN, 'hang', 'nightly', '--listen', agent.listen, '--json')
    const { status, stdout, stderr } = spawnSync('nsenter', [...command], { encoding: 'utf8' })
    expect(status, `it said: ${stderr}`).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'hang', culprit_ranks: [3], problems: [] })
  })

  test('what was saved on two hosts is judged together from files', async () => {
    const files = await Promise.all(
      agents.map(async (agent, at) => {
        const path = join(folder, `saved-${at}.json`)
        writeFileSync(path, (await agent.get('/api/v1/hangs/evidence?master=node-a:29500')).text)
        return path
      }),
    )
    const { stdout, code } = await runCli(['hang', ...files, '--json', '--save', join(folder, 'both.json')])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'hang', culprit_ranks: [3], problems: [] })
    expect(readFileSync(join(folder, 'both.json'), 'utf8')).toContain('"node-b"')
    expect((await agents[0]?.get('/api/v1/hangs/evidence?master=node-c:1'))?.status).toBe(404)
  })
})
