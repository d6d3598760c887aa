// The answer of `hang` for people and as JSON: who is missing, where it is, since when, and what to change.
import { redactDeep } from '../../lib/redact.ts'
import { ownFrame } from '../../hang/frames.ts'
import { mainThread } from '../../hang/evidence/stacks.ts'
import type { Answer, Evidence, Frame, RankEvidence } from '../../hang/model.ts'
import { remediesOf } from '../../hang/remedies.ts'
import { clock, EPOCH, headline, placeText, ranksText } from '../../hang/text.ts'
import { counted } from '../../text/grammar.ts'
import { twoUnitSpan } from '../../text/span.ts'

/** What a file may contain must not reach the terminal as commands to it. */
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '·')
const MOST_ROWS = 64
/** How sure the answer is. */
const SURE: Readonly<Record<Answer['confidence'], string>> = {
  read: 'reported by a library or a process',
  computed: 'computed from what the ranks left',
  likely: 'likely, not certain',
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd())
}

function standText(me: RankEvidence, answer: Answer): string {
  const main = mainThread(me.threads)
  const own = answer.stands.get(me.rank) ?? (main === undefined ? undefined : ownFrame(main.frames))
  if (me.alive === false) return `ended${me.exit === undefined ? '' : ` (${me.exit})`}`
  return own === undefined ? '' : `${placeText(own)} ${own.function}`
}

/** Culprits first; of the others as many as fit a screen. */
function rankLines(evidence: Evidence, answer: Answer): string[] {
  const culprits = new Set(answer.culprits)
  const ranks = [...evidence.ranks.values()].toSorted((a, b) => Number(culprits.has(b.rank)) - Number(culprits.has(a.rank)) || a.rank - b.rank)
  const rows = ranks.slice(0, MOST_ROWS).map((me) => {
    const waits = culprits.has(me.rank) && answer.cause === 'missing' ? undefined : answer.waiting.find(({ rank }) => rank === me.rank)
    return [
      `${culprits.has(me.rank) ? '*' : ' '}${me.rank}`,
      me.gpu === undefined ? '' : String(me.gpu),
      me.host ?? '',
      me.pid === undefined ? '' : String(me.pid),
      waits === undefined ? '' : `${waits.op} ${waits.seq} of ${waits.desc === '' ? waits.group : waits.desc}`,
      waits?.since === undefined || waits.since < EPOCH ? '' : clock(waits.since),
      standText(me, answer),
    ]
  })
  const head = [' rank', 'GPU', 'host', 'pid', 'waits in', 'since', 'at']
  const used = head.map((_, column) => rows.some((row) => row[column] !== ''))
  const more = ranks.length - rows.length
  return [
    ...table([head, ...rows].map((row) => row.filter((_, column) => used[column] === true))),
    ...(more > 0 ? [`  and ${counted(more, 'more rank')}`] : []),
  ]
}

function workerLines(evidence: Evidence, answer: Answer): string[] {
  return answer.culprits.flatMap((rank) =>
    (evidence.ranks.get(rank)?.children ?? []).slice(0, 8).flatMap(({ pid, threads }) => {
      const at = ownFrame(mainThread(threads)?.frames ?? [])
      return at === undefined ? [] : [`Process ${pid}, started by rank ${rank}, is at ${placeText(at)} in ${at.function}.`]
    }),
  )
}

export function answerText(evidence: Evidence, answer: Answer, coloured: boolean): string {
  const strong = (text: string): string => (coloured ? `\u001b[1m${text}\u001b[0m` : text)
  const clean = redactDeep({
    head: headline(evidence, answer),
    ranks: answer.verdict === 'healthy' ? [] : rankLines(evidence, answer),
    sites: answer.callSites.map(({ ranks, what, at }) => `  ${ranksText(ranks)}: ${what}${at === undefined ? '' : ` at ${placeText(at)} in ${at.function}`}`),
    exceptions: answer.culprits.flatMap((rank) => {
      const text = evidence.ranks.get(rank)?.exception
      return text === undefined ? [] : [`Rank ${rank} raised: ${text.slice(0, 300)}`]
    }),
    workers: workerLines(evidence, answer),
    evidence: answer.evidence,
    remedies: remediesOf(answer),
    problems: evidence.problems,
  })
  const since = answer.root?.since
  const lines = [strong(clean.head)]
  if (since !== undefined && since > EPOCH && Date.now() / 1000 - since < 86_400 * 3 && answer.verdict === 'hang')
    lines.push(`That was ${twoUnitSpan(Date.now() - since * 1000)} ago.`)
  lines.push(...clean.exceptions, ...clean.workers)
  if (clean.ranks.length > 0) lines.push('', ...clean.ranks)
  if (clean.sites.length > 0) lines.push('', 'Both sides:', ...clean.sites)
  if (clean.evidence.length > 0) lines.push('', `Evidence (${SURE[answer.confidence]}):`, ...clean.evidence.map((line) => `- ${line}`))
  if (clean.remedies.length > 0) lines.push('', 'What to change:', ...clean.remedies.map((line) => `- ${line}`))
  if (clean.problems.length > 0) lines.push('', 'Not read:', ...clean.problems.map((line) => `- ${line}`))
  return `${lines.map((line, i) => (i === 0 && coloured ? line : printable(line))).join('\n')}\n`
}

export function answerJson(evidence: Evidence, answer: Answer): unknown {
  const time = (since: number | undefined): object => (since === undefined || since < EPOCH ? {} : { since_s: since })
  const place = ({ file, line, function: called }: Frame): object => ({ file, line, function: called })
  return redactDeep({
    verdict: answer.verdict,
    cause: answer.cause,
    culprit_ranks: answer.culprits,
    ...(answer.root === undefined
      ? {}
      : { root: { group: answer.root.group, desc: answer.root.desc, seq: answer.root.seq, op: answer.root.op, ...time(answer.root.since) } }),
    waiting: answer.waiting.map(({ rank, group, desc, seq, op, since }) => ({ rank, group, desc, seq, op, ...time(since) })),
    stands: Object.fromEntries([...answer.stands].map(([rank, frame]) => [rank, place(frame)])),
    doing: Object.fromEntries(answer.doing),
    call_sites: answer.callSites.map(({ ranks, what, at }) => ({ ranks, what, ...(at === undefined ? {} : place(at)) })),
    ranks: [...evidence.ranks.values()]
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ rank, host, pid, gpu, container, alive, exit, exception }) => ({ rank, host, pid, gpu, container, alive, exit, exception })),
    confidence: answer.confidence,
    evidence: answer.evidence,
    remedies: remediesOf(answer),
    problems: evidence.problems,
  })
}
