// A driver that is older than the CUDA of the program: update the one, or take a build for the other.
import type { Matched } from '../parts/rules.ts'
import { torchWheel, wheelFor } from './packages.ts'
import type { Piece } from './plan.ts'

/** By https://pytorch.org/get-started/previous-versions/ and download.pytorch.org/whl/torch_stable.html. */
const oldBuild = (driverCuda: string): Piece => ({
  text: `No current build runs on a driver for CUDA ${driverCuda}: update the driver, or take an old PyTorch built for it.`,
})

export function driverOld({ situation }: Matched): readonly Piece[] {
  const at = situation()
  const { driverCuda } = at.versions
  const index = wheelFor(undefined, driverCuda)
  const server = at.programs.has('vllm') || at.programs.has('sglang')
  return [
    {
      text:
        driverCuda === undefined
          ? 'Update the NVIDIA driver of the host, then reboot: a newer driver runs older CUDA builds too.'
          : `Update the NVIDIA driver of the host, then reboot: the present one runs CUDA up to ${driverCuda}, and a newer driver runs older builds too.`,
    },
    driverCuda === undefined || server
      ? torchWheel(at, undefined, '')
      : torchWheel(at, index, `Or install a build for a CUDA that this driver runs (${driverCuda}; within one major version from 11 on).`),
    driverCuda === undefined && { text: 'See which CUDA the driver supports at most (head line of nvidia-smi).', command: 'nvidia-smi' },
    index === undefined && driverCuda !== undefined && oldBuild(driverCuda),
  ]
}
