// Layouts of the NVML structs that the agent reads: sizes, offsets, versions. x86-64 and arm64 agree (LP64, natural alignment).

/** A struct as far as it is read: `fields` are the values in the order in which a query gives them. */
export type Layout = {
  readonly size: number
  /** Written at offset 0 before each call: size | N << 24 (GPM: a plain 1). */
  readonly version?: number
  readonly fields: readonly { readonly name: string; readonly offset: number; readonly type: 'u32' | 'i32' | 'u64' }[]
}

const u32 = (name: string, offset: number) => ({ name, offset, type: 'u32' }) as const
const i32 = (name: string, offset: number) => ({ name, offset, type: 'i32' }) as const
const u64 = (name: string, offset: number) => ({ name, offset, type: 'u64' }) as const

/** By the names of the NVML header (13.3). */
export const LAYOUTS = {
  nvmlMemory_t: { size: 24, fields: [u64('total', 0), u64('free', 8), u64('used', 16)] },
  nvmlMemory_v2_t: { size: 40, version: 0x02000028, fields: [u64('total', 8), u64('free', 24), u64('used', 32), u64('reserved', 16)] },
  nvmlBAR1Memory_t: { size: 24, fields: [u64('bar1Total', 0), u64('bar1Used', 16), u64('bar1Free', 8)] },
  nvmlUtilization_t: { size: 8, fields: [u32('gpu', 0), u32('memory', 4)] },
  nvmlTemperature_v1_t: { size: 12, version: 0x0100000c, fields: [i32('temperature', 8)] },
  nvmlDeviceAttributes_t: { size: 40, fields: [u32('multiprocessorCount', 0), u32('gpuInstanceSliceCount', 24), u64('memorySizeMB', 32)] },
  nvmlGpmSupport_t: { size: 8, version: 1, fields: [u32('isSupportedDevice', 4)] },
  nvmlPciInfo_t: { size: 68, fields: [] },
  nvmlAccountingStats_t: {
    size: 56,
    fields: [u32('gpuUtilization', 0), u64('maxMemoryUsage', 8), u64('time', 16), u64('startTime', 24), u32('isRunning', 32)],
  },
} as const satisfies Readonly<Record<string, Layout>>

/** char[32] in nvmlPciInfo_t. */
export const PCI_BUS_ID = { offset: 36, length: 32 } as const

/** nvmlFieldValue_t; `type` says which member of the union at `value` holds (nvmlValueType_t). */
export const FIELD_VALUE = { size: 40, fieldId: 0, scopeId: 4, valueType: 24, nvmlReturn: 28, value: 32 } as const

/** nvmlProcessInfo_v1_t, nvmlProcessInfo_t and the 32-byte entries of drivers 535.43 to 535.86: each begins like the next. */
export const PROCESS_INFO = { strides: { v1: 16, v2: 24, early535: 32 }, pid: 0, usedGpuMemory: 8, gpuInstanceId: 16, computeInstanceId: 20 } as const

/** nvmlProcessUtilizationSample_t: percent of the time; the time stamp in µs. */
export const PROCESS_SAMPLE = { size: 32, pid: 0, timeStamp: 8, smUtil: 16 } as const

/** nvmlProcessesUtilizationInfo_v1_t (R550), which points to an array of nvmlProcessUtilizationInfo_v1_t. */
export const PROCESSES_SAMPLES = { size: 24, version: 0x01000018, processSamplesCount: 4, lastSeenTimeStamp: 8, procUtilArray: 16 } as const
export const PROCESS_SAMPLE_V1 = { size: 40, timeStamp: 0, pid: 8, smUtil: 12 } as const

/** nvmlEventData_t. */
export const EVENT_DATA = { size: 32, device: 0, eventType: 8, eventData: 16, gpuInstanceId: 24, computeInstanceId: 28 } as const

/** nvmlGpmMetricsGet_t, whose array the driver touches only up to numMetrics. */
export const GPM_GET = { header: 24, version: 0, numMetrics: 4, sample1: 8, sample2: 16, stride: 40, metricId: 0, nvmlReturn: 4, value: 8 } as const

/** NVML's word for "none" in 32-bit ids. */
export const NONE = 0xffffffff
