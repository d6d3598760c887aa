// Judges what several hosts found out about one job, each about its own ranks.
import { readFileInto } from '../evidence/folder.ts'
import { messageOf } from '../../text/error.ts'
import { judge } from '../judge/judge.ts'
import { createEvidence } from '../model.ts'
import { replyOf } from '../reply.ts'
import type { LookReply } from './request.ts'

/** `texts`: saved evidence, of this host first. What another host sent and cannot be read is a problem of the answer; of this host's own it throws. */
export function joinEvidence([own = '', ...others]: readonly string[]): LookReply {
  const evidence = createEvidence()
  const add = (text: string): void => readFileInto({ path: 'saved evidence', name: 'saved.json', bytes: Buffer.from(text) }, evidence)
  add(own)
  const here = new Set(evidence.ranks.keys())
  for (const text of others) {
    try {
      add(text)
    } catch (error) {
      evidence.problems.push(`what another host sent: ${messageOf(error)}`)
    }
  }
  const reply = replyOf(evidence, judge(evidence))
  return { ...reply, ranks: reply.ranks.map((row) => (here.has(row.rank) ? row : { ...row, elsewhere: true })) }
}
