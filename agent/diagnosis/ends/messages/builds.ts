// What compilers of C++ and CUDA say while an extension of Python is built from source: the cause, and what to change.
import { pipInstall } from '../../faults/remedies/pip.ts'
import { compilerSaid } from '../compiler-error.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const SUBMODULES = 'git submodule update --init --recursive'
const NATIVE = "Install Visual Studio's Build Tools with the workload for C++, and build in its x64 Native Tools Command Prompt, where cl is found."
const OLDER = 'The extension is older than the installed PyTorch'
const ROWS: readonly Row[] = [
  [
    /Ninja is required to load C\+\+ extensions/,
    'Install ninja into the environment that runs the program; the folder bin of that environment must be in PATH.',
    'python -m pip install ninja',
    'PyTorch compiles the extension with it, and does not find it.',
    'Ninja is not installed',
  ],
  [
    /error {0,4}: (?:Instruction|Feature|Modifier) '[^'\n]{2,160}' (?:not supported on \.target|requires \.target|cannot be compiled for architecture)/,
    'Build for the architectures only that this source has kernels for, or take a release of it that supports this GPU: its notes name both.',
    'nvidia-smi --query-gpu=name,compute_cap --format=csv',
    'The kernel uses instructions that exist on one GPU architecture only, and the build compiles it for another.',
    'A kernel is written for another GPU architecture',
  ],
  [
    /fatal error: (?:glm|cutlass|cute|pybind11|fmt|json|nlohmann|tinyobj|third[-_]party|cub|Eigen|eigen3)\/[\w./+-]{1,80}: No such file/,
    'Fetch the submodules of the repository, from which this header comes, and build again. (A download as ZIP has none: clone it with --recursive.)',
    SUBMODULES,
    undefined,
    'A git submodule is missing',
  ],
  [
    /You need C\+\+(17|20) to compile PyTorch|C\+\+17 or later compatible compiler is required/,
    "Take -std=c++14 out of the extension's setup.py (newer PyTorch needs c++17), or use a newer release of it.",
    undefined,
    undefined,
    OLDER,
  ],
  [
    /(?:FlashAttention|[\w ]{2,30}) is only supported on CUDA (\d{2}\.\d) and above/,
    'Install a newer CUDA toolkit, of the CUDA of the installed PyTorch, and let the build find it. Better: take a ready wheel from the release page that fits Python, PyTorch, CUDA and the C++ ABI: it needs no nvcc.',
    'nvcc --version; python -c "import sys, torch; print(sys.version[:4], torch.__version__, torch.version.cuda, torch._C._GLIBCXX_USE_CXX11_ABI)"',
    'The nvcc that the build found is older than that.',
    'The CUDA toolkit is too old for the build',
  ],
  [
    /unsupported Microsoft Visual Studio version/,
    'Install the toolset of a Visual Studio that this CUDA knows (its Build Tools 2022 for CUDA 11.6 to 12.x) and build with it, or use a newer CUDA toolkit.',
    'nvcc --version && cl',
    undefined,
    'This CUDA toolkit does not know the Visual Studio that is installed',
  ],
  [
    /Error checking compiler version for cl|'cl' is not recognized|Microsoft Visual C\+\+ 14\.0 or greater is required|Unable to find a compatible Visual Studio installation|Cannot find compiler 'cl\.exe'/,
    NATIVE,
    undefined,
    undefined,
    'The compiler of Visual C++ is missing',
  ],
  [
    /Filename longer than 260 characters|filename or extension is too long|path too long/i,
    'Move the project to a short path (C:\\src\\NAME) and build there: ninja and the compiler take no longer paths on Windows.',
    undefined,
    undefined,
    "A path of the build is longer than Windows' 260 characters",
  ],
  [
    /Killed signal terminated program|died due to signal 9|nvcc.{0,80}\bKilled\b|Exception: .{0,40}cc1plus.{0,20}killed/,
    'Compile fewer files at once: each nvcc takes several GiB of host memory.',
    'export MAX_JOBS=2',
    "The kernel killed a compiler: the host's memory did not suffice for as many at once.",
    'The host ran out of memory while it compiled',
  ],
  [
    /exception specification is incompatible with that of previous function "(?:cospi|sinpi|rsqrt)/,
    'Use a newer CUDA toolkit, or build in a container of an older distribution: this toolkit does not know glibc 2.41.',
    'nvcc --version; ldd --version | head -n 1',
    undefined,
    'This CUDA toolkit does not fit the glibc of the host',
  ],
  [
    /Compatibility with CMake < 3\.5 has been removed/,
    'Let CMake 4 take the old project, or use CMake 3.',
    'export CMAKE_POLICY_VERSION_MINIMUM=3.5',
    'The project was written for an older CMake, and CMake 4 refuses it.',
    'CMake is too new for the project',
  ],
  [
    /cannot find -lcudart/,
    'Let the linker find the libraries of the CUDA toolkit.',
    'export LIBRARY_PATH="${CUDA_HOME:-/usr/local/cuda}/lib64:$LIBRARY_PATH"',
    undefined,
    'The linker does not find the CUDA runtime',
  ],
  [
    /Unknown CUDA arch \(([\d.+A-Za-z]{1,12})\)/,
    'Update PyTorch to a release that knows the GPU, or name capabilities that it knows and let the driver compile on.',
    'export TORCH_CUDA_ARCH_LIST="9.0+PTX"',
    undefined,
    'This PyTorch does not know the compute capability',
  ],
]
const wheelOf = (text: string): string | undefined => /Guessing wheel URL: {1,4}(https:\/\/[\w./%+-]{10,300}\.whl)/.exec(text)?.[1]
/** The file in which the compiler stopped, as the text names it. */
const source = ({ situation }: EndContext): string => /([\w.-]{1,80}\.(?:cuh?|cpp|cc|h|hpp))(?:\(\d{1,6}\)|:\d{1,6})/.exec(situation.text)?.[1] ?? 'the file'

export const BUILDS: readonly Known[] = [
  {
    // The setup of flash-attn, mamba-ssm and causal-conv1d fetches a ready wheel.
    pattern: /<urlopen error|Remote end closed connection/,
    when: ({ situation }) => wheelOf(situation.text) !== undefined,
    title: (_, context) => `The build could not fetch its wheel from ${/github\.com/.test(wheelOf(context.situation.text) ?? '') ? 'GitHub' : 'its server'}`,
    remedies: (_, { situation }) => [
      {
        text: 'Let the host reach it (proxy: HTTPS_PROXY), or fetch the wheel elsewhere and install the file; its name must fit Python, PyTorch, CUDA and the C++ ABI.',
        command: `curl -fLO ${wheelOf(situation.text) ?? '<WHEEL>'}`,
      },
    ],
  },
  {
    pattern:
      /(?:identifier|\W)\W?((?:FLT|DBL|INT|UINT|SHRT|LONG)_(?:MAX|MIN)|u?int(?:8|16|32|64)_t|uintptr_t)\W{1,3}(?:is undefined|was not declared|does not name a type|has not been declared)/,
    title: (_, context) => `${source(context)} lacks an include`,
    says: 'Other headers no longer bring it along with this compiler.',
    remedies: ([, name = ''], context) => [
      {
        text: `Add #include <${/^(?:FLT|DBL)/.test(name) ? 'cfloat' : name.endsWith('_t') ? 'cstdint' : 'climits'}> at the top of ${source(context)} and build again, or take a newer revision of the repository.`,
      },
    ],
  },
  {
    // torch.utils.cpp_extension asks the GPUs that it sees.
    pattern: /^list index out of range/,
    when: ({ error }) => error?.frames.at(-1)?.name === '_get_cuda_arch_flags',
    title: 'No GPU is visible where the extension is built',
    says: 'PyTorch asks the visible GPUs for what it shall compile, and found none (docker build has none).',
    remedies: () => [
      {
        text: 'Name the compute capability of the GPU on which it will run (8.0: A100; 8.6: RTX 30; 8.9: RTX 40, L4; 9.0: H100; 12.0: RTX 50).',
        command: 'export TORCH_CUDA_ARCH_LIST=<CAPABILITY>',
      },
    ],
  },
  {
    pattern: /expected string or bytes-like object|NoneType/,
    when: ({ error }) => error?.frames.some(({ code }) => code?.includes('torch.version.cuda')) === true,
    title: 'The PyTorch of the build has no CUDA',
    says: 'torch.version.cuda is None in it: it was built for CPUs.',
    remedies: (_, { error, situation }) =>
      error?.frames.some(({ file }) => file.includes('pip-build-env')) === true
        ? [
            {
              text: 'pip took a PyTorch of its own for the build (for Windows PyPI has only the one for CPUs): build against the installed one, without isolation.',
              command: pipInstall(situation, '--no-build-isolation <PACKAGE>'),
            },
          ]
        : [
            {
              text: 'Install a PyTorch with CUDA in its place, then build again (pytorch.org/get-started names the index of each CUDA).',
              command: 'python -m pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/<CUDA>',
            },
            { text: 'See which one is installed.', command: 'python -c "import torch; print(torch.__version__, torch.version.cuda)"' },
          ],
  },
  {
    // flashinfer/jit/cpp_ext.py, deep_gemm, and others that compile when they are first used.
    pattern: /Could not find nvcc\b/,
    title: 'There is no nvcc to compile kernels with',
    says: 'Kernels are compiled when they are first used, which needs the CUDA toolkit, and not only what PyTorch brings.',
    remedies: (_, { situation }) => [
      {
        text: "Install the CUDA toolkit in the version that PyTorch was built with (NVIDIA's images ending in -devel have it), and name it.",
        command: `python -c "import torch; print(torch.version.cuda)"\nexport CUDA_HOME=/usr/local/cuda`,
      },
      situation.text.includes('flashinfer') &&
        situation.programs.has('sglang') && { text: 'Or do without FlashInfer.', command: '--attention-backend triton --sampling-backend pytorch' },
      situation.text.includes('flashinfer') &&
        situation.programs.has('vllm') && {
          text: 'Or sample without FlashInfer, where that is what asks for it.',
          command: 'export VLLM_USE_FLASHINFER_SAMPLER=0',
        },
    ],
  },
  ...ofRows(ROWS),
  {
    // The compiler's own words are not in the text.
    pattern: /Could not build wheels for|Failed to build installable wheels|Failed building wheel for/,
    when: (context) => compilerSaid(context) === undefined && /Precompiled wheel not found|Guessing wheel URL/.test(context.situation.text),
    title: 'There is no ready wheel for these versions',
    says: 'Its setup found no wheel that fits Python, PyTorch, CUDA and the system, and compiling it failed.',
    remedies: (_, { situation }) => [
      {
        text: `Install a release of which there is a wheel for these versions: its name holds all of them${/win_amd64/.test(wheelOf(situation.text) ?? '') ? '; flash-attn itself publishes wheels for Linux only' : ''}.`,
        command: 'python -c "import sys, torch; print(sys.version[:4], torch.__version__, torch.version.cuda, torch._C._GLIBCXX_USE_CXX11_ABI)"',
      },
      /could not find ninja/.test(situation.text) && {
        text: 'Or compile it: install ninja first, without which it takes hours; the CUDA toolkit must be of the CUDA of this PyTorch.',
        command: 'python -m pip install ninja packaging && nvcc --version',
      },
      { text: 'The first error of the compiler is the one that counts: look further above for "error:".' },
    ],
  },
]
