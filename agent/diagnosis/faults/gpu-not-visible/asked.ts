// A framework that was asked at a prompt finds no GPU (the answers get their names from `unwrap/answers.ts`).
import { python, printTorch } from '../remedies/environment.ts'
import { pipInstall } from '../remedies/pip.ts'
import type { Matched, Rule, Seen } from '../parts/rules.ts'
import { compareVersions } from '../../situation/versions.ts'
import { around } from '../parts/window.ts'
import { build, CONDA_CPU, program } from './program-remedies.ts'

export const ASKED_LITERALS = [
  'torch.cuda.is_available() = False',
  'torch.cuda.device_count() = 0',
  ".list_physical_devices('GPU') = []",
  'jax.devices() = [CpuDevice',
  "jax.default_backend() = 'cpu'",
  'get_available_providers() = [',
]

/** The version's own word, or a release of CUDA that is None: a prompt then shows nothing, and the next prompt follows. */
const FOR_CPU =
  /\btorch\.__version__ = '?[\d.]{1,12}\+cpu\b|\btorch\.version\.cuda = None|>>> (?:print\()?torch\.version\.cuda\)?\s*\n(?:None\b|>>>)|^torch\s{1,20}[\d.]{1,12}\+cpu\b/m
const CPU_VERSION = /\b\d\.\d{1,2}\.\d\+cpu\b/
const forCpu = ({ situation }: Matched): boolean => FOR_CPU.test(situation().text) || CONDA_CPU.test(situation().text)
function cpuVersion({ situation }: Matched): string {
  const version = CPU_VERSION.exec(situation().text)?.[0]
  return version === undefined ? '' : ` (${version})`
}
/** The CUDA that PyTorch was built for, by the answer or the end of its version: `+cu121` is 12.1. */
function builtFor({ situation }: Matched): string | undefined {
  const [, reported, major, minor] =
    /\btorch\.version\.cuda = '?(\d{1,2}\.\d)|\btorch\.__version__ = '?[\d.]{1,12}\+cu(\d{2})(\d)\b/.exec(situation().text) ?? []
  return reported ?? (major === undefined ? undefined : `${major}.${minor}`)
}
/** nvidia-smi, in the same text, names a CUDA that is no older. */
function knowsIt(matched: Matched): boolean {
  const built = builtFor(matched)
  const { driverCuda } = matched.situation().versions
  return built !== undefined && driverCuda !== undefined && compareVersions(driverCuda, built) >= 0
}
/** It says itself why, in a warning. */
const SAYS_WHY = /CUDA initialization|driver on your system|CUDA driver|NVML|Error \d{3}:/
const saidWhy = ({ text, at }: Seen): boolean => SAYS_WHY.test(around(text, at, 8, 4))

export const askedRules: readonly Rule[] = [
  {
    pattern: /torch\.cuda\.is_available\(\) = False|torch\.cuda\.device_count\(\) = 0\b/,
    severity: 'critical',
    title: (matched) => (forCpu(matched) ? 'A build without CUDA' : 'PyTorch sees no GPU'),
    verdict: (matched) =>
      forCpu(matched)
        ? `The PyTorch that is installed${cpuVersion(matched)} is a build for the CPU only, so it cannot see any GPU.`
        : builtFor(matched) === undefined
          ? 'PyTorch sees no GPU: it is a build for the CPU, the driver does not answer here, or no GPU was given to this container or process.'
          : `PyTorch, which was built for CUDA ${builtFor(matched)}, sees no GPU: the driver does not answer here${knowsIt(matched) ? '' : ' or is too old for that'}, or no GPU was given to this container or process.`,
    remedies: (matched) =>
      forCpu(matched)
        ? build(matched)
        : [
            builtFor(matched) === undefined && {
              text: 'See for which CUDA this PyTorch was built (None: for the CPU only, install one with CUDA in its place).',
              command: printTorch('torch.__version__, torch.version.cuda'),
            },
            program(matched),
          ],
    unless: saidWhy,
  },
  {
    pattern: /\.list_physical_devices\('GPU'\) = \[\]/,
    severity: 'critical',
    title: 'TensorFlow sees no GPU',
    verdict: 'TensorFlow sees no GPU: its CUDA libraries are not installed, the driver does not answer here, or no GPU was given to this container or process.',
    remedies: (matched) => [
      {
        text: 'If nvidia-smi shows the GPU: install TensorFlow with its CUDA libraries (Linux and WSL2; on Windows itself TensorFlow has used no GPU since 2.11).',
        command: pipInstall(matched.situation(), "'tensorflow[and-cuda]'", '--upgrade'),
      },
      program(matched),
    ],
  },
  {
    pattern: /jax\.devices\(\) = \[CpuDevice|jax\.default_backend\(\) = 'cpu'/,
    severity: 'critical',
    title: 'JAX sees no GPU',
    verdict:
      'JAX computes on the CPU: its plugin for CUDA is not installed, the driver does not answer here, or no GPU was given to this container or process.',
    remedies: (matched) => [
      {
        text: 'If nvidia-smi shows the GPU: install JAX with its plugin for CUDA.',
        command: pipInstall(matched.situation(), "'jax[cuda12]'", '--upgrade'),
      },
      program(matched),
    ],
  },
  {
    pattern: /get_available_providers\(\) = \[(?![^\]]{0,300}(?:CUDA|Tensorrt|ROCM|MIGraphX|Dml|OpenVINO|CoreML))[^\]]{0,300}\]/,
    severity: 'critical',
    title: 'An ONNX Runtime for the CPU',
    verdict: 'The ONNX Runtime that is installed has no provider for a GPU: it is the package for the CPU, or it was installed over the one for the GPU.',
    remedies: ({ situation }) => [
      {
        text: 'Leave only the package for the GPU: where both are installed, the one for the CPU can win.',
        command: `python -m pip uninstall -y onnxruntime onnxruntime-gpu && ${pipInstall(situation(), 'onnxruntime-gpu')}`,
      },
      { text: 'See what it has then.', command: python('import onnxruntime; print(onnxruntime.get_available_providers())') },
    ],
  },
]
