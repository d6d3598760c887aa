// How a program needs less GPU memory: one line for each program, the one that manages the memory first.
import type { Facts } from '../../../../model/facts.ts'
import type { Program } from '../../../situation/programs.ts'
import type { Situation } from '../../../situation/situation.ts'
import type { Piece } from '../../remedies/plan.ts'
import { freeShared, sharesMemory } from '../shared-memory.ts'
import { lessInLlamacpp, lessInOllama } from './ggml.ts'
import {
  lessAnyway,
  lessInComfyui,
  lessInCupy,
  lessInDiffusers,
  lessInBlender,
  lessInFfmpeg,
  lessInFolding,
  lessInOpenmm,
  lessInRapids,
  lessInTraining,
  lessInUltralytics,
  lessInWebui,
} from './others.ts'
import {
  lessInCtranslate2,
  lessInExllama,
  lessInLmdeploy,
  lessInTei,
  lessInOnnx,
  lessInSglang,
  lessInTensorrt,
  lessInTensorrtLlm,
  lessInTgi,
} from './servers.ts'
import { lessBeforeBatch } from './phase.ts'
import { lessInScience } from './science.ts'
import { lessInSplatting } from './splatting.ts'
import { lessInVllm } from './vllm.ts'
import { lessInJax, lessInTensorflow } from './xla.ts'

type Less = (situation: Situation, facts: Facts, othersBytes: number | undefined) => readonly Piece[]
const PROGRAMS: readonly (readonly [Program, Less])[] = [
  ['vllm', lessInVllm],
  ['sglang', (situation, facts) => lessInSglang(situation, 'memory', facts)],
  ['tgi', lessInTgi],
  ['tensorrt_llm', (situation) => lessInTensorrtLlm(situation)],
  ['lmdeploy', lessInLmdeploy],
  ['ollama', lessInOllama],
  ['llamacpp', lessInLlamacpp],
  ['comfyui', lessInComfyui],
  ['sd_webui', lessInWebui],
  ['ffmpeg', lessInFfmpeg],
  ['blender', lessInBlender],
  ['esmfold', lessInFolding],
  ['rapids', lessInRapids],
  ['cupy', lessInCupy],
  ['numba', (situation) => lessInCupy(situation).slice(0, 1)],
  ['tei', lessInTei],
  ['exllama', lessInExllama],
  ['ctranslate2', lessInCtranslate2],
  ['jax', (situation) => lessInJax(situation)],
  ['tensorflow', lessInTensorflow],
  ['onnxruntime', lessInOnnx],
  ['tensorrt', lessInTensorrt],
  ['diffusers', lessInDiffusers],
  ['ultralytics', lessInUltralytics],
  ['splatting', lessInSplatting],
  ['openmm', () => lessInOpenmm],
]
/** Its models are called YOLO too. */
const OPENMMLAB = /\bmm(?:engine|det|cv|yolo)\b/

/** `othersBytes`: what other processes hold of the card, where it is known. */
export function lessMemory(situation: Situation, facts: Facts, othersBytes?: number): readonly Piece[] {
  const known = PROGRAMS.find(
    ([program]) =>
      situation.programs.has(program) && !(program === 'diffusers' && situation.training) && !(program === 'ultralytics' && OPENMMLAB.test(situation.text)),
  )
  const general = (): readonly Piece[] =>
    lessInScience(situation) ?? lessBeforeBatch(situation) ?? (situation.training ? lessInTraining(situation) : lessAnyway(situation))
  const less = known === undefined ? general() : known[1](situation, facts, othersBytes)
  // It failed as it asked how much is free: nothing of its own was there yet.
  const pieces = sharesMemory(situation) && /\bmem_get_info\b|cudaMemGetInfo/.test(situation.text) ? [freeShared, ...less] : less
  // Callers may take the first ones only.
  return pieces.filter((piece) => piece !== false && piece !== undefined)
}
