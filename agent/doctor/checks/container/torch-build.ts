// Was the PyTorch of each container compiled for the GPUs of this host (`no kernel image is available for execution on the device`)?
import type { Remedy } from '../../../model/fault.ts'
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, skipped, type ContainerFinding, type ContainerView } from '../../container/view.ts'
import { runsOn, torchArchitectures, type Torch } from '../../container/python-packages.ts'
import type { NvmlGpu } from '../../parts/nvml-facts.ts'
import { resolveGpuRequest } from '../../../sources/containers/gpu-request.ts'

/** First CUDA whose compilers know a generation (CUDA release notes). */
function cudaFor(capability: string): string {
  const major = Number(capability.split('.')[0])
  return major >= 10 ? '12.8' : major === 9 ? '11.8' : '11.0'
}

/** Wheels for CUDA 12.6 are compiled for sm_50 to sm_90, up to PyTorch 2.11 at least (pytorch/pytorch#182250); CUDA 12 knows no Kepler, PyTorch 1.13 for CUDA 11.7 did. */
const olderBuild = (capability: string): Remedy =>
  Number(capability.split('.')[0]) >= 5
    ? {
        text: 'Install the build of PyTorch for CUDA 12.6, which is still compiled for sm_50 to sm_90 (in the Dockerfile).',
        command: 'pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126',
      }
    : {
        text: 'Install an old PyTorch that was still compiled for this GPU: 1.13 for CUDA 11.7 knows sm_37; it needs Python 3.11 or older (in the Dockerfile).',
        command: 'pip install "torch==1.13.1" --index-url https://download.pytorch.org/whl/cu117',
      }

async function judge(view: ContainerView, torch: Torch, gpus: readonly NvmlGpu[]): Promise<ContainerFinding> {
  if (torch.cuda === undefined) return skipped(`PyTorch ${torch.version} is not a build for CUDA`)
  const architectures = await torchArchitectures(view.files(), torch)
  if (architectures === undefined) return skipped(`the libraries of PyTorch ${torch.version} do not say what it was compiled for`)
  const known = gpus.flatMap(({ name, computeCapability }) => (computeCapability === undefined ? [] : [{ name, capability: computeCapability }]))
  if (known.length === 0) return skipped('the compute capability of its GPUs is not known')
  const unfit = known.filter(({ capability }) => runsOn(architectures, capability) === 'no')
  const list = architectures.join(' ')
  const [first] = unfit
  if (first === undefined) {
    const slow = known.filter(({ capability }) => runsOn(architectures, capability) === 'ptx')
    return pass(
      `PyTorch ${torch.version} (${list}) fits ${known.map(({ name, capability }) => `${name} (sm_${capability.replace('.', '')})`).join(', ')}${slow.length > 0 ? '; kernels are compiled at their first use' : ''}`,
    )
  }
  const least = Math.min(...architectures.map((one) => Number(/_(\d+)/.exec(one)?.[1] ?? Infinity)))
  const old = Number(first.capability.replace('.', '')) < least
  const newer = {
    text: `Install a build of PyTorch for CUDA ${cudaFor(first.capability)} or newer (in the Dockerfile).`,
    command: 'pip install --upgrade torch --index-url https://download.pytorch.org/whl/cu128',
  }
  const older = olderBuild(first.capability)
  return complain(
    'fail',
    `PyTorch ${torch.version} is compiled for ${list}; ${first.name} is sm_${first.capability.replace('.', '')}: no kernel image is available for execution on the device`,
    [
      old ? older : newer,
      {
        text: 'Or take a newer image of your framework, and compile own extensions for this GPU.',
        command: `TORCH_CUDA_ARCH_LIST="${first.capability}" pip install --no-build-isolation .`,
      },
    ],
  )
}

export const containerTorchBuild = defineCheck({
  id: 'container-torch-build',
  group: 'container',
  title: "each container's PyTorch was compiled for the GPUs of this host",
  covers: ['cuda_version_mismatch'],
  async run(around) {
    const nvml = await around.nvml()
    if (nvml === undefined || nvml.gpus.length === 0) return [{ status: 'skipped', summary: 'no GPU of this host is known' }]
    return await eachContainer(around, async (view) => {
      const torches = await view.torches()
      if (torches.length === 0) return [skipped('no PyTorch is found in it')]
      const own = resolveGpuRequest(view.container.wish, nvml.gpus)?.gpus.map(({ uuid }) => uuid)
      const gpus = own === undefined || own.length === 0 ? nvml.gpus : nvml.gpus.filter(({ uuid }) => own.includes(uuid))
      return await Promise.all(torches.map(async (torch) => await judge(view, torch, gpus)))
    })
  },
})
