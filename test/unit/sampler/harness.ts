// A GPU source with a real child, its answers in a latest store, and questions to ask of it.
import { createScheduler } from '../../../agent/lib/scheduler.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { IdentifyProcess } from '../../../agent/model/identity.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import type { Every } from '../../../agent/model/source.ts'
import type { GpuSource, GpuSourceOptions, GpuSourceState } from '../../../agent/sources/gpu/options.ts'
import { createGpuSource } from '../../../agent/sources/gpu/source.ts'
import { createLatestStore, type LatestStore } from '../../../agent/store/latest.ts'
import { createScript, scriptedChild, type Script } from '../../fakes/sampler-children/script.ts'
import { poll } from '../../setup/poll.ts'

const GPU = ['gpu', 'uuid'] as const
export const power = defineMetric({
  name: 'warpwatch_gpu_power_watts',
  subject: 'gpu',
  field: 'power_watts',
  kind: 'gauge',
  unit: 'W',
  help: 'Power',
  labels: GPU,
})
export const used = defineMetric({
  name: 'warpwatch_gpu_memory_used_bytes',
  subject: 'gpu',
  field: 'memory_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Used',
  labels: GPU,
})

export const limit = defineMetric({
  name: 'warpwatch_gpu_power_limit_watts',
  subject: 'gpu',
  field: 'power_limit_watts',
  kind: 'gauge',
  unit: 'W',
  help: 'Limit',
  labels: GPU,
})

export type Running = {
  readonly source: GpuSource
  readonly store: LatestStore
  readonly scrapes: Scrape[]
  readonly log: string[]
  readonly states: GpuSourceState[]
  readonly value: (metric: string, labels?: Readonly<Record<string, string>>) => number | undefined
  readonly age: (gpu: number) => number | undefined
  readonly gapOf: (gpu: number | undefined) => (Gap & { readonly t: number }) | undefined
  readonly stop: () => Promise<void>
}

/** `every`: ticks of a test's own instead of the clock's. */
export function runSource(options: Omit<GpuSourceOptions, 'collectorMetrics' | 'identify'> & Partial<GpuSourceOptions>, every?: Every): Running {
  const store = createLatestStore()
  const scrapes: Scrape[] = []
  const log: string[] = []
  const states: GpuSourceState[] = []
  const say = (text: string): void => void log.push(text)
  const logger = { info: say, warn: say, error: say }
  const scheduler = createScheduler(logger)
  const source = createGpuSource({
    collectorMetrics: [power, used, limit],
    identify: () => undefined,
    ...options,
    onState(state) {
      states.push(state)
      options.onState?.(state)
    },
  })
  const value: Running['value'] = (metric, labels = {}) => {
    store.expire(Date.now())
    return store.of(metric).find(({ series }) => Object.entries(labels).every(([name, wanted]) => series.labels[name] === wanted))?.value
  }
  void source.start({
    every: every ?? scheduler.every,
    log: logger,
    emit(event) {
      if (event.type !== 'scrape') return
      scrapes.push(event)
      store.apply(event)
    },
  })
  return {
    source,
    store,
    scrapes,
    log,
    states,
    value,
    age: (gpu) => value('warpwatch_gpu_sample_age_seconds', { gpu: String(gpu) }),
    gapOf(gpu) {
      store.expire(Date.now())
      return store.gaps().find((gap) => gap.metric === 'gpu' && gap.labels['gpu'] === (gpu === undefined ? undefined : String(gpu)))
    },
    async stop() {
      scheduler.stop()
      await source.stop()
    },
  }
}

/** Shorter times than in production, so that a test takes seconds; still far above what a loaded machine needs to answer. */
export const QUICK = { deadlineMs: 600, startDeadlineMs: 5_000, probeDelaysMs: [500, 800], respawnDelaysMs: [0, 300, 600], failedDelaysMs: [300] } as const

export function runScript(first: Script, options: Partial<GpuSourceOptions> & { readonly identify?: IdentifyProcess } = {}, every?: Every) {
  const script = createScript(first)
  const running = runSource({ childEntry: scriptedChild, libraries: [], execArgv: [], env: script.env, ...QUICK, ...options }, every)
  return {
    ...running,
    script,
    async [Symbol.asyncDispose]() {
      await running.stop()
      script.remove()
    },
  }
}

/** Waits for a condition; says which one never came. */
export const until = async (what: string, condition: () => boolean): Promise<void> => void (await poll(condition, { what, everyMs: 10 }))
