// Struct layouts: the fake library's C structs and the agent's decoding offsets against one table, and that table against the reference where it lies.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  EVENT_DATA,
  FIELD_VALUE,
  GPM_GET,
  LAYOUTS,
  PCI_BUS_ID,
  PROCESSES_SAMPLES,
  PROCESS_INFO,
  PROCESS_SAMPLE,
  PROCESS_SAMPLE_V1,
} from '../../../agent/nvml/layouts.ts'
import { layoutProgram } from '../../fakes/nvml/build.ts'

type Struct = { readonly size: number; readonly fields: Readonly<Record<string, number>> }

/** Sizes and offsets on x86-64 and arm64 by NVML header 13.3; the GPM struct as far as its array, whose length grows with the header. */
const TABLE: Readonly<Record<string, Struct>> = {
  nvmlMemory_t: { size: 24, fields: { total: 0, free: 8, used: 16 } },
  nvmlMemory_v2_t: { size: 40, fields: { version: 0, total: 8, reserved: 16, free: 24, used: 32 } },
  nvmlBAR1Memory_t: { size: 24, fields: { bar1Total: 0, bar1Free: 8, bar1Used: 16 } },
  nvmlUtilization_t: { size: 8, fields: { gpu: 0, memory: 4 } },
  nvmlPciInfo_t: { size: 68, fields: { busIdLegacy: 0, domain: 16, pciDeviceId: 28, busId: 36 } },
  nvmlTemperature_v1_t: { size: 12, fields: { version: 0, sensorType: 4, temperature: 8 } },
  nvmlFieldValue_t: { size: 40, fields: { fieldId: 0, scopeId: 4, timestamp: 8, latencyUsec: 16, valueType: 24, nvmlReturn: 28, value: 32 } },
  nvmlEventData_t: { size: 32, fields: { device: 0, eventType: 8, eventData: 16, gpuInstanceId: 24, computeInstanceId: 28 } },
  nvmlProcessInfo_v1_t: { size: 16, fields: { pid: 0, usedGpuMemory: 8 } },
  nvmlProcessInfo_t: { size: 24, fields: { pid: 0, usedGpuMemory: 8, gpuInstanceId: 16, computeInstanceId: 20 } },
  nvmlProcessDetail_v1_t: { size: 32, fields: { pid: 0, usedGpuMemory: 8, gpuInstanceId: 16, computeInstanceId: 20, usedGpuCcProtectedMemory: 24 } },
  nvmlProcessUtilizationSample_t: { size: 32, fields: { pid: 0, timeStamp: 8, smUtil: 16 } },
  nvmlProcessUtilizationInfo_v1_t: { size: 40, fields: { timeStamp: 0, pid: 8, smUtil: 12 } },
  nvmlProcessesUtilizationInfo_v1_t: { size: 24, fields: { version: 0, processSamplesCount: 4, lastSeenTimeStamp: 8, procUtilArray: 16 } },
  nvmlAccountingStats_t: { size: 56, fields: { gpuUtilization: 0, maxMemoryUsage: 8, time: 16, startTime: 24, isRunning: 32 } },
  nvmlDeviceAttributes_t: { size: 40, fields: { multiprocessorCount: 0, gpuInstanceSliceCount: 24, computeInstanceSliceCount: 28, memorySizeMB: 32 } },
  nvmlRowRemapperHistogramValues_t: { size: 20, fields: { max: 0, high: 4, partial: 8, low: 12, none: 16 } },
  nvmlGpmSupport_t: { size: 8, fields: { version: 0, isSupportedDevice: 4 } },
  nvmlGpmMetric_t: { size: 40, fields: { metricId: 0, nvmlReturn: 4, value: 8 } },
  nvmlGpmMetricsGet_t: { size: 24, fields: { version: 0, numMetrics: 4, sample1: 8, sample2: 16, metrics: 24 } },
}

describe('the agent decodes at the offsets of the table', () => {
  test.each(Object.entries(LAYOUTS))('%s', (name, layout) => {
    const known = TABLE[name]
    expect(layout.size).toBe(known?.size)
    for (const field of layout.fields) expect({ [field.name]: field.offset }).toEqual({ [field.name]: known?.fields[field.name] })
    // size | 1 << 24 (v1) or 2 << 24 (v2); GPM a plain 1
    const version: number = 'version' in layout && layout.version !== 1 ? layout.version : layout.size
    expect(version & 0xffffff).toBe(layout.size)
  })

  test('structs that are decoded by hand', () => {
    expect(PCI_BUS_ID.offset).toBe(TABLE['nvmlPciInfo_t']?.fields['busId'])
    const { size, ...offsets } = FIELD_VALUE
    expect(TABLE['nvmlFieldValue_t']).toMatchObject({ size, fields: offsets })
    const { size: eventSize, ...eventOffsets } = EVENT_DATA
    expect(TABLE['nvmlEventData_t']).toMatchObject({ size: eventSize, fields: eventOffsets })
    const { strides, ...processOffsets } = PROCESS_INFO
    expect([strides.v1, strides.v2, strides.early535]).toEqual(
      ['nvmlProcessInfo_v1_t', 'nvmlProcessInfo_t', 'nvmlProcessDetail_v1_t'].map((name) => TABLE[name]?.size),
    )
    expect(TABLE['nvmlProcessInfo_t']?.fields).toMatchObject(processOffsets)
    for (const [name, { size: sampleSize, ...sampleOffsets }] of [
      ['nvmlProcessUtilizationSample_t', PROCESS_SAMPLE],
      ['nvmlProcessUtilizationInfo_v1_t', PROCESS_SAMPLE_V1],
    ] as const)
      expect(TABLE[name]).toEqual({ size: sampleSize, fields: sampleOffsets })
    const { size: infoSize, version: infoVersion, ...infoOffsets } = PROCESSES_SAMPLES
    expect([infoSize, infoVersion]).toEqual([24, 24 | (1 << 24)])
    expect(TABLE['nvmlProcessesUtilizationInfo_v1_t']?.fields).toMatchObject(infoOffsets)
    const { version, numMetrics, sample1, sample2, header, stride, ...metric } = GPM_GET
    expect(TABLE['nvmlGpmMetricsGet_t']?.fields).toEqual({ version, numMetrics, sample1, sample2, metrics: header })
    expect(TABLE['nvmlGpmMetric_t']).toEqual({ size: stride, fields: metric })
  })
})

describe.skipIf(layoutProgram() === undefined)('the fake library lays its structs out as the table says (needs a C compiler)', () => {
  const printed = new Map<string, Struct>()
  for (const line of execFileSync(layoutProgram() ?? '', { encoding: 'utf8' })
    .trim()
    .split('\n')) {
    const [name = '', size, ...fields] = line.split(' ')
    printed.set(name, {
      size: Number(size),
      fields: Object.fromEntries(fields.map((field) => [field.split('=')[0] ?? '', Number(field.split('=')[1])])),
    })
  }
  test.each(Object.keys(TABLE))('%s', (name) => expect(printed.get(name)).toEqual(TABLE[name]))
})

const reference = join(import.meta.dirname, '../../../../shared/reference/nvml-abi.json')
const referenceShape = z.object({
  structs: z.record(z.string(), z.object({ size: z.number(), fields: z.array(z.object({ offset: z.number(), name: z.string() })) })),
})

describe.skipIf(!existsSync(reference))('the table agrees with the reference (needs ../shared)', () => {
  const structs = existsSync(reference) ? referenceShape.parse(JSON.parse(readFileSync(reference, 'utf8'))).structs : {}
  // The size of the GPM request grows with the header's list of metrics.
  test.each(Object.entries(TABLE).filter(([name]) => name !== 'nvmlGpmMetricsGet_t'))('size of %s', (name, table) =>
    expect(table.size).toBe(structs[name]?.size),
  )
  test.each(Object.entries(TABLE))('offsets of %s', (name, table) => {
    const known = Object.fromEntries((structs[name]?.fields ?? []).map((field) => [field.name, field.offset]))
    expect(known).toMatchObject(table.fields)
  })
})
