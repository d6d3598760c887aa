// Which releases of TensorFlow were built for the CUDA that a text shows as installed.
import { lookup } from '../../../text/lookup.ts'
import type { CudaFile } from './packages.ts'

/** "CUDA Version 10.0.130" of version.txt, and nvcc. */
const INSTALLED = /^CUDA Version (\d{1,2}\.\d)\.\d{1,4}\s*$|\brelease (\d{1,2}\.\d), V\d/m
/** TensorFlow's releases before its wheels brought CUDA along, by the CUDA that they were built for. */
const TENSORFLOW_FOR: Readonly<Record<string, string>> = {
  '9.0': '1.5 to 1.12',
  '10.0': '1.13 to 1.15, 2.0',
  '10.1': '2.1 to 2.3',
  '11.0': '2.4',
  '11.2': '2.5 to 2.11',
  '11.8': '2.12 and 2.13',
}
export function tensorflowFor(text: string, { cuda }: CudaFile): { readonly cuda: string; readonly names: string } | undefined {
  const [, file, compiler] = INSTALLED.exec(text) ?? []
  const installed = file ?? compiler
  const names = installed === undefined ? undefined : lookup(TENSORFLOW_FOR, installed)
  return installed === undefined || names === undefined || cuda === undefined || cuda === installed ? undefined : { cuda: installed, names }
}
