// Looks at running processes and those below them: which ranks they are, their stacks, what the kernel says. Twice, so that what moves is
// distinguished from what does not move. Nothing is stopped and nothing is written.
import { setTimeout as pause } from 'node:timers/promises'
import { hostname } from 'node:os'
import { messageOf } from '../../text/error.ts'
import { createEvidence, rankOf, type Evidence, type ProcessState, type RasPoll, type Thread } from '../model.ts'
import { commandOf, environmentOf, mainCpuSeconds, mainWantedSeconds, ownPidOf, processState, readProcessTree, startOf, type ProcessTree } from './process.ts'
import { pythonOf } from './python/elf.ts'
import { LookError } from './python/memory.ts'
import { pythonStacks, type PythonStacks } from './python/stacks.ts'
import { workOf } from './work.ts'

/** Of one job on one host, with its helpers. */
const MOST_PROCESSES = 2_048
const MOST_HELPERS = 32
const MOST_RANKS = 256
/** Of torchrun, Open MPI, Slurm, MPICH. */
const RANK_NAMES = ['RANK', 'OMPI_COMM_WORLD_RANK', 'SLURM_PROCID', 'PMI_RANK']

function rankIn(environment: ReadonlyMap<string, string>): number | undefined {
  const value = RANK_NAMES.map((name) => environment.get(name)).find((text) => text !== undefined && /^\d{1,6}$/.test(text))
  return value === undefined ? undefined : Number(value)
}

type Found = {
  readonly ranks: Map<number, number>
  readonly helpers: { readonly pid: number; readonly rank: number }[]
  readonly expected: Set<number>
  worldSize?: number
}

/** Without ranks the job is the first process that runs Python: above it are shells and the init of a container. */
function aloneBelow(pids: readonly number[]): number {
  for (const pid of pids) {
    try {
      if (pythonOf(pid) !== undefined) return pid
    } catch {
      // Gone, or its program cannot be read.
    }
  }
  return pids[0] ?? 0
}

function countIn(environment: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = environment.get(name) ?? ''
  return /^\d{1,6}$/.test(value) ? Number(value) : undefined
}

/** Ranks that its launcher started on this host too, by what it says: one that is not found has ended. */
function ranksBeside(environment: ReadonlyMap<string, string>, rank: number): readonly number[] {
  const [local, localSize, size] = ['LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'WORLD_SIZE'].map((name) => countIn(environment, name))
  const all = (first: number, count: number): number[] => Array.from({ length: Math.min(count, MOST_RANKS) }, (_, i) => first + i)
  if (local !== undefined && localSize !== undefined && local < localSize) return all(rank - local, localSize)
  return size !== undefined && /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(environment.get('MASTER_ADDR') ?? '') ? all(0, size) : []
}

/** The first process of each rank is the rank; those below it with the same number are its helpers, such as workers of a data loader. */
function ranksBelow(roots: readonly number[], tree: ProcessTree): Found {
  const found: Found = { ranks: new Map(), helpers: [], expected: new Set() }
  const pids = [...new Set(roots.flatMap((root) => [root, ...tree.below(root)]))].slice(0, MOST_PROCESSES)
  for (const pid of pids) {
    const environment = environmentOf(pid)
    const rank = rankIn(environment)
    if (rank === undefined) continue
    const size = countIn(environment, 'WORLD_SIZE')
    if (size !== undefined) found.worldSize = size
    for (const other of ranksBeside(environment, rank)) found.expected.add(other)
    if (found.ranks.has(rank)) found.helpers.push({ pid, rank })
    else found.ranks.set(rank, pid)
  }
  // A launcher that runs inside of one rank's environment is no rank itself.
  if (found.ranks.size === 0) {
    const alone = aloneBelow(pids)
    found.ranks.set(0, alone)
    for (const pid of tree.below(alone)) found.helpers.push({ pid, rank: 0 })
  }
  return found
}

type Look = {
  readonly stacks: PythonStacks | undefined
  readonly process: ProcessState | undefined
  readonly cpu: number | undefined
  readonly wanted: number | undefined
  readonly at: number
  readonly problem?: string
}

function lookAt(pid: number): Look {
  const [cpu, wanted, at] = [mainCpuSeconds(pid), mainWantedSeconds(pid), performance.now() / 1000]
  try {
    return { stacks: pythonStacks(pid, ownPidOf(pid)), process: processState(pid), cpu, wanted, at }
  } catch (error) {
    const why = error instanceof LookError ? error.message : messageOf(error)
    return { stacks: undefined, process: processState(pid), cpu, wanted, at, problem: `process ${pid} (${commandOf(pid)}): ${why}` }
  }
}

const textOf = (thread: Thread | undefined): string => JSON.stringify(thread?.frames ?? [])

/** Where there is no Python, nothing but the kernel says that it does not move. */
function stoodStill(first: Look, second: Look): boolean {
  if (second.stacks !== undefined) return first.stacks !== undefined && textOf(first.stacks.main) === textOf(second.stacks.main)
  return first.process?.syscall !== undefined && first.process.syscall === second.process?.syscall && first.cpu === second.cpu
}

export type LookedAt = { readonly evidence: Evidence; readonly ranks: ReadonlyMap<number, number> }

/** Of one job: the ranks below these processes. `poll` is asked before and after the time between the looks. Throws a LookError where there is no such process. */
export async function lookAtProcesses(
  roots: readonly number[],
  seconds: number,
  poll: (ranks: ReadonlyMap<number, number>, evidence: Evidence) => Promise<RasPoll | undefined> = async () => undefined,
  tree: ProcessTree = readProcessTree(),
): Promise<LookedAt> {
  const living = roots.filter((pid) => startOf(pid) !== undefined)
  if (living.length === 0) throw new LookError(`no process ${roots.join(', ')} on this host`)
  const evidence = createEvidence()
  const { ranks, helpers, expected, worldSize } = ranksBelow(living, tree)
  if (worldSize !== undefined) evidence.worldSize = worldSize
  for (const rank of expected) if (!ranks.has(rank)) rankOf(evidence, rank).alive = false
  const began = new Map([...ranks].map(([rank, pid]) => [rank, { look: lookAt(pid), start: startOf(pid) }]))
  const addPoll = async (): Promise<void> => {
    const answer = await poll(ranks, evidence)
    if (answer !== undefined) evidence.polls.push(answer)
  }
  await addPoll()
  await pause(seconds * 1000)
  if (evidence.polls.length > 0) await addPoll()
  for (const [rank, pid] of ranks) {
    const before = began.get(rank)
    if (before !== undefined) addRank(evidence, rank, pid, before)
    const below = helpers.filter((other) => other.rank === rank)
    rankOf(evidence, rank).work = workOf([pid, ...below.map((helper) => helper.pid)])
    for (const helper of below.slice(0, MOST_HELPERS)) {
      const threads = lookAt(helper.pid).stacks?.threads ?? []
      if (threads.length > 0) rankOf(evidence, rank).children.push({ pid: helper.pid, threads })
    }
  }
  evidence.sources.add('live processes')
  return { evidence, ranks }
}

function addRank(evidence: Evidence, rank: number, pid: number, before: { readonly look: Look; readonly start: number | undefined }): void {
  const me = rankOf(evidence, rank)
  me.host = hostname()
  me.pid = pid
  if (startOf(pid) === undefined || startOf(pid) !== before.start) {
    me.alive = false
    return
  }
  const look = lookAt(pid)
  me.alive = true
  me.threads.push(...(look.stacks?.threads ?? []))
  me.still = stoodStill(before.look, look)
  const stacks = [before.look, look].flatMap(({ stacks: read }) => (read?.main === undefined ? [] : [read.main.frames]))
  if (stacks.length === 2)
    me.runs = {
      stacks,
      moves: before.look.stacks?.moves === true || look.stacks?.moves === true,
      ...(look.wanted === undefined ? {} : { wanted: look.wanted }),
    }
  if (look.problem !== undefined) evidence.problems.push(look.problem)
  const [from, to] = look.wanted === undefined || before.look.wanted === undefined ? [before.look.cpu, look.cpu] : [before.look.wanted, look.wanted]
  const share = from === undefined || to === undefined ? undefined : (to - from) / (look.at - before.look.at)
  if (look.process !== undefined) me.process = { ...look.process, ...(share === undefined ? {} : { cpuShare: share }) }
}
