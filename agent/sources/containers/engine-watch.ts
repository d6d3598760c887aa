// Follows one engine: its event stream keeps the picture current, a list every now and then checks it, failures are retried with back-off.
import { setTimeout as delay } from 'node:timers/promises'
import type { ContainerEvent } from '../../model/event.ts'
import type { Log } from '../../model/source.ts'
import type { EngineContainer } from './engine-container.ts'
import { endOf, fromInspect, fromList, toContainerEvent } from './engine-container.ts'
import { EngineError, toEngineError } from './engine-error.ts'
import type { EngineClient } from './engine.ts'
import type { EngineEvent, ListedContainer } from './engine-schema.ts'

export type EngineWatchOptions = {
  readonly socketPath: string
  readonly client: EngineClient
  readonly log: Log
  readonly listEveryMs?: number
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  /** Whatever an inspection said, also of a container that has ended meanwhile: its settings explain its crash. */
  readonly onInspected?: (container: EngineContainer) => void
  /** A running container, new or changed. */
  readonly onContainer: (container: EngineContainer) => void
  readonly onGone: (id: string) => void
  readonly onEvent: (event: ContainerEvent) => void
  /** Each event about a container's start, end and state, with its full id: also of those that ended before they could be asked for. */
  readonly onLife?: (id: string, event: ContainerEvent) => void
  /** It answers for the first time, or again after a failure. */
  readonly onAnswering?: () => void
  /** Ids of containers whose end must be found out: they ran before the agent did, or started and were never listed. */
  readonly unconfirmed?: () => readonly string[]
  /** The engine began or ceased to answer; look at `failure`. */
  readonly onState: () => void
}

export type EngineWatch = {
  readonly socketPath: string
  /** Why the engine cannot be used now; undefined while it answers, or before it was tried. */
  readonly failure: () => EngineError | undefined
  /** True from the first answer or failure on. */
  readonly settled: () => boolean
  readonly stop: () => Promise<void>
}

const SIGKILLED = 137
const REFRESHING = new Set(['start', 'pause', 'unpause', 'rename', 'update'])
const ENDING = new Set(['die', 'died', 'destroy', 'remove'])
/** Without an event stream (a socket proxy that refuses it) the list is all there is. */
const LIST_ONLY_MS = 10_000
const PARALLEL_INSPECTIONS = 4
/** More containers than one host starts between two lists. */
const MAX_DUE = 10_000
/** An engine stamps an event before it queues it: of containers that change together a later one may come first. */
const OUT_OF_ORDER_MS = 5_000
/** Docker keeps the last 256 for who comes later (moby/daemon/events). */
const MAX_SEEN = 1_024
const REFUSED = new Set([400, 401, 403, 404, 405, 501])

export function startEngineWatch(options: EngineWatchOptions): EngineWatch {
  const { socketPath, client, log, listEveryMs = 30_000, firstRetryMs = 1_000, maxRetryMs = 30_000 } = options
  const stopping = new AbortController()
  /** Running containers by id, with what the list said of them, to see changes without inspecting all. */
  const known = new Map<string, string>()
  const inspecting = new Map<string, { cancelled: boolean }>()
  /** Containers that an event was about and that wait to be inspected; each once, however many events there are. */
  const due = new Set<string>()
  /** Ends the session; made again for each. */
  let broken: (error: unknown) => void = () => {}
  let failure: EngineError | undefined
  let settled = false
  /** Kinds of failure logged since it last answered: each is logged once, however often they alternate. */
  const warned = new Set<string>()
  const beganAt = Date.now()
  let newestEventAt = beganAt
  /** Events of the last seconds, since a new stream begins with some of them again. */
  const seenEvents = new Set<string>()
  let malformed = 0
  let answering = false
  /** The container that was last said to have lost a process to the kernel. */
  let oomReported: string | undefined

  const gone = (id: string): void => {
    const current = inspecting.get(id)
    if (current !== undefined) current.cancelled = true
    due.delete(id)
    if (known.delete(id)) options.onGone(id)
  }
  /** Asks for one container; an answer that an event has overtaken meanwhile does not count. */
  const refresh = async (id: string, listed?: ListedContainer): Promise<void> => {
    const before = inspecting.get(id)
    if (before !== undefined) before.cancelled = true
    const token = { cancelled: false }
    inspecting.set(id, token)
    try {
      const inspected = await client.inspect(id)
      if (inspected !== undefined) options.onInspected?.(fromInspect(inspected))
      if (token.cancelled || stopping.signal.aborted) return
      if (inspected === undefined || inspected.State.Running === false || (inspected.State.Pid === 0 && inspected.State.Status !== 'running')) return gone(id)
      known.set(id, fingerprint(listed) ?? known.get(id) ?? '')
      options.onContainer(fromInspect(inspected))
    } catch (error) {
      const reason = toEngineError(error, `inspecting ${id.slice(0, 12)}`)
      // One container with an answer of an unknown form must not cost the names of the others.
      if (reason.reason !== 'parse_error' || listed === undefined || token.cancelled) throw reason
      known.set(id, '')
      options.onContainer(fromList(listed))
    } finally {
      if (inspecting.get(id) === token) inspecting.delete(id)
      askNext()
    }
  }
  /** An engine may report more events than it answers questions: questions never pile up, and what is too much the next list finds. */
  const refreshSoon = (id: string): void => {
    if (due.size >= MAX_DUE) return
    due.add(id)
    askNext()
  }
  const askNext = (): void => {
    for (const id of due) {
      if (inspecting.size >= PARALLEL_INSPECTIONS || stopping.signal.aborted) return
      // The answer on its way may be from before the event, so it is asked for again after that.
      if (inspecting.has(id)) continue
      due.delete(id)
      refresh(id).catch((error: unknown) => broken(error))
    }
  }
  /** `all`: inspect every container, also those of which the list says nothing new, such as a restart that no event reported. */
  const sync = async (all: boolean): Promise<void> => {
    const before = [...known.keys()]
    const listed = await client.list()
    const ids = new Set(listed.map(({ Id }) => Id))
    for (const id of before) if (!ids.has(id)) gone(id)
    const changed = listed.filter((container) => all || known.get(container.Id) !== fingerprint(container))
    const next = changed.values()
    const worker = async (): Promise<void> => {
      for (const container of next) await refresh(container.Id, container)
    }
    await Promise.all(Array.from({ length: PARALLEL_INSPECTIONS }, worker))
  }
  /** A kill by the kernel has an event of its own, which may be missing: then the engine's state shows it. */
  const askForOom = async (id: string, died: ContainerEvent): Promise<void> => {
    const inspected = await client.inspect(id).catch(() => undefined)
    if (inspected?.State.OOMKilled === true && inspected.State.Running !== true) options.onEvent({ ...died, action: 'oom' })
  }
  const askForEnds = async (): Promise<void> => {
    for (const id of options.unconfirmed?.() ?? []) {
      const inspected = await client.inspect(id)
      const end = inspected === undefined ? undefined : endOf(inspected)
      if (end === undefined) continue
      if (inspected?.State.OOMKilled === true && end.exit_code === SIGKILLED) options.onEvent({ ...end, action: 'oom' })
      options.onEvent(end)
    }
  }
  const onEvent = (event: EngineEvent): void => {
    const change = toContainerEvent(event)
    if (change === undefined) return
    const key = `${event.timeNano ?? event.time} ${event.Action} ${event.Actor.ID}`
    if (seenEvents.has(key)) return
    seenEvents.add(key)
    for (const oldest of seenEvents) {
      if (seenEvents.size <= MAX_SEEN) break
      seenEvents.delete(oldest)
    }
    newestEventAt = Math.max(newestEventAt, change.t)
    options.onEvent(change)
    options.onLife?.(event.Actor.ID, change)
    if (change.action === 'oom') oomReported = change.container_id
    else if (change.action.startsWith('die') && change.exit_code !== undefined && change.exit_code !== 0 && oomReported !== change.container_id)
      void askForOom(event.Actor.ID, change)
    if (ENDING.has(event.Action)) gone(event.Actor.ID)
    else if (REFRESHING.has(event.Action)) refreshSoon(event.Actor.ID)
  }
  const up = (): void => {
    settled = true
    if (warned.size > 0) log.info(`${socketPath}: the container engine answers again`)
    warned.clear()
    failure = undefined
    if (!answering) {
      log.debug?.(`${socketPath}: connected, ${known.size} containers`)
      options.onAnswering?.()
    }
    answering = true
    options.onState()
  }
  const down = (error: EngineError): void => {
    settled = true
    answering = false
    failure = error
    // The text may differ in its tail from try to try.
    const kind = `${error.reason} ${error.nativeCode ?? ''}`
    if (!warned.has(kind)) log.warn(`container engine: ${error.message}; ids replace the names of new containers until it answers`)
    warned.add(kind)
    options.onState()
  }
  const session = async (): Promise<void> => {
    const over = new AbortController()
    const ended = Promise.withResolvers<never>()
    broken = ended.reject
    due.clear()
    let listOnly = false
    let first = true
    const stream = client
      .events({
        sinceSeconds: Math.max(beganAt, Math.min(newestEventAt, Date.now()) - OUT_OF_ORDER_MS) / 1000,
        signal: over.signal,
        onEvent,
        onMalformed: (detail) => {
          if (malformed++ === 0) log.warn(`${socketPath}: skipped a container event: ${detail}`)
        },
      })
      .then(
        () => ended.reject(new EngineError('driver_error', `${socketPath}: the engine ended its event stream`)),
        (error: unknown) => {
          const reason = toEngineError(error, `events of ${socketPath}`)
          if (reason.nativeCode === undefined || !REFUSED.has(reason.nativeCode)) return ended.reject(reason)
          listOnly = true
          log.info(`${reason.message}; containers are listed every ${LIST_ONLY_MS / 1000} s instead`)
        },
      )
    const lists = async (): Promise<never> => {
      for (;;) {
        await sync(first || listOnly)
        await askForEnds()
        first = false
        retryMs = firstRetryMs
        up()
        await delay(listOnly ? Math.min(LIST_ONLY_MS, listEveryMs) : listEveryMs, undefined, { signal: over.signal })
      }
    }
    const stop = (): void => over.abort()
    stopping.signal.addEventListener('abort', stop, { once: true })
    try {
      await Promise.race([ended.promise, lists()])
    } finally {
      stopping.signal.removeEventListener('abort', stop)
      over.abort()
      await stream
    }
  }
  let retryMs = firstRetryMs
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await session()
      } catch (error) {
        if (stopping.signal.aborted) return
        down(toEngineError(error, socketPath))
      }
      const pauseMs = retryMs
      log.debug?.(`${socketPath}: ${failure?.message ?? 'not connected'}; tried again in ${pauseMs} ms`)
      retryMs = Math.min(retryMs * 2, maxRetryMs)
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    socketPath,
    failure: () => failure,
    settled: () => settled,
    async stop() {
      stopping.abort()
      await running
      client.close()
    },
  }
}

/** What of a list's entry tells that the container must be inspected again. */
function fingerprint(listed: ListedContainer | undefined): string | undefined {
  return listed === undefined ? undefined : `${listed.State ?? ''} ${listed.Names?.join(',') ?? ''}`
}
