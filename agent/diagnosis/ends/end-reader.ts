// Reads the lines of a log for what they say of the end of its job. Incremental and bounded: the agent holds one for each run that it follows.
import { isQuoted, isWarned } from '../reported.ts'
import { readLine } from '../traceback/line.ts'
import { createTracebackReader } from '../traceback/reader.ts'
import type { Sign } from './evidence.ts'
import { errorOf } from './signs/errors.ts'
import { createPlaceReader } from './signs/crash-place.ts'
import { createExitReader } from './signs/exits.ts'
import { createLife } from './signs/life.ts'
import { createLineReader } from './signs/lines.ts'
import { createLossReader } from './signs/loss.ts'
import { createNativeReader } from './signs/native.ts'
import { createSpeech } from './signs/speech.ts'
import { createReportedJob } from './signs/reported-job.ts'
import { createOrderReader } from './signs/orders.ts'
import { readSignal } from './signs/signals.ts'
import { createVaspReader } from './signs/vasp.ts'
import { unfolded } from './unfolded.ts'

export type EndEvidence = {
  /** In the order of their lines. */
  readonly signs: readonly Sign[]
  /** The last line that shows a program at work; 0 where none does. */
  readonly aliveAt: number
  /** The same, where it is progress of its own work. */
  readonly progressAt: number
  /** Where a server that was told to stop said that it closed in good order; 0 where none did. */
  readonly closedAt: number
  /** Where it said before that it was asked to stop; 0 where none did. */
  readonly stoppedAt: number
  /** The last line by which a job went on from where an earlier run stood; 0 where none does. */
  readonly resumedAt: number
  /** Where a run of its own began below what failed; 0 where none did. */
  readonly begunAt: number
  /** The last line by which a program says that it ignores a signal. */
  readonly ignoredAt: number
  /** Its last line says that it gives up. */
  readonly gaveUp: boolean
  /** The last line that begins as one before a failure did, and the last of any kind that is not about an end. */
  readonly spokeAt: number
  readonly plainAt: number
  /** The last request that a web server says it answered. */
  readonly answeredAt: number
  readonly lines: number
}
export type EndReader = {
  readonly add: (raw: string, number: number) => void
  /** A traceback is being read: its next lines should come, too. */
  readonly isOpen: () => boolean
  readonly evidence: () => EndEvidence
}

/** The first of them, and the last. */
const FIRST_SIGNS = 64
const LAST_SIGNS = 192
/** Lines whose text is kept for the evidence. */
const TEXTS = 512
const TEXT_LENGTH = 2_000
const LONGEST_LINE = 16_384
/** `[ERROR] store - …`, `ERROR:store:…`: levels that no date precedes. */
const LOGGED = /^\[?(?:ERROR|WARNING)\b[\]:]/
/** uvicorn's, Flask's, Django's and Tornado's word of a request that failed, and of an application that goes on. */
const REQUEST_FAILED =
  /\bException in ASGI application\b|\bException on \/\S{0,200} \[[A-Z]{3,7}\]|\bInternal Server Error: \/|\bUncaught exception (?:GET|POST|PUT|PATCH|DELETE) \//
/** Of its log of requests. */
const ANSWERED = /"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \/[^"\s]{0,1000} HTTP\/[\d.]{1,3}" \d{3}\b/
/** `Feb 03 04:05:06 node7 netwatch[812]: …`: who wrote a line of the journal. */
const UNIT = /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} ([\w./()-]{1,64})\[\d{1,10}\]: /
const MANY_UNITS = 6
/** A user's own systemd, which starts what belongs to a desktop. */
const OF_DESKTOP = / systemd\[(?!1\])\d{1,10}\]: /
const RUNS_JOBS =
  /^(?:systemd$|docker|containerd|kubelet|crio|podman|conmon|slurm|python|torchrun|bash|sh$|java|node$|julia|ollama|vllm|triton|airflow|supervisord|cron|nvidia)/i
/** Told by a family, not by a reader of ends. */
const OUT_OF_MEMORY = /out of memory|OutOfMemory/i
/** A logger's word that the work is over. */
const WORK_FAILED = /\b(?:training|fine-?tuning|experiment|job|pipeline|main|evaluation) (?:has |was )?(?:failed|crashed|aborted)\b/i
/** Ray's word of a task that it starts again, above what the task failed with. */
const RETRIED = /\bretries remaining, so the task will be retried\. Error:/
const LEAD = /^\S.{0,100}[\]:|>] $/
/** An exception whose message is the traceback of a worker: its next line of that name is its own. */
const EXCEPTION = /^(?:[A-Za-z_]\w{0,60}\.){0,8}\w{0,60}(?:Error|Exception|Interrupt|Exit): $/
const leadOf = (before: string): string => (EXCEPTION.test(before) ? '' : (LEAD.exec(before)?.[0] ?? ''))

export function createEndReader(): EndReader {
  const tracebacks = createTracebackReader()
  const exits = createExitReader()
  const orders = createOrderReader()
  const native = createNativeReader()
  const lines = createLineReader()
  const loss = createLossReader()
  const vasp = createVaspReader()
  const life = createLife()
  const speech = createSpeech()
  const places = createPlaceReader()
  const job = createReportedJob()
  const first: Sign[] = []
  const last: Sign[] = []
  const texts = new Map<number, string>()
  let count = 0
  let isOpen = false
  let failedAt = 0
  /** What a program unknown to us puts before each line, as it was before the last traceback's head. */
  let lead = ''
  /** Headers of tracebacks that stand right below a logger's word of a failure; and whether the last line is such a word. */
  const logged = new Set<number>()
  let reported = false
  /** Those of them whose word is that all of the work failed. */
  const ofAll = new Set<number>()
  let saysAll = false
  /** Those of them that a web server reports of one request. */
  const ofRequests = new Set<number>()
  let request = false
  let answeredAt = 0
  /** Lines right above what will be tried again. */
  const retried = new Set<number>()
  const units = new Set<string>()
  /** A program of the host in a journal of many: that a command of its own failed is no end of a job. */
  const ofHost = (raw: string): boolean => {
    const unit = UNIT.exec(raw)?.[1]
    if (unit === undefined) return false
    if (units.size < MANY_UNITS) units.add(unit)
    return unit.startsWith('systemd-') || (units.size === MANY_UNITS && (!RUNS_JOBS.test(unit) || OF_DESKTOP.test(raw)))
  }

  const keepText = (number: number, raw: string): void => {
    texts.set(number, raw.slice(0, TEXT_LENGTH))
    if (texts.size > TEXTS) {
      const [oldest] = texts.keys()
      if (oldest !== undefined) texts.delete(oldest)
    }
  }
  const found = (seen: Sign): void => {
    failedAt = count
    const sign = job.named(seen)
    if (sign.type === 'signal') places.signal(sign)
    const bounded = sign.text.length > TEXT_LENGTH ? { ...sign, text: sign.text.slice(-TEXT_LENGTH) } : sign
    if (first.length < FIRST_SIGNS) first.push(bounded)
    else {
      last.push(bounded)
      if (last.length > LAST_SIGNS) last.shift()
    }
  }

  const addOne = (raw: string, number: number): void => {
    count = number
    if (isQuoted(raw) || isWarned(raw) || OUT_OF_MEMORY.test(raw)) failedAt = number
    const whole = readLine(raw.length > LONGEST_LINE ? raw.slice(-LONGEST_LINE) : raw, number)
    const head = whole.text.indexOf('Traceback (most recent')
    if (head >= 0) lead = leadOf(whole.text.slice(0, head))
    const line = lead !== '' && whole.text.startsWith(lead) ? { ...whole, text: whole.text.slice(lead.length) } : whole
    vasp(line, found)
    const token = tracebacks.add(line)
    if (token === 'header' && reported && logged.size < TEXTS) logged.add(number)
    if (token === 'header' && reported && saysAll && ofAll.size < TEXTS) ofAll.add(number)
    if (token === 'header' && request && ofRequests.size < TEXTS) ofRequests.add(number)
    if (RETRIED.test(raw) && retried.size < TEXTS) for (const below of [1, 2, 3]) retried.add(number + below)
    if (token !== 'blank') request = REQUEST_FAILED.test(raw)
    if (ofRequests.size > 0 && line.text.includes(' HTTP/') && ANSWERED.test(line.text)) answeredAt = number
    if (token !== 'blank') {
      reported = line.level === 'error' || line.level === 'warning' || LOGGED.test(raw)
      saysAll = reported && WORK_FAILED.test(raw)
    }
    if (token === 'raised' || token === 'fatal' || token === 'header' || token === 'threads') {
      keepText(number, raw)
      failedAt = number
    }
    const inside = tracebacks.isOpen(line.writer)
    isOpen = inside
    if (token === 'blank' || token === 'detail' || token === 'frame' || token === 'arrow' || token === 'link') {
      if (token === 'detail' || token === 'blank') {
        // Paddle's
        if (line.text.includes('[SignalInfo: ')) readSignal(line, found)
        // Indented fields of a launcher's table, of a pod's status.
        exits(line, found)
        orders(line, found)
        native.add(line, found, true)
      }
      // Ray's, whose level is behind a tab.
      if (token === 'detail' && line.record) life.add(line, failedAt)
      return
    }
    if (token === 'other' && ofHost(raw)) {
      life.add(line, failedAt)
      if (!inside) speech.add(line, failedAt)
      return
    }
    job.add(line)
    readSignal(line, found)
    places.add(line, found)
    exits(line, found)
    orders(line, found)
    native.add(line, found, inside)
    if (native.isReading()) failedAt ||= number
    // The message of an exception is judged as an error.
    if (token !== 'raised') loss.add(line)
    if (token === 'other') {
      if (!inside) lines.add(line, found)
      life.add(line, failedAt)
      if (!inside) speech.add(line, failedAt)
    }
  }

  return {
    add(raw, number) {
      for (const line of unfolded(raw)) addOne(line, number)
    },
    isOpen: () => isOpen,
    evidence() {
      const all: Sign[] = [...first, ...last]
      const also = (sign: Sign): void => void all.push(sign)
      native.end(also)
      lines.end(also)
      for (const traceback of tracebacks.tracebacks()) {
        if (traceback.ignored || retried.has(traceback.first)) continue
        const sign = errorOf(traceback, (number) => texts.get(number) ?? '')
        if (sign?.type !== 'error') {
          if (sign !== undefined) all.push(sign)
          continue
        }
        all.push({
          ...sign,
          ...(logged.has(sign.at) ? { logged: true } : {}),
          ...(ofAll.has(sign.at) ? { gaveUp: true } : {}),
          ...(ofRequests.has(sign.at) ? { request: true } : {}),
        })
      }
      const diverged = loss.diverged()
      if (diverged !== undefined) all.push(diverged)
      return {
        signs: (all.length === 1 ? all : all.filter((sign) => sign.type !== 'error' || sign.alone !== true)).toSorted((a, b) => a.at - b.at),
        aliveAt: life.lastAt(),
        progressAt: life.progressAt(),
        closedAt: life.closedAt(),
        stoppedAt: life.stoppedAt(),
        resumedAt: life.resumedAt(),
        begunAt: life.begunAt(),
        ignoredAt: life.ignoredAt(),
        gaveUp: life.gaveUp(),
        spokeAt: speech.spokeAt(),
        plainAt: speech.plainAt(),
        answeredAt,
        lines: count,
      }
    },
  }
}
