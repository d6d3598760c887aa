// GPM (Hopper and newer): ratios between two samples of the GPU's own counters; the only utilisation there is under MIG.
import { NOT_SUPPORTED, SUCCESS, failureOf } from './codes.ts'
import { NOT_YET } from './device.ts'
import type { GpmQuery } from './device.ts'
import { GPM_GET, LAYOUTS } from './layouts.ts'
import type { Library } from './library.ts'
import { bind, remembering, structQuery } from './query.ts'

const { header, stride } = GPM_GET

/** Two samples are allocated at the first question and used in turn; they live as long as the process. Samples lie as far apart as the questions. */
export function gpmQuery(library: Library, gpu: number, handle: bigint, ids: readonly number[], gi: number | undefined): GpmQuery {
  const bytes = new Uint8Array(header + ids.length * stride)
  const view = new DataView(bytes.buffer)
  const values = new Float64Array(ids.length)
  const codes = new Int32Array(ids.length)
  const get = bind(library, gpu, 'nvmlGpmMetricsGet', [bytes])
  const support = structQuery(library, gpu, 'nvmlGpmQueryDeviceSupport', handle, LAYOUTS.nvmlGpmSupport_t)
  const samples: bigint[] = []
  let takes: readonly (() => number)[] = []
  let newest: number | undefined

  const prepare = (): number => {
    const code = support.ask()
    if (code !== SUCCESS) return code
    if (support.values[0] === 0) return NOT_SUPPORTED
    while (samples.length < 2) {
      const pointer = new BigUint64Array(1)
      const allocated = bind(library, gpu, 'nvmlGpmSampleAlloc', [pointer])()
      if (allocated !== SUCCESS) return allocated
      samples.push(pointer[0] ?? 0n)
    }
    takes = samples.map((sample) =>
      gi === undefined ? bind(library, gpu, 'nvmlGpmSampleGet', [handle, sample]) : bind(library, gpu, 'nvmlGpmMigSampleGet', [handle, gi, sample]),
    )
    return SUCCESS
  }
  const ask = remembering((): number => {
    if (takes.length === 0) {
      const code = prepare()
      if (code !== SUCCESS) return code
    }
    const older = newest
    const next = older === 0 ? 1 : 0
    const taken = takes[next]?.() ?? NOT_SUPPORTED
    if (taken !== SUCCESS) {
      newest = undefined // a hole in the samples: the next pair starts over
      return taken
    }
    newest = next
    if (older === undefined) return NOT_YET
    view.setUint32(GPM_GET.version, 1, true)
    view.setUint32(GPM_GET.numMetrics, ids.length, true)
    view.setBigUint64(GPM_GET.sample1, samples[older] ?? 0n, true)
    view.setBigUint64(GPM_GET.sample2, samples[next] ?? 0n, true)
    for (let i = 0; i < ids.length; i++) view.setUint32(header + i * stride + GPM_GET.metricId, ids[i] ?? 0, true)
    const code = get()
    if (code !== SUCCESS) return code
    for (let i = 0; i < ids.length; i++) {
      codes[i] = view.getUint32(header + i * stride + GPM_GET.nvmlReturn, true)
      values[i] = view.getFloat64(header + i * stride + GPM_GET.value, true)
    }
    return SUCCESS
  })
  const names = ids.map((id) => `nvmlGpmMetricsGet metric ${id}`)
  return { ask, values, codes, failure: (at) => failureOf(names[at] ?? 'nvmlGpmMetricsGet', codes[at] ?? NOT_SUPPORTED) }
}
