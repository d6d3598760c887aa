// GPUs through nvidia-smi, for hosts on which NVML cannot be used: one `nvidia-smi -q -x` every few seconds, turned into the same series.
import { createGpuMemoryAttribution, gpuMemoryMetrics } from '../../attribution/gpu-memory.ts'
import { gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import type { IdentifyProcess } from '../../model/identity.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { Source, SourceContext } from '../../model/source.ts'
import { stackOf } from '../../text/error.ts'
import { failureOf } from './exit-codes.ts'
import type { Failure } from './exit-codes.ts'
import type { ParsedGpu } from './gpu.ts'
import { INFO, MEASURES, THROTTLE_MASK } from './measures.ts'
import { parseNvidiaSmi } from './parse.ts'
import { createReadings } from './readings.ts'
import type { Parsed, ParseGap } from './result.ts'
import { createGpuRegistry } from './registry.ts'
import type { KnownGpu } from './registry.ts'
import { createRunner } from './run.ts'
import type { RunResult } from './run.ts'

export type NvidiaSmiOptions = {
  /** Tried in order until one can be started. */
  readonly commands?: readonly string[]
  readonly periodMs?: number
  readonly deadlineMs?: number
  readonly identify: IdentifyProcess
  /** Whether the agent sees all processes of the host; absent = not known. */
  readonly seesAllProcesses?: boolean
  /** Declarations that the fields are readings of; those of the collectors. */
  readonly metrics: readonly MetricDef[]
  /** Asked each second: false keeps quiet (NVML answers). */
  readonly active?: () => boolean
}

const TICK_MS = 1_000
/** nvidia-smi takes 10 ms to seconds of CPU, most of it in the kernel: at most a tenth of the time goes to it. */
const IDLE_FACTOR = 10
/** How often to look for one that is not installed: it may be installed later. */
const ABSENT_PERIOD_MS = 60_000
/** Kept up for a GPU that vanished, so that its reason can still be read; as the NVML source does. */
const VANISHED_MS = 600_000
const ID = 'nvidia-smi'

const needed = new Set([INFO, THROTTLE_MASK, ...Object.values(MEASURES).map(({ metric }) => metric)])

export function createNvidiaSmiSource(options: NvidiaSmiOptions): Source {
  const { commands = ['nvidia-smi'], periodMs = 5_000, deadlineMs = 20_000, identify, active = () => true } = options
  const metrics = options.metrics.filter(({ name }) => needed.has(name))
  const readingsOf = createReadings(metrics)
  const attribution = createGpuMemoryAttribution(identify, options)
  const registry = createGpuRegistry()
  const runner = createRunner({ deadlineMs })
  const vanished = new Map<string, { readonly gap: Gap; readonly until: number }>()
  let command: string | undefined
  let context: SourceContext | undefined
  let nextDue = 0
  let speaking = false
  let lastDurationMs = 0
  let lastComplaint: string | undefined
  let stopTicks: (() => void)[] = []

  const emit = (t: number, group: string, ttlMs: number, readings: readonly Reading[], gaps: readonly Gap[], durationMs: number): void =>
    context?.emit({ type: 'scrape', t, source: ID, group, ttlMs, durationMs, readings, gaps })
  const complain = (detail: string | undefined): void => {
    if (detail === lastComplaint) return
    if (detail !== undefined) context?.log.warn(detail)
    else if (lastComplaint !== undefined) context?.log.info(`${command ?? ID} answers again`)
    lastComplaint = detail
  }

  const runAny = async (): Promise<{ readonly command: string; readonly result: RunResult }> => {
    for (const candidate of command === undefined ? commands : [command]) {
      const result = await runner.run(candidate, ['-q', '-x'])
      if (result.kind !== 'absent') {
        if (command === undefined) context?.log.info(`reading GPUs with ${candidate}`)
        command = candidate
        return { command: candidate, result }
      }
      if (candidate === command || candidate === commands.at(-1)) {
        command = undefined // looked for again next time: a driver may be installed while the agent runs
        return { command: candidate, result }
      }
    }
    return { command: ID, result: { kind: 'absent', errno: 'ENOENT' } }
  }

  const readGpu = (gpu: ParsedGpu, known: KnownGpu, parsed: Parsed, readings: Reading[], gaps: Gap[]): void => {
    const found = readingsOf(gpu, known.labels, parsed)
    const usedBytes = gpu.values.get('memory_used')
    const why = gpu.processesMissing ?? gpu.missing.get('memory_used')
    const owners = attribution.attribute({
      gpu: known.labels['gpu'] ?? '',
      uuid: known.uuid,
      usedBytes,
      processes: gpu.processes,
      gap:
        why === undefined
          ? { reason: 'not_supported', detail: 'this nvidia-smi prints no list of processes' }
          : { reason: why.reason, ...(why.code === undefined ? {} : { code: why.code }), detail: `nvidia-smi: ${why.text}` },
    })
    readings.push(...found.readings, ...owners.readings)
    gaps.push(...found.gaps, ...owners.gaps)
  }

  const gapOf = ({ reason, code, detail }: Failure | ParseGap, metric: string, labels: Gap['labels']): Gap => ({
    metric,
    labels,
    reason,
    ...(code === undefined ? {} : { code }),
    detail,
  })

  const onParsed = (t: number, takenAt: number, parsed: Parsed, failure: Failure | undefined, durationMs: number, ttlMs: number): void => {
    const readings: Reading[] = []
    const gaps: Gap[] = []
    const here = new Set<string>()
    for (const gpu of parsed.gpus) {
      const known = registry.seen(gpu, takenAt)
      if (known === undefined) {
        gaps.push({
          metric: 'gpu',
          labels: gpu.index === undefined ? {} : { gpu: String(gpu.index) },
          reason: 'gpu_lost',
          detail: `nvidia-smi reports no UUID for the GPU at ${gpu.pciBusId ?? 'an unknown place'}`,
        })
        continue
      }
      here.add(known.uuid)
      vanished.delete(known.uuid)
      readGpu(gpu, known, parsed, readings, gaps)
    }
    for (const gap of parsed.gaps) {
      gaps.push(gapOf(gap, 'gpu', registry.labelsOf(gap)))
      const lost = registry.known(gap)
      if (lost !== undefined) here.add(lost.uuid)
    }
    for (const gone of registry.keep(here)) {
      attribution.forget(gone.uuid)
      vanished.set(gone.uuid, {
        gap: { metric: 'gpu', labels: gone.labels, reason: 'gpu_lost', detail: `nvidia-smi no longer lists ${gone.uuid}` },
        until: t + VANISHED_MS,
      })
    }
    for (const [uuid, { gap, until }] of vanished) {
      if (until > t) gaps.push(gap)
      else vanished.delete(uuid)
    }
    if (failure !== undefined) gaps.push(gapOf(failure, ID, {}))
    complain(failure?.detail ?? parsed.gaps[0]?.detail)
    emit(t, '', ttlMs, readings, gaps, durationMs)
  }

  const scrape = async (t: number): Promise<void> => {
    speaking = true
    nextDue = Number.POSITIVE_INFINITY // none beside this one
    const startedAt = performance.now()
    const { command: used, result } = await runAny()
    const durationMs = performance.now() - startedAt
    lastDurationMs = durationMs
    const intervalMs = result.kind === 'absent' ? Math.max(periodMs, ABSENT_PERIOD_MS) : Math.max(periodMs, IDLE_FACTOR * durationMs)
    nextDue = t + intervalMs
    if (context === undefined || !speaking) return
    const parsed = result.kind === 'ended' ? parseNvidiaSmi(result.stdout.trim() === '' ? result.stderr : result.stdout) : undefined
    // It may end with a complaint about one GPU and have reported the others all the same.
    if (parsed !== undefined && parsed.kind !== 'error' && parsed.gpus.length + parsed.gaps.length > 0) {
      const failure = result.kind === 'ended' && result.exitCode !== 0 ? failureOf(used, result) : undefined
      // One late run must not make the series flicker; two must.
      onParsed(t, startedAt, parsed, failure, durationMs, intervalMs + 2 * durationMs + periodMs)
      return
    }
    const failure = failureOf(used, result, parsed?.kind === 'error' ? parsed : undefined)
    complain(failure.detail)
    emit(t, '', intervalMs + deadlineMs + periodMs, [], [gapOf(failure, ID, {})], durationMs)
  }

  /** Takes all back at once when NVML answers again. */
  const fallSilent = (t: number): void => {
    speaking = false
    nextDue = 0
    vanished.clear()
    for (const { uuid } of registry.keep(new Set())) attribution.forget(uuid)
    emit(t, '', 1, [], [], 0)
    emit(t, 'age', 1, [], [], 0)
  }

  const tick = async (t: number): Promise<void> => {
    if (!active()) {
      if (speaking) fallSilent(t)
      return
    }
    const ages = registry.ages(performance.now())
    // With the duration of the last run: it is the source's, whichever group spoke last.
    if (ages.length > 0) emit(t, 'age', 3 * TICK_MS, ages, [], lastDurationMs)
    if (t >= nextDue) await scrape(t)
  }

  return {
    id: ID,
    metrics: [...metrics, ...gpuMemoryMetrics, gpuSampleAgeSeconds],
    start(given) {
      context = given
      // The scheduler skips a run that is still going; ages must go on meanwhile, so a scrape is not awaited by its tick.
      const run = (t: number): void => void tick(t).catch((error: unknown) => given.log.error(`nvidia-smi: ${stackOf(error)}`))
      stopTicks = [given.every(TICK_MS, run)]
      run(Date.now())
    },
    stop() {
      for (const stop of stopTicks) stop()
      stopTicks = []
      context = undefined
      runner.stop()
    },
  }
}
