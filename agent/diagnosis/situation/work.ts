// Whether a model is being trained: only then is advice about gradients and optimizers of use.
import { INFERENCE, type Programs } from './programs.ts'

const TRAINS =
  /\bbackward\b|\boptimi[sz]er\b|\bTrainer\b|\btrainer\.|[/\\_. -]train(?:ing|er)?[_./ :]|\btrain\.py\b|\bloss\b|\bepochs?\b|\bgradients?\b|\blora_|unsloth|openrlhf|\bupdate_(?:actor|critic|policy)\b|fine-?tun|deepspeed|accelerate_cli|autotrain|torchrun|grad_step|zero_grad|per_device_train|train_(?:micro_)?batch|zero_optimization|offload_optimizer|torch[\\/]optim[\\/]|colossalai/i

/** Several processes of one job: a launcher or a rank speaks. */
export const distributed = (text: string): boolean => /torchrun|torch[./]distributed|elastic|\[rank\d|LOCAL_RANK|local_rank/.test(text)

export const training = (text: string, programs: Programs): boolean => TRAINS.test(text) && !INFERENCE.some((program) => programs.has(program))

/** Which other model would need less. */
export const smaller = ({ text }: { readonly text: string }): string =>
  /\bAWQ\b|GPTQ|\bFP8\b|NVFP4|\bint4\b|\bw[48]a\d|quantization[="': ]{1,3}(?!None)['"]?[a-z]|load_in_[48]bit/i.test(text) ? 'smaller' : 'quantized'

const RANKS = /\(RayWorker\w{0,10}\b|\bTP ?[1-9]\b|\bVllmWorker(?:Process)?\b|\(Worker_TP[1-9]|\brank ?[1-9]\d?\b/
/** A server whose model is on several GPUs: other ranks than the first speak, or the failure is on another GPU than the first. */
export const manyWorkers = ({ text }: { readonly text: string }, { gpu_index: gpu }: { readonly gpu_index?: number }): boolean =>
  (gpu ?? 0) > 0 || RANKS.test(text)

/** The program computed: a bar that moves, a loss or a step is in the text. */
export const ran = (text: string): boolean => /[1-9]\d?%\|[^\n]{0,160}(?:it\/s|s\/it)|\b(?:loss|step|iter(?:ation)?|epoch)s?\b['"]?[ =:[]{1,3}\d/i.test(text)
