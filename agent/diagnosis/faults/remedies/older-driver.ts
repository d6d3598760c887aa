// A library of a CUDA whose programs the driver does not run: to install it would be of no use.
import type { Situation } from '../../situation/situation.ts'
import type { CudaFile } from './packages.ts'
import type { Piece } from './plan.ts'

/** The first driver for a major version of CUDA: "CUDA Toolkit and Corresponding Driver Versions" in CUDA's release notes. */
const DRIVERS: ReadonlyMap<string, string> = new Map([
  ['12', '525'],
  ['13', '580'],
])

/** Undefined where the driver is new enough, or the text does not show it. */
export function forOlderDriver({ cuda }: CudaFile, which: string, { programs, versions }: Situation): readonly Piece[] | undefined {
  const needs = cuda === undefined ? undefined : DRIVERS.get(cuda)
  const reaches = versions.driverCuda
  if (cuda === undefined || needs === undefined || reaches === undefined || Number.parseInt(reaches, 10) >= Number(cuda)) return undefined
  const vllm = programs.has('vllm')
  return [
    {
      text: `What loads it is built for CUDA ${cuda}, and the driver here runs CUDA up to ${reaches}: install its build for CUDA ${Number.parseInt(reaches, 10)}${vllm ? ' (uv chooses the PyTorch by the driver; among the files of a release of vLLM are wheels for CUDA 12)' : ''}.`,
      ...(vllm ? { command: 'uv pip install vllm --torch-backend=auto' } : {}),
    },
    { text: `Or update the driver to ${needs} or newer, then install ${which}: with this driver the library alone is of no use.` },
  ]
}
