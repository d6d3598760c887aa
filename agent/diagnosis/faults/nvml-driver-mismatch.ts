// The user-space driver libraries and the loaded kernel module are of different versions, usually after an update without a reboot.
import { bareKernelText } from '../../text/line-prefix.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { known, lineWith } from './parts/window.ts'

const MISMATCH = /[Dd]river\/library version mismatch|\bAPI mismatch:|LIB_RM_VERSION_MISMATCH|NVMLError_LibRmVersionMismatch/
const VERSION = '(\\d{2,4}(?:\\.\\d{1,4}){1,3})'
const CLIENT = new RegExp(`\\bclient\\b[^.]{0,80}?has the version:? ${VERSION}|\\bdriver compon?ent? has version ${VERSION}`)
const KERNEL = new RegExp(`kernel[ _]module(?: has (?:the |a )?version|:| version:?) {0,4}v?${VERSION}`, 'i')
const LIBRARY = new RegExp(`(?:NVML library version:|user[ _-]space[ _]library:?|compon?ent? has version) {0,4}${VERSION}`, 'i')

const TELLING = /API mismatch|has the version|has a version|kernel[ _]module|library version|user[ _-]space[ _]library|has version/i

function recognise(text: LogText, at: number): Recognised | undefined {
  const line = text[at] ?? ''
  if (!MISMATCH.test(line)) return undefined
  // The kernel's message takes four lines; nvidia-smi adds its library's version in the one below.
  let message = ''
  for (let near = Math.max(0, at - 4); near <= at + 4 && near < text.length; near++) message += `${bareKernelText(text[near] ?? '')} `
  const client = CLIENT.exec(message)
  const kernel = KERNEL.exec(message)?.[1]
  const library = LIBRARY.exec(message)?.[1]
  const facts = known({ client_version: client?.[1] ?? client?.[2], kernel_version: kernel, library_version: library })
  const user = library ?? facts.client_version
  const versions = user !== undefined && kernel !== undefined ? `: the libraries are ${user}, the loaded kernel module is ${kernel}` : ''
  const also = lineWith(text, at + 1, at + 3, TELLING)
  return {
    kind: 'nvml_driver_mismatch',
    severity: 'critical',
    title: 'NVIDIA libraries and kernel module differ in version',
    verdict: `The driver's libraries do not fit the kernel module that is loaded${versions}. The driver was most likely updated while the old module stayed loaded; programs that already run go on, new ones cannot use the GPU.`,
    facts,
    remedies: [
      { text: 'Reboot the host: the surest way to load the new module.', command: 'sudo reboot' },
      {
        text: 'Without a reboot: stop everything that uses the GPU, then load the module anew.',
        command: 'sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia',
      },
      { text: 'Compare the two versions.', command: 'cat /proc/driver/nvidia/version; modinfo -F version nvidia' },
      { text: 'Keep automatic updates from changing the driver under running work.', command: "sudo apt-mark hold '^nvidia-.*' '^libnvidia-.*'" },
    ],
    lines: also === undefined ? [at] : [at, also],
  }
}

export const nvmlDriverMismatch: FaultFamily = {
  id: 'nvml-driver-mismatch',
  kinds: ['nvml_driver_mismatch'],
  literals: ['river/library version mismatch', 'API mismatch: ', 'LIB_RM_VERSION_MISMATCH', 'NVMLError_LibRmVersionMismatch'],
  recognise,
}
