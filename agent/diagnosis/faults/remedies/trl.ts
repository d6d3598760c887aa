// TRL's own vLLM server and the training: they may share no GPU by chance.
import type { Advice } from './plan.ts'

export const trlServer = (text: string): readonly Advice[] => [
  { text, command: 'CUDA_VISIBLE_DEVICES=<GPU> trl vllm-serve --model <MODEL>' },
  { text: 'With one GPU let vLLM run inside the trainer: vllm_mode="colocate", with a low vllm_gpu_memory_utilization.' },
]
