// Looks at a running process and those below it: which ranks they are, their stacks, what the kernel says. Twice, so that what moves is
// told from what stands still. Nothing is stopped and nothing is written.
import { setTimeout as pause } from 'node:timers/promises'
import { hostname } from 'node:os'
import { messageOf } from '../../text/error.ts'
import { createEvidence, rankOf, type Evidence, type ProcessState, type Thread } from '../model.ts'
import { commandOf, descendantsOf, environmentOf, mainCpuSeconds, ownPidOf, processState, startOf } from './process.ts'
import { LookError } from './python/memory.ts'
import { pythonStacks, type PythonStacks } from './python/stacks.ts'

/** Of torchrun, Open MPI, Slurm, MPICH. */
const RANK_NAMES = ['RANK', 'OMPI_COMM_WORLD_RANK', 'SLURM_PROCID', 'PMI_RANK']

export type LookedAt = { readonly pid: number; readonly rank: number | undefined; readonly parents: readonly number[] }

function rankIn(environment: ReadonlyMap<string, string>): number | undefined {
  const value = RANK_NAMES.map((name) => environment.get(name)).find((text) => text !== undefined && /^\d{1,6}$/.test(text))
  return value === undefined ? undefined : Number(value)
}

/** The first process of each rank is the rank; those below it with the same number are its helpers, such as workers of a data loader. */
function ranksBelow(pid: number): { readonly ranks: ReadonlyMap<number, number>; readonly helpers: readonly { readonly pid: number; readonly rank: number }[] } {
  const ranks = new Map<number, number>()
  const helpers: { pid: number; rank: number }[] = []
  for (const one of [pid, ...descendantsOf(pid)]) {
    const rank = rankIn(environmentOf(one))
    if (rank === undefined) continue
    if (ranks.has(rank)) helpers.push({ pid: one, rank })
    else ranks.set(rank, one)
  }
  // A launcher that runs inside of one rank's environment is no rank itself.
  if (ranks.size === 0) {
    ranks.set(0, pid)
    for (const one of descendantsOf(pid)) helpers.push({ pid: one, rank: 0 })
  }
  return { ranks, helpers }
}

type Look = { readonly stacks: PythonStacks | undefined; readonly process: ProcessState | undefined; readonly cpu: number | undefined; readonly at: number; readonly problem?: string }

function lookAt(pid: number): Look {
  const [cpu, at] = [mainCpuSeconds(pid), performance.now() / 1000]
  try {
    return { stacks: pythonStacks(pid, ownPidOf(pid)), process: processState(pid), cpu, at }
  } catch (error) {
    const why = error instanceof LookError ? error.message : messageOf(error)
    return { stacks: undefined, process: processState(pid), cpu, at, problem: `process ${pid} (${commandOf(pid)}): ${why}` }
  }
}

const textOf = (thread: Thread | undefined): string => JSON.stringify(thread?.frames ?? [])

/** Where there is no Python, nothing but the kernel says that it stands still. */
function stoodStill(first: Look, second: Look): boolean {
  if (second.stacks !== undefined) return first.stacks !== undefined && textOf(first.stacks.main) === textOf(second.stacks.main)
  return first.process?.syscall !== undefined && first.process.syscall === second.process?.syscall && first.cpu === second.cpu
}

/** Throws a LookError where there is no such process. */
export async function lookAtProcess(pid: number, seconds: number): Promise<Evidence> {
  if (startOf(pid) === undefined) throw new LookError(`no process ${pid} on this host`)
  const evidence = createEvidence()
  const { ranks, helpers } = ranksBelow(pid)
  const began = new Map([...ranks].map(([rank, one]) => [rank, { look: lookAt(one), start: startOf(one) }]))
  await pause(seconds * 1000)
  for (const [rank, one] of ranks) {
    const me = rankOf(evidence, rank)
    me.host = hostname()
    me.pid = one
    const before = began.get(rank)
    if (before === undefined) continue
    if (startOf(one) === undefined || startOf(one) !== before.start) {
      me.alive = false
      continue
    }
    const look = lookAt(one)
    me.alive = true
    me.threads.push(...(look.stacks?.threads ?? []))
    me.still = stoodStill(before.look, look)
    if (look.problem !== undefined) evidence.problems.push(look.problem)
    const share = look.cpu === undefined || before.look.cpu === undefined ? undefined : (look.cpu - before.look.cpu) / (look.at - before.look.at)
    if (look.process !== undefined) me.process = { ...look.process, ...(share === undefined ? {} : { cpuShare: share }) }
    for (const helper of helpers.filter((other) => other.rank === rank).slice(0, 32)) {
      const threads = lookAt(helper.pid).stacks?.threads ?? []
      if (threads.length > 0) me.children.push({ pid: helper.pid, threads })
    }
  }
  evidence.sources.add('live processes')
  return evidence
}
