// A compiled Python extension that does not fit the installed PyTorch: the loader misses a name of its C++ interface.
import { lookup } from '../../text/lookup.ts'
import { printTorch } from './remedies/environment.ts'
import { mayBeIgnored } from './parts/optional-libraries.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known } from './parts/window.ts'
import { installerOf, pipInstall } from './remedies/pip.ts'
import { installs, madeFor, rebuilds } from '../ends/python-packages.ts'
import type { Piece } from './remedies/plan.ts'
import { compareVersions } from '../situation/versions.ts'

/** Mangled names of c10, at and torch: only PyTorch's own libraries have them. */
const SYMBOL =
  /(?<![\w.-])(?:\/[^\s:'"]{0,300}\/)?([\w.-]{1,120}\.so(?:\.\d{1,6}){0,3}) ?: undefined symbol: ((?:_ZN?K?(?:3c10|2at|5torch)|aoti_torch_|THP[A-Z])\w{1,300})/

/** Distributions by the modules that they install. */
const DISTRIBUTIONS: readonly (readonly [module: RegExp, name: string])[] = [
  [/^flash_attn/, 'flash-attn'],
  [/^(?:xformers|_C_flashattention)/, 'xformers'],
  [/^(?:vllm|_vllm)/, 'vllm'],
  [/^(?:torchvision|image)$/, 'torchvision'],
  [/^(?:torchaudio|_torchaudio|libtorchaudio)/, 'torchaudio'],
  [/^torchcodec/, 'torchcodec'],
  [/^(?:apex|amp_C|fused_layer_norm)/, 'apex'],
  [/^(?:torch_scatter|_scatter)/, 'torch-scatter'],
  [/^(?:torch_sparse)/, 'torch-sparse'],
  [/^(?:mamba|selective_scan)/, 'mamba-ssm'],
  [/^(?:causal_conv1d)/, 'causal-conv1d'],
  [/^(?:deep_gemm)/, 'deep-gemm'],
  [/^(?:sgl_kernel|common_ops)/, 'sgl-kernel'],
  [/^transformer_engine_torch/, 'transformer-engine-torch'],
  [/^transformer_engine/, 'transformer-engine'],
]
/** Its name on PyPI is a package of packages: the extension itself is the one for PyTorch, or comes with the sources. */
const TRANSFORMER_ENGINE: Readonly<Record<string, string>> = {
  'transformer-engine-torch': '--no-build-isolation transformer-engine-torch',
  'transformer-engine': '--no-build-isolation git+https://github.com/NVIDIA/TransformerEngine.git@stable',
}
const moduleOf = (file: string): string => file.replace(/\.(?:cpython|abi3)?[\w.-]*$/, '').replace(/^lib/, '')
/** The package whose code imports the file, by the frame above it in the traceback. */
function importer({ text, at }: Pick<Seen, 'text' | 'at'>, module: string): string | undefined {
  const above = text.slice(Math.max(0, at - 6), at)
  const line = above.findLastIndex((one) => new RegExp(`\\b(?:from|import) ${module}\\b`).test(one))
  return line < 0 ? undefined : /[\\/](?:site|dist)-packages[\\/]([A-Za-z]\w{1,40})[\\/]/.exec(above[line - 1] ?? '')?.[1]?.replaceAll('_', '-')
}
function distribution({ match, text, at }: Pick<Seen, 'match' | 'text' | 'at'>): string | undefined {
  const module = moduleOf(match[1] ?? '')
  const folder = /(?:site|dist)-packages\/([\w-]{1,60})\/[^\s]*$/.exec(match[0].split(': undefined')[0] ?? '')?.[1]
  // A package that was built in place has its folder's name twice: vllm/vllm/_C.abi3.so.
  const inPlace = /\/([a-z][\w-]{2,40})\/\1\/[\w.-]{1,80}$/.exec(match[0].split(': undefined')[0] ?? '')?.[1]
  return (
    DISTRIBUTIONS.find(([pattern]) => pattern.test(module))?.[1] ??
    inPlace ??
    (folder === undefined || folder === 'torch' ? (/^\w{2,60}$/.test(module) ? importer({ text, at }, module) : undefined) : folder.replaceAll('_', '-'))
  )
}

/** Their wheels name the one release of PyTorch that they were built for: pip brings it along. */
const NAMES_ITS_TORCH = /^(?:vllm|xformers|torchvision|torchaudio)$/
/** For which PyTorch it was built, where the name that it looks for has changed between releases (c10/cuda/CUDAFunctions.h: 2.3 and 2.8). */
const BUILT_FOR: readonly (readonly [symbol: RegExp, releases: string])[] = [
  [/^_ZN3c104cuda9SetDeviceEi$/, '2.1 or 2.2'],
  [/^_ZN3c104cuda9SetDeviceEa$/, '2.3 to 2.7'],
  [/^_ZN3c104cuda9SetDeviceEab$/, '2.8 or newer'],
]
/** The C++ ABI is part of every name that takes a string: wheels of PyTorch for Linux have the new one from 2.7 on, before 2.6 the old one. */
function otherAbi({ match, situation }: Pick<Seen, 'match' | 'situation'>): 'TRUE' | 'FALSE' | undefined {
  const { torch } = situation().versions
  const symbol = match[2] ?? ''
  if (torch === undefined || !symbol.startsWith('_ZN3c105Error')) return undefined
  if (symbol.includes('__cxx11') && compareVersions(torch, '2.6') < 0) return 'FALSE'
  return /E(?:Ss|S[0-9A-Z]?_?Ss)$/.test(symbol) && compareVersions(torch, '2.7') >= 0 ? 'TRUE' : undefined
}

function remedies(matched: Matched): readonly Piece[] {
  const name = distribution(matched)
  const release =
    name === undefined ? undefined : madeFor(name, matched.situation().versions.torch ?? /PyTorch version \((2\.\d{1,2})/.exec(matched.situation().text)?.[1])
  const builtFor = BUILT_FOR.find(([symbol]) => symbol.test(matched.match[2] ?? ''))?.[1]
  const abi = otherAbi(matched)
  const wheel = /torch(\d\.\d{1,2})cxx11abi(TRUE|FALSE)/i.exec(matched.situation().text)
  return [
    abi !== undefined && {
      text: `It was built with the ${abi === 'FALSE' ? 'new' : 'old'} C++ ABI, and pip's PyTorch ${matched.situation().versions.torch} has the ${abi === 'FALSE' ? 'old' : 'new'} one: of ready wheels take the one with cxx11abi${abi} in its name.`,
    },
    name !== undefined && NAMES_ITS_TORCH.test(name) && release === undefined && !/[\\/](vllm|xformers|vision|audio)[\\/]\1[\\/]/.test(matched.match[0])
      ? {
          text: `Install ${name} again, and let pip replace PyTorch by the release that this wheel was built for.`,
          command: pipInstall(matched.situation(), name, '--force-reinstall --no-cache-dir'),
        }
      : {
          text: `Reinstall ${name ?? 'the extension'} so that it is built for, or matches, the PyTorch that is installed.`,
          command: pipInstall(
            matched.situation(),
            release !== undefined
              ? `'${name}==${release}'`
              : name === undefined
                ? '<PACKAGE>'
                : (lookup(TRANSFORMER_ENGINE, name) ?? rebuilds(name.replaceAll('-', '_'), matched.situation())),
            '--force-reinstall --no-cache-dir --no-deps',
          ),
        },
    {
      text: `Or install the PyTorch that this build of ${name ?? 'the extension'} was made for: ${builtFor !== undefined ? `${builtFor}, by the name that it looks for` : wheel === null ? 'the name of its wheel or its release page says which' : `its wheel says PyTorch ${wheel[1]}, cxx11abi ${wheel[2]}`}.`,
    },
    name === 'apex' && {
      text: 'Or do without apex: PyTorch 2 has layer norm, fused optimizers and mixed precision of its own, and most programs use apex only where it is installed.',
      command: 'pip uninstall apex',
      destroys: true,
    },
    name !== 'apex' && {
      text: 'See for what a wheel must be made here: Python, PyTorch, CUDA and the C++ ABI (cxx11abi) must all be those of its name.',
      command: 'python -c "import sys, torch; print(sys.version[:4], torch.__version__, torch.version.cuda, torch._C._GLIBCXX_USE_CXX11_ABI)"',
    },
  ]
}

const installerName = ({ situation }: Matched): string => (installerOf(situation()) === 'uv' ? 'uv' : 'pip')
/** What is missing is so in the environment itself. */
const unisolated = ({ text, at }: Pick<Seen, 'text' | 'at'>): boolean =>
  /(?:install|wheel|sync|add)\b[^\n]{0,200}--no-build-isolation/.test(around(text, at, 40, 0))

const before = ({ text, at }: Pick<Seen, 'text' | 'at'>): string => around(text, at, 24, 0)

export const missingDependency = ruleFamily({
  id: 'missing-dependency',
  kind: 'missing_dependency',
  literals: [
    "ModuleNotFoundError: No module named '",
    'No operator found for `memory_efficient',
    'undefined symbol: _Z',
    // Rich wraps behind the file.
    '-linux-gnu.so',
    'undefined symbol: aoti_torch_',
    'undefined symbol: THP',
    "xFormers wasn't build with CUDA",
    "xFormers can't load C++/CUDA",
  ],
  facts: ({ match }) => known({ module: match[1] === undefined ? 'xformers' : moduleOf(match[1]), pattern: 'abi' }),
  rules: [
    {
      pattern: SYMBOL,
      severity: (seen) => (mayBeIgnored(seen) ? 'warning' : 'critical'),
      title: 'An extension does not fit the installed PyTorch',
      verdict: (matched) =>
        `${distribution(matched) ?? matched.match[1] ?? 'An extension'} was built against another PyTorch than the one that is installed${matched.situation().versions.torch === undefined ? '' : ` (${matched.situation().versions.torch})`}: the name that it looks for is one of PyTorch's own.`,
      remedies,
      unless: ({ match }) => (match[1] ?? '').includes('bitsandbytes'),
    },
    {
      // pip builds a package in an environment of its own, without what is installed.
      pattern: /ModuleNotFoundError: No module named '(torch|numpy|packaging|wheel|psutil|ninja|pkg_resources|setuptools|Cython|cffi|pybind11)'/,
      severity: 'critical',
      title: (matched) =>
        unisolated(matched) ? `${matched.match[1]} is missing for a build` : `${installerName(matched)} hides ${matched.match[1]} from a build`,
      verdict: (matched) =>
        `A package asks for ${matched.match[1]} while it is built, ${unisolated(matched) ? 'and the environment does not have it (pip builds without isolation here)' : `and ${installerName(matched)} builds it in an environment of its own, where ${matched.match[1]} is not installed`}.`,
      remedies: (matched) => {
        const name =
          /pip-install-\w{1,20}[\\/]([\w.-]{2,60}?)_[0-9a-f]{1,40}[\\/]/.exec(before(matched))?.[1] ??
          /Failed to (?:build|download and build) [`']?([\w.-]{2,60})==/.exec(before(matched))?.[1] ??
          /Collecting ([\w.-]{2,60})[^]*$/.exec(before(matched))?.[1] ??
          /Failed (?:to build|building wheel for) [`']?([\w.-]{2,60}?)(?:==|[`'\s]|$)/.exec(around(matched.text, matched.at, 0, 8))?.[1] ??
          /\bpip3? install (?:-[\w-]{1,30} ){0,4}["']?([a-z][\w.-]{1,60})(?:\[[\w,]{1,40}\])?(?:==[\w.]{1,20})?["']?(?: -[\w-]{1,30}){0,4}\s*$/im.exec(
            matched.situation().text,
          )?.[1]
        const tool = installs(matched.match[1] ?? '', matched.situation())
        // Setuptools that are too new hide nothing: the build must be given older ones.
        if (matched.match[1] === 'pkg_resources' && !unisolated(matched))
          return [
            {
              text: `The newest setuptools, which ${installerName(matched)} takes for the build, has no pkg_resources: build ${name ?? 'the package'} with an older one from your own environment.`,
              command: `${pipInstall(matched.situation(), `${tool} wheel`)} && ${pipInstall(matched.situation(), `--no-build-isolation ${name ?? '<PACKAGE>'}`)}`,
            },
            { text: `Or take a newer release of ${name ?? 'the package'}, or one with a ready wheel for this Python.` },
          ]
        if (unisolated(matched))
          return [
            {
              text: `Install ${matched.match[1]} and the other tools of a build, then build again.`,
              command: `${pipInstall(matched.situation(), [...new Set([matched.match[1] ?? '', 'packaging', 'ninja', 'wheel', 'setuptools'])].join(' '))} && ${pipInstall(matched.situation(), `${name ?? '<PACKAGE>'} --no-build-isolation`)}`,
            },
          ]
        return [
          {
            text: `Install ${matched.match[1]} first, then build against it: without isolation.`,
            command: pipInstall(matched.situation(), `${name ?? '<PACKAGE>'} --no-build-isolation`),
          },
        ]
      },
      unless: (seen) => !/lines of output\]|pip-install-|pip-build-env|[\\/]uv[\\/]builds-|subprocess-exited-with-error/.test(before(seen)),
    },
    {
      pattern: /No operator found for `memory_efficient_attention/,
      severity: 'critical',
      title: 'xFormers was called on the CPU',
      verdict: 'The tensors are on the CPU, and the attention of xFormers runs on GPUs only.',
      remedies: [
        {
          text: 'Move the model and its inputs to the GPU before the call (.to("cuda")); see that PyTorch sees one.',
          command: printTorch('torch.cuda.is_available()'),
        },
        { text: 'Or run without xFormers (enable_xformers_memory_efficient_attention left out; DINOv2: XFORMERS_DISABLED=1).' },
      ],
      unless: ({ text, at }) => !/device=cpu \(supported/.test(around(text, at, 0, 20)) || /build with CUDA support/.test(around(text, at, 0, 20)),
    },
    {
      pattern: /xFormers wasn't build with CUDA support|xFormers can't load C\+\+\/CUDA extensions/,
      severity: ({ text, at }) => (/WARNING/.test(text[at] ?? '') ? 'warning' : 'critical'),
      title: 'xFormers does not fit the installed PyTorch',
      verdict: ({ text, at }) => {
        const built = /(PyTorch \S{1,30}(?: with CUDA \w{1,8})?) \(you have ([^)\n]{1,40})\)/.exec(around(text, at, 0, 3))
        return built === null
          ? 'xFormers has no kernels for the GPU here: its build has none, or was made for another PyTorch, so it cannot load them.'
          : `xFormers was built for ${built[1]}, and ${built[2]} is installed: it cannot load its kernels for the GPU.`
      },
      remedies: ({ situation, message }) => [
        !/was built for/.test(message) && { text: 'See which of its kernels it can use, and for what it was built.', command: 'python -m xformers.info' },
        {
          text: 'Install the release of xFormers that was made for the installed PyTorch.',
          command: pipInstall(situation(), 'xformers==<VERSION>', '--force-reinstall --no-deps'),
        },
        { text: 'Or do without it: PyTorch 2 has efficient attention of its own (scaled_dot_product_attention).' },
      ],
    },
  ],
})
