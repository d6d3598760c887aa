// The CUDA provider of ONNX Runtime: it is not in the package, or a library of CUDA or cuDNN that it needs is missing.
import type { Matched } from '../parts/rules.ts'
import type { Situation } from '../../situation/situation.ts'
import { cudaFile, pipPackage } from './packages.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

/** The package for the CPU says so, or lists what it has. */
const OF_THE_CPU = /need to install \S{0,20}onnxruntime-gpu|CUDAExecutionProvider'? (?:is )?not (?:available|in available)/

/** `near`: the lines around, which may name the library. */
export function onnxProvider(now: Situation, near: string): readonly Piece[] {
  const file = cudaFile(/\b((?:lib)?(?:cu|nv)\w{1,40}(?:\.so[\d.]{0,10}|_\d{1,3}\.dll))(?! loaded)/.exec(near)?.[1] ?? '')
  const needs = /Require (cuDNN \d{1,3}(?:\.[\d*]{1,3}){0,2}) and (CUDA \d{1,3}(?:\.[\d*]{1,3}){0,2})/.exec(now.text)
  const pip = pipPackage(file, now)
  const library: Piece =
    pip === undefined
      ? {
          text:
            needs === null
              ? 'Install the CUDA and cuDNN that this onnxruntime-gpu was built for.'
              : `Install ${needs[2]} and ${needs[1]}, which this onnxruntime-gpu was built for.`,
        }
      : {
          text: `Install the library that is missing${needs === null ? '' : ` (this build needs ${needs[2]} and ${needs[1]})`}.`,
          command: pipInstall(now, pip),
        }
  return [
    OF_THE_CPU.test(now.text)
      ? {
          text: 'The onnxruntime that is installed has no CUDA provider: put the GPU build in its place.',
          command: pipInstall(now, 'onnxruntime-gpu', '--force-reinstall'),
        }
      : library,
    {
      text: 'See which providers this ONNX Runtime has: without CUDAExecutionProvider it is the build for the CPU.',
      command: 'python -c "import onnxruntime; print(onnxruntime.get_available_providers())"',
    },
  ]
}

/** onnxruntime.ai, CUDA execution provider: requirements. 1.19 and newer: CUDA 12, cuDNN 9; 1.18 from PyPI and older: CUDA 11.8, cuDNN 8. */
export function windowsProvider({ situation }: Matched): readonly Piece[] {
  const { text } = situation()
  const python = /site-packages|\.py\b|pybind|\bpython/i.test(text)
  return [
    python && {
      text: 'Let pip bring CUDA and cuDNN, and call onnxruntime.preload_dlls() before the first session (1.21 and newer).',
      command: pipInstall(situation(), '"onnxruntime-gpu[cuda,cudnn]"', '--upgrade'),
    },
    {
      text: 'Install CUDA and cuDNN in the versions of this release: CUDA 12 and cuDNN 9 from 1.19 on, CUDA 11.8 and cuDNN 8 before.',
    },
    {
      text: "Add their bin folders to PATH, cuDNN's too, and see that Windows finds the DLLs.",
      command: 'where cublasLt64_12.dll cudnn64_9.dll cublasLt64_11.dll cudnn64_8.dll',
    },
  ]
}
