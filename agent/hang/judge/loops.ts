// Which process of a job may loop without end: it computes on the CPU in code of its own while the job should go on. One look cannot tell that from
// long work; agent/hang/notice/loop.ts compares several. Pure.
import { isLibrary } from '../frames.ts'
import type { Answer, Evidence, Frame, RankEvidence } from '../model.ts'
import type { LoopLook } from '../live/request.ts'
import { gpuState } from './gpus.ts'
import { doingOf, standingOf } from './places.ts'

const MOST_FRAMES = 64
const OF_PACKAGE = /(?:site|dist)-packages\//
const IMPORTS = /^<frozen importlib|(?:^|\/)importlib\//

/** Its own code, or what it calls of Python's library: a package may work long, and an import runs whole files. */
const isOwnWork = (frames: readonly Frame[]): boolean => {
  const own = frames.findIndex((frame) => !isLibrary(frame))
  return own !== -1 && !frames.slice(0, own).some(({ file }) => OF_PACKAGE.test(file)) && !frames.some(({ file }) => IMPORTS.test(file))
}

const worksOnGpu = ({ figures }: RankEvidence): boolean => figures !== undefined && gpuState(figures) === 'works'

/** The only rank that holds the others up, or the only one of the job. */
export function loopOf(evidence: Evidence, { verdict, culprits }: Answer): LoopLook | undefined {
  if (verdict !== 'hang' && verdict !== 'unknown') return undefined
  const ranks = [...evidence.ranks.values()]
  const candidates = culprits.length > 0 ? ranks.filter(({ rank }) => culprits.includes(rank)) : ranks
  const [me] = candidates
  if (me?.pid === undefined || candidates.length !== 1 || ranks.some(worksOnGpu)) return undefined
  const { pid, rank, runs, work } = me
  if (runs === undefined || work === undefined || doingOf(me, standingOf(me)) !== 'loop' || !runs.stacks.every(isOwnWork)) return undefined
  return {
    pid,
    rank,
    stacks: runs.stacks.map((frames) => frames.slice(-MOST_FRAMES).toReversed()),
    moves: runs.moves,
    ...(runs.wanted === undefined ? {} : { wanted: runs.wanted }),
    work,
  }
}
