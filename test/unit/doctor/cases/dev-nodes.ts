// Cases of the check dev-nodes. Device files need root to be made.
import { healthy, IN_CONTAINER, NO_GPU, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const nodes = { '/dev/nvidiactl': { node: [195, 255] }, '/dev/nvidia0': { node: [195, 0] }, '/dev/nvidia-uvm': { node: [511, 0] } } as const
const { '/dev/nvidia0': _first, ...without } = nodes

export const cases: readonly CheckCase[] = [
  { about: 'all there', scene: { files: { ...healthy(), ...nodes } }, status: 'pass' },
  { about: 'none', scene: { files: healthy() }, status: 'fail', says: /\/dev\/nvidiactl, \/dev\/nvidia0.*nvidia-modprobe -c 255 -c 0/ },
  { about: 'one is missing', scene: { files: { ...healthy(), ...without } }, status: 'fail', says: /expected \/dev\/nvidia0, found none/ },
  { about: 'made when somebody needs them', scene: { files: { ...healthy(), '/usr/bin/nvidia-modprobe': { text: '', mode: 0o4755 } } }, status: 'warn' },
  {
    about: 'a file in its place (touched in a container, say)',
    scene: { files: { ...healthy(), ...without, '/dev/nvidia0': '' } },
    status: 'fail',
    says: /must be a device file, not a file/,
  },
  {
    about: 'no memory module',
    scene: { files: { ...healthy(), '/dev/nvidiactl': { node: [195, 255] }, '/dev/nvidia0': { node: [195, 0] } } },
    status: 'warn',
    says: /nvidia-modprobe -u -c 0/,
  },
  { about: 'a container', scene: { files: { ...healthy(), ...IN_CONTAINER } }, status: 'skipped' },
  { about: 'no driver', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped' },
]
