// A driver that is older than the CUDA of the program: update the one, or take a build for the other.
import type { Matched } from '../parts/rules.ts'
import { compareVersions } from '../../situation/versions.ts'
import { torchWheel, wheelFor } from './packages.ts'
import type { Piece } from './plan.ts'

/** The last releases of PyTorch with wheels for these versions of CUDA, by https://pytorch.org/get-started/previous-versions/ and download.pytorch.org/whl/torch_stable.html. */
const LAST: readonly (readonly [cuda: string, wheel: string, torch: string, python: string])[] = [
  ['10.2', 'cu102', '1.12.1', '3.7 to 3.10'],
  ['10.1', 'cu101', '1.8.1', '3.6 to 3.9'],
  ['10.0', 'cu100', '1.4.0', '3.5 to 3.8'],
  ['9.2', 'cu92', '1.7.1', '3.6 to 3.9'],
]
function oldBuild(driverCuda: string, torch: string | undefined): Piece {
  const last = LAST.find(([cuda]) => compareVersions(cuda, driverCuda) <= 0)
  if (last === undefined) return { text: `No current build runs on a driver for CUDA ${driverCuda}: only the driver update helps.` }
  const [cuda, wheel, newest, python] = last
  return {
    text: `Or, for old code: PyTorch ${newest} is the last with wheels for CUDA ${cuda} (+${wheel}, Python ${python})${torch !== undefined && compareVersions(torch, newest) < 0 && wheel === 'cu101' ? `; ${torch} has one too` : ''}. Current releases need a newer driver.`,
  }
}

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
    index === undefined && driverCuda !== undefined && oldBuild(driverCuda, at.versions.torch),
  ]
}
