// The provider of ONNX Runtime whose own file is there, while a DLL of CUDA or cuDNN that it needs is not (Windows).
import type { Matched } from '../parts/rules.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

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
