// Driver and CUDA as a text shows them: a driver that is new enough by its version is one that the program does not reach.
import type { Situation } from '../../situation/situation.ts'
import { compareVersions, group } from '../../situation/versions.ts'
import type { Seen } from '../parts/rules.ts'
import type { Piece } from './plan.ts'

/** What nvidia-smi showed. */
export const shown = ({ versions: { driver, driverCuda } }: Situation): string =>
  driverCuda === undefined ? '' : ` (now ${driver === undefined ? '' : `${driver}, `}CUDA ${driverCuda})`
/** 12040 is CUDA 12.4. */
export const dotted = (found: string | undefined): string =>
  found !== undefined && /^\d{4,5}$/.test(found) ? `${Math.floor(Number(found) / 1000)}.${Math.floor((Number(found) % 1000) / 10)}` : (found ?? '')
/** Of the toolkit or the image that the log shows. */
const TOOLKIT = /nvidia\/cuda:(\d{1,2}\.\d)|release (\d{1,2}\.\d), V\d|\blibcudart\.so\.(\d{1,2}\.\d)(?=[\d.]{0,6} \(libc6)/
export const needsCuda = ({ text, versions: { cuda } }: Situation): string | undefined => cuda ?? group(TOOLKIT.exec(text))
/** The program's CUDA, where the driver is new enough for it: from 11 on any release of the major version is. */
export function runsOn(situation: Situation): string | undefined {
  const { driverCuda } = situation.versions
  const needs = needsCuda(situation)
  if (needs === undefined || driverCuda === undefined) return undefined
  const isEnough =
    compareVersions(driverCuda, needs) >= 0 || (compareVersions(needs, '11') >= 0 && compareVersions(driverCuda, needs.split('.')[0] ?? needs) >= 0)
  return isEnough ? needs : undefined
}
export const unreached = ({ situation }: Seen): readonly Piece[] => {
  const { programs, subject } = situation()
  const inContainer = programs.has('docker') || programs.has('compose') || programs.has('kubernetes')
  return [
    {
      text: inContainer
        ? 'See in the container whether it has the driver, and which libcuda comes first: one of a cuda-compat package or of the image hides that of the host.'
        : 'See which libcuda the program finds: one of another release, or of a cuda-compat package, may come before that of the driver.',
      command: 'nvidia-smi; ldconfig -p | grep libcuda; printenv LD_LIBRARY_PATH',
    },
    inContainer &&
      !programs.has('kubernetes') && {
        text: 'A container has the driver only when it was started with the GPU.',
        command: `docker run --gpus all ${subject.image ?? '<IMAGE>'}`,
      },
    {
      text: 'If it does reach the driver, the program was built for a newer CUDA than that of the image: take a build for this one, or update the driver of the host.',
    },
  ]
}

/** A library of the driver that is not there. */
export function driverRemedies(name: string, seen: Seen): readonly Piece[] {
  const situation = seen.situation()
  const { programs, system, subject } = situation
  const container = programs.has('docker') || programs.has('compose')
  if (system === 'wsl')
    return [
      {
        text: 'Under WSL it is in /usr/lib/wsl/lib: name that folder, and install no Linux driver inside WSL.',
        command: 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH',
      },
      { text: `If it is not there: ${name} comes with the NVIDIA driver of Windows. Update that, then WSL.`, command: 'ls -l /usr/lib/wsl/lib; nvidia-smi -L' },
    ]
  if (name === 'libcuda.so' && /ould not load library libcudnn/.test(seen.message))
    return [
      {
        text: 'cuDNN asks for this name without a number. Under WSL it is in /usr/lib/wsl/lib: name that folder.',
        command: 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH',
      },
      {
        text: "Elsewhere the driver brings libcuda.so.1: make the link beside it (here Debian's and Ubuntu's folder).",
        command: 'ldconfig -p | grep libcuda; sudo ln -s libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so',
      },
      {
        text: 'If there is no libcuda.so.1 either, the driver is not reached: a container gets it only when it was started with the GPU.',
        command: 'nvidia-smi',
      },
    ]
  // docs.nvidia.com, container toolkit: without "video" the libraries of decoder and encoder stay outside.
  if (/nvcuvid|nvidia-(?:en|de)code/.test(name))
    return [
      {
        text: `In a container: start it with the driver capability "video" too, without which ${name} is not mounted (NVIDIA_DRIVER_CAPABILITIES=all in its environment).`,
        ...(programs.has('kubernetes') ? {} : { command: `docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all ${subject.image ?? '<IMAGE>'}` }),
      },
      {
        text: `On the host: see whether the driver brought it. Ubuntu has packages of its own for it (libnvidia-decode, libnvidia-encode).`,
        command: 'ldconfig -p | grep -E "nvcuvid|nvidia-encode"',
      },
    ]
  return [
    {
      text: `${name} belongs to the NVIDIA driver, not to CUDA. On the host, check that the driver works, and install it where it is missing.`,
      command: 'nvidia-smi',
    },
    programs.has('kubernetes')
      ? { text: 'In a pod, request the GPU (resources.limits: nvidia.com/gpu: 1): only then the driver is mounted.' }
      : {
          text: 'A container gets it only when it was started with the GPU.',
          ...(container ? { command: `docker run --gpus all ${subject.image ?? '<IMAGE>'}` } : {}),
        },
    // Drivers bring libcuda.so.1; the name without a number is a link for compilers.
    name === 'libcuda.so' && {
      text: "If libcuda.so.1 is there and only this name is missing: make the link beside it (here Debian's and Ubuntu's folder).",
      command: 'ldconfig -p | grep libcuda; sudo ln -s libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so',
    },
  ]
}
