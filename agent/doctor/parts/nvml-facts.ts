// What the driver says of itself and its GPUs, asked once: NVML in a short-lived child, as the sampler does it, else nvidia-smi.
import { inventoryOf } from '../../inventory/inventory.ts'
import { gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { createUnkillableChildren } from '../../sampler/unkillable-children.ts'
import { startChild, type ChildEnd } from '../../sampler/child-handle.ts'
import { RATES, type GpuSummary, type Hello } from '../../sampler/protocol.ts'
import { createSeriesInterner } from '../../sampler/series-table.ts'
import { childEndText } from '../../sampler/end-text.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import { createReadings } from '../../sources/nvidia-smi/readings.ts'
import { parseNvidiaSmi } from '../../sources/nvidia-smi/parse.ts'
import type { RunCommand } from './run-command.ts'

export type NvmlGpu = Omit<GpuSummary, 'xidGap'> & {
  /** What it answered, in the agent's own units (bytes, watts, ratios); undefined: not reported. */
  readonly value: (metric: MetricDef, labels?: Readonly<Record<string, string>>) => number | undefined
  /** N of /dev/nvidiaN. */
  readonly minor?: number
  /** What holds its clocks down now, by nvidia-smi's names: `hw_slowdown`, `sw_power_cap`, … */
  readonly throttleReasons: readonly string[]
}

export type NvmlFacts = {
  readonly from: 'NVML' | 'nvidia-smi'
  /** Path or soname of the library that was loaded. */
  readonly library?: string
  readonly driverVersion: string
  /** The newest CUDA that this driver runs, as `13.1`. */
  readonly cudaVersion?: string
  readonly gpus: readonly NvmlGpu[]
  /** Counted and not to be opened. */
  readonly lost: readonly { readonly index?: number; readonly code?: number; readonly detail: string }[]
}

/** `kind`: what went wrong; `code`: NVML's, where it gave one. */
export class NvmlError extends Error {
  override readonly name = 'NvmlError'
  readonly kind: ChildEnd['kind']
  readonly code: number | undefined
  constructor(kind: ChildEnd['kind'], message: string, code?: number) {
    super(message)
    this.kind = kind
    this.code = code
  }
}

export type NvmlOptions = {
  /** The sampler child's program. */
  readonly entry: string
  /** Metrics of the collectors that the child may report. */
  readonly metrics: readonly MetricDef[]
  /** To try, in order. */
  readonly libraries: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly run: RunCommand
  /** nvidia-smi, in the order in which to try them. */
  readonly commands: readonly string[]
  /** For opening all GPUs: without persistence mode the first one waits for seconds. */
  readonly startDeadlineMs?: number
  /** For one reading. */
  readonly deadlineMs?: number
}

function gpuFrom(summary: GpuSummary, readings: readonly Reading[]): NvmlGpu {
  const own = readings.filter(({ series }) => series.labels['uuid'] === summary.uuid && series.labels['gi'] === undefined)
  const minor = inventoryOf(own).byUuid(summary.uuid)?.minor
  const { index, uuid, name, pciBusId, computeCapability } = summary
  return {
    index,
    uuid,
    name,
    pciBusId,
    ...(computeCapability === undefined ? {} : { computeCapability }),
    ...(minor === undefined ? {} : { minor }),
    throttleReasons: own.flatMap(({ series, value }) => (series.metric.name === gpuThrottleActive.name && value === 1 ? [series.labels['reason'] ?? ''] : [])),
    value: ({ name: wanted }, labels = {}) =>
      own.find(({ series }) => series.metric.name === wanted && Object.entries(labels).every(([key, text]) => series.labels[key] === text))?.value,
  }
}

/** Loads NVML in a child and asks everything once; rejects with an NvmlError. */
function askChild({ entry, metrics, libraries, env, startDeadlineMs = 8_000, deadlineMs = 2_000 }: NvmlOptions): Promise<NvmlFacts> {
  const { promise, resolve, reject } = Promise.withResolvers<NvmlFacts>()
  let hello: Hello | undefined
  const readings: Reading[] = []
  const child = startChild(
    {
      entry,
      execArgv: [],
      env,
      start: { libraries, leaveOut: [], peakHz: 0 },
      deadlineMs,
      startDeadlineMs,
      interner: createSeriesInterner(metrics),
      unkillable: createUnkillableChildren(() => undefined),
    },
    {
      hello(said) {
        hello = said
        child.scrape(RATES, Date.now())
      },
      sample: ({ readings: newest }) => void readings.push(...newest),
      done() {
        void child.retire(200)
        if (hello === undefined) return reject(new NvmlError('garbage', 'the sampler ended a pass before it said hello'))
        const cuda = inventoryOf(readings).gpus()[0]?.labels['cuda_version']
        resolve({
          from: 'NVML',
          library: hello.library,
          driverVersion: hello.driverVersion,
          ...(cuda === undefined || cuda === '' ? {} : { cudaVersion: cuda }),
          gpus: hello.gpus.map((summary) => gpuFrom(summary, readings)),
          lost: hello.lost.map(({ index, code, detail }) => ({ index, code, detail })),
        })
      },
      complain: () => undefined,
      end: (end) => reject(new NvmlError(end.kind, childEndText(end).detail, end.kind === 'failed' ? end.failed.code : undefined)),
    },
  )
  return promise
}

/** undefined: no nvidia-smi either, or one without anything to say. */
async function askNvidiaSmi({ run, commands, metrics }: NvmlOptions): Promise<NvmlFacts | undefined> {
  for (const command of commands) {
    const result = await run(command, ['-q', '-x'], { timeoutMs: 8_000, maxBytes: 16 * 2 ** 20 })
    if (result.kind === 'missing') continue
    const parsed = result.kind === 'ended' ? parseNvidiaSmi(result.stdout) : undefined
    if (parsed === undefined || parsed.kind === 'error') return undefined
    const readingsOf = createReadings(metrics)
    return {
      from: 'nvidia-smi',
      driverVersion: parsed.driverVersion ?? '',
      ...(parsed.cudaVersion === undefined ? {} : { cudaVersion: parsed.cudaVersion }),
      gpus: parsed.gpus.map((gpu, at) => {
        const summary = { index: gpu.index ?? at, uuid: gpu.uuid ?? '', name: gpu.name ?? '', pciBusId: gpu.pciBusId ?? '' }
        return gpuFrom(summary, readingsOf(gpu, { gpu: String(summary.index), uuid: summary.uuid }, parsed).readings)
      }),
      lost: parsed.gaps.map(({ index, code, detail }) => ({ ...(index === undefined ? {} : { index }), ...(code === undefined ? {} : { code }), detail })),
    }
  }
  return undefined
}

/** undefined: there is no library, nor an nvidia-smi that answers. */
export async function askNvml(options: NvmlOptions): Promise<NvmlFacts | undefined> {
  try {
    return await askChild(options)
  } catch (error) {
    // Without a code of NVML's nothing was loaded: this process cannot, or there is none.
    const noLibrary = error instanceof NvmlError && error.kind === 'failed' && error.code === undefined
    if (!noLibrary) throw error
    return await askNvidiaSmi(options)
  }
}
