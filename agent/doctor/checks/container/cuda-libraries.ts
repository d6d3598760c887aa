// Does each container have the CUDA libraries that its PyTorch and bitsandbytes load?
import { basename } from 'node:path'
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, skipped, type ContainerFinding, type ContainerView } from '../../container/view.ts'
import { readElf } from '../../container/elf.ts'
import { wheelFolders, type Torch } from '../../container/python-packages.ts'

/** Parts of the CUDA toolkit; libcuda and libnvidia-… are the driver's, which other checks look at. */
const CUDA =
  /^lib(?:cudart|cublas|cublasLt|cudnn\w*|cufft|cufftw|curand|cusolver\w*|cusparse|cusparseLt|nccl|nvrtc|nvJitLink|nvToolsExt|cupti|cufile|cudss|nvshmem_host)\.so/
const WHEEL: Readonly<Record<string, string>> = {
  cudart: 'cuda-runtime',
  cublas: 'cublas',
  cublasLt: 'cublas',
  cufft: 'cufft',
  cufftw: 'cufft',
  curand: 'curand',
  cusparse: 'cusparse',
  cusparseLt: 'cusparselt',
  nccl: 'nccl',
  nvrtc: 'cuda-nvrtc',
  nvJitLink: 'nvjitlink',
  nvToolsExt: 'nvtx',
  cupti: 'cuda-cupti',
  cufile: 'cufile',
  nvshmem_host: 'nvshmem',
}

/** From CUDA 13 on most wheels bear no number of CUDA. */
function wheelOf(library: string, cuda: string): string | undefined {
  const stem = /^lib(\w+?)\.so/.exec(library)?.[1] ?? ''
  const kind = stem.startsWith('cudnn') ? 'cudnn' : stem.startsWith('cusolver') ? 'cusolver' : WHEEL[stem]
  const major = Number.parseInt(cuda)
  if (kind === undefined) return undefined
  return major >= 13 && !['cudnn', 'nccl', 'cusparselt', 'nvshmem'].includes(kind) ? `nvidia-${kind}` : `nvidia-${kind}-cu${major}`
}

async function judge(view: ContainerView, torch: Torch, cuda: string): Promise<ContainerFinding> {
  const files = view.files()
  const libraries = await view.libraries()
  const mapped = new Set([...(await view.mapped().catch(() => []))].map((path) => basename(path)))
  const wheels = [...(await wheelFolders(files, torch.place)), `${torch.folder}/lib`]
  const missing = new Set<string>()
  let looked = 0
  for (const name of ['libtorch_cuda.so', 'libc10_cuda.so', 'libtorch_cuda_linalg.so']) {
    const path = `${torch.folder}/lib/${name}`
    const elf = await readElf(files, path)
    if (elf === undefined) continue
    looked++
    for (const needed of elf.needed.filter((one) => CUDA.test(one))) {
      if (mapped.has(needed) || (await libraries.find(needed, { path, elf })) !== undefined) continue
      // PyTorch loads those of its wheels by itself (torch/__init__.py, _preload_cuda_deps).
      const inWheel = await Promise.all(wheels.map(async (folder) => (await libraries.names(folder)).has(needed)))
      if (!inWheel.includes(true)) missing.add(needed)
    }
  }
  if (looked === 0) return skipped(`PyTorch ${torch.version}: its libraries are not in ${torch.folder}/lib`)
  if (missing.size === 0) return pass(`PyTorch ${torch.version} finds the libraries of CUDA ${cuda} that it is linked with`)
  const packages = [...new Set([...missing].flatMap((library) => wheelOf(library, cuda) ?? []))]
  return complain('fail', `PyTorch ${torch.version} needs ${[...missing].join(', ')}: not where its loader looks, and in no wheel beside it`, [
    ...(packages.length > 0
      ? [
          {
            text: 'Install them in the image, beside PyTorch (put the line into the Dockerfile, or it is gone with the container).',
            command: `pip install ${packages.join(' ')}`,
          },
        ]
      : []),
    {
      text: 'Or install PyTorch again with all that it depends on.',
      command: `pip install --force-reinstall torch==${torch.version.replace(/\+.*/, '')} --index-url https://download.pytorch.org/whl/cu${cuda.replace('.', '')}`,
    },
    {
      text: 'If they are elsewhere in the image, name their folder in LD_LIBRARY_PATH.',
      command: `${view.container.engine.kind} exec ${view.container.name} find / -xdev -name '${[...missing][0] ?? ''}*'`,
    },
  ])
}

export const containerCudaLibraries = defineCheck({
  id: 'container-cuda-libraries',
  group: 'container',
  title: 'each container has the CUDA libraries that its PyTorch loads',
  covers: ['cuda_library_missing'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const torches = await view.torches()
      if (torches.length === 0) return [skipped('no PyTorch is found in it; other programs are not looked at')]
      return await Promise.all(
        torches.map(async (torch) => {
          if (torch.cuda !== undefined) return await judge(view, torch, torch.cuda)
          if (torches.some(({ cuda }) => cuda !== undefined))
            return skipped(`PyTorch ${torch.version} in ${torch.folder} is a build for the CPU; another one here is for CUDA`)
          if (torch.hip !== undefined) return skipped(`PyTorch ${torch.version} is built for AMD's ROCm`)
          return complain('fail', `PyTorch ${torch.version} in ${torch.folder} is a build for the CPU: it never uses the GPU`, [
            {
              text: 'Install a build for CUDA in its place (in the Dockerfile).',
              command: 'pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu128',
            },
          ])
        }),
      )
    }),
})
