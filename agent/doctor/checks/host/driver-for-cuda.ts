// The driver is new enough for the CUDA of each container that was given a GPU.
import { defineCheck, type Finding } from '../../definition.ts'
import type { DoctorContainer } from '../../parts/containers.ts'
import { loadedModule } from '../../parts/driver-files.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import type { NvmlFacts } from '../../parts/nvml-facts.ts'

/** Least driver branch of each major version of CUDA, on which all its minor ones run (docs.nvidia.com/deploy/cuda-compatibility, table 1; 10 from its release notes). */
const LEAST_DRIVER: readonly (readonly [major: number, driver: number])[] = [
  [13, 580],
  [12, 525],
  [11, 450],
  [10, 410],
]
/** On these cuda-compat fails with error 804 (same document, forward compatibility). */
const CONSUMER = /GeForce|TITAN/i

/** PyTorch's index for a driver of that CUDA (pytorch.org/get-started). */
const TORCH_INDEX: Readonly<Record<number, string>> = { 11: 'cu118', 12: 'cu128' }

const branchOf = (driver: string): number => Number(driver.split('.')[0])
const majorFor = (branch: number): number | undefined => LEAST_DRIVER.find(([, least]) => branch >= least)?.[0]

type Wanted = { readonly major: number; readonly text: string }
function wantedBy({ env }: DoctorContainer): Wanted | undefined {
  const text = env.get('CUDA_VERSION') ?? /cuda>=(\d+\.\d+)/.exec(env.get('NVIDIA_REQUIRE_CUDA') ?? '')?.[1]
  const major = /^(\d{1,2})\./.exec(text ?? '')?.[1]
  return text === undefined || major === undefined ? undefined : { major: Number(major), text }
}

/** A newer libcuda that the image brings with it. */
async function hasCompat({ files }: DoctorContainer): Promise<boolean | undefined> {
  if (files === undefined) return undefined
  const folders = ((await files.list('/usr/local').catch(() => undefined)) ?? []).filter((name) => name.startsWith('cuda'))
  for (const folder of folders) {
    const names = await files.list(`/usr/local/${folder}/compat`).catch(() => undefined)
    if (names?.some((name) => name.startsWith('libcuda.so')) === true) return true
  }
  return false
}

async function judge(container: DoctorContainer, driver: string, runs: number, nvml: NvmlFacts | undefined): Promise<Finding | undefined> {
  const wanted = wantedBy(container)
  if (wanted === undefined) return undefined
  const subject = container.name
  if (wanted.major <= runs) return { status: 'pass', subject, summary: `CUDA ${wanted.text} runs on the driver ${driver}` }
  const capable = nvml !== undefined && nvml.gpus.length > 0 && !nvml.gpus.some(({ name }) => CONSUMER.test(name))
  if (capable && (await hasCompat(container)) === true)
    return { status: 'pass', subject, summary: `CUDA ${wanted.text} is newer than the driver ${driver}; the image brings cuda-compat for that` }
  const least = LEAST_DRIVER.find(([major]) => major === wanted.major)?.[1]
  const index = TORCH_INDEX[runs]
  return {
    status: 'fail',
    subject,
    summary: `expected a driver of at least ${least ?? 'a newer branch'} for CUDA ${wanted.text}, this host has ${driver}, which runs CUDA up to ${nvml?.cudaVersion ?? `${runs}.x`}`,
    remedies: [
      { text: `Update the driver of this host to branch ${least ?? 'of that CUDA'} or newer, and reboot.` },
      {
        text: `Or take an image, or a build of PyTorch, for CUDA ${runs}.`,
        ...(index === undefined ? {} : { command: `pip install torch --index-url https://download.pytorch.org/whl/${index}` }),
      },
      ...(capable
        ? [
            {
              text: 'Or, on cards for data centres, add the forward-compatibility package to the image (in its Dockerfile).',
              command: `RUN apt-get update && apt-get install -y cuda-compat-${wanted.text.split('.').slice(0, 2).join('-')}`,
            },
          ]
        : []),
    ],
  }
}

export const driverForCuda = defineCheck({
  id: 'driver-for-cuda',
  group: 'host',
  title: 'the driver is new enough for the CUDA of each container',
  covers: ['cuda_version_mismatch'],
  async run({ files, nvml, containers }) {
    const wanting = (await containers()).filter((container) => container.wantsGpu === 'asked')
    if (wanting.length === 0) return skipped('no container that was given a GPU')
    const facts = await nvml().catch(() => undefined)
    const driver = facts?.driverVersion ?? (await loadedModule(files))?.version
    if (driver === undefined || driver === '') return skipped("the driver's version is not known")
    const reported = /^(\d+)\./.exec(facts?.cudaVersion ?? '')?.[1]
    const runs = reported === undefined ? majorFor(branchOf(driver)) : Number(reported)
    if (runs === undefined) return skipped(`it is not known which CUDA the driver ${driver} runs`)
    const findings = (await Promise.all(wanting.map(async (container) => await judge(container, driver, runs, facts)))).filter(
      (finding) => finding !== undefined,
    )
    return findings.length > 0 ? findings : skipped('no container says which CUDA it was built for (CUDA_VERSION)')
  },
})
