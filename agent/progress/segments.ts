// From a line as it was written to the texts that was on the screen one after the other: without colours, each overwritten bar for itself.
import { withoutColours, writerOf } from '../text/line-prefix.ts'

/** Bars put this many characters at most; what is longer says no progress that anybody reads. */
export const MAX_SEGMENT = 4_096

/** What is left of colours where a copy lost the escape byte: `[32m`, `[1;35m`, `[38;2;180;60;0m`, `[0m`, and of cursor moves. */
const BARE_COLOUR = /\[(?:\d{1,3}(?:;\d{1,3}){0,5})m|\[[AK](?=\s|$)/g
const OTHER_ESCAPES = /\u001b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|\][^\u0007\u001b]{0,256}(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78M])/g

const GLUED_BAR = /%\|[^|]{0,200}\| *[\d.,kM]+\/[\d.,kM?]+ \[/
/** Backspaces rewrite as carriage returns do. */
const REWRITE = /[\r\n\u2028]+|[\b]{2,}/

/** Of what is too long its beginning; of bars that were glued together the last ones. */
function cut(text: string): string {
  if (text.length <= MAX_SEGMENT) return text
  const end = text.slice(-MAX_SEGMENT)
  return GLUED_BAR.test(end) ? end : text.slice(0, MAX_SEGMENT)
}

/** A logger's line that a copy has glued to the one before: `ips: 15.1 ins/s2022-07-28 09:17:22,134 - INFO - epoch: 0`. */
const GLUED_SIGN = /20(?<=[\w)\]}]20)\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} /
const GLUED_LINE = /(?<=[\w)\]}])(?=20\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} )/g

/** `Progress:  1.0% loss: 2.1 ETA: 17Progress:  1.1% …`: rewritten in place, and the copy kept no carriage return. */
const HEAD_WORD = /^\s*([A-Z][a-z]{3,14}:) /
const GLUE = /[\w%)\]]/
function ungluedHeads(text: string): string {
  const head = HEAD_WORD.exec(text)?.[1]
  if (head === undefined) return text
  return text
    .split(head)
    .map((part, at, parts) => (at === 0 ? part : `${GLUE.test(parts[at - 1]?.at(-1) ?? '') ? '\n' : ''}${head}${part}`))
    .join('')
}

export function segmentsOf(text: string): readonly string[] {
  const plain = ungluedHeads(withoutColours(text).replace(OTHER_ESCAPES, '').replace(BARE_COLOUR, ''))
  const clean = GLUED_SIGN.test(plain) ? plain.replace(GLUED_LINE, '\n') : plain
  if (!/[\r\n\b\u2028]/.test(clean)) return clean.trim() === '' ? [] : [cut(clean)]
  return clean
    .split(REWRITE)
    .filter((part) => part.trim() !== '')
    .map(cut)
}

export type Written = {
  /** The rank or worker that wrote it, as its prefix says; empty where none does. */
  readonly writer: string
  /** The rank's number, where the prefix has one. */
  readonly rank?: number
  readonly text: string
}

/** ` 0: ` of `srun --label`. A loop may print its step so too: a rank comes again, a step does not. */
const SRUN = /^ {0,4}(\d{1,4}):(?: (?=.)|\s*$)/
/** The program itself puts its rank before its bar or line: `rank1: …`, `[Rank 0] step=…`, `GPU 3 | …`. */
const OWN_RANK = /^\W{0,3}(?:rank|gpu|worker|process|proc)[ _:#=-]{0,2}(\d{1,5})\b(?! ?\/ ?\d)[\]):| -]{0,4}/i

/** ` - INFO - rank1 - iteration 10`: behind the level of its logger. */
const LOGGED_RANK = /^[\s\-|:[]{0,3}(?:DEBUG|INFO|WARNING)[\s\-|:[\]]{1,4}rank[ _:=#-]{0,2}(\d{1,5})\b(?! ?\/ ?\d)[\]):| -]{1,4}/i
export const saysRank = (text: string): boolean => LOGGED_RANK.test(text)

const BARE_NUMBER = /^\[(\d{1,6})\]: ?$/
/** `known`: whether this rank has been seen before. */
export function writtenBy(segment: string, known: (rank: number) => boolean): Written {
  const prefix = writerOf(segment)
  // `[1000]: loss=2.1` counts; `[3]: ` of a launcher comes again.
  const bare = BARE_NUMBER.exec(prefix)?.[1]
  if (prefix !== '' && !/\|\s*$/.test(prefix) && (bare === undefined || known(Number(bare)))) {
    const number = /^\[?(?:default|rank|Rank|RANK)? ?(\d{1,6})\]?:/.exec(prefix)?.[1]
    const text = segment.slice(prefix.length)
    return { writer: prefix.trim(), text, ...(number === undefined ? {} : { rank: Number(number) }) }
  }
  const label = SRUN.exec(segment)
  const found = (label !== null && known(Number(label[1])) ? label : undefined) ?? OWN_RANK.exec(segment) ?? LOGGED_RANK.exec(segment)
  if (found === null) return { writer: '', text: segment }
  return { writer: found[0].trim(), rank: Number(found[1]), text: segment.slice(found[0].length) }
}

const DATED =
  /(?:^|[\s[(:="])(?:(\d{2,4})[-/.](\d\d)[-/.](\d\d)|(\d\d)[-/](\d\d)(?:[-/](?:19|20)\d\d)?)[T :,_-]{1,2}(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d<]|:\d)(?:Z(?![A-Za-z])|[+-]\d\d:?\d\d(?!\d))?/
const KLOG = /^\[?[IWEFD]?(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: {1,8}\d{1,20}(?= [\w./-]{1,80}:\d))?/
const CLOCK = /^\W{0,2}(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d:<])(?=[\s\])])/
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'
/** `03/Mar/2025:10:00:01`, `Tue Sep 17 14:26:39 2024`, `Mar  3 10:00:01`, `03 Feb 2025 10:00:00`. */
const WORDED =
  /(?:^|[\s[(])(?:(\d{1,2})[ /-])?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ /-]{1,2}(?:(\d{1,2})[ ,]{1,2})?(?:(\d{4})[ :]{1,2})?(\d\d):(\d\d)(?::(\d\d))?(?:[.,](\d{1,9}))?(?: [+-]\d{4}\]?| \d{4}\b)?/
/** `1508138445  INFO: `, `1754040000.25 [INFO] `: seconds since 1970, before a level. */
const SINCE_1970 = /^\[?(1[3-9]\d{8})(?:[.,](\d{1,9}))?\]?(?=[\s|:[-]{1,4}(?:DEBUG|INFO|WARN|ERROR)\b)/
/** A time behind figures is one of them: when the job will be done. */
const FIGURES_BEFORE = /[:=] ?\d/
/** A date and a time are at the head of a line, if at all. */
const HEAD = 90

const clock = (h: string | undefined, m: string | undefined, s: string | undefined, fraction: string | undefined): number =>
  Number(h) * 3_600 + Number(m) * 60 + Number(s) + (fraction === undefined ? 0 : Number(`0.${fraction}`))

/** Another time right at the head. */
export const againStamped = (text: string): boolean => AGAIN.test(text)
const AGAIN = /^\W{0,3}(?:\d{2,4}[-/.:]\d\d[-/.: ]|[IWEFD]\d{4} \d\d:)/

type Stamp = { readonly at: number; readonly from: number; readonly end: number }
/** When the line was written, in seconds on a scale of the log's own, and where the stamp ends. */
export function stampOf(text: string): Stamp | undefined {
  const head = text.slice(0, HEAD)
  const dated = DATED.exec(head)
  if (dated !== null) {
    const [all, year = '1970', month, day, m2, d2, h, m, s, fraction] = dated
    const days = Date.UTC(Number(year), Number(month ?? m2) - 1, Number(day ?? d2)) / 1_000
    return Number.isFinite(days) ? { at: days + clock(h, m, s, fraction), from: dated.index, end: dated.index + all.length } : undefined
  }
  const worded = WORDED.exec(head)
  if (worded !== null && !FIGURES_BEFORE.test(head.slice(0, worded.index))) {
    const [all, d1, month = '', d2, year, h, m, s = '0', fraction] = worded
    const days = Date.UTC(Number(year ?? '1970'), MONTHS.indexOf(month) / 3, Number(d1 ?? d2 ?? '1')) / 1_000
    return { at: days + clock(h, m, s, fraction), from: worded.index, end: worded.index + all.length }
  }
  const short = KLOG.exec(head)
  if (short !== null) {
    const [all, month, day, h, m, s, fraction] = short
    return { at: Date.UTC(1970, Number(month) - 1, Number(day)) / 1_000 + clock(h, m, s, fraction), from: 0, end: all.length }
  }
  const seconds = SINCE_1970.exec(head)
  if (seconds !== null) return { at: Number(`${seconds[1] ?? '0'}.${seconds[2] ?? '0'}`), from: 0, end: seconds[0].length }
  const bare = CLOCK.exec(head)
  if (bare === null) return undefined
  return { at: clock(bare[1], bare[2], bare[3], bare[4]), from: 0, end: bare[0].length }
}
