// What can be said of an "out of memory" that carries no figures: from the call that failed, and from what the program was doing.
import type { Situation } from '../../situation/situation.ts'
import { whoHolds } from '../remedies/gpu.ts'
import type { Piece } from '../remedies/plan.ts'
import { gpuName } from './causes.ts'
import { partlyLoaded } from './less/others.ts'
import { whoSpeaks } from './rules.ts'

const CAPTURES = /\bcapture_model\b|torch\/cuda\/graphs\.py|[Cc]apturing (?:CUDA|cuda) graph/
/** csrc/cumem_allocator.cpp of vLLM; it prints these lines and no stack. */
const SLEEPS = /out of memory at \S{0,80}cumem_allocator\.cpp/
/** The last frame is what a script calls first (torch/cuda, torch/distributed). The allocator would say "CUDA out of memory" with figures: the runtime itself had no room. */
const FIRST_CALL =
  /\bin (?:_lazy_init|set_device|manual_seed(?:_all)?|cb|barrier|[gs]et_rng_state)\s*\n(?:(?!\s{0,12}(?:\[rank\d{1,6}\]: {0,8})?File "|\s{0,12}Traceback)[^\n]{0,200}\n){0,3}[^\n]{0,60}(?:RuntimeError|AcceleratorError): CUDA error: out of memory/
export const firstUse = ({ text }: Situation): boolean => FIRST_CALL.test(text)

export const lessAtFirstUse = (situation: Situation): readonly Piece[] => [
  whoHolds(situation),
  situation.distributed && {
    text: 'With one process for each GPU: let each take its own before the first collective, or all of them open GPU 0: torch.cuda.set_device(int(os.environ["LOCAL_RANK"])).',
  },
  { text: 'Or choose a GPU that is free.', command: 'export CUDA_VISIBLE_DEVICES=<GPU>' },
]

function why(situation: Situation): string {
  const { text } = situation
  if (firstUse(situation)) return "Likely it was the process's first use of that GPU, where not even CUDA's own context fitted: other processes hold the card."
  if (/\bin wake_up\b/.test(text)) return 'vLLM was waking up from its sleep mode: what it had given back was in use meanwhile, or is in pieces.'
  if (SLEEPS.test(text)) return "It is the allocator of vLLM's sleep mode: when vLLM wakes up, what it gave back may be in use by the trainer, or in pieces."
  if (CAPTURES.test(text)) return 'It captured CUDA graphs, which take memory beside the KV cache.'
  return partlyLoaded(situation) ?? 'Cause unknown: the message carries no figures.'
}
export const withoutFigures = (gpu: number | undefined, situation: Situation): string =>
  `${whoSpeaks(situation)} could not allocate memory on ${gpuName(gpu)}. ${why(situation)}`
