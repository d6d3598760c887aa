// The answer about a hung job as the facts of an incident of kind job_hang.
import type { FactsOf } from '../model/kinds.ts'
import type { Answer, Evidence, Frame } from './model.ts'

const place = ({ file, line, function: called }: Frame): string => `${file}:${line} ${called}`
/** Before, a time is one within its year, from a log without years. */
const EPOCH = 1_000_000_000

export function hangFacts(evidence: Evidence, { cause, culprits, root, stands, callSites, confidence }: Answer): FactsOf<'job_hang'> {
  const gpus = culprits.flatMap((rank) => evidence.ranks.get(rank)?.gpu ?? [])
  return {
    hang_cause: cause,
    confidence,
    ...(culprits.length === 0 ? {} : { culprit_ranks: culprits.map(String) }),
    ...(root === undefined ? {} : { waits_in: `${root.op} ${root.seq} of group ${root.desc === '' ? root.group : root.desc}` }),
    ...(root?.since === undefined || root.since < EPOCH ? {} : { since_ms: Math.round(root.since * 1000) }),
    ...(stands.size === 0 ? {} : { stands_at: Array.from(stands, ([rank, frame]) => `rank ${rank}: ${place(frame)}`) }),
    ...(callSites.length === 0
      ? {}
      : {
          call_sites: callSites.map(
            ({ ranks, what, at }) => `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}: ${what}${at === undefined ? '' : ` at ${place(at)}`}`,
          ),
        }),
    ...(gpus.length === 0 ? {} : { gpus: gpus.map(String) }),
  }
}
