// Whether the driver's libraries on disk fit the kernel module that is loaded: after an update they do not, and only new programs notice.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { nvmlLibraries } from '../lib/wsl.ts'
import { driverLibraryMismatch } from '../metrics/driver.ts'
import { makeSeries } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'

export type DriverVersionOptions = {
  readonly procRoot: string
  readonly sysRoot: string
  /** Paths of libnvidia-ml.so.1 that exist. */
  readonly libraries: () => readonly string[]
}

const EVERY_MS = 10_000

/** `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 …`, with `Open Kernel Module for x86_64` likewise. */
export function kernelModuleVersion(procRoot: string, sysRoot: string): string | undefined {
  for (const [path, pattern] of [
    [join(procRoot, 'driver/nvidia/version'), /Kernel Module[^\d\n]{1,40}(?:x86_64|aarch64)?\s+(\d{2,4}\.\d+(?:\.\d+)*)/],
    [join(sysRoot, 'module/nvidia/version'), /^(\d{2,4}\.\d+(?:\.\d+)*)/],
  ] as const) {
    try {
      const version = pattern.exec(readFileSync(path, 'latin1'))?.[1]
      if (version !== undefined) return version
    } catch {
      // No module is loaded, or WSL2, where the driver belongs to Windows.
    }
  }
  return undefined
}

/** Packages link libnvidia-ml.so.1 to a file that bears the version; one that does not tells nothing. */
export function libraryVersion(path: string): string | undefined {
  try {
    return /^libnvidia-ml\.so\.(\d{2,4}\.\d+(?:\.\d+)*)$/.exec(basename(realpathSync(path)))?.[1]
  } catch {
    return undefined
  }
}

/** Several libraries may lie about; one that fits is enough. */
export function compareVersions({ procRoot, sysRoot, libraries }: DriverVersionOptions) {
  const kernel = kernelModuleVersion(procRoot, sysRoot)
  if (kernel === undefined) return undefined
  const found = libraries().flatMap((path) => libraryVersion(path) ?? [])
  const library = found.find((version) => version === kernel) ?? found[0]
  return library === undefined ? undefined : { kernel, library, differ: library !== kernel }
}

export function createDriverVersionSource(options: DriverVersionOptions): Source {
  let said = false
  return {
    id: 'driver-version',
    metrics: [driverLibraryMismatch],
    start({ emit, every }) {
      every(EVERY_MS, (t) => {
        const begun = performance.now()
        const found = compareVersions(options)
        if (found === undefined && !said) return
        said = found !== undefined
        const readings =
          found === undefined
            ? []
            : [{ series: makeSeries(driverLibraryMismatch, { kernel_version: found.kernel, library_version: found.library }), value: found.differ ? 1 : 0 }]
        emit({ type: 'scrape', t, source: 'driver-version', group: '', ttlMs: 3 * EVERY_MS, durationMs: performance.now() - begun, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const driverVersion = defineSource({
  id: 'driver-version',
  metrics: [driverLibraryMismatch],
  needs: ['config'],
  create({ config }) {
    if (config.gpu.source === 'off' || config.simulate.scenario !== 'off') return undefined
    return createDriverVersionSource({
      procRoot: config.host.proc_root,
      sysRoot: config.host.sys_root,
      libraries: () => nvmlLibraries(config.gpu.library).filter((path) => path.startsWith('/') && existsSync(path)),
    })
  },
})
