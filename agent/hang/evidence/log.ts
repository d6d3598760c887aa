// Output of ranks, one file each or all in one: what watchdogs, barriers and tracebacks say in it.
import { isLibrary } from '../frames.ts'
import { rankOf, type Evidence, type Frame, type RankEvidence, type Statement } from '../model.ts'
import type { EvidenceReader } from './definition.ts'
import { LINE_RULES } from './log-rules.ts'

const MOST_LINE = 8192
/** torch prints `[rank3]:`, behind whatever a terminal, an engine or a launcher put before it; torchrun with --tee `[default3]:`, mpirun `[1,3]<stderr>:`. */
const OWN = /^.{0,400}?\[rank(\d{1,6})\]:\s?/
const LAUNCHER = /^\[(?:default|\d{1,6},)(\d{1,6})\](?:<std(?:out|err)>)?:\s?/
/** Before 2.3 only the message says whose it is; of other groups than the first it may be wrong. */
const IN_MESSAGE = /\[(?:Rank|PG [^\]]{0,160}\(default_pg\) Rank) (\d{1,6})\]/
/** Horovod lists below it whom it waits for. */
const STALLED = /(?:Stalled|Missing) ranks:\s*$/
const STALLED_RANK = /^(\d{1,6}): \[/
const NATIVE_FRAME = /^#\d{1,3} (\S{1,200}) from (\S{1,1000}):(\d{1,7})$/
const PYTHON_FRAME = /^ {2}File "([^"\n]{1,1000})", line (\d{1,7}), in (\S{1,200})/
/** The last line of a traceback: the class, with its module, and what it says. */
const EXCEPTION = /^((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Warning|Timeout)?)(?:: (.{0,400}))?$/
/** What peers of a failing rank print: consequences, not causes. */
const CONSEQUENCE =
  /gloo\/transport|Connection closed by peer|Connection reset|Timed out waiting|monitoredBarrier|NCCL|ProcessGroup|DistStoreError|DistBackendError|EngineDeadError|ChildFailedError/

/** `[E1023 03:15:16.405221985 File.cpp:607]`, month without a leading zero. */
const STAMP = /^\[[IWEF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d\.\d{1,9}) /
function secondOfYear(line: string): number | undefined {
  const [, month, day, hour, minute, second] = STAMP.exec(line) ?? []
  return second === undefined ? undefined : Date.UTC(1972, Number(month) - 1, Number(day), Number(hour), Number(minute)) / 1000 + Number(second)
}

function writerOf(line: string, fileRank: number | undefined): { readonly rank: number | undefined; readonly rest: string; readonly shared: boolean } {
  const [prefix = '', named] = (line.includes('[rank') ? OWN.exec(line) : null) ?? LAUNCHER.exec(line) ?? []
  const rest = line.slice(prefix.length)
  const said = named ?? (fileRank === undefined && rest.includes('NCCL') ? IN_MESSAGE.exec(rest)?.[1] : undefined)
  return { rank: said === undefined ? fileRank : Number(said), rest, shared: said !== undefined && fileRank === undefined }
}

type Open = { readonly indent: string; frame: Frame | undefined }

export function readLog(text: string, fileRank: number | undefined, evidence: Evidence): void {
  /** Tracebacks that have begun, by rank; −1 where the log does not say whose. */
  const open = new Map<number, Open>()
  let listing: RankEvidence | undefined
  let stalled = false
  for (const whole of text.split('\n')) {
    const cut = whole.length > MOST_LINE ? whole.slice(0, MOST_LINE) : whole
    const line = cut.endsWith('\r') ? cut.slice(0, -1) : cut
    const { rank, rest, shared } = writerOf(line, fileRank)
    if (shared) evidence.sharedLog = true
    const me = rank === undefined ? undefined : rankOf(evidence, rank)
    const state = (ranks: readonly number[], what: Statement['what']): void => {
      if (evidence.statements.length < 4096)
        evidence.statements.push({ ...(rank === undefined ? {} : { rank }), statement: { ranks, what, text: rest.slice(0, 300) } })
    }
    const waitsFor: string | undefined = stalled ? STALLED_RANK.exec(rest)?.[1] : undefined
    if (waitsFor !== undefined) state([Number(waitsFor)], 'missing')
    stalled = STALLED.test(rest) || waitsFor !== undefined
    listing = stackOfTimeout(rest, listing)
    if (rest.includes('Stack trace of the failed collective:')) listing = me
    readTraceback(rest, rank ?? -1, me, open)
    for (const rule of LINE_RULES) {
      if (!rest.includes(rule.literal)) continue
      const match = rule.pattern.exec(rest)
      if (match === null) continue
      rule.take(match, {
        me,
        at: secondOfYear(rest),
        state,
        enqueued(group, seq) {
          if (me !== undefined && me.ops === undefined) me.issued.set(group, Math.max(seq, me.issued.get(group) ?? 0))
        },
      })
    }
  }
}

/** `#2 step from train.py:155` below "Stack trace of the failed collective"; gives whose list goes on. */
function stackOfTimeout(line: string, rank: RankEvidence | undefined): RankEvidence | undefined {
  const [, name, file, number] = NATIVE_FRAME.exec(line) ?? []
  const timeout = rank?.timeouts.at(-1)
  if (name === undefined || file === undefined || timeout === undefined) return undefined
  if (timeout.frames.length < 64) timeout.frames.push({ file, line: Number(number), function: name })
  return rank
}

function readTraceback(line: string, key: number, me: RankEvidence | undefined, open: Map<number, Open>): void {
  if (/^\s{0,8}Traceback \(most recent call last\):$/.test(line)) {
    open.set(key, { indent: '', frame: undefined })
    return
  }
  const begun = open.get(key)
  if (begun === undefined) return
  const [, file, number, name] = PYTHON_FRAME.exec(line) ?? []
  if (file !== undefined) {
    const frame = { file, line: Number(number), function: name ?? '' }
    if (!isLibrary(frame)) begun.frame = frame
  } else if (!line.startsWith(' ') && line !== '') {
    open.delete(key)
    const [text] = EXCEPTION.exec(line) ?? []
    if (text === undefined || me === undefined) return
    if (begun.frame !== undefined) me.raisedAt = begun.frame
    if (!CONSEQUENCE.test(text)) me.exception = text
  }
}

export const log: EvidenceReader = {
  name: 'log',
  mostBytes: 16 * 2 ** 20,
  fallback: true,
  recognises: (file) => /\.(?:log|out|err|txt)(?:\.\d{1,3})?$|^std(?:out|err)|^log/i.test(file.name) && !file.head.includes(0),
  read(file, evidence) {
    readLog(file.text(), file.rank, evidence)
  },
}
