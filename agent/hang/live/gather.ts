// All evidence of one job that has stopped, from outside: the cheapest and safest first, each step bounded. Then the judgement. Where that names nobody, the
// ranks are asked for their dumps through the pipe that the job has set up, and it is judged again.
import { setTimeout as pause } from 'node:timers/promises'
import { MOST_EVIDENCE } from '../../model/hosts.ts'
import { messageOf } from '../../text/error.ts'
import { readLog } from '../evidence/log.ts'
import { judge } from '../judge/judge.ts'
import type { Answer, Evidence } from '../model.ts'
import { replyOf } from '../reply.ts'
import { askForDumps } from './dump-pipes.ts'
import { dumpSizes, readDumps } from './dumps.ts'
import { saveEvidence } from '../evidence/saved.ts'
import { lookAtProcesses } from './look.ts'
import { masterOf } from './master.ts'
import { readProcessTree, type ProcessTree } from './process.ts'
import { readOutputs } from './outputs.ts'
import { pollRas } from './ras.ts'
import type { LookReply, LookRequest } from './request.ts'
import { writersOf } from './writers.ts'

/** A job may be in several containers of this host, one rank in each. */
function withOthers(roots: readonly number[], others: readonly number[], tree: ProcessTree): readonly number[] {
  if (others.length === 0) return roots
  const masters = new Set(roots.flatMap((root) => masterOf(root, tree)?.key ?? []))
  return masters.size === 0 ? roots : [...roots, ...others.filter((other) => masters.has(masterOf(other, tree)?.key ?? ''))]
}

function addFigures(evidence: Evidence, ranks: ReadonlyMap<number, number>, { gpus, containers }: LookRequest, tree: ProcessTree): void {
  const below = new Map(Object.entries(containers).flatMap(([root, name]) => [Number(root), ...tree.below(Number(root))].map((pid) => [pid, name] as const)))
  for (const [rank, pid] of ranks) {
    const me = evidence.ranks.get(rank)
    if (me === undefined) continue
    const container = below.get(pid)
    if (container !== undefined) me.container = container
    const held = gpus[String(pid)]
    if (held === undefined) continue
    const { gpu, busy, memory, watts, limitWatts } = held
    me.gpu = gpu
    if (busy !== undefined && memory !== undefined)
      me.figures = { busy, memory, ...(watts === undefined ? {} : { watts }), ...(limitWatts === undefined ? {} : { limitWatts }) }
  }
}

/** PyTorch looks each second whether it is asked, and writes a dump within moments. */
const DUMPS_MS = 4_000
const DUMPS_EVERY_MS = 100

/** Nobody can be named by what was read so far: the case that only dumps decide. */
const isUndecided = ({ verdict, culprits, cause }: Answer): boolean =>
  (verdict === 'hang' || verdict === 'unknown') && culprits.length === 0 && cause !== 'none'

async function untilWritten(asked: ReadonlyMap<number, number>, sinceMs: number): Promise<void> {
  const deadline = performance.now() + DUMPS_MS
  let before = ''
  while (performance.now() < deadline) {
    await pause(DUMPS_EVERY_MS)
    const sizes = dumpSizes(asked, sinceMs)
    const now = [...sizes.values()].join(' ')
    if (sizes.size === asked.size && now === before) return
    before = now
  }
}

export async function gather(request: LookRequest, self: string): Promise<LookReply> {
  const tree = readProcessTree()
  const roots = withOthers(request.path === undefined ? request.roots : [...request.roots, ...writersOf(request.path, tree)], request.others, tree)
  const poll = async (found: ReadonlyMap<number, number>, about: Evidence) => (request.ras ? pollRas(found, self, about) : undefined)
  const { evidence, ranks } = await lookAtProcesses(roots, request.seconds, poll, tree)
  evidence.silence = request.silence
  addFigures(evidence, ranks, request, tree)
  const attempt = (step: () => void): void => {
    try {
      step()
    } catch (error) {
      evidence.problems.push(messageOf(error).split('\n')[0] ?? '')
    }
  }
  const sinceMs = request.silence.since * 1000
  attempt(() => readLog(request.log.join('\n'), undefined, evidence))
  attempt(() => readOutputs(ranks, evidence))
  attempt(() => readDumps(ranks, sinceMs, request.copyTo, evidence))
  const asked = request.pipes && isUndecided(judge(evidence)) ? askForDumps(ranks, evidence) : new Map<number, number>()
  if (asked.size > 0) {
    await untilWritten(asked, sinceMs)
    attempt(() => readDumps(asked, sinceMs, request.copyTo, evidence))
  }
  const reply = replyOf(evidence, judge(evidence))
  const master = reply.complete ? undefined : roots.map((root) => masterOf(root, tree)?.shared).find((shared) => shared !== undefined)
  const saved = master === undefined ? undefined : saveEvidence(evidence)
  return master === undefined || saved === undefined || Buffer.byteLength(saved) > MOST_EVIDENCE ? reply : { ...reply, elsewhere: { master, evidence: saved } }
}
