// bitsandbytes finds no binary for the CUDA version, or was built without GPU support.
import { group } from '../situation/versions.ts'
import { ruleFamily, type Rule, type Seen, type Matched } from './parts/rules.ts'
import { printTorch, setVariables } from './remedies/environment.ts'
import { pipInstall } from './remedies/pip.ts'
import type { Piece } from './remedies/plan.ts'
import { around, known } from './parts/window.ts'

/**
 * For each major version of CUDA the newest binary that all wheels from 0.48 on hold. From 0.50 on bitsandbytes takes the nearest of the same
 * major version by itself; a BNB_CUDA_VERSION that is set is taken as it is, whether the binary is there or not.
 * https://huggingface.co/docs/bitsandbytes/installation, https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1980
 */
const NEWEST: Readonly<Record<string, string>> = { '11': '118', '12': '128', '13': '130' }
const SUPPORTED_FROM = 118

/** Several lines that are a path and nothing else: the list of what the wheel holds, which a report prints. */
const LISTED = /^\S{0,300}[/\\]libbitsandbytes_\w{1,40}\.(?:so|dll|dylib)$/gm
const unlisted = (lines: string): string => ((lines.match(LISTED)?.length ?? 0) > 1 ? lines.replaceAll(LISTED, '') : lines)
function wanted({ facts, situation }: Matched): string | undefined {
  const file = /_cuda(\d{3})/.exec(facts.library ?? '')?.[1]
  const { text } = situation()
  return file ?? /_cuda(\d{3})/.exec(unlisted(text))?.[1] ?? group(/CUDA_VERSION=(\d{3})\b|Detected CUDA version (\d{3})\b/.exec(text))
}
/** libbitsandbytes_rocm72 is of ROCm 7.2, _rocm714 of 7.14. */
function rocmIn(text: string): string | undefined {
  const [, major, minor] = /libbitsandbytes_rocm(\d)(\d{1,2})\b/.exec(text) ?? []
  return major === undefined ? undefined : `${major}.${minor}`
}
const UNFIT = /libbitsandbytes_(?:cuda|rocm|hip)\w{0,40}\.(?:so|dll): undefined symbol/
const named = (digits: string): string => `${digits.slice(0, -1)}.${digits.slice(-1)}`

function remedies(matched: Matched): readonly Piece[] {
  const situation = matched.situation()
  const { text } = situation
  if (situation.system === 'mac')
    return [
      {
        text: 'A Mac has no CUDA: load the model without 8-bit or 4-bit quantization, or quantized for MLX or llama.cpp (GGUF).',
      },
    ]
  const rocm = rocmIn(text)
  // Windows has ROCm libraries since 0.50: https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1915, merged in April 2026.
  if (rocm !== undefined && !/\/bitsandbytes\/bitsandbytes\/lib/.test(text))
    return [
      {
        text: UNFIT.test(text)
          ? `Install the newest release in place of this build: its library for ROCm ${rocm} lacks a function. AMD is supported from 0.50 on.`
          : `Install the newest release: wheels before 0.50 have ${situation.system === 'windows' ? 'no library for ROCm on Windows' : 'libraries for few releases of ROCm'}, newer ones take the nearest of the same major version.`,
        command: pipInstall(situation, 'bitsandbytes', '--force-reinstall --no-deps --upgrade'),
      },
      {
        text: `See which ROCm your PyTorch was built for, and whether it sees the GPU.`,
        command: printTorch('torch.version.hip, torch.cuda.is_available()'),
      },
    ]
  const cuda = wanted(matched)
  const capability = /[Cc]ompute [Cc]apability[^\d\n]{0,40}(\d{1,2}\.\d)\b/.exec(text)?.[1]
  const kepler = capability !== undefined && Number(capability) < 5
  const source = /\/bitsandbytes\/bitsandbytes\/libbitsandbytes/.test(text) && !/(?:site|dist)-packages\/bitsandbytes\/bitsandbytes\//.test(text)
  // The set-up that printed so ended with 0.43: its sources know no CMake.
  const old = source && !kepler && /CUDA[_ ]SETUP/.test(text)
  const backend = situation.vendor === 'amd' ? 'hip' : 'cuda'
  const compile: Piece = {
    text: kepler
      ? `Compile it for this GPU: its compute capability is ${capability}, and released wheels have no code for Kepler. Or use a newer GPU.`
      : source
        ? `The folder is an uncompiled source tree: compile it${cuda === undefined ? '' : ` for CUDA ${named(cuda)}`}, or work outside of it and install the wheel.`
        : `Or compile it from source for CUDA ${cuda === undefined ? 'in your version' : named(cuda)}.`,
    command: `cmake -DCOMPUTE_BACKEND=${backend} -S . && make && pip install -e .`,
  }
  const neighbour = cuda === undefined ? undefined : NEWEST[cuda.slice(0, 2)]
  if (/libbitsandbytes_\w{1,20}\.dll: invalid ELF header/.test(text))
    return [
      {
        text: 'bitsandbytes loads a Windows DLL on Linux: reinstall it, without packages or patches made for Windows.',
        command: pipInstall(situation, 'bitsandbytes', '--force-reinstall --no-deps --upgrade'),
      },
    ]
  return [
    /libcuda\.so not found/.test(text) && {
      text: "libcuda.so, which comes with the driver, is not where the loader looks: a container needs the GPU (--gpus all), and under WSL the driver's folder may have to be named.",
      command:
        situation.system === 'wsl'
          ? 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH'
          : 'ldconfig -p | grep libcuda.so; ls /usr/lib/wsl/lib 2>/dev/null',
    },
    // Not even the library for the CPU is there.
    source && !old && !kepler && /libbitsandbytes_cpu\.so: cannot open/.test(text) && compile,
    /BNB_CUDA_VERSION=\d{2,3} environment variable detected/.test(text) && {
      text: `BNB_CUDA_VERSION chose that library. If nobody set it on purpose, leave it out: bitsandbytes then takes the CUDA of PyTorch.`,
      command: situation.system === 'windows' ? 'set BNB_CUDA_VERSION=' : 'unset BNB_CUDA_VERSION',
    },
    (kepler || (source && !old)) && compile,
    old && {
      text: 'Leave the folder with the sources, which belong to an old release, and install the newest wheel.',
      command: pipInstall(situation, 'bitsandbytes', '--upgrade'),
    },
    !kepler &&
      !source &&
      (/requires Accelerate\b/.test(situation.text)
        ? {
            text: 'Transformers asks for both: install the newest Accelerate and bitsandbytes, where it runs (notebook: then restart the kernel).',
            command: pipInstall(situation, 'accelerate bitsandbytes', '--upgrade'),
          }
        : {
            text:
              situation.system === 'windows'
                ? 'Install the newest release of bitsandbytes: wheels before 0.43 have no library for Windows.'
                : cuda === undefined
                  ? 'Install the newest release of bitsandbytes.'
                  : `Install the newest release of bitsandbytes: older ones may have no binary for CUDA ${named(cuda)}.`,
            command: pipInstall(situation, 'bitsandbytes', '--upgrade'),
          }),
    !kepler &&
      !source &&
      cuda !== undefined &&
      neighbour !== undefined &&
      neighbour !== cuda &&
      (Number(cuda) > Number(neighbour) || Number(cuda) < SUPPORTED_FROM) && {
        text: `If no release has one for CUDA ${named(cuda)}: use the binary of ${named(neighbour)}, the same major version.`,
        command: setVariables(situation, { BNB_CUDA_VERSION: neighbour }),
      },
    cuda === undefined &&
      !/python -m bitsandbytes\s*$|^\$\s+python -m bitsandbytes/m.test(text) && { text: 'See what bitsandbytes finds.', command: 'python -m bitsandbytes' },
    !kepler &&
      cuda === undefined && {
        text: `See which ${situation.vendor === 'amd' ? 'ROCm' : 'CUDA'} your PyTorch was built for, and whether it sees the GPU.`,
        command: printTorch(`torch.version.${situation.vendor === 'amd' ? 'hip' : 'cuda'}, torch.cuda.is_available()`),
      },
  ]
}

const BINARY = /libbitsandbytes_(?:cuda|rocm|hip|xpu)\w{0,40}\.(?:so|dll|dylib)/
/** The binary that was looked for is in the message or, in its older form, some lines around. */
function library({ message, text, at }: Seen): string | undefined {
  const lines = unlisted(around(text, at, 12, 12))
  const inMessage = BINARY.exec(message)?.[0]
  if (inMessage !== undefined && lines.includes(inMessage)) return inMessage
  return BINARY.exec(lines)?.[0] ?? /libbitsandbytes_cpu\.so(?=: undefined)/.exec(message)?.[0]
}
const facts = (seen: Seen): ReturnType<typeof known> => known({ library: library(seen) })

const rule = (pattern: RegExp, verdict: string, severity: Rule['severity'] = 'critical'): Rule => ({
  pattern,
  severity,
  title: 'bitsandbytes cannot use the GPU',
  verdict: (matched) => {
    const cuda = wanted(matched)
    const apple = matched.situation().system === 'mac' ? ' On a Mac there is no CUDA.' : ''
    const release = rocmIn(matched.situation().text)
    if (UNFIT.test(matched.message))
      return `The GPU library of bitsandbytes${release === undefined ? '' : ` for ROCm ${release}`} does not load: a function is missing in it (undefined symbol). It was built wrongly, or for other releases.`
    if (release !== undefined) return verdict.replace('the CUDA version that it detected', `ROCm ${release}`)
    const rocm = matched.situation().vendor === 'amd' ? verdict.replace('the CUDA version', 'the ROCm version') : verdict
    if (cuda === undefined) return `${rocm}${apple}`
    const detected = 'the CUDA version that it detected'
    const file = library(matched)
    return verdict.includes(detected)
      ? verdict.replace(detected, `CUDA ${named(cuda)}${file?.includes('cuda') === true ? ` (${file})` : ''}`)
      : `${verdict} It looked for CUDA ${named(cuda)}.`
  },
  remedies,
  facts,
})
const NO_BINARY = 'bitsandbytes has no compiled library for the CUDA version that it detected, so 8-bit and 4-bit quantization do not work.'
const NO_GPU = 'The bitsandbytes that is installed was built without GPU support, or fell back to its CPU library; quantization on the GPU does not work.'
const CPU_LIBRARY = 'bitsandbytes loaded its CPU library, which has no 8-bit and 4-bit functions: it found no CUDA runtime (libcudart) or no GPU.'
const NOT_SET_UP = 'bitsandbytes could not set itself up for the GPU: its CUDA library did not load.'

export const bitsandbytesSetup = ruleFamily({
  id: 'bitsandbytes-setup',
  kind: 'bitsandbytes_setup',
  literals: [
    'Required library version not found',
    'CUDA Setup failed despite',
    'CUDA SETUP: ',
    'Configured CUDA binary not found',
    'Configured ROCm binary not found',
    'bitsandbytes library load error',
    'Could not find the bitsandbytes CUDA binary',
    'compiled without GPU support',
    'bitsandbytes native library',
    'libbitsandbytes_',
    'bitsandbytes` 8-bit quantization',
    'bitsandbytes` 4-bit quantization',
    'CUDA is required but not available for bitsandbytes',
    'metadata was found for bitsandbytes',
    "'NoneType' object has no attribute 'c",
    "function 'c",
    'quantizer_bnb_',
    'The 8-bit optimizer is not available',
    'the latest version of bitsandbytes',
    "No module named 'bitsandbytes",
    'Please install bitsandbytes',
    'Forgot to compile the bitsandbytes',
  ],
  rules: [
    rule(/Required library version not found: ?libbitsandbytes/, NO_BINARY),
    rule(/Configured (?:CUDA|ROCm) binary not found at/, NO_BINARY),
    rule(/Could not find the bitsandbytes (?:CUDA|ROCm) binary at/, NO_BINARY),
    rule(/bitsandbytes library load error|Forgot to compile the bitsandbytes library/, NO_BINARY),
    rule(/libbitsandbytes_cpu\.(?:so|dll): undefined symbol/, CPU_LIBRARY),
    rule(/libbitsandbytes_\w{1,40}\.(?:so|dll): (?:undefined symbol|cannot open shared object file)/, NO_BINARY),
    rule(/libbitsandbytes_\w{1,40}\.dll: invalid ELF header/, 'bitsandbytes loads a library of Windows (.dll), which Linux cannot read.'),
    rule(/CUDA Setup failed despite (?:GPU|CUDA) being available/, NOT_SET_UP),
    rule(/CUDA SETUP: (?:CUDA detection failed|Setup Failed|Something unexpected)/, NOT_SET_UP),
    rule(/CUDA SETUP: WARNING! lib\w{1,20}\.so not found/, NOT_SET_UP),
    rule(/CUDA SETUP: Defaulting to libbitsandbytes_cpu/, NO_GPU),
    rule(/Could not find module '[^'\n]{0,300}libbitsandbytes_\w{1,40}\.(?:so|dll)'/, NO_BINARY),
    // Before 0.43 it looked for a library of Linux on Windows too.
    rule(/^bin [A-Z]:\\[^\n]{0,200}libbitsandbytes_cpu\.so/, NO_GPU),
    rule(/CUDA SETUP: Loading binary \S{0,300}libbitsandbytes_cpu\.so/, NO_GPU, 'warning'),
    rule(/bitsandbytes.{0,40} was compiled without GPU support/, NO_GPU, 'warning'),
    rule(
      /(?:'NoneType' object has no attribute|^function) 'c(?:adam|quantize|dequantize|lamb|lion|momentum|rmsprop|adagrad|percentile|igemm|gemm|get_|ig|histogram)\w{0,60}'(?: not found)?/,
      NO_GPU,
    ),
    rule(/[Aa]ttempted to use bitsandbytes native library functionality but it's not available/, NOT_SET_UP),
    rule(/CUDA is required but not available for bitsandbytes/, NOT_SET_UP),
    rule(/The 8-bit optimizer is not available on your device/, NO_GPU),
    rule(
      /(?:requires|and) the latest version of bitsandbytes|No module named 'bitsandbytes|Please install bitsandbytes|`bitsandbytes` [48]-bit quantization requires|No package metadata was found for bitsandbytes/i,
      'Quantized loading was requested, and bitsandbytes is missing, too old, or does not work here.',
    ),
    // A traceback that goes through the quantizer's own check: whatever it ends in, the set-up is what failed.
    {
      ...rule(
        /quantizer_bnb_[48]bit\.py", line \d{1,6}, in validate_environment/,
        'transformers refused to load the quantized model: bitsandbytes is missing, too old, or has no working GPU library.',
      ),
      // It fails there when memory runs out, too.
      unless: ({ text, at }) => /dispatched on the CPU or the disk/.test(around(text, at, 0, 8)),
    },
  ],
})
