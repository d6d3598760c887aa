// The answer about a job as the agent keeps it: one sentence, the table of ranks, what to change. Bounded, secrets removed.
import { redactDeep } from '../lib/redact.ts'
import type { HangRank } from '../model/facts.ts'
import { mainThread } from './evidence/stacks.ts'
import { hangFacts } from './facts.ts'
import { ownFrame } from './frames.ts'
import { doingOf, standingOf, waitsForOthers } from './judge/places.ts'
import { loopOf } from './judge/loops.ts'
import { callsByRank } from './judge/matrix.ts'
import type { LookReply } from './live/request.ts'
import type { Answer, Evidence, RankEvidence, Work } from './model.ts'
import { remediesOf } from './remedies.ts'
import { DOES, EPOCH, headline } from './text.ts'

const MOST_ROWS = 64
const MOST_LINES = 32
const MOST_TEXT = 500

const cut = (lines: readonly string[]): string[] => lines.slice(0, MOST_LINES).map((line) => line.slice(0, MOST_TEXT))

function rowOf(me: RankEvidence, answer: Answer, calls: HangRank['calls']): HangRank {
  const culprit = answer.culprits.includes(me.rank)
  const waiting = culprit && (answer.cause === 'missing' || answer.cause === 'stuck') ? undefined : answer.waiting.find(({ rank }) => rank === me.rank)
  const frame = ownFrame(mainThread(me.threads)?.frames ?? [])
  const standing = standingOf(me)
  const does = doingOf(me, standing)
  const waits =
    me.alive === false
      ? `ended${me.exit === undefined ? '' : ` (${me.exit})`}`
      : waiting !== undefined
        ? `${waiting.op} ${waiting.seq} of ${waiting.desc === '' ? waiting.group : waiting.desc}`
        : standing?.kind === 'peers' && does !== 'stopped'
          ? 'the other ranks'
          : does === 'unknown' || does === 'code'
            ? undefined
            : DOES[does].replace(/^waits for /, '')
  const since = waiting?.since === undefined || waiting.since < EPOCH ? undefined : Math.round(waiting.since * 1000)
  return {
    rank: me.rank,
    ...(culprit ? { culprit: true as const } : {}),
    ...(me.gpu === undefined ? {} : { gpu: String(me.gpu) }),
    ...(me.host === undefined ? {} : { host: me.host }),
    ...(me.container === undefined ? {} : { container: me.container }),
    ...(me.pid === undefined ? {} : { pid: me.pid }),
    ...(waits === undefined ? {} : { waits_for: waits }),
    ...(since === undefined ? {} : { since_ms: since }),
    ...(frame === undefined ? {} : { stands_at: `${frame.file}:${frame.line} ${frame.function}`.slice(0, MOST_TEXT) }),
    ...(calls === undefined
      ? {}
      : { calls: Object.fromEntries(Object.entries(calls).map(([name, state]) => [name.slice(0, MOST_TEXT), state.slice(0, MOST_TEXT)])) }),
  }
}

/** Where the culprits stand, whoever they are: two looks that agree in it saw nothing move. */
function placeOf(answer: Answer): string {
  const frames = [...answer.stands.values()].map(({ file, function: called }) => `${file} ${called}`)
  return [...new Set(frames)].toSorted().join('; ').slice(0, MOST_TEXT)
}

function workOf(ranks: readonly RankEvidence[]): Work {
  const parts = ranks.flatMap(({ work }) => work ?? [])
  const sum = (name: keyof Work): number => parts.reduce((total, part) => total + part[name], 0)
  return { cpuSeconds: sum('cpuSeconds'), bytes: sum('bytes'), faults: sum('faults'), memory: sum('memory') }
}

export function replyOf(evidence: Evidence, answer: Answer): LookReply {
  const culprits = answer.culprits.flatMap((rank) => evidence.ranks.get(rank) ?? [])
  const { waits_in: waitsIn, stands_at: stands = [], call_sites: sites = [] } = hangFacts(evidence, answer)
  const size = evidence.worldSize
  const loop = loopOf(evidence, answer)
  const calls = callsByRank(evidence)
  const partial =
    size !== undefined && size > evidence.ranks.size
      ? [
          `only ${evidence.ranks.size} of ${size} ranks are known: name the agents of the other hosts under hosts, or run warpwatch hang JOB --save FILE on each host and warpwatch hang FILE FILE… on one`,
        ]
      : []
  return redactDeep({
    verdict: answer.verdict,
    text: headline(evidence, answer).slice(0, MOST_TEXT),
    cause: answer.cause,
    confidence: answer.confidence,
    culprits: [...answer.culprits],
    ...(waitsIn === undefined ? {} : { waits_in: waitsIn.slice(0, MOST_TEXT) }),
    stands_at: cut(stands),
    call_sites: cut(sites),
    ranks: [...evidence.ranks.values()]
      .toSorted((a, b) => Number(answer.culprits.includes(b.rank)) - Number(answer.culprits.includes(a.rank)) || a.rank - b.rank)
      .slice(0, MOST_ROWS)
      .map((me) => rowOf(me, answer, calls.get(me.rank))),
    remedies: cut(remediesOf(answer)),
    evidence: cut([...answer.evidence, ...partial]),
    problems: cut(evidence.problems),
    place: placeOf(answer),
    doing: [...new Set(answer.doing.values())],
    waited_for: culprits.length > 0 && [...evidence.ranks.values()].some((me) => !culprits.includes(me) && waitsForOthers(standingOf(me))),
    complete: (size ?? evidence.ranks.size) <= evidence.ranks.size,
    work: workOf(culprits.length > 0 ? culprits : [...evidence.ranks.values()]),
    ...(loop === undefined ? {} : { loop }),
  })
}
