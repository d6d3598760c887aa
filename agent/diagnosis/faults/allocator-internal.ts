// An internal assert of PyTorch's caching allocator: a bug, or state that an earlier error left behind. Not an out of memory.
import { stripPrefix } from '../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../joining.ts'
import type { Situation } from '../situation/situation.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { lessMemory } from './cuda-oom/less/index.ts'
import { known } from './parts/window.ts'
import { printTorch, setVariables } from './remedies/environment.ts'
import { plan } from './remedies/plan.ts'

const ASSERT = /INTERNAL ASSERT FAILED at "?(?:[A-Z]:)?[\w./ \\…-]{0,160}(?:CUDA|HIP)(?:CachingAllocator|MallocAsyncAllocator)\.cpp"?:(\d{1,6})/
/** The sort that hides an out of memory. */
const NVML_BEFORE = /NVML_SUCCESS ?==[^"]{0,200}$/
const EXPANDABLE = /expandable_segment|handles_/
const CAPTURE = /captures_underway|use_count|graph_pools|cudaStreamCaptureStatus/
/** torch.compile's own keeper of CUDA graphs. */
const COMPILED = /[\\/]_inductor[\\/]cudagraph_trees\.py|_cuda_(?:get|set)CheckpointState/

const UNSUPPORTED = /CUDA error: operation not supported/

/** c10/cuda/driver_api.cpp as of 2023 (PyTorch 2.1): handle_0 is libcuda.so, handle_1 libnvidia-ml.so.1. It is needed for expandable segments and for the words of an out of memory. */
const NO_DRIVER_API = /\bhandle_([01]) INTERNAL ASSERT FAILED at "?[^"\n]{0,160}c10[\\/]cuda[\\/]driver_api\.cpp/

/** CUDACachingAllocator::free finds no block of that address. */
const NOT_OURS = /\b(?:what\(\):|Error:) {1,3}invalid device pointer: (?:0x)?[0-9a-f]{4,16}\b/

function withoutDriverApi(library: string, situation: Situation, at: number): Recognised {
  const segments = /expandable_segments:True/.test(situation.text)
  return {
    kind: 'allocator_internal',
    severity: 'critical',
    title: `PyTorch's allocator could not load ${library}`,
    verdict: `PyTorch's allocator could not load ${library}, a library of the driver. ${segments ? 'It needs that for expandable segments.' : 'It needs that for expandable segments, and to say which processes hold GPU memory: where those segments are off, GPU memory had run out, and this came in place of that message.'}`,
    facts: {},
    remedies: plan(
      {
        text: `See whether ${library} is found where the program runs${library === 'libcuda.so' ? ': often only libcuda.so.1 is in the list (WSL keeps both in /usr/lib/wsl/lib)' : '; a container needs the driver capability "utility"'}.`,
        command: `ldconfig -p | grep -F ${library}`,
      },
      library === 'libcuda.so' && {
        text: 'Update PyTorch: newer releases get the functions of the driver from CUDA itself, and need no file of that name.',
        command: printTorch('torch.__version__, torch.version.cuda'),
      },
      situation.system === 'wsl' && {
        text: 'Until then, let the loader look where WSL keeps it.',
        command: 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH',
      },
      segments
        ? { text: 'Or go without expandable segments.', command: setVariables(situation, { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:False' }) }
        : lessMemory(situation, {})[0],
    ),
    lines: [at],
  }
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  if (NOT_OURS.test(text[at] ?? ''))
    return {
      kind: 'allocator_internal',
      severity: 'critical',
      title: 'PyTorch freed a GPU address that its allocator does not own',
      verdict: 'PyTorch was asked to free GPU memory that its allocator did not hand out: it was freed twice, or belongs to another process or library.',
      facts: {},
      remedies: plan(
        { text: 'Look for an earlier error in the same process: the clean-up after one often fails this way.' },
        { text: "Rebuild extensions for the installed PyTorch, and use only one allocator (not RMM or a pluggable one beside PyTorch's)." },
        { text: 'Keep a tensor that another process uses alive in the process that made it.' },
      ),
      lines: [at],
    }
  // ComfyUI chooses cudaMallocAsync by the name of the card, and some cards, drivers and vGPUs do not have it.
  if (UNSUPPORTED.test(text[at] ?? ''))
    return situation().programs.has('comfyui')
      ? {
          kind: 'allocator_internal',
          severity: 'critical',
          title: 'The GPU does not support a CUDA call of ComfyUI',
          verdict: 'CUDA does not support a call. Likely cudaMallocAsync, which ComfyUI chooses: some older GPUs and vGPUs lack it.',
          facts: {},
          remedies: plan({
            text: 'Start ComfyUI with the allocator of PyTorch.',
            command: 'python main.py --disable-cuda-malloc',
          }),
          lines: [at],
        }
      : undefined
  const library = NO_DRIVER_API.exec(text[at] ?? '')?.[1]
  if (library !== undefined) return withoutDriverApi(library === '0' ? 'libcuda.so' : 'libnvidia-ml.so.1', situation(), at)
  // The asserted expression may be in the line above.
  const from = Math.max(0, at - 1)
  const joined = joinedFrom(text, from, 4)
  const match = ASSERT.exec(joined)
  if (match === null || match.index > plain(stripPrefix(text[at] ?? '')).length + plain(stripPrefix(text[from] ?? '')).length) return undefined
  const before = joined.slice(Math.max(0, match.index - 240), match.index)
  if (NVML_BEFORE.test(before)) return undefined
  const expandable = EXPANDABLE.test(before)
  const compiled = !expandable && COMPILED.test(text.slice(Math.max(0, at - 12), at + 4).join('\n'))
  const capture = CAPTURE.test(before) || compiled
  const sglang = capture && situation().programs.has('sglang')
  const what = expandable
    ? 'The failing code belongs to expandable segments.'
    : compiled
      ? 'It failed in the CUDA graphs that torch.compile makes: memory of a graph was still in use, or freed, when its state was taken down.'
      : capture
        ? `The failing code belongs to the memory pools of CUDA graphs: ${/CaptureStatusInvalidated/.test(before) ? 'the capture was broken off before, by an error or by work of another thread or library that a capture forbids' : 'often memory was freed during a capture'}.`
        : 'Likely a bug of that PyTorch release, or the result of an earlier CUDA error.'
  return {
    kind: 'allocator_internal',
    severity: 'critical',
    title: "PyTorch's GPU memory allocator failed an internal check",
    verdict: `A check inside PyTorch's caching allocator failed; the process cannot go on. ${what}`,
    facts: known({ source_line: match[1] }),
    remedies: plan(
      expandable && {
        text: 'Start the program again without expandable segments: until then each further request fails the same way.',
        command: setVariables(situation(), { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:False' }),
      },
      compiled && {
        text: 'Let torch.compile make no CUDA graphs: another mode than "reduce-overhead" and "max-autotune" ("max-autotune-no-cudagraphs"), or torch._inductor.config.triton.cudagraphs = False.',
      },
      capture &&
        !compiled && {
          text: `Run ${sglang ? 'SGLang ' : ''}without CUDA graphs, and look for the first error above this one.`,
          ...(sglang ? { command: '--disable-cuda-graph' } : situation().programs.has('vllm') ? { command: '--enforce-eager' } : {}),
        },
      { text: 'Look for an earlier error of the same process: an assert here often follows an out of memory or an illegal access.' },
      { text: 'Update PyTorch; if it stays, report it with this line.', command: printTorch('torch.__version__, torch.version.cuda') },
    ),
    lines: linesCovered(text, from, match.index + match[0].length),
  }
}

export const allocatorInternal: FaultFamily = {
  id: 'allocator-internal',
  kinds: ['allocator_internal'],
  literals: ['INTERNAL ASSERT FAILED', 'invalid device pointer: ', 'CUDA error: operation not supported'],
  recognise,
}
