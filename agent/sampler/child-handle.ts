// One sampler child from fork to end: start, one request in flight, deadlines, the call in flight at its end. Decides nothing; says once how it ended.
import type { ChildProcess } from 'node:child_process'
import type { Gap, Reading } from '../model/reading.ts'
import { stackOf } from '../text/error.ts'
import { lastCallOf, CALL_FD, takeChild } from './child-process.ts'
import { createConnections, type ConnectInside } from './connections.ts'
import type { UnkillableChildren } from './unkillable-children.ts'
import { isBlocked, isStopped, readComm, readInFlightCall } from './in-flight-call.ts'
import { parseInFlightCall, type Failed, type GpuSample, type Hello, type InFlightCall, type ProcessRow, type Rate, type StartRequest } from './protocol.ts'
import { createSeriesTable, type SeriesInterner } from './series-table.ts'
import { checkMessage } from './validate.ts'
import { watchDeadline } from './deadline.ts'

/** A sample as the agent can use it: series for numbers, and the gaps that the child did not repeat. */
export type Sample = { readonly sample: GpuSample; readonly readings: readonly Reading[]; readonly gaps: readonly Gap[]; readonly t: number }

export type ChildEnd =
  | { readonly kind: 'failed'; readonly failed: Failed }
  | { readonly kind: 'hang'; readonly phase: 'start' | 'scrape'; readonly call: InFlightCall | undefined; readonly waitedMs: number }
  /** Stopped from outside (SIGSTOP, a debugger): no fault of any GPU. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'crash'; readonly call: InFlightCall | undefined; readonly detail: string }
  | { readonly kind: 'garbage'; readonly detail: string }

export type ChildHandlers = {
  readonly hello: (hello: Hello) => void
  readonly sample: (sample: Sample) => void
  readonly done: (t: number) => void
  readonly complain: (problem: string) => void
  /** A call on this GPU has not returned for `lateMs` during a scrape, and the process is not merely waiting for a CPU. */
  readonly late?: (gpu: number) => void
  /** The call that was late did return. */
  readonly answered?: () => void
  /** Comes exactly once, unless the child was retired; nothing comes after it. */
  readonly end: (end: ChildEnd) => void
}

export type ChildOptions = {
  readonly entry: string | URL
  readonly execArgv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly start: Omit<StartRequest, 'type'>
  readonly deadlineMs: number
  /** When `late` is asked; absent: never. */
  readonly lateMs?: number
  readonly startDeadlineMs: number
  readonly interner: SeriesInterner
  readonly unkillable: UnkillableChildren
}

export type SamplerChild = {
  readonly pid: number | undefined
  readonly start: Omit<StartRequest, 'type'>
  readonly startedAt: number
  readonly ready: () => boolean
  readonly busy: () => boolean
  readonly scrape: (rates: readonly Rate[], t: number) => void
  readonly connect: ConnectInside
  /** Lets it end by itself (it exits when the channel closes), and kills it when it does not. Resolves within `graceMs` either way. */
  readonly retire: (graceMs: number) => Promise<void>
}

/** A child that sends more than this for one request has lost its mind. 8 GPUs x 3 rates + announcements are about 30. */
const MAX_MESSAGES_PER_REQUEST = 10_000
const MAX_PROBLEMS = 20
const STDERR_TAIL = 2_000
/** What ends a process from outside (the kernel's OOM killer, a person) says nothing of the GPU that it read last; a driver's fault comes as another signal. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'])

export function startChild(options: ChildOptions, handlers: ChildHandlers): SamplerChild {
  const { start, deadlineMs, lateMs = Infinity, startDeadlineMs, unkillable } = options
  const startedAt = performance.now()
  let over = false
  let late = false
  let ready = false
  let request: { readonly id: number; readonly t: number } | undefined
  let nextId = 1
  let messages = 0
  let problems = 0
  let stderr = ''
  const lastGaps = new Map<string, readonly Gap[]>()
  const lastProcesses = new Map<string, readonly ProcessRow[]>()

  const child: ChildProcess = takeChild(options)
  const { pid } = child

  const end = (how: ChildEnd): void => {
    if (over) return
    over = true
    deadline.stop()
    connections.end()
    unkillable.abandon(child)
    handlers.end(how)
  }
  const complain = (problem: string): void => {
    if (++problems === 1) handlers.complain(problem)
    if (problems > MAX_PROBLEMS) end({ kind: 'garbage', detail: problem })
  }
  const table = createSeriesTable(options.interner, complain)

  // A call that hangs while the GPUs are opened names its GPU; nvmlInit names none and may take long (no persistence mode), so it gets all of the start's time.
  const deadline = watchDeadline({
    comm: () => (pid === undefined ? '' : readComm(pid)),
    namesGpu: (comm) => parseInFlightCall(comm)?.gpu !== undefined,
    expired: (phase, waitedMs) => {
      if (pid !== undefined && isStopped(pid)) end({ kind: 'stopped' })
      else end({ kind: 'hang', phase, call: pid === undefined ? undefined : readInFlightCall(pid), waitedMs })
    },
    deadlineMs,
    lateMs,
    late: () => {
      const gpu = pid === undefined || !isBlocked(pid) ? undefined : readInFlightCall(pid)?.gpu
      if (gpu === undefined || handlers.late === undefined) return false
      late = true
      handlers.late(gpu)
      return true
    },
    startDeadlineMs,
  })

  const takeSample = (sample: GpuSample): void => {
    if (request === undefined || sample.id !== request.id)
      return complain(`a sample of request ${sample.id} came, but request ${request?.id ?? 'none'} is open`)
    const place = `${sample.index}/${sample.rate}`
    if (sample.gaps !== undefined) lastGaps.set(place, sample.gaps)
    if (sample.processes !== undefined) lastProcesses.set(place, sample.processes)
    const same = sample.sameProcesses === true ? lastProcesses.get(place) : undefined
    handlers.sample({
      sample: same === undefined ? sample : { ...sample, processes: same },
      readings: table.resolve(sample.series, sample.values),
      gaps: lastGaps.get(place) ?? [],
      t: request.t,
    })
  }
  const take = (raw: unknown): void => {
    if (over) return
    if (++messages > MAX_MESSAGES_PER_REQUEST) return end({ kind: 'garbage', detail: `more than ${MAX_MESSAGES_PER_REQUEST} messages for one request` })
    const message = checkMessage(raw)
    if (typeof message === 'string') return complain(message)
    deadline.progress()
    if (late) {
      late = false
      handlers.answered?.()
      if (over) return
    }
    switch (message.type) {
      case 'series':
        return table.announce(message.series)
      case 'hello':
        if (!ready) deadline.idle()
        ready = true
        return handlers.hello(message)
      case 'gpu':
        return takeSample(message)
      case 'failed':
        return end({ kind: 'failed', failed: message })
      case 'done': {
        if (request === undefined || message.id !== request.id)
          return complain(`the end of request ${message.id} came, but request ${request?.id ?? 'none'} is open`)
        const { t } = request
        request = undefined
        deadline.idle()
        return handlers.done(t)
      }
    }
  }
  const send = (message: object): void => {
    if (!child.connected) return // its end is on the way
    child.send(message, (error) => {
      if (error) complain(`cannot be reached: ${error.message}`)
    })
  }

  const connections = createConnections(send)
  child.on('message', (raw, handle) => {
    try {
      if (!connections.take(raw, handle)) take(raw)
    } catch (error) {
      complain(`a message could not be taken in: ${stackOf(error)}`)
    }
  })
  child.on('error', (error) => end({ kind: 'crash', call: undefined, detail: `could not be started: ${error.message}` }))
  child.on('disconnect', () => {
    if (over) return
    setTimeout(
      () => end({ kind: 'crash', call: pid === undefined ? undefined : readInFlightCall(pid), detail: 'closed its channel and went on living' }),
      1_000,
    ).unref()
  })
  child.on('exit', (code, signal) => {
    // Its own name is gone by now, or may be: all children that have died are reaped when any of them is.
    const call = signal !== null && FROM_OUTSIDE.has(signal) ? undefined : parseInFlightCall(lastCallOf(child))
    const crashed = (): void => {
      const lines = stderr.trim().split('\n')
      const said = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? ''
      end({ kind: 'crash', call, detail: `${signal === null ? `exited with code ${code}` : `died of ${signal}`}${said === '' ? '' : `: ${said}`}` })
    }
    if (!child.connected) return crashed()
    // Its end may be heard before what it said last: one that says why and goes has not crashed.
    child.once('disconnect', crashed)
    setTimeout(crashed, 1_000).unref()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-STDERR_TAIL)))
  child.stderr?.on('error', () => undefined) // the pipe of a dead child

  send({ type: 'start', ...start, callFd: CALL_FD } satisfies StartRequest)

  return {
    pid,
    start,
    startedAt,
    ready: () => ready,
    busy: () => request !== undefined,
    scrape(rates, t) {
      if (over || request !== undefined) return
      request = { id: nextId++, t }
      messages = 0
      deadline.request()
      send({ type: 'scrape', id: request.id, rates })
    },
    connect: connections.connect,
    async retire(graceMs) {
      if (over) return
      over = true
      deadline.stop()
      connections.end()
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      if (child.connected) child.disconnect()
      let timer: NodeJS.Timeout | undefined
      await Promise.race([gone, new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)))])
      clearTimeout(timer)
      unkillable.abandon(child)
    },
  }
}
