// A driver that is older than the CUDA of the program: update the one, or take a build for the other.
import { branchFor, compareVersions } from '../../situation/versions.ts'
import { needsCuda } from './driver-reach.ts'
import type { Matched } from '../parts/rules.ts'
import { dockerRun } from './docker-run.ts'
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
const ownBuild = (at: Situation): boolean => !at.programs.has('pytorch') && /\.cu\w{0,2}(?:[:(]\d|\s*$)|\bnvcc\b/m.test(at.text)
/** A program that came compiled: the text has native frames and no Python. */
const native = (at: Situation): boolean =>
  !at.programs.has('pytorch') && /^\S{2,120}\(\w{0,200}\+0x[\da-f]{1,8}\) ?\[0x/m.test(at.text) && !/\.py\b|\bpip\d? |\bpython/.test(at.text)
/** CTranslate2's own wording (types.cc); its wheels bring no CUDA, but are made for one. */
const CTRANSLATE2 = /\bCUDA failed with error\b/

/** Only named, or a cell that installs. */
const SERVICE = /\bcolab\b|^!pip /im

/** Who can change the driver there, and how. */
function newerDriver(at: Situation): string {
  const { driverCuda } = at.versions
  const why =
    driverCuda === undefined
      ? 'a newer driver runs older CUDA builds too'
      : `the present one runs CUDA up to ${driverCuda}, and a newer driver runs older builds too`
  if (at.hosted || SERVICE.test(at.text)) return 'In Colab or Kaggle the driver cannot be updated: start a new runtime, and use the PyTorch that it brings.'
  if (at.programs.has('slurm') && !/\bsudo\b|\bslurmd\b/.test(at.text)) return `Ask the administrators for a newer driver on that node: ${why}.`
  if (at.system === 'wsl') return `Update the NVIDIA driver in Windows (WSL takes it from there, and must have none of Linux): ${why}.`
  const needs = at.system === 'windows' ? undefined : needsCuda(at)
  const branch = needs === undefined ? undefined : branchFor(needs)
  const to =
    branch === undefined || (driverCuda !== undefined && compareVersions(driverCuda, needs ?? '') >= 0)
      ? ''
      : ` to release ${branch} or newer, for CUDA ${needs}`
  return `Update the NVIDIA driver${at.system === 'windows' ? ', then restart Windows' : ` of the host${to}, then reboot`}: ${why}.`
}

export function driverOld({ situation }: Matched): readonly Piece[] {
  const at = situation()
  const { driverCuda } = at.versions
  const index = wheelFor(undefined, driverCuda)
  const server = (['vllm', 'sglang', 'lmdeploy', 'tei', 'tgi'] as const).some((one) => at.programs.has(one))
  return [
    { text: newerDriver(at) },
    // CUDA says the same where there is no driver at all.
    driverCuda === undefined &&
      at.programs.has('docker') &&
      !/--gpus[ =]|--runtime[ =]nvidia/.test(at.text) && {
        text: 'If its container was started without the GPU there is no driver in it, and CUDA says the same: start it with the GPU.',
        command: dockerRun('--gpus all', at),
      },
    ownBuild(at)
      ? { text: `Or compile the program again with a CUDA toolkit that is no newer than the driver${driverCuda === undefined ? '' : ` (${driverCuda})`}.` }
      : native(at) || CTRANSLATE2.test(at.text)
        ? { text: `Or use a release of it that was built for a CUDA no newer than the driver's${driverCuda === undefined ? '' : ` (${driverCuda})`}.` }
        : driverCuda === undefined || server
          ? torchWheel(at, undefined, '')
          : torchWheel(at, index, `Or install a build for a CUDA that this driver runs (${driverCuda}; within one major version from 11 on).`),
    driverCuda === undefined && { text: 'See which CUDA the driver supports at most (head line of nvidia-smi).', command: 'nvidia-smi' },
    index === undefined && driverCuda !== undefined && oldBuild(at, driverCuda),
  ]
}

/** PyTorch's indices, the newest first. */
const INDICES = ['cu130', 'cu128', 'cu126', 'cu124', 'cu121', 'cu118'] as const
/** PTX of a CUDA that is newer than the driver's is not translated, also within one major version. */
export function ptxTooNew(matched: Matched): readonly Piece[] {
  const at = matched.situation()
  const { driverCuda } = at.versions
  const index = driverCuda === undefined ? undefined : INDICES.find((one) => compareVersions(`${one.slice(2, -1)}.${one.slice(-1)}`, driverCuda) <= 0)
  if (driverCuda === undefined || index === undefined || ownBuild(at)) return driverOld(matched)
  return [
    {
      text: `Update the NVIDIA driver of the host, then reboot: the present one translates PTX up to CUDA ${driverCuda}, and a newer driver runs older builds too.`,
    },
    at.text.includes('nvcr.io/nvidia/')
      ? { text: `Or take a release of NVIDIA's image for CUDA ${driverCuda} or older: the release notes name the CUDA of each.` }
      : torchWheel(at, index, `Or install a build for a CUDA that is no newer than the driver's (${driverCuda}): PTX does not work across minor versions.`),
  ]
}
