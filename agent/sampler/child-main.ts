// The sampler child's entry: NVML, or the files of other makers' cards, are read here, so that a hung or crashing driver takes no more than this process along. Forked by the supervisor.
import { createCardSet } from '../drm/card-set.ts'
import { openSession } from '../nvml/session.ts'
import { createGpuSet } from './child/gpu-set.ts'
import type { GpuSet } from './child/gpu-set.ts'
import { connectInside } from './child/namespace-socket.ts'
import { lineOf } from '../text/error.ts'
import { formatInFlightCall } from './protocol.ts'
import type { ConnectRequest, Connection, Failed, FromChild, ScrapeRequest, StartRequest, ToChild } from './protocol.ts'

let gpus: GpuSet | undefined
let peakHz = 0
let peaks: NodeJS.Timeout | undefined

const send = (message: FromChild): void => {
  process.send?.(message)
}
/** Says why and goes, once the message is on its way. */
const fail = (failed: Omit<Failed, 'type'>): void => {
  process.send?.({ type: 'failed', ...failed } satisfies Failed, () => process.exit(1))
}

async function open(request: StartRequest): Promise<GpuSet | string> {
  const { cards } = request
  if (cards !== undefined) return createCardSet({ ...request, cards }, send)
  const session = await openSession(request.libraries, formatInFlightCall)
  return typeof session === 'string' ? session : createGpuSet(session, request, send)
}

/** Ten wake-ups a second are most of what this process costs: none on a host without a GPU. */
function followPeaks(of: GpuSet): void {
  if (peakHz > 0 && of.hasGpus()) peaks ??= setInterval(of.peak, 1000 / peakHz)
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
  const failure = created.start()
  if (failure !== undefined) {
    fail(failure)
    return
  }
  gpus = created
  peakHz = request.peakHz
  followPeaks(created)
}

function scrape(request: ScrapeRequest): void {
  if (gpus === undefined) return // asked before hello: the supervisor's deadline notices
  const failure = gpus.scrape(request)
  if (failure !== undefined) fail(failure)
  followPeaks(gpus)
}

async function connect(request: ConnectRequest): Promise<void> {
  const answer: Connection = { type: 'connection', id: request.id }
  try {
    // The handle is the parent's from here on.
    process.send?.(answer, await connectInside(request))
  } catch (error) {
    process.send?.({ ...answer, error: lineOf(error) } satisfies Connection)
  }
}

process.on('message', (message: ToChild) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'connect') void connect(message)
  else scrape(message)
})
// No signal handlers: the parent kills a child that hangs, and one without a parent has nothing to do.
process.on('disconnect', () => process.exit(0))
