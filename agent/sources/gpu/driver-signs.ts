// Whether anything on this host speaks for a driver of NVIDIA's: without one NVML cannot work, and each try costs a process of its own.
import { existsSync } from 'node:fs'
import type { Roots } from '../../drm/files.ts'

/** WSL2's device; the driver's own, also in a container that was given it; Jetson's. */
const DEVICES = ['/dev/dxg', '/dev/nvidiactl', '/dev/nvgpu', '/dev/nvhost-ctrl-gpu', '/dev/nvmap']

/** `exists`: of a path, for tests. */
export function showsDriver({ sys, proc }: Roots, exists: (path: string) => boolean = existsSync): boolean {
  return [`${proc}/driver/nvidia`, `${sys}/module/nvidia`, `${sys}/module/nvgpu`, ...DEVICES].some((path) => exists(path))
}
