// What looking at a job that hangs costs: the agent's CPU time beside one that does not look, and whether a process that is looked at ever does not move
// for it. Root only: other processes' stacks are read.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { lookAtProcesses } from '../agent/hang/live/look.ts'
import { poll } from '../test/setup/poll.ts'
import { findPythons } from '../test/setup/pythons.ts'
import { get, startAgentProcess, type AgentProcess } from './lib/agent-process.ts'
import { printTable, type Row } from './lib/table.ts'

const RANKS = 8
const MEASURE_S = 180
const CORE_LIMIT = 0.01
const LOOKS = 1_000
const TICKS_PER_SECOND = 100

/** Rank 1 is in a lock and the others wait for it; what the file of a frame is called is all that says that they do. */
const JOB = `import os, threading, time
rank = int(os.environ["RANK"])
library = {}
exec(compile("def all_reduce(lock):\\n    lock.acquire()", "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py", "exec"), library)
for step in range(1, 21):
    if rank == 0:
        print("step %d/100000 loss=%.4f" % (step, 1 / step), flush=True)
    time.sleep(0.5)
lock = threading.Lock()
lock.acquire()
if rank == 1:
    lock.acquire()
library["all_reduce"](lock)
`

/** Never sleeps and waits for nothing. */
const BUSY = `import os, select
while not select.select([0], [], [], 0)[0]:
    for _ in range(1000):
        sum(range(300))
`
const listed = z.array(z.looseObject({ kind: z.string() }))

/** Of the agent, of its children and of those that have ended, such as looks. */
function cpuSeconds({ pid, cpuSeconds: now }: AgentProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return now() + (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

async function looking(folder: string, python: string): Promise<readonly Row[]> {
  const [log, script] = [join(folder, 'job.log'), join(folder, 'job.py')]
  writeFileSync(script, JOB)
  writeFileSync(log, '')
  const env = { WARPWATCH_LOGS__FILES: log, WARPWATCH_CONTAINERS__ENGINES: '', WARPWATCH_LOGS__KERNEL: 'false', WARPWATCH_GPU__SOURCE: 'off' }
  const agents = [false, true].map((enabled, i) => startAgentProcess({ port: 19_846 + i, env: { ...env, WARPWATCH_HANGS__ENABLED: String(enabled) } }))
  const ranks: ChildProcess[] = []
  try {
    for (const { url } of agents) await poll(async () => (await get(`${url}/readyz`)) !== undefined, { what: 'the agents to start' })
    for (let rank = 0; rank < RANKS; rank++) {
      const output = openSync(log, 'a')
      const own = { RANK: String(rank), LOCAL_RANK: String(rank), WORLD_SIZE: String(RANKS), LOCAL_WORLD_SIZE: String(RANKS) }
      ranks.push(spawn(python, [script], { stdio: ['ignore', output, output], env: { ...process.env, ...own } }))
      closeSync(output)
    }
    await poll(() => readFileSync(log, 'utf8').includes('step 20/'), { what: 'the job to stop', everyMs: 500 })
    const before = agents.map(cpuSeconds)
    await pause(MEASURE_S * 1_000)
    const [without = 0, with_ = 0] = agents.map((agent, i) => (cpuSeconds(agent) - (before[i] ?? 0)) / MEASURE_S)
    const reported = listed.parse(JSON.parse((await get(`${agents[1]?.url}/api/v1/incidents?limit=50`)) ?? '[]')).some(({ kind }) => kind === 'job_hang')
    const share = with_ - without
    return [
      {
        what: `${RANKS} ranks hang: CPU for looking, first ${MEASURE_S} s`,
        figure: `${(100 * share).toFixed(2)} % of a core (${(100 * with_).toFixed(2)} with, ${(100 * without).toFixed(2)} without)${reported ? '' : ', and the hang was not told'}`,
        limit: `${100 * CORE_LIMIT} %`,
        ok: share <= CORE_LIMIT && reported,
      },
    ]
  } finally {
    for (const child of ranks) child.kill('SIGKILL')
    for (const agent of agents) await agent.stop()
  }
}

/** How often a process has left its processor without being made to: a stop, a sleep, a wait for anything, however short. */
const pausesOf = (pid: number): number => Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8'))?.[1])

async function standing(python: string): Promise<readonly Row[]> {
  const child = spawn(python, ['-c', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] })
  const pid = child.pid ?? 0
  try {
    const seen = async (): Promise<boolean> => ((await lookAtProcesses([pid], 0)).evidence.ranks.get(0)?.threads.length ?? 0) > 0
    await poll(seen, { what: 'the busy process to be seen' })
    const [before, cpu] = [pausesOf(pid), process.cpuUsage()]
    // Each looks twice.
    for (let i = 0; i < LOOKS / 2; i++) await lookAtProcesses([pid], 0)
    const { user, system } = process.cpuUsage(cpu)
    const pauses = pausesOf(pid) - before
    child.stdin.end()
    const [code] = await once(child, 'close')
    return [
      {
        what: `a busy process, ${LOOKS} looks: times it stood still, however short`,
        figure: `${pauses}; exit ${code}; ${((user + system) / 1_000 / LOOKS).toFixed(2)} ms of CPU a look, its process not counted`,
        limit: '0',
        ok: pauses === 0 && code === 0,
      },
    ]
  } finally {
    child.kill('SIGKILL')
  }
}

export async function run(): Promise<void> {
  const python = findPythons().at(-1)
  if (process.getuid?.() !== 0 || python === undefined) {
    process.stdout.write('needs root, to read the stacks of other processes, and Python 3: not run\n')
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'hang-cost-'))
  try {
    printTable([...(await standing(python.path)), ...(await looking(folder, python.path))])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
