// Who the GPU is: name, PCI address, driver, VBIOS, serial number, device file.
import { gpuInfo } from '../metrics/gpu-identity.ts'
import { NOT_SUPPORTED, SUCCESS, failureOf, isGpuGone } from '../nvml/codes.ts'
import type { Failure } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Labels, Series } from '../model/series.ts'
import type { Attached, Collector } from './collector.ts'
import { memoryQuery } from './parts/memory-query.ts'

type Identity = { readonly labels: Labels } | { readonly failure: Failure }

/** The labels as far as they can be read; a failure when the GPU itself is gone. */
function identify(device: Device, minor: string): Identity {
  const vbios = device.text('nvmlDeviceGetVbiosVersion')
  const serial = device.text('nvmlDeviceGetSerial')
  for (const answer of [vbios, serial]) if (typeof answer !== 'string' && isGpuGone(answer.code)) return { failure: answer }
  const labels = {
    ...device.labels,
    name: device.name,
    vendor: 'nvidia',
    pci_bus_id: device.pciBusId,
    driver_version: device.driverVersion,
    cuda_version: device.cudaVersion ?? '',
    vbios_version: typeof vbios === 'string' ? vbios : '',
    serial: typeof serial === 'string' ? serial : '',
    minor,
    // GB10, Thor, Orin: they have no memory of their own, and NVML says so.
    ...(memoryQuery(device).ask() === NOT_SUPPORTED ? { memory: 'unified' } : {}),
  }
  return { labels }
}

function attach(device: Device): Attached {
  const minor = device.query('nvmlDeviceGetMinorNumber')
  let series: Series | undefined
  return {
    read: (out) => {
      // Asked once a minute: whether the GPU is still there. Who it is does not change while it is attached.
      const code = minor.ask()
      if (isGpuGone(code)) return out.gap(gpuInfo, device.labels, failureOf(minor.name, code))
      if (series === undefined) {
        const found = identify(device, code === SUCCESS ? String(minor.values[0]) : '')
        if ('failure' in found) return out.gap(gpuInfo, device.labels, found.failure)
        series = makeSeries(gpuInfo, found.labels)
      }
      return out.reading(series, 1)
    },
  }
}

export const identity: Collector = { id: 'identity', rate: 'rare', metrics: [gpuInfo], attach }
