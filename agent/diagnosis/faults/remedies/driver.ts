// A driver that is older than the CUDA of the program: update the one, or take a build for the other.
import type { Matched } from '../parts/rules.ts'
import { torchWheel, wheelFor } from './packages.ts'
import { pipInstall } from './pip.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from './plan.ts'

/** The last PyTorch for a CUDA before 11, and the newest Python that it takes: https://download.pytorch.org/whl/torch_stable.html. */
const LAST: Readonly<Record<string, readonly [torch: string, python: string]>> = {
  '10.2': ['1.12.1+cu102', '3.10'],
  '10.1': ['1.8.1+cu101', '3.9'],
}
function oldBuild(situation: Situation, driverCuda: string): Piece {
  const [torch, python] = LAST[driverCuda] ?? []
  return torch === undefined || !situation.programs.has('pytorch')
    ? { text: `No current build runs on a driver for CUDA ${driverCuda}: update the driver, or take an old release that was built for it.` }
    : {
        text: `Or take the last PyTorch for CUDA ${driverCuda} (Python ${python} at most).`,
        command: pipInstall(situation, `torch==${torch} -f https://download.pytorch.org/whl/torch_stable.html`),
      }
}
/** Compiled for itself: its own sources show, and no PyTorch. */
const ownBuild = (at: Situation): boolean => !at.programs.has('pytorch') && /\.cu\w{0,2}[:(]\d|\bnvcc\b/.test(at.text)

/** Notebook services bring their driver; nobody can update it there. */
const SERVICE = /\bcolab\b|\/kaggle\/|^!pip /im

export function driverOld({ situation }: Matched): readonly Piece[] {
  const at = situation()
  const { driverCuda } = at.versions
  const index = wheelFor(undefined, driverCuda)
  const server = (['vllm', 'sglang', 'lmdeploy', 'tei', 'tgi'] as const).some((one) => at.programs.has(one))
  return [
    {
      text: SERVICE.test(at.text)
        ? 'In Colab or Kaggle the driver cannot be updated: start a new runtime, and use the PyTorch that it brings.'
        : driverCuda === undefined
          ? 'Update the NVIDIA driver of the host, then reboot: a newer driver runs older CUDA builds too.'
          : `Update the NVIDIA driver of the host, then reboot: the present one runs CUDA up to ${driverCuda}, and a newer driver runs older builds too.`,
    },
    ownBuild(at)
      ? { text: `Or compile the program again with a CUDA toolkit that is no newer than the driver${driverCuda === undefined ? '' : ` (${driverCuda})`}.` }
      : driverCuda === undefined || server
        ? torchWheel(at, undefined, '')
        : torchWheel(at, index, `Or install a build for a CUDA that this driver runs (${driverCuda}; within one major version from 11 on).`),
    driverCuda === undefined && { text: 'See which CUDA the driver supports at most (head line of nvidia-smi).', command: 'nvidia-smi' },
    index === undefined && driverCuda !== undefined && oldBuild(at, driverCuda),
  ]
}
