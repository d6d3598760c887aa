// Versions that are in a text: of the driver, of CUDA as the driver and as the program has it, of Python, PyTorch and the libraries.

export type Versions = {
  /** Of the NVIDIA kernel driver: 550.90.05. */
  readonly driver: string | undefined
  /** The newest CUDA that the driver runs: 12.4. */
  readonly driverCuda: string | undefined
  /** CUDA that PyTorch or the program was built with. */
  readonly cuda: string | undefined
  readonly python: string | undefined
  readonly torch: string | undefined
  readonly vllm: string | undefined
  readonly rocm: string | undefined
}

const dotted = (digits: string): string => `${Number(digits.slice(0, -3))}.${Number(digits.slice(-3, -1))}`

const DRIVER =
  /(?:\bdriver_version\b[^\n]{0,80}\n(?:[^,\n]{1,60}, ){0,4}|Driver Version:?|driver version:?|Kernel Module(?: for x86_64)?|NVIDIA[- ]Linux-\w{1,10}-|nvidia-driver-|\blibcuda\.so\.(?=\d{3}\.)) {0,4}(\d{3}\.\d{1,3}(?:\.\d{1,3})?)/
const SMI_CUDA = /CUDA Version: {0,2}(\d{1,2}\.\d)\b/
const TOO_OLD = /found version (\d{4,5})\)/
const TORCH =
  /\b(?:torch|pytorch)[=_\- ]{1,2}v?(\d\.\d{1,2}(?:\.\d)?)(?:\+cu(\d{3}))?|\btorch\.__version__[^\d]{0,12}(\d\.\d{1,2}\.\d)(?:\+cu(\d{3}))?|PyTorch:? (?:v(?:ersion)? ?)?(\d\.\d{1,2}(?:\.\d)?)(?:\+cu(\d{3}))?/i
const WHEEL_CUDA = /\d\+ ?cu(\d{3})\b/
const TORCH_CUDA =
  /compile\s{1,3}PyTorch \((\d{1,2}\.\d)\)|torch\.version\.cuda[^\d]{0,6}(\d{1,2}\.\d)|PyTorch built (?:with|for) CUDA (\d{1,2}\.\d)|PYTORCH_CUDA_VERSION=(\d{2,3})|CUDA used to build PyTorch: (\d{1,2}\.\d)|\bcudatoolkit[= ]{1,2}(\d{1,2}\.\d)/i
const PYTHON = /python(\d\.\d{1,2})\/|Python(3\d{1,2})\\|\bPython (\d\.\d{1,2})(?:\.\d{1,2})?\b/
const VLLM =
  /\bvLLM[=: ]{1,40}(?:API server )?(?:version|engine \(v?)?:? ?v?(\d\.\d{1,2}(?:\.\d{1,2})?)\b|vllm-v?(\d\.\d{1,2}\.\d{1,2})\b|vllm-openai:v(\d\.\d{1,2}\.\d{1,2})/i
const ROCM = /rocm[-/_ ]?v?(\d\.\d(?:\.\d)?)/i

const wheel = (digits: string): string => `${digits.slice(0, -1)}.${digits.slice(-1)}`
/** The first group that took part in a match. */
export const group = (match: RegExpExecArray | null): string | undefined => match?.slice(1).find((one) => one !== undefined)

/** The newest CUDA of each branch of the driver: "CUDA Toolkit and Corresponding Driver Versions" in CUDA's release notes. */
const BRANCHES: readonly (readonly [branch: number, cuda: string])[] = [
  [590, '13.1'],
  [580, '13.0'],
  [575, '12.9'],
  [570, '12.8'],
  [565, '12.7'],
  [560, '12.6'],
  [555, '12.5'],
  [550, '12.4'],
  [545, '12.3'],
  [535, '12.2'],
  [530, '12.1'],
  [525, '12.0'],
  [520, '11.8'],
  [515, '11.7'],
  [510, '11.6'],
  [495, '11.5'],
  [470, '11.4'],
  [465, '11.3'],
  [460, '11.2'],
  [455, '11.1'],
  [450, '11.0'],
  [440, '10.2'],
  [418, '10.1'],
  [410, '10.0'],
  [396, '9.2'],
  [390, '9.1'],
  [384, '9.0'],
  [367, '8.0'],
  [352, '7.5'],
]
/** Newer than the list: not known. */
const NEWEST_BRANCH = 594
/** The oldest branch that runs a CUDA: from 11 on that of the first release of its major version. */
export function branchFor(cuda: string): number | undefined {
  const least = compareVersions(cuda, '11') >= 0 ? `${cuda.split('.')[0]}.0` : cuda
  return BRANCHES.findLast(([, newest]) => compareVersions(newest, least) >= 0)?.[0]
}
export function cudaOf(driver: string): string | undefined {
  const branch = Number(driver.split('.')[0])
  return branch > NEWEST_BRANCH ? undefined : BRANCHES.find(([from]) => branch >= from)?.[1]
}

/** Each version is looked for when it is asked for. */
export const versions = (text: string): Versions => ({
  get driver() {
    return DRIVER.exec(text)?.[1]
  },
  get driverCuda() {
    const old = TOO_OLD.exec(text)?.[1]
    const driver = DRIVER.exec(text)?.[1]
    return old !== undefined ? dotted(old) : (SMI_CUDA.exec(text)?.[1] ?? (driver === undefined ? undefined : cudaOf(driver)))
  },
  get cuda() {
    const built = group(TORCH_CUDA.exec(text))
    const cu = WHEEL_CUDA.exec(text)?.[1]
    return built === undefined ? (cu === undefined ? undefined : wheel(cu)) : built.includes('.') ? built : wheel(built)
  },
  get python() {
    const python = group(PYTHON.exec(text))
    return python !== undefined && !python.includes('.') ? `3.${python.slice(1)}` : python
  },
  get torch() {
    const torch = TORCH.exec(text)
    return torch?.[1] ?? torch?.[3] ?? torch?.[5]
  },
  get vllm() {
    return group(VLLM.exec(text))
  },
  get rocm() {
    return ROCM.exec(text)?.[1]
  },
})

/** Negative where `a` is the older version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
