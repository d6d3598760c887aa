// Asks the sampler child each second and turns its answers, and its silence, into scrapes.
import { gpuMemoryMetrics } from '../../attribution/gpu-memory.ts'
import { agentSamplerAbandoned, agentSamplerHangsTotal, agentSamplerRestartsTotal } from '../../metrics/agent-sources.ts'
import { gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { gpuXidErrorsRecent, gpuXidErrorsTotal, gpuXidLastCode, gpuXidLastTimestampSeconds } from '../../metrics/xid.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { SourceContext } from '../../model/source.ts'
import { noGpu, withAdvice } from '../../sampler/advice.ts'
import type { Sample } from '../../sampler/child-handle.ts'
import { RATES, RATE_MS, type Hello, type Rate } from '../../sampler/protocol.ts'
import { createSupervisor, type GpuTrouble, type SamplerDown, type Supervisor, type SupervisorEvents } from '../../sampler/supervisor.ts'
import { stackOf } from '../../text/error.ts'
import { counted } from '../../text/grammar.ts'
import { createSamplerCounts, createXidCounts } from './counts.ts'
import type { GpuSource, GpuSourceOptions, GpuSourceState } from './options.ts'
import { createOwners } from './owners.ts'
import { createGpuRegistry, type KnownGpu } from './registry.ts'
import { asleepText, createSleeping } from './sleeping.ts'
import { createUnifiedMemory } from './unified-memory.ts'

/** What the source says beside what the collectors read: ages, Xid events, the sampler's own health. */
export const gpuSourceMetrics = [
  gpuSampleAgeSeconds,
  gpuXidErrorsTotal,
  gpuXidErrorsRecent,
  gpuXidLastTimestampSeconds,
  gpuXidLastCode,
  agentSamplerRestartsTotal,
  agentSamplerAbandoned,
  agentSamplerHangsTotal,
] as const

/** Kept up for a GPU that vanished, so that its reason can still be read. */
const VANISHED_TTL_MS = 600_000
/** Counters change rarely: reported when they change, and again every so often. */
const RENEW_MS = 10_000
/** More than an answer is late, less than any clock is set back by hand. */
const CLOCK_SET_BACK_MS = 60_000
const USED = gpuMemoryUsedBytes.name

export function createGpuSource(options: GpuSourceOptions): GpuSource {
  const { deadlineMs = 2_000, onState, id: source = 'gpu', lister = 'NVML' } = options
  const nvidia = source === 'gpu'
  // A hang that is not taken for one early (see Hangs in ARCHITECTURE.md) costs the other GPUs two missed seconds, the deadline and a new child: their readings must outlive that.
  const ttlMs: Readonly<Record<Rate, number>> = { fast: 2 * RATE_MS.fast + deadlineMs + 500, slow: 3 * RATE_MS.slow, rare: 3 * RATE_MS.rare }
  const now = (): number => performance.now()
  const registry = createGpuRegistry(now)
  const owners = createOwners({
    ...options,
    found(gpu, t, rate, readings, gaps, tookMs) {
      const group = `${gpu.key}/processes`
      gpu.groups.add(group)
      emit(t, group, ttlMs[rate], readings, gaps, tookMs)
    },
    failed: (error) => context?.log.error(`processes could not be attributed: ${stackOf(error)}`),
  })
  const withHostMemory = options.hostMemory === undefined ? undefined : createUnifiedMemory(options.hostMemory)
  const xids = createXidCounts()
  const counts = createSamplerCounts(nvidia ? {} : { vendor: source })
  let context: SourceContext | undefined
  let supervisor: Supervisor | undefined
  let stopTicks: (() => void) | undefined
  let state: GpuSourceState = { kind: 'starting' }
  let downGap: Gap | undefined
  let xidGaps: readonly Gap[] = []
  let tickT = 0
  let agesT = 0
  let xidsT = 0
  let selfT = 0
  const askedAt: Record<Rate, number> = { fast: 0, slow: 0, rare: 0 }

  const emit = (t: number, group: string, ttl: number, readings: readonly Reading[], gaps: readonly Gap[], durationMs = 0): void =>
    context?.emit({ type: 'scrape', t, source, group, ttlMs: ttl, durationMs, readings, gaps })
  const changeState = (next: GpuSourceState): void => {
    state = next
    onState?.(next)
  }

  const emitAges = (t: number): void => {
    // What lies far ahead was told before the clock was set back.
    if (t <= agesT && agesT - t <= CLOCK_SET_BACK_MS) return
    agesT = t
    emit(t, 'age', 3 * RATE_MS.fast, registry.ages(now()), [])
  }
  const emitXids = (t: number): void => {
    xidsT = t
    if (!nvidia) return // the other makers' faults are in the kernel's log
    emit(t, 'xid', 3 * RENEW_MS, xids.readings(t), xidGaps)
  }
  const emitSelf = (t: number): void => {
    selfT = t
    emit(t, 'self', 3 * RENEW_MS, counts.readings(supervisor?.unkillable() ?? 0), [])
  }
  const tellGap = (gpu: KnownGpu, t: number, ttl = ttlMs.fast): void => emit(t, `${gpu.key}/fast`, ttl, [], gpu.gap === undefined ? [] : [gpu.gap])
  /** Takes all back that a GPU said, at once: what is no longer read is no longer true. */
  const silence = (gpu: KnownGpu, t: number, ttl?: number): void => {
    owners.drop(gpu)
    for (const group of gpu.groups) if (group !== `${gpu.key}/fast`) emit(t, group, ttlMs.fast, [], [])
    gpu.groups.clear()
    gpu.usedBytes = undefined
    tellGap(gpu, t, ttl)
  }

  const sleeping =
    options.sleep === undefined
      ? undefined
      : createSleeping({ sleep: options.sleep, registry, silence, emit: (t, group, readings, gaps) => emit(t, group, ttlMs.fast, readings, gaps) })

  const onHello = (hello: Hello): void => {
    const t = Date.now()
    xidGaps = hello.gpus.flatMap(({ index, uuid, xidGap }) =>
      xidGap === undefined ? [] : [{ metric: gpuXidErrorsTotal.name, labels: { gpu: String(index), uuid }, ...xidGap }],
    )
    emitXids(t)
    const { vanished, lost } = registry.hello(hello, supervisor?.leftOut() ?? [])
    for (const gpu of vanished) {
      gpu.gap = undefined
      // One that gave its UUID only now, or that is at another index now, is not gone.
      if (hello.gpus.some((present) => (gpu.uuid === undefined ? present.index === gpu.index : present.uuid === gpu.uuid))) {
        silence(gpu, t)
        continue
      }
      gpu.gap = {
        metric: 'gpu',
        labels: gpu.labels,
        reason: 'gpu_lost',
        detail: `${lister} no longer lists GPU ${gpu.index}${gpu.uuid === undefined ? '' : ` (${gpu.uuid})`}`,
      }
      silence(gpu, t, VANISHED_TTL_MS)
      if (gpu.uuid !== undefined) owners.forget(gpu.uuid)
      context?.log.warn(gpu.gap.detail ?? '')
    }
    for (const gpu of lost) {
      silence(gpu, t)
      context?.log.error(`GPU ${gpu.index}${gpu.uuid === undefined ? '' : ` (${gpu.uuid})`} cannot be opened: ${gpu.gap?.detail}`)
    }
    const none = [...registry.all()].length === 0
    if (none || downGap !== undefined) {
      downGap = none ? { metric: 'gpu', labels: {}, reason: 'not_supported', detail: nvidia ? noGpu(hello) : `${lister} lists no GPU` } : undefined
      emit(t, 'nvml', ttlMs.fast, [], downGap === undefined ? [] : [downGap])
    }
    const { gpus, driverVersion, library } = hello
    context?.log.debug?.(`${lister} ${library}, driver ${driverVersion}, ${gpus.length} GPUs; functions missing: ${hello.missing?.join(', ') ?? 'none'}`)
    if (none) context?.log.warn(nvidia ? noGpu(hello) : `${lister} lists no GPU any more`)
    else context?.log.info(`sampling ${counted(gpus.length, 'GPU')}, driver ${driverVersion || 'of unknown version'}, ${library}`)
    changeState({ kind: 'sampling', gpus: hello.gpus.length, driverVersion: hello.driverVersion, library: hello.library })
  }

  const onSample = (taken: Sample): void => {
    const { sample, gaps } = taken
    const before = registry.find(sample.index)
    const gpu = registry.sampled(sample.index, sample.uuid)
    if (before !== undefined && before !== gpu) {
      // Seen for the first time by a try of its own: what was said under its index alone, or of another GPU there, is over.
      before.gap = undefined
      silence(before, Date.now())
    }
    const gone = gaps.find(({ metric }) => metric === 'gpu')
    if (gone === undefined) onReadings(gpu, taken)
    else onGone(gpu, gone)
    if (sample.xids === undefined || sample.xids.length === 0) return
    const t = Date.now()
    for (const { xid } of sample.xids) {
      xids.add(gpu.labels, sample.uuid, xid, t)
      context?.log.warn(`GPU ${gpu.index} (${sample.uuid}) raised Xid ${xid}`)
    }
    emitXids(t)
    // What an Xid did to memory, links and the recovery that the driver asks for is seen with the next tick, not ten seconds later.
    askedAt.slow = 0
  }
  /** The child asked and the GPU is lost or wants a reset: one gap for all of it, and what it said before is taken back. */
  const onGone = (gpu: KnownGpu, gap: Gap): void => {
    if (gpu.gap?.reason !== gap.reason || gpu.gap.detail !== gap.detail)
      context?.log.error(`GPU ${gpu.index}${gpu.uuid === undefined ? '' : ` (${gpu.uuid})`} is gone: ${gap.detail ?? gap.reason}`)
    gpu.gap = gap
    gpu.lost = true
    silence(gpu, Date.now())
  }
  const onReadings = (gpu: KnownGpu, came: Sample): void => {
    const taken = came.sample.rate === 'fast' && withHostMemory !== undefined ? { ...came, ...withHostMemory(gpu.labels, came) } : came
    const { sample, readings, gaps, t } = taken
    gpu.seenAt = now() - sample.durationMs
    if (gpu.gap !== undefined) {
      gpu.gap = undefined
      tellGap(gpu, t)
      context?.log.info(`GPU ${gpu.index} (${sample.uuid}) is sampled again`)
    }
    gpu.lost = false
    sleeping?.sampled(came)
    const group = `${gpu.key}/${sample.rate}`
    gpu.groups.add(group)
    const used = readings.find(({ series }) => series.metric.name === USED && series.labels['gi'] === undefined)
    if (used !== undefined) gpu.usedBytes = used.value
    else if (sample.rate === 'fast') gpu.usedBytes = undefined
    emit(t, group, ttlMs[sample.rate], readings, gaps, sample.durationMs)
    owners.add(gpu, taken)
  }

  const onTrouble = ({ index, function: name, crashed, detail, first }: GpuTrouble): void => {
    const gpu = registry.at(index)
    const t = Date.now()
    if (gpu.gap === undefined || first) context?.log.warn(detail)
    counts.hang(gpu.labels, name)
    gpu.gap = { metric: 'gpu', labels: gpu.labels, reason: crashed ? 'driver_error' : 'timeout', detail }
    silence(gpu, t)
    emitSelf(t)
  }
  const onDown = ({ reason, code, detail: words }: SamplerDown): void => {
    const t = Date.now()
    const detail = nvidia ? withAdvice(words, code) : words
    if (downGap?.detail !== detail || downGap.reason !== reason) context?.log.error(`no GPU can be sampled: ${detail}`)
    downGap = { metric: 'gpu', labels: {}, reason, detail, ...(code === undefined ? {} : { code }) }
    for (const gpu of registry.all()) silence(gpu, t)
    emit(t, 'nvml', ttlMs.fast, [], [downGap])
    changeState({ kind: 'down', reason, detail, ...(code === undefined ? {} : { code }) })
  }

  const events = (given: SourceContext): SupervisorEvents => ({
    hello: onHello,
    sample: onSample,
    done: (t) => emitAges(Math.max(t, tickT)),
    trouble: onTrouble,
    down: onDown,
    restarted(reason, detail) {
      counts.restart(reason)
      if (reason === 'returned') given.log.info(detail)
      else if (reason !== 'hang' && reason !== 'failed') given.log.warn(`the sampler is restarted: ${detail}`)
      emitSelf(Date.now())
    },
    complain: (problem) => given.log.warn(`the sampler: ${problem}`),
  })

  const begin = (given: SourceContext): void => {
    supervisor = createSupervisor({ ...options, metrics: options.collectorMetrics }, events(given))
    supervisor.start()
  }
  /** Opens or closes NVML, so that an unused GPU can sleep; true where NVML can be read this second. */
  const isOpen = (): boolean => {
    const may = sleeping?.mayRead() ?? true
    if (may && supervisor === undefined && context !== undefined) {
      emit(Date.now(), 'nvml', ttlMs.fast, [], [])
      // Nobody waited for a reading of a GPU that slept.
      for (const gpu of registry.all()) gpu.seenAt = now()
      begin(context)
    } else if (!may && supervisor !== undefined) {
      context?.log.info('no program uses the GPU: NVML is closed, so that it can sleep')
      void supervisor.stop()
      supervisor = undefined
      // nvidia-smi would replace an NVML that is down, and wake the GPU.
      if (state.kind === 'down') changeState({ kind: 'starting' })
    }
    return may
  }

  const tick = (t: number): void => {
    tickT = t
    if (!isOpen()) return sleeping?.tell(t)
    const due = RATES.filter((rate) => Math.abs(t - askedAt[rate]) >= RATE_MS[rate] - RATE_MS.fast / 2)
    for (const rate of due) askedAt[rate] = t
    // A driver that lists no GPU is only asked whether it lists one now, at the pace at which the child looks for that.
    const nothingToRead = state.kind === 'sampling' && state.gpus === 0 && !due.includes('slow')
    const asked = !nothingToRead && (supervisor?.ask(due, t) ?? false)
    // With an answer to come the ages wait for it, so that a healthy GPU's age is not always one second.
    if (!asked) emitAges(t)
    for (const gpu of registry.all()) if (gpu.gap !== undefined) tellGap(gpu, t)
    if (downGap !== undefined) emit(t, 'nvml', ttlMs.fast, [], [downGap])
    if (Math.abs(t - selfT) >= RENEW_MS) emitSelf(t)
    if (Math.abs(t - xidsT) >= RENEW_MS) emitXids(t)
  }

  return {
    id: source,
    metrics: [...gpuSourceMetrics, ...gpuMemoryMetrics],
    state: () => state,
    samplerPid: () => supervisor?.pid(),
    async connect(place) {
      if (supervisor === undefined) throw new Error(context === undefined ? 'the GPUs are not read yet' : asleepText)
      return supervisor.connect(place)
    },
    start(given) {
      context = given
      if (!isOpen()) sleeping?.tell(Date.now())
      stopTicks = given.every(RATE_MS.fast, tick)
    },
    async stop() {
      stopTicks?.()
      owners.stop()
      await supervisor?.stop()
      context = undefined
    },
  }
}
