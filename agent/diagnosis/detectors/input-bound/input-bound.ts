// A training that waits for its input: its GPU falls from work to nothing again and again, and CPUs or storage are at their limit meanwhile.
// The rule of thumb ("below 80 % look at the input") alone accuses every server and notebook; without the second half nothing is said here.
import { gpuUtilizationRatio } from '../../../metrics/gpu-load.ts'
import type { Remedy } from '../../../model/fault.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { percent } from '../../../text/figures.ts'
import { upperFirst } from '../../../text/grammar.ts'
import { spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { BOTTLENECK_METRICS, createBottlenecks, type Bottlenecks } from './bottleneck.ts'
import { createGpuRows, metricsOf } from '../parts/gpu-rows.ts'
import { createHold, type Hold } from '../parts/hold.ts'
import { createHolders, firstSeen, HOLDER_METRICS, type GpuHolders, type Holder } from '../parts/holders.ts'
import { createSawTooth, type Run, type SawTooth } from './saw-tooth.ts'
import { processText } from '../parts/who.ts'

const COLUMNS = { utilization: { metric: gpuUtilizationRatio.name } }
const WINDOW_SECONDS = 300
const LOOK_MS = 10_000
/** Of the memory that is held on the card: a card that several share has no run of its own. */
const MAIN_SHARE = 0.6
const LEAST_BYTES = 2 * 2 ** 30
/** Weights are loaded, kernels compiled, the first batches fetched: that is no steady state. */
const STEADY_MS = 600_000
const MAX_STATES = 4_000

type State = {
  readonly key: string
  holder: Holder
  readonly hold: Hold
  sinceT: number | undefined
  reportedHealthy: boolean
  seenT: number
}
/** What one job shows on the worst of its GPUs. */
type Shown = { readonly holder: Holder; readonly index: number; readonly run: Run; readonly gpus: readonly string[] }

const remediesOf = ({ container, pid }: Holder, { found }: Bottlenecks): readonly Remedy[] => {
  const text = found.join()
  return [
    ...(text.includes('CPU limit')
      ? [{ text: 'Give the container more CPUs, or lift its limit.', command: `docker update --cpus N ${container ?? 'CONTAINER'}` }]
      : []),
    {
      text: 'See whether the loader’s workers are busy (too few of them) or wait (storage).',
      command: container === undefined ? `top -b -n 1 -p $(pgrep -d, -P ${pid} | head -c 200)` : `docker top ${container} -o pid,stat,pcpu,wchan:20,args`,
    },
    {
      text: 'Raise num_workers (a few per GPU), with persistent_workers=True, pin_memory=True and prefetch_factor=4; do decoding and augmentation on the GPU, or beforehand.',
    },
    ...(/storage|disk/.test(text)
      ? [
          { text: 'See which disk waits.', command: 'iostat -x 5 3' },
          { text: 'Keep the data on a local NVMe, in few large files (WebDataset, Arrow, Parquet) instead of many small ones.' },
        ]
      : []),
  ]
}

export const inputBound = defineDetector({
  id: 'input-bound',
  kinds: ['input_bound'],
  title: 'A training waits for its input',
  severity: 'warning',
  watches: [...new Set([...metricsOf(COLUMNS), ...HOLDER_METRICS, ...BOTTLENECK_METRICS])],
  everyMs: 1_000,
  options: {
    mean_ratio: { default: 0.8, min: 0.1, max: 1, help: 'Mean utilization of five minutes below which the GPU could do more.' },
    low_ratio: { default: 0.15, min: 0.01, max: 0.9, help: 'Share of the seconds in which it did next to nothing (5 % at most).' },
    drops_per_minute: { default: 1.5, min: 0.1, max: 30, help: 'How often a minute it falls from work to next to nothing; a checkpoint now and then is none.' },
    cpu_ratio: { default: 0.9, min: 0.1, max: 1, help: 'Share of the CPU limit, or of the CPUs of the host, from which on CPUs are the bottleneck.' },
    pressure_ratio: { default: 0.4, min: 0.05, max: 1, help: 'Share of the time in which tasks waited for storage, CPU or memory (PSI).' },
    for_seconds: { default: 120, min: 0, max: 86_400, help: 'For how long both must hold, after the five minutes.' },
    clear_seconds: { default: 120, min: 0, max: 86_400, help: 'For how long it must be well again, until it is over.' },
  },
  expression: { none: 'it counts how often one-second readings fall from work to nothing; what a scrape of 15 s sees of that is chance' },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const holders = createHolders(present)
    const bottlenecks = createBottlenecks(present, WINDOW_SECONDS * 1_000, { cpuRatio: options.cpu_ratio, pressureRatio: options.pressure_ratio })
    const runs = new Map<string, SawTooth>()
    const states = new Map<string, State>()
    let slot = -1

    const runOf = (uuid: string): SawTooth => {
      let found = runs.get(uuid)
      if (found === undefined) runs.set(uuid, (found = createSawTooth(WINDOW_SECONDS)))
      return found
    }
    /** The process whose training it is: one that has most of the card for itself, and has had it for a while. */
    const mainOf = (t: number, { holders: all }: GpuHolders): Holder | undefined => {
      const [main] = all
      if (main === undefined || main.gi !== undefined || !main.computes || main.bytes < LEAST_BYTES) return undefined
      let held = 0
      for (const { bytes } of all) held += bytes
      const since = firstSeen(tracks, main)
      return main.bytes >= MAIN_SHARE * held && since !== undefined && t - since >= STEADY_MS ? main : undefined
    }
    const isSawTooth = ({ mean, low, high, fallsPerMinute }: Run): boolean =>
      mean < options.mean_ratio && low >= options.low_ratio && high >= options.low_ratio && fallsPerMinute >= options.drops_per_minute
    const isWell = ({ mean, low, fallsPerMinute }: Run): boolean =>
      mean >= Math.min(0.98, options.mean_ratio + 0.03) || low < options.low_ratio / 2 || fallsPerMinute < options.drops_per_minute / 3

    const faultyFinding = (t: number, state: State, { holder, index, run, gpus }: Shown, causes: Bottlenecks): TypedFinding => {
      const who = holder.container === undefined ? processText(holder) : `container ${holder.container}`
      const where = gpus.length === 1 ? `GPU ${index}` : `GPUs ${gpus.join(', ')}`
      const [first] = causes.found
      return {
        kind: 'input_bound',
        key: state.key,
        about: aboutOf(holder, gpus.length === 1),
        state: 'faulty',
        severity: 'warning',
        title: `${upperFirst(who)} waits for its input: ${where} ${gpus.length === 1 ? 'works' : 'work'} ${percent(run.mean)} of the time`,
        verdict: `GPU ${index} worked only ${percent(run.mean)} of the last five minutes for ${who}: it fell from work to next to nothing ${run.fallsPerMinute.toFixed(1)} times a minute, and was idle in ${percent(run.low)} of the seconds. Meanwhile the bottleneck was ${first ?? 'not to be seen'}${causes.found.length > 1 ? `, and ${causes.found.slice(1).join(', ')}` : ''}. So it has been for ${spanText(Math.max(1, t - (state.sinceT ?? t)))}.`,
        facts: {
          utilization_ratio: Math.round(run.mean * 1_000) / 1_000,
          low_ratio: Math.round(run.low * 1_000) / 1_000,
          drops_per_minute: Math.round(run.fallsPerMinute * 10) / 10,
          bottlenecks: causes.found,
          gpus,
          process_bytes: holder.bytes,
          ...(causes.cores === undefined ? {} : { cpu_cores: Math.round(causes.cores * 100) / 100 }),
          since_ms: state.sinceT ?? t,
        },
        remedies: remediesOf(holder, causes),
      }
    }
    const aboutOf = ({ uuid, pid, container, containerId }: Holder, alone: boolean) => ({
      ...(alone ? { uuid, pid } : {}),
      ...(container === undefined ? (alone ? {} : { pid }) : { container }),
      ...(containerId === undefined ? {} : { containerId }),
    })
    const healthy = (found: TypedFinding[], state: State, why?: string): void => {
      if (state.reportedHealthy) return
      state.reportedHealthy = true
      found.push({ kind: 'input_bound', key: state.key, about: aboutOf(state.holder, false), state: 'healthy', ...(why === undefined ? {} : { why }) })
    }

    const look = (t: number, found: TypedFinding[]): void => {
      bottlenecks.note(t)
      const listed = holders.read(t)
      const jobs = new Map<string, Shown[]>()
      for (const gpu of listed.values()) {
        const holder = mainOf(t, gpu)
        const run = holder === undefined ? undefined : runs.get(gpu.uuid)?.run(t)
        if (holder === undefined || run === undefined) continue
        const key = holder.containerId === undefined ? `${holder.uuid} ${holder.pid}` : holder.containerId
        const shown: Shown = { holder, index: gpu.index, run, gpus: [String(gpu.index)] }
        const known = jobs.get(key)
        if (known === undefined) jobs.set(key, [shown])
        else known.push(shown)
      }
      for (const [key, shown] of jobs) {
        const bad = shown.filter(({ run }) => isSawTooth(run))
        const [worst] = bad.toSorted((a, b) => a.run.mean - b.run.mean)
        const holder = (worst ?? shown[0])?.holder
        if (holder === undefined) continue
        let state = states.get(key)
        if (state === undefined) {
          if (states.size >= MAX_STATES) states.clear()
          const hold = createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 })
          states.set(key, (state = { key, holder, hold, sinceT: undefined, reportedHealthy: false, seenT: t }))
        }
        state.holder = holder
        state.seenT = t
        const causes = worst === undefined ? undefined : bottlenecks.of(t, holder.containerId)
        // It does not move, and nothing that can be seen is why: what it waits for is not known, so nothing is said.
        const faulty = causes !== undefined ? (causes.found.length > 0 ? true : undefined) : shown.every(({ run }) => isWell(run)) ? false : undefined
        if (faulty === true) state.sinceT ??= t
        const held = state.hold.see(t, faulty)
        if (faulty === false && state.hold.settled() !== 'faulty') state.sinceT = undefined
        if (held === 'healthy') healthy(found, state)
        else if (held === 'faulty' && worst !== undefined && causes !== undefined) {
          state.reportedHealthy = false
          found.push(faultyFinding(t, state, { ...worst, gpus: bad.map(({ index }) => String(index)) }, causes))
        }
      }
      for (const [key, state] of states) {
        if (state.seenT === t) continue
        state.hold.see(t, undefined)
        if (tracks.get(state.holder.uuid, state.holder.pid)?.endedT === undefined) continue
        healthy(found, state, 'the process that waited has ended')
        states.delete(key)
      }
    }

    return {
      judge(t) {
        for (const { uuid, now } of rows.read().values()) runOf(uuid).note(t, now.utilization)
        const now = Math.floor(t / LOOK_MS)
        if (now === slot) return []
        slot = now
        const found: TypedFinding[] = []
        look(t, found)
        return found
      },
    }
  },
})
