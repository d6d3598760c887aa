// The driver was updated while its old kernel module stays loaded: NVML says so, or the versions on disk and in the kernel do before anybody fails.
import { driverLibraryMismatch } from '../../metrics/driver.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { faultKey } from '../incidents/grouped-faults.ts'
import { defineDetector } from './definition.ts'
import { isWide, troublesOf } from './parts/gpu-trouble.ts'
import { createHold } from './parts/hold.ts'
import { createFindingDeduper } from './parts/per-gpu.ts'

const DIFFER = driverLibraryMismatch.name
const USED = gpuMemoryUsedBytes.name
const KIND = 'nvml_driver_mismatch'
/** The same incident as a log's that names no container: it is the host's. */
const KEY = faultKey({ kind: KIND, severity: 'critical', title: '', verdict: '', facts: {}, remedies: [], evidence: [] }, {}, undefined)

export const nvmlDriverMismatch = defineDetector({
  id: 'nvml-driver-mismatch',
  kinds: [KIND],
  title: 'NVIDIA libraries and kernel module differ in version',
  severity: 'critical',
  watches: [DIFFER, USED],
  everyMs: 1_000,
  options: {
    for_seconds: { default: 10, min: 0, max: 86_400, help: 'For how long the versions on disk and in the kernel must differ: an update takes a while.' },
  },
  expression: { promql: `${driverLibraryMismatch.name} == 1`, for: '10s' },
  create(options, { present }) {
    const hold = createHold({ forMs: options.for_seconds * 1_000, clearMs: 0 })
    const deduper = createFindingDeduper({ kind: KIND, key: KEY, about: {} })
    return {
      judge(t) {
        const found: TypedFinding[] = []
        const refused = troublesOf(present).find((trouble) => trouble.kind === 'mismatch' && isWide(trouble))
        const compared = present.of(DIFFER)[0]
        const differ = compared?.value === 1
        // NVML's own answer needs no second look.
        if (refused !== undefined) hold.settle('faulty')
        const works = present.of(USED).length > 0
        const held = hold.see(t, refused !== undefined || differ ? true : compared !== undefined || works ? false : undefined)
        if (held === 'healthy') deduper.healthy(found, 'libraries and kernel module are of one version')
        if (held !== 'faulty') return found
        const { kernel_version: kernel, library_version: library } = compared?.series.labels ?? {}
        const versions =
          differ && kernel !== undefined && library !== undefined ? `: the library on disk is ${library}, the loaded kernel module ${kernel}` : ''
        const cost =
          refused === undefined
            ? 'Programs that already run go on; every new one, and each container that starts, will fail with "Driver/library version mismatch".'
            : 'NVML refuses to start: nothing new can use the GPUs, and nothing of them can be read.'
        deduper.faulty(found, {
          kind: KIND,
          key: KEY,
          about: {},
          state: 'faulty',
          severity: refused === undefined ? 'warning' : 'critical',
          title: 'NVIDIA libraries and kernel module differ in version',
          verdict: `The driver was updated while its old kernel module stayed loaded${versions}. ${cost}`,
          facts: differ && kernel !== undefined && library !== undefined ? { kernel_version: kernel, library_version: library } : {},
          remedies: [
            { text: 'Reboot the host when its work allows: the surest way to load the new module.', command: 'sudo reboot' },
            {
              text: 'Without a reboot: stop everything that uses the GPU, then reload the module.',
              command: 'sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia',
            },
            { text: 'Compare the two versions.', command: 'cat /proc/driver/nvidia/version; modinfo -F version nvidia; ldconfig -p | grep libnvidia-ml' },
            { text: 'Keep automatic updates from changing the driver under running work.', command: "sudo apt-mark hold '^nvidia-.*' '^libnvidia-.*'" },
          ],
        })
        return found
      },
    }
  },
})
