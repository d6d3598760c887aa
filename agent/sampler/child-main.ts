// The sampler child's entry: NVML, or the files of other makers' cards, are read here, so that a hung or crashing driver takes no more than this process along. Forked by the supervisor.
import { setFlagsFromString } from 'node:v8'
import { createCardSet } from '../drm/card-set.ts'
import { openSession } from '../nvml/session.ts'
import { createGpuSet } from './child/gpu-set.ts'
import type { GpuSet } from './child/gpu-set.ts'
import { connectInside } from './child/namespace-socket.ts'
import { createPeakLoop, waitOnChannel, type PeakLoop } from './child/peak-loop.ts'
import { lineOf } from '../text/error.ts'
import { formatInFlightCall } from './protocol.ts'
import type { ConnectRequest, Connection, Failed, FromChild, ScrapeRequest, StartRequest, ToChild } from './protocol.ts'

let gpus: GpuSet | undefined
let peakHz = 0
let peaks: NodeJS.Timeout | undefined
/** Absent where it cannot wait in the kernel, and for cards that are read from files: then a timer samples the peaks. */
let loop: PeakLoop | undefined

const send = (message: FromChild): void => {
  if (loop === undefined) process.send?.(message)
  else {
    // What the channel does not take at once needs the event loop.
    loop.busy()
    process.send?.(message, loop.free)
  }
}
/** Says why and goes, once the message is on its way. */
const fail = (failed: Omit<Failed, 'type'>): void => {
  loop?.busy()
  process.send?.({ type: 'failed', ...failed } satisfies Failed, () => process.exit(1))
}

async function open(request: StartRequest): Promise<GpuSet | string> {
  const { cards } = request
  if (cards !== undefined) return createCardSet({ ...request, cards }, send)
  const session = await openSession(request.libraries, formatInFlightCall, request.callFd)
  return typeof session === 'string' ? session : createGpuSet(session, request, send)
}

/** Ten wake-ups a second are most of what this process costs: none on a host without a GPU. */
function followPeaks(of: GpuSet): void {
  const periodMs = peakHz > 0 && of.hasGpus() ? 1000 / peakHz : undefined
  if (loop !== undefined) loop.follow(periodMs)
  else if (periodMs !== undefined) peaks ??= setInterval(of.peak, periodMs)
  else {
    clearInterval(peaks)
    peaks = undefined
  }
}

async function start(request: StartRequest): Promise<void> {
  const created = await open(request)
  if (typeof created === 'string') {
    fail({ reason: 'not_supported', detail: created })
    return
  }
  const wait = request.peakHz > 0 && request.cards === undefined ? await waitOnChannel() : undefined
  if (wait !== undefined) loop = createPeakLoop(wait, created.peak)
  const failure = created.start()
  if (failure !== undefined) {
    fail(failure)
    return
  }
  gpus = created
  peakHz = request.peakHz
  // V8's second optimizing compiler would cost a tenth of this process's time: the first (Maglev) makes the little that runs here fast enough. Now that Node's modules are loaded.
  setFlagsFromString('--no-turbofan')
  followPeaks(created)
}

function scrape(request: ScrapeRequest): void {
  if (gpus === undefined) return // asked before hello: the supervisor's deadline notices
  const failure = gpus.scrape(request)
  if (failure !== undefined) fail(failure)
  loop?.sampled()
  followPeaks(gpus)
}

async function connect(request: ConnectRequest): Promise<void> {
  const answer: Connection = { type: 'connection', id: request.id }
  const waiting = loop
  const sent = (): void => waiting?.free()
  waiting?.busy()
  try {
    // The handle is the parent's from here on.
    process.send?.(answer, await connectInside(request), {}, sent)
  } catch (error) {
    process.send?.({ ...answer, error: lineOf(error) } satisfies Connection, sent)
  }
}

process.on('message', (message: ToChild) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'connect') void connect(message)
  else scrape(message)
})
// No signal handlers: the parent kills a child that hangs, and one without a parent has nothing to do.
process.on('disconnect', () => process.exit(0))
