// What is before the text of a log line: who wrote it, when, through what. One grammar for the families of faults, the joiner of the log sources
// and the doctor. Every pattern is anchored and has bounded counts, so that any line is read in linear time.

/** Colours and other terminal sequences (ECMA-48 CSI). */
const CSI = /\u001b\[[0-9;?]{0,32}[ -/]?[@-~]/g
export const withoutColours = (text: string): string => (text.includes('\u001b') ? text.replace(CSI, '') : text)

/** `trainer-1  | ` of `docker compose logs`, the service's name before the bar. */
const COMPOSE = String.raw`[A-Za-z0-9][\w.-]{0,60} {0,30}\|(?: |$)`
/** `[rank3]: `, `rank 3: `, and torchrun's `[3]:` and `[default3]:`. */
const RANK = String.raw`(?:\[(?:default)?\d{1,6}\]|\[?(?:rank|Rank|RANK) ?\d{1,6}\]?): ?`
/** `(EngineCore_0 pid=72)`, `(ServeController pid=1, ip=10.0.0.1)`, `(pid=4242)`: vLLM and Ray, the last one older. */
const WORKER = String.raw`\((?:[\w.-]{1,64} )?(?:rank=\d{1,6} )?pid=\d{1,10}[^)]{0,64}\) ?`

const WRITER = new RegExp(`^(?:${RANK}|${WORKER}|${COMPOSE})`)
/** The prefix that says which of several processes wrote the line; empty where none does. */
export const writerOf = (line: string): string => WRITER.exec(line)?.[0] ?? ''

/** glog, klog and c10: `E0304 07:29:31.123456 4242 reflector.go:138] `, `[W1120 10:17:00.1 TCPStore.cpp:125] `; absl before its start: `E0000 00:00:1730000000.123456 42 file.cc:7] `. */
const KLOG = String.raw`\[?[IWEFD]\d{4} \d\d:\d\d:(?:\d\d|\d{10})(?:\.\d{1,9})? {1,8}(?:\d{1,10} )?[\w./-]{1,80}:\d{1,6}\] ?`

const PREFIXES: readonly RegExp[] = [
  // quote marks of mails, bars of boxes
  /^[\s>#|*│┃]{1,80}/,
  new RegExp(`^${COMPOSE}`),
  // kubectl logs --prefix
  /^\[pod\/[\w./-]{1,200}\] /,
  new RegExp(`^${RANK}`),
  // as WORKER, and any other name in parentheses: (Worker_TP1), (raylet), but no counters: (epoch: 1, iters: 100)
  /^\((?!(?:epochs?|iters?|iterations?|steps?|batch)[:=]? ?\d)[A-Za-z][\w.:<>-]{0,80}(?: [^()]{1,120})?\) ?/,
  // RFC 3339 and its relatives, with what CRI adds
  /^\[?\d{4}[-/]\d\d[-/]\d\d(?:[T ,_]|, )\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?:? ?(?:(?:stdout|stderr) [FP] )?/,
  // Airflow, behind its time: {subprocess.py:93} INFO -
  /^\{[\w./-]{1,80}:\d{1,6}\} (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) - /,
  // CloudWatch: milliseconds since 1970; Kaggle: seconds since the start and the number of the line
  /^(?:\d{13}\t|\d{1,6}\.\d{1,3}s\t? ?\d{1,6}[\t ])/,
  // syslog
  /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./()-]{1,64}(?:\[\d{1,10}\])?: ?/,
  // llama.cpp since its version 0.1: minutes, seconds, milli- and microseconds, level
  /^\d{1,5}\.\d\d\.\d{3}\.\d{3} [DEIWT] /,
  // a clock time, a name, a level: [03:04:05] health/ERROR, 03:04:05 WARNING
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]? {1,3}(?:[\w.-]{1,40}\/)?(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)(?::| ) {0,6}/,
  // Spark, Hadoop
  /^\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) /,
  // BuildKit, with the number of the step and its seconds: #12 34.56
  /^#\d{1,4} \d{1,6}\.\d{1,3} /,
  // TorchServe: [INFO ] W-9000-model_1.0-stdout MODEL_LOG -
  /^\[(?:INFO|WARN|ERROR|DEBUG) ?\] \S{1,80} [\w.]{5,80} - /,
  // dmesg
  /^\[ {0,6}\d{1,9}\.\d{1,6}\] ?/,
  new RegExp(`^${KLOG}`),
  // vLLM and other Python loggers: ERROR 03-04 07:29:31 [core.py:700]
  /^(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)[: ] ?\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? (?:\[[\w./-]{1,80}:\d{1,6}\]|[\w./-]{1,80}:\d{1,6}\]) ?/,
]
/** `trainer-1  | [rank0]: 2026-01-02 03:04:05 …` has three. */
const MAX_ROUNDS = 5

/** A message of several lines is looked at from each of them, so the same line comes several times in a row. */
const KEPT_LINES = 64
const LONGEST_KEPT = 1_000
const stripped = new Map<string, string>()

/** The line without colours and without what only says who printed it, and when, in whatever order those stand. */
export function stripPrefix(line: string): string {
  const known = stripped.get(line)
  if (known !== undefined) return known
  const rest = withoutPrefix(line)
  if (line.length > LONGEST_KEPT) return rest
  if (stripped.size >= KEPT_LINES) stripped.clear()
  stripped.set(line, rest)
  return rest
}
function withoutPrefix(line: string): string {
  let rest = withoutColours(line)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = rest.length
    for (const prefix of PREFIXES) rest = rest.replace(prefix, '')
    if (rest.length === before) break
  }
  return rest
}

/** Quote marks of mails, bars of boxes, mpirun's and horovodrun's tags, the task number of `srun --label` before a traceback. */
const TAGS: readonly RegExp[] = [
  /^(?:[>│┃|] ?)+/,
  /^(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})?\[\d{1,4}(?:,\d{1,4})?(?:,mpirank:\d{1,5},algo-\d{1,4})?\]<std(?:err|out)>:? ?/,
  /^[A-Za-z][\w.-]{0,30}\/\d{1,5} (?=\[\d{1,5}\]:)/,
  /^ {0,3}\d{1,4}: (?= {2}(?:File |what\(\): )|Traceback |[\w.]{1,100}(?:Error|Exception|Interrupt)\b|(?:Killed|Aborted|Terminated|Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: \(core dumped\))?\s*$|terminate called |Fatal Python error: |double free|corrupted (?:size|double)|(?:free|malloc|realloc)\(\): )/,
]
/** All but the first, which takes the blanks as well. */
const KEEPING_INDENT: readonly RegExp[] = [...TAGS, ...PREFIXES.slice(1)]
/** What remains of a colour where the escape byte was lost on the way: `[31m`. */
const LOST_COLOUR = /\[\d{1,3}(?:;\d{1,3}){0,4}m/g

/** A line without colours: who wrote it, what else was before its text, and the text with its own indentation. */
export type PrintedLine = { readonly writer: string; readonly prefix: string; readonly text: string }
export function splitPrefix(line: string): PrintedLine {
  // Pasted indented, as a block of code.
  const plain = withoutColours(line).replace(/^\s{1,16}(?=\[rank\d)/, '')
  const whole = plain.includes('m') && plain.includes('[') ? plain.replace(LOST_COLOUR, '') : plain
  let rest = whole
  let writer = ''
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = rest.length
    const found = writerOf(rest)
    if (found !== '') {
      // `[rank0]:[rank0]: ` is one writer.
      writer = found.trim()
      rest = rest.slice(found.length)
    }
    for (const prefix of KEEPING_INDENT) rest = rest.replace(prefix, '')
    if (rest.length === before) break
  }
  return { writer, prefix: whole.slice(0, whole.length - rest.length), text: rest }
}

const KERNEL_LEAD = /^[\s#>|*]{0,40}(?:\w{3} {1,2}\d{1,2} [\d:]{8} \S{1,64} )?(?:kernel: )?(?:\[[\s\d.]{1,20}\]\s?)?(?:NVRM:)?\s*/
/** A message of the kernel without quote marks, syslog's or dmesg's stamp and the driver's `NVRM:`. */
export const bareKernelText = (line: string): string => line.replace(KERNEL_LEAD, '')

const DMESG = /^\[\s*(\d+)\.\d+\]\s?(?:\S+ kernel: )?(.*)$/
/** `[   12.345678] NVRM: …` as dmesg prints it, and `[   12.345678] host kernel: NVRM: …` of the journal. Seconds since boot; undefined for other lines. */
export function kernelLine(line: string): { readonly at: number; readonly text: string } | undefined {
  const [, seconds, text] = DMESG.exec(line) ?? []
  return seconds === undefined || text === undefined ? undefined : { at: Number(seconds), text }
}

const CRI = /^(\d{4}-\d\d-\d\dT[\d:.]{8,32}(?:Z|[+-]\d\d:?\d\d)) (stdout|stderr) ([FP])(?::[^ ]{0,64})? /
/** The head of a line in a CRI runtime's file, `TIME stdout F text`; `partial` where the runtime split a long line. */
export type CriHead = { readonly stamp: string; readonly stream: 'stdout' | 'stderr'; readonly partial: boolean; readonly length: number }
export function criHead(line: string): CriHead | undefined {
  const [head, stamp, stream, tag] = CRI.exec(line) ?? []
  if (head === undefined || stamp === undefined) return undefined
  return { stamp, stream: stream === 'stderr' ? 'stderr' : 'stdout', partial: tag === 'P', length: head.length }
}

/** How loggers begin a record: date, clock time, glog, level, JSON, logfmt, NCCL. */
const RECORD =
  /^(?:[[(]?\d{4}[-/]\d\d[-/]\d\d[T ]|\[?\d\d:\d\d:\d\d|[IWEFDC]\d{4} \d\d:|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL|FATAL|TRACE)\b|\{"|(?:level|time|ts|msg)=|[\w.-]{1,64}:\d{1,10}:\d{1,10} \[)/
/** Whether a line begins a logger's record, so that it does not go on with the message before it. */
export const beginsRecord = (line: string): boolean => RECORD.test(line)
