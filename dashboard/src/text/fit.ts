// The fit's words: parts, verdicts, counts of parameters, and what is done with the model.
import type { FitEstimate, FitPartName, FitReport, FitVerdict, GpuRoom } from '../../../agent/model/fit.ts'
import { parametersText } from '../../../agent/text/figures.ts'
import { shortGpuName } from './names.ts'

export const PARTS: Readonly<Record<FitPartName, string>> = {
  weights: 'Weights',
  adapters: 'Adapters',
  master_weights: 'fp32 copy of weights',
  gradients: 'Gradients',
  optimizer: 'Optimizer',
  kv_cache: 'KV cache',
  activations: 'Activations',
  logits: 'Logits',
  cuda_context: 'CUDA context',
  communication: 'Communication',
  allocator: 'Allocator’s loss',
}

type Verdict = { readonly text: string; readonly shape: string; readonly tone: 'good' | 'odd' | 'plain' | 'bad' }
export const VERDICTS: Readonly<Record<FitVerdict, Verdict>> = {
  fits: { text: 'fits', shape: '●', tone: 'good' },
  fits_not_at_peak: { text: 'fits now, not at the peak', shape: '◐', tone: 'odd' },
  fits_when_idle_leave: { text: 'fits when the idle leave', shape: '◔', tone: 'odd' },
  fits_when_empty: { text: 'fits when others leave', shape: '○', tone: 'plain' },
  never: { text: 'never', shape: '✕', tone: 'bad' },
  unknown: { text: 'not known', shape: '?', tone: 'plain' },
}

export const gpuName = ({ index, name, gi }: GpuRoom): string => (index === undefined ? name : `GPU ${index}${gi === undefined ? '' : `, MIG instance ${gi}`}`)
export const gpuModel = ({ index, name }: GpuRoom): string => (index === undefined ? '' : shortGpuName(name.replace(/, MIG instance .*/, '')))

const DAY_MS = 86_400_000

/** History tells its beginning to the hour: of less than a day no span is named, and a week that lacks an hour is one. */
export function peakText(since: number | undefined, now: number): string {
  const days = since === undefined ? 0 : Math.floor((now - since) / DAY_MS + 0.1)
  return days < 1 ? 'highest recorded use' : `highest use of the last ${days === 1 ? 'day' : `${days} days`}`
}

/** Parameters, and what is done with them. */
export function workText({ model, settings }: FitEstimate): string {
  const { train, dtype, batch, context, gpus, shard, rank, optimizer, engine } = settings
  const work = train === 'no' ? `inference with ${engine}` : train === 'full' ? `full training with ${optimizer}` : `LoRA of rank ${rank} with ${optimizer}`
  const trained = model.trainable === undefined || train === 'full' ? '' : `, ${parametersText(model.trainable)} of them trained`
  const split = gpus === 1 ? '' : `, one of ${gpus} GPUs${shard === 'none' ? '' : ` (${shard})`}`
  return `${parametersText(model.parameters)} parameters${trained}; ${work}, ${dtype}, ${batch} × ${context} tokens${split}`
}

/** The answer in one line. */
export function answerText({ gpus, fits, estimate }: FitReport): string {
  if (gpus.length === 0) return 'No GPU is known on this host'
  const count = (...wanted: readonly FitVerdict[]): number => gpus.filter(({ verdict }) => wanted.includes(verdict)).length
  if (estimate.unknown.length > 0 && count('never') < gpus.length) return 'Not all of it is known'
  const now = count('fits', 'fits_not_at_peak')
  const host = gpus.some(({ gpu }) => gpu.uuid !== undefined)
  const all = gpus.length === 1 ? (host ? 'the GPU' : 'the card') : `${gpus.length} ${host ? 'GPUs' : 'cards'}`
  if (fits.needed > 1 && host) return `Fits on ${now >= fits.needed ? 'the' : `${now} of the`} ${fits.needed} GPUs that it needs`
  if (now > 0) return gpus.length === 1 ? 'Fits' : `Fits on ${now} of ${all}`
  const [later, who] = count('fits_when_idle_leave') > 0 ? [count('fits_when_idle_leave'), 'the idle'] : [count('fits_when_empty'), 'others']
  if (later > 0) return gpus.length === 1 ? `Fits when ${who} leave` : `Fits now on none of ${all}, on ${later} when ${who} leave`
  return `Fits on ${gpus.length === 1 ? 'no' : 'none of'} ${gpus.length === 1 ? (host ? 'GPU' : 'card') : all}`
}
