// A session with NVML: start, stop, count and open GPUs. Codes come back, nothing is thrown.
import { FUNCTION_NOT_FOUND, INSUFFICIENT_SIZE, NO_DATA, SUCCESS, failureOf, isPermanent } from './codes.ts'
import type { Failure } from './codes.ts'
import type { Device, Handle, MigInstance, Out, Query } from './device.ts'
import { accountingQuery } from './accounting-query.ts'
import { watchXids } from './events.ts'
import type { XidWatch } from './events.ts'
import { fieldQuery } from './field-query.ts'
import type { FormatCall } from './in-flight-call.ts'
import { gpmQuery } from './gpm-query.ts'
import { LAYOUTS, PCI_BUS_ID } from './layouts.ts'
import { loadLibrary } from './library.ts'
import type { Library } from './library.ts'
import { createProcessScratch, processQuery } from './process-query.ts'
import type { ProcessScratch } from './process-query.ts'
import { bind, narrow, readText, scalarQuery, structQuery, textUntilNul } from './query.ts'
import { readMig } from './mig.ts'
import { utilizationQuery } from './utilization-query.ts'

export type OpenedGpu = { readonly device: Device; readonly handle: bigint; readonly migSignature: () => string }

export type Session = {
  readonly library: string
  /** Functions of NVML that this driver's library does not have. */
  readonly missing: readonly string[]
  /** nvmlInit_v2; a code. */
  readonly start: () => number
  readonly stop: () => void
  readonly driverVersion: () => string
  readonly count: () => { readonly code: number; readonly count: number }
  /** Is there a GPU that answers at this index? A code. */
  readonly probe: (index: number) => number
  readonly open: (index: number) => OpenedGpu | Failure
  readonly watch: (gpus: readonly OpenedGpu[]) => XidWatch
}

/** What a GPU and a MIG instance have in common. */
function handleOf(library: Library, gpu: number, handle: bigint, labels: Handle['labels'], scratch: ProcessScratch): Handle {
  return {
    labels,
    query: (name, leading: readonly number[] = [], outs: readonly Out[] = ['u32']) => scalarQuery(library, gpu, name, handle, leading, outs),
    struct: (name, layout) => structQuery(library, gpu, name, handle, layout),
    text: (name) => {
      const text = readText(library, gpu, name, handle)
      return typeof text === 'string' ? text : failureOf(name, text)
    },
    processes: (kind) => processQuery(library, gpu, handle, kind, scratch),
  }
}

/** Retired pages need two calls when there are any: the first tells how many. */
function retiredPages(library: Library, gpu: number, handle: bigint, cause: 0 | 1): Query {
  const name = 'nvmlDeviceGetRetiredPages_v2'
  const count = new Uint32Array(2)
  const values = new Float64Array(1)
  const call = bind(library, gpu, name, [handle, cause, count, null, null])
  let permanent = SUCCESS
  return {
    name,
    values,
    ask: () => {
      if (permanent !== SUCCESS) return permanent
      count[0] = 0
      const code = call()
      if (isPermanent(code)) permanent = code
      const pages = narrow(count[0] ?? 0)
      if (Number.isNaN(pages)) return NO_DATA
      values[0] = pages
      return code === INSUFFICIENT_SIZE ? SUCCESS : code // INSUFFICIENT_SIZE tells the number, which is all that is asked
    },
  }
}

function cudaVersionOf(library: Library): string | undefined {
  const version = new Uint32Array(1)
  for (const name of ['nvmlSystemGetCudaDriverVersion_v2', 'nvmlSystemGetCudaDriverVersion'] as const) {
    if (bind(library, undefined, name, [version])() === SUCCESS && version[0]) return `${Math.floor(version[0] / 1000)}.${Math.floor((version[0] % 1000) / 10)}`
  }
  return undefined
}

function computeCapabilityOf(library: Library, gpu: number, handle: bigint): string | undefined {
  const query = scalarQuery(library, gpu, 'nvmlDeviceGetCudaComputeCapability', handle, [], ['i32', 'i32'])
  return query.ask() === SUCCESS ? `${query.values[0]}.${query.values[1]}` : undefined
}

/** Loads the library; one sentence when none of the paths can be used. `formatCall` formats what is left before each call. */
export async function openSession(paths: readonly string[], formatCall: FormatCall, callFd?: number): Promise<Session | string> {
  const library = await loadLibrary(paths, formatCall, callFd)
  if (typeof library === 'string') return library
  let scratch = createProcessScratch()
  let driverVersion = ''
  let cudaVersion: string | undefined
  const pointer = new BigUint64Array(1)
  const handleByIndex = (index: number): number => bind(library, index, 'nvmlDeviceGetHandleByIndex_v2', [index, pointer])()

  const open = (index: number): OpenedGpu | Failure => {
    const code = handleByIndex(index)
    if (code !== SUCCESS) return failureOf('nvmlDeviceGetHandleByIndex_v2', code)
    const handle = pointer[0] ?? 0n
    const uuid = readText(library, index, 'nvmlDeviceGetUUID', handle)
    if (typeof uuid === 'number') return failureOf('nvmlDeviceGetUUID', uuid)
    const name = readText(library, index, 'nvmlDeviceGetName', handle)
    const pci = new Uint8Array(Math.ceil(LAYOUTS.nvmlPciInfo_t.size / 8) * 8)
    const pciCode = bind(library, index, 'nvmlDeviceGetPciInfo_v3', [handle, pci])()
    const labels = { gpu: String(index), uuid }
    const found = readMig(library, index, handle)
    const mig = found.instances.map((instance): MigInstance => ({
      ...handleOf(library, index, instance.handle, { ...labels, gi: String(instance.gi), ci: String(instance.ci) }, scratch),
      uuid: instance.uuid,
      gi: instance.gi,
      ci: instance.ci,
      name: instance.name,
    }))
    const device: Device = {
      ...handleOf(library, index, handle, labels, scratch),
      index,
      uuid,
      name: typeof name === 'string' ? name : '',
      pciBusId: pciCode === SUCCESS ? textUntilNul(pci.subarray(PCI_BUS_ID.offset, PCI_BUS_ID.offset + PCI_BUS_ID.length)) : '',
      mig,
      fields: (specs) => fieldQuery(library, index, handle, specs),
      gpm: (ids, gi) => gpmQuery(library, index, handle, ids, gi),
      utilization: () => utilizationQuery(library, index, handle),
      accounting: () => accountingQuery(library, index, handle),
      retiredPages: (cause) => retiredPages(library, index, handle, cause),
      driverVersion,
      cudaVersion,
      computeCapability: computeCapabilityOf(library, index, handle),
    }
    return { device, handle, migSignature: () => readMig(library, index, handle).signature }
  }
  return {
    library: library.path,
    missing: library.missing,
    start: () => {
      scratch = createProcessScratch()
      const code = bind(library, undefined, 'nvmlInit_v2', [])()
      if (code !== SUCCESS) return code
      const version = readText(library, undefined, 'nvmlSystemGetDriverVersion')
      driverVersion = typeof version === 'string' ? version : ''
      cudaVersion = cudaVersionOf(library)
      return SUCCESS
    },
    stop: () => void bind(library, undefined, 'nvmlShutdown', [])(),
    driverVersion: () => driverVersion,
    count: () => {
      const count = new Uint32Array(1)
      const code = bind(library, undefined, 'nvmlDeviceGetCount_v2', [count])()
      return { code, count: code === SUCCESS ? (count[0] ?? 0) : 0 }
    },
    probe: (index) => (library.native('nvmlDeviceGetHandleByIndex_v2') === undefined ? FUNCTION_NOT_FOUND : handleByIndex(index)),
    open,
    watch: (gpus) =>
      watchXids(
        library,
        gpus.map(({ device, handle }) => ({ index: device.index, handle })),
      ),
  }
}
