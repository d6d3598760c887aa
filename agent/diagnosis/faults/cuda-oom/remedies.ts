// What to change for each cause of a failed request for GPU memory.
import { freeShared, sharesMemory } from './shared-memory.ts'
import type { Facts, OomCause } from '../../../model/facts.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { settingOf } from '../../situation/settings.ts'
import type { Situation } from '../../situation/situation.ts'
import { setVariables } from '../remedies/environment.ts'
import { processes, whoHolds } from '../remedies/gpu.ts'
import { plan, type Piece } from '../remedies/plan.ts'
import { cachedOf, IMPOSSIBLE, type Judged } from './causes.ts'
import { growable, variable } from './allocator-settings.ts'
import { raiseShare } from './apu.ts'
import { lessMemory } from './less/index.ts'
import { lessInScience } from './less/science.ts'
import { lessToLoad, loadsWeights, makesOptimizer, phasePieces, toHostFirst } from './less/phase.ts'
import { relaxLimit } from './xpu.ts'

/** It is used already. */
const ATTENDS = /\bF\.scaled_dot_product_attention\(|\bin scaled_dot_product_attention\b/
/** yolox/utils/metric.py, occupy_mem. */
const OCCUPIES = /yolox[^\n]{0,200}\s(?:-o|--occupy)\b/i
const ENCODES = /\bvae_encode\b|\bvae\.encode\(/
/** Which options the allocator knows: messages changed their form in 2.1, and mention max_split_size_mb from 1.10 on. */
type Generation = 'current' | 'split only' | 'none'
function generationOf(message: string): Generation {
  if (!/ total capacity;/.test(message)) return 'current'
  return message.includes('max_split_size_mb') ? 'split only' : 'none'
}

function joinPieces(facts: Facts, message: string, situation: Situation): readonly Piece[] {
  if (situation.vendor === 'intel') return [{ text: 'Give cached memory back between phases of the work: torch.xpu.empty_cache().' }]
  const generation = generationOf(message)
  const expandable = generation === 'current' && growable(situation)
  const conf = `${settingOf(situation.settings, 'PYTORCH_CUDA_ALLOC_CONF') ?? ''}${settingOf(situation.settings, 'PYTORCH_ALLOC_CONF') ?? ''}`
  const inForce = /expandable_segments:?True/.test(conf)
  const cached = cachedOf(facts)
  return [
    expandable &&
      !inForce && {
        text: `Let PyTorch join the ${gib(cached)} that it holds unused: segments that can grow.`,
        command: setVariables(situation, { [variable(situation)]: 'expandable_segments:True' }),
      },
    !expandable &&
      generation !== 'none' &&
      !conf.includes('max_split_size_mb') && {
        text: `Keep large cached blocks whole, so that large requests find one: PyTorch holds ${gib(cached)} unused.`,
        command: setVariables(situation, { [variable(situation)]: 'max_split_size_mb:256' }),
      },
    generation === 'none' && { text: 'Update PyTorch: releases before 1.10 have no setting against fragmentation.' },
  ]
}

/** What holds GPU memory that PyTorch knows nothing of. */
const OUTSIDE_PYTORCH = ['jax', 'tensorflow', 'onnxruntime'] as const
/** Servers whose libraries hold buffers of their own (NCCL, DeepEP, FlashInfer), and whose share of the card leaves room for them. */
const SERVERS = ['vllm', 'sglang', 'tgi', 'lmdeploy', 'tensorrt_llm'] as const
const visible = (amd: boolean): Piece => ({
  text: `Give the job a GPU of its own: ${amd ? 'HIP' : 'CUDA'}_VISIBLE_DEVICES names those that a program may use.`,
})
const OFF_THE_DESKTOP: Piece = {
  text: 'Close what draws on this GPU beside the program (browser, games), or let another GPU drive the screen.',
}
const ownGpu = ({ programs, system, gaming, vendor, jetson, hosted }: Situation): Piece =>
  // A board has one, and so has most of what Colab lends.
  !jetson && !hosted && (programs.has('comfyui') || programs.has('sd_webui') || system === 'windows' || gaming ? OFF_THE_DESKTOP : visible(vendor === 'amd'))
const BY_LOCAL_RANK: Piece = {
  text: 'The processes look like ranks of one job that all use this GPU: set the device from LOCAL_RANK before the first CUDA call (torch.cuda.set_device).',
}
/** Neighbours whose pids lie close together were started together; one alone tells nothing. Their launcher may be beside them. */
const ranks = (pids: readonly number[], situation: Situation): boolean => {
  const close = Math.max(0, ...pids.map((pid) => pids.filter((other) => other >= pid && other - pid < 64).length))
  return close > (situation.distributed ? 1 : 2) && close >= pids.length - 1
}

const neighbours = (judged: Judged, situation: Situation): readonly Piece[] => {
  const pids = judged.others?.pids ?? []
  return [
    pids.length > 0 &&
      processes(
        pids,
        `See what the other ${pids.length === 1 ? `process (${pids[0]}) is` : 'processes are'}, and stop what should not be there (pids of the host).`,
      ),
    situation.notebook && !situation.hosted && { text: 'Often it is the kernel of another notebook, which keeps its memory while it is idle: shut it down.' },
    pids.length > 0 && ranks(pids, situation) && BY_LOCAL_RANK,
    whoHolds(situation),
  ]
}

/** A fraction of 1 is no limit, and none at all is printed as 2^64 bytes. */
const capped = ({ allowed_bytes: allowed, total_bytes: total }: Facts): boolean => allowed !== undefined && (total === undefined || allowed < 0.99 * total)

/** Free memory was enough: the limit is not on the card. */
function notTheCard(judged: Judged, facts: Facts, situation: Situation): readonly Piece[] {
  const windows = situation.system === 'windows' || situation.system === 'wsl'
  const host: Piece = situation.jetson
    ? {
        text: 'The memory of the board is fragmented or used by the page cache: drop the cache, and reboot if it fails again.',
        command: 'sync; echo 3 | sudo tee /proc/sys/vm/drop_caches',
      }
    : situation.vendor === 'amd' && !windows
      ? {
          text: 'Look in the kernel log for what the driver refused: limits on mappings and on host memory.',
          command: "sudo dmesg -T | grep -iE 'amdgpu|oom|out of memory' | tail -n 30; free -g; sysctl vm.max_map_count",
        }
      : situation.system === 'linux'
        ? { text: 'See whether host memory is exhausted too: pinned memory and page tables need it.', command: 'free -g; ulimit -a' }
        : {
            text: `Check host memory: ${windows ? 'Windows backs' : 'on Windows the driver backs'} every GPU allocation with the page file: enlarge a small one (system memory plus the card's memory).`,
          }
  const vllm: Piece = situation.programs.has('vllm') && lessMemory(situation, facts).find((piece) => piece !== false && piece !== undefined)
  const limit: Piece = capped(facts) && {
    text: 'See whether the program sets a memory limit (torch.cuda.set_per_process_memory_fraction).',
  }
  const outside = judged.outsideBytes ?? 0
  const who = whoHolds(situation)
  const onLinux: Piece = !situation.jetson &&
    situation.vendor !== 'amd' &&
    situation.system === undefined && { text: 'On Linux: see whether host memory is exhausted, or limited for the job.', command: 'free -g; ulimit -a' }
  return outside > 0.5 * (facts.total_bytes ?? Infinity) ? [who, vllm, host, onLinux, limit] : [vllm, host, onLinux, limit]
}

/** Extensions of PyTorch are called through a module of their own: `_C.rasterize_gaussians(`. */
const EXTENSION = /File "[^"\n]{0,200}[\\/](\w{2,60})[\\/]\w{1,60}\.py", line \d{1,6}, in \w{1,60}\s{1,12}[^\n]{0,200}\b_C\.\w/
function wrongSize({ text }: Situation): readonly Piece[] {
  const extension = EXTENSION.exec(text)?.[1]
  return [
    extension !== undefined && {
      text: `Build ${extension} again, with the CUDA toolkit that PyTorch was built for and for this GPU: the size came from its compiled code.`,
      command: 'python -c "import torch; print(torch.version.cuda, torch.cuda.get_device_capability())"; nvcc --version',
    },
    { text: 'Print the shapes that go into the call that allocates: an empty, broken or not finite input gives such sizes too.' },
  ]
}

function remediesFor(cause: OomCause | undefined, facts: Facts, judged: Judged, message: string, situation: Situation): readonly Piece[] {
  switch (cause) {
    case 'fragmentation':
      return [joinPieces(facts, message, situation), { text: 'If shapes vary from step to step: pad or bucket them, so that freed blocks fit again.' }]
    case 'other_process':
      // What the system and its caches hold counts there, too; no second GPU helps.
      if (sharesMemory(situation) && judged.others?.named !== true) return [freeShared, neighbours(judged, situation), lessMemory(situation, facts)]
      return [
        neighbours(judged, situation),
        situation.programs.has('vllm') ? lessMemory(situation, facts, judged.others?.bytes) : ownGpu(situation),
        situation.programs.has('sd_webui') && lessMemory(situation, facts),
      ]
    case 'fraction_cap':
      return [
        {
          text: `Raise or remove the limit that the program set${facts.allowed_bytes === undefined ? '' : ` (${gib(facts.allowed_bytes)})`}: torch.cuda.set_per_process_memory_fraction, or per_process_memory_fraction in ${variable(situation)}.`,
        },
      ]
    case 'oversized_request':
      if ((facts.requested_bytes ?? 0) > IMPOSSIBLE) return wrongSize(situation)
      if (situation.programs.has('comfyui') || situation.programs.has('sd_webui') || situation.programs.has('diffusers'))
        return [
          {
            text: `Use a smaller resolution, batch or number of frames,${ATTENDS.test(situation.text) ? ' and' : ''} ${ENCODES.test(situation.text) ? 'let the VAE encode' : 'decode the VAE'} in tiles${ATTENDS.test(situation.text) ? '' : ', and use attention that builds no full matrix (PyTorch 2: scaled_dot_product_attention)'}.`,
          },
          ATTENDS.test(situation.text) && {
            text: 'scaled_dot_product_attention builds the full matrix only where none of its faster kernels takes the shapes: give it float16 or bfloat16 and no mask that they refuse.',
          },
        ]
      if (loadsWeights(situation)) return lessToLoad(situation)
      return (
        lessInScience(situation) ?? [
          OCCUPIES.test(situation.text) && {
            text: 'Leave out -o (--occupy): YOLOX then fills the card with one tensor before the training, which is likely this request.',
          },
          !makesOptimizer(situation) && {
            text: 'Look at the line that allocates: a wrong shape, or a batch, sequence or resolution too large.',
          },
        ]
      )
    case 'private_pools':
      return [
        situation.programs.has('vllm')
          ? { text: 'Run without CUDA graphs, whose private pools nothing else can use.', command: '--enforce-eager' }
          : { text: 'Capture fewer or smaller CUDA graphs, or none (torch.compile: another mode than "reduce-overhead").' },
        !situation.programs.has('vllm') && { text: 'Or load less beside them: a smaller or more strongly quantized model, or unload the other models first.' },
      ]
    case 'non_pytorch_memory':
      return [
        SERVERS.some((program) => situation.programs.has(program)) && lessMemory(situation, facts).slice(0, 3),
        { text: 'Find what else the process loads onto the GPU: a second framework, NCCL buffers, cuDNN workspaces.' },
        (situation.training || OUTSIDE_PYTORCH.some((program) => situation.programs.has(program))) && lessMemory(situation, facts),
      ]
    case 'capacity':
    case undefined:
      break
  }
  return judged.enoughWasFree ? notTheCard(judged, facts, situation) : lessMemory(situation, facts, judged.others?.bytes)
}

/** Below this share of the card cached memory is no cause, but joined, and with what is free, it may still be enough. */
function cachedHelps(facts: Facts, judged: Judged): boolean {
  const cached = cachedOf(facts)
  return (
    !judged.causes.includes('fragmentation') &&
    !judged.enoughWasFree &&
    // It has spilled: Windows or WSL 2, whose segments cannot grow.
    !judged.spilled &&
    facts.requested_bytes !== undefined &&
    cached + (facts.free_bytes ?? 0) >= facts.requested_bytes &&
    cached > 2 ** 28
  )
}

export function remediesOf(facts: Facts, judged: Judged, message: string, situation: Situation): readonly Remedy[] {
  if (judged.causes.length === 0) return plan(lessMemory(situation, facts), whoHolds(situation))
  const spilled: Piece = judged.spilled && {
    text: "Choose a smaller model or batch first: what is in system memory is read over the bus, which is many times slower than the card's memory.",
  }
  const others = judged.outsideBytes !== undefined && facts.total_bytes !== undefined && judged.outsideBytes > 0.2 * facts.total_bytes && whoHolds(situation)
  return plan(
    spilled,
    toHostFirst(situation),
    situation.vendor === 'intel' && relaxLimit(facts, situation),
    judged.causes[0] !== 'fraction_cap' && raiseShare(facts, situation),
    (judged.causes[0] === 'fragmentation' || judged.causes[0] === 'oversized_request') && phasePieces(situation),
    judged.causes.map((cause) => remediesFor(cause, facts, judged, message, situation)),
    situation.notebook &&
      judged.causes[0] === 'capacity' && {
        text: 'Restart the kernel and run only the cells that are needed: what earlier cells left on the GPU, also a run that failed, stays there until then.',
      },
    cachedHelps(facts, judged) && joinPieces(facts, message, situation),
    capped(facts) && !judged.causes.includes('fraction_cap') && remediesFor('fraction_cap', facts, judged, message, situation),
    others,
    // The card is nearly full even without what lies unused, or one request is a good part of it: then fewer holes alone may not be enough.
    judged.causes[0] === 'fragmentation' &&
      ((facts.allocated_bytes ?? 0) > 0.8 * (facts.total_bytes ?? Infinity) || (facts.requested_bytes ?? 0) > 0.1 * (facts.total_bytes ?? Infinity)) &&
      lessMemory(situation, facts).find(Boolean),
  )
}

export const generalRemedies = (situation: Situation, facts: Facts = {}): readonly Remedy[] => plan(lessMemory(situation, facts), whoHolds(situation))
