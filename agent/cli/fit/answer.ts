// The answer of `fit` for people: the parts with their range, then each GPU, then what would make it fit.
import { bytesText } from '../../text/bytes.ts'
import type { FitEstimate, FitReport, FitVerdict, GpuAnswer, Range } from '../../model/fit.ts'
import { parametersText } from '../../text/figures.ts'
import { plain } from '../plain.ts'

const VERDICTS: Readonly<Record<FitVerdict, string>> = {
  fits: 'fits',
  fits_not_at_peak: 'fits now, not at the peak',
  fits_when_idle_leave: 'when the idle leave',
  fits_when_empty: 'when others leave',
  never: 'never',
  unknown: 'unknown',
}

function table(rows: readonly (readonly string[])[], right: readonly number[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const cell = (text: string, column: number): string => (right.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0))
  return rows.map((row) => `  ${row.map(cell).join('  ').trimEnd()}\n`).join('')
}

const figures = ({ low_bytes: low, likely_bytes: likely, high_bytes: high }: Range): readonly string[] => [low, likely, high].map(bytesText)

function headline({ model, settings }: FitEstimate): string {
  const { train, dtype, batch, context, gpus, shard, rank } = settings
  const work = train === 'no' ? 'inference' : train === 'full' ? `full training with ${settings.optimizer}` : `LoRA of rank ${rank} with ${settings.optimizer}`
  const split = gpus === 1 ? '' : `, each of ${gpus} GPUs${shard === 'none' ? '' : ` (${shard})`}`
  const trained = model.trainable === undefined ? '' : `, ${parametersText(model.trainable)} of them trained`
  return `${model.name}: ${parametersText(model.parameters)} parameters${trained}; ${work} in ${dtype}, ${batch} x ${context} tokens${split}\n`
}

function estimateText(estimate: FitEstimate): string {
  const rows = estimate.parts.map((part) => [part.part.replaceAll('_', ' '), ...figures(part), part.note ?? ''])
  const total = [estimate.unknown.length > 0 ? 'at the least' : 'total', ...figures(estimate.total), '']
  const notes = [...estimate.unknown.map((text) => `Not known: ${text}.`), ...estimate.notes]
  return `${headline(estimate)}\n${table([['', 'low', 'likely', 'high', ''], ...rows, total], [1, 2, 3])}${notes.map((note) => `  ${note}\n`).join('')}`
}

const gpuName = ({ gpu: { index, name } }: GpuAnswer): string => (index === undefined ? name : `GPU ${index}, ${name}`)

function gpuText(answers: readonly GpuAnswer[]): string {
  const rows = answers.map((answer) => {
    const { gpu, verdict, tight, why } = answer
    return [
      gpuName(answer),
      bytesText(gpu.capacity_bytes),
      gpu.free_bytes === undefined ? '' : bytesText(gpu.free_bytes),
      `${VERDICTS[verdict]}${tight ? ' (tight)' : ''}`,
      why,
    ]
  })
  return table([['', 'has', answers.some(({ gpu }) => gpu.free_bytes !== undefined) ? 'free now' : '', 'does it fit', ''], ...rows], [1, 2])
}

/** GPUs that are told the same are told it once. */
function suggestionText(answers: readonly GpuAnswer[]): string {
  const groups = new Map<string, string[]>()
  for (const answer of answers) {
    const lines = answer.suggestions
      .map(({ changes, why, total }) => `    ${changes.join(' ')}\n      ${bytesText(total.likely_bytes)}: ${why.join('; ')}\n`)
      .join('')
    if (lines !== '') groups.set(lines, [...(groups.get(lines) ?? []), gpuName(answer)])
  }
  return [...groups].map(([lines, names]) => `\nIt would fit ${names.join('; ')} with\n${lines}`).join('')
}

export function fitText({ estimate, gpus, fits }: FitReport): string {
  const several = fits.needed > 1 && gpus.some(({ gpu }) => gpu.uuid !== undefined) ? `\nFits ${fits.now} of the ${fits.needed} GPUs that it needs\n` : ''
  return plain(`${estimateText(estimate)}\n${gpuText(gpus)}${several}${suggestionText(gpus)}`)
}
