// What `warpwatch progress` says: the object of --json and --jsonl, and the lines for a terminal.
import type { Progress } from '../../progress/reader.ts'
import { twoUnitSpan } from '../../text/span.ts'

export type Answer = {
  readonly unit: string | null
  readonly step: number | null
  readonly total: number | null
  readonly rate: number | null
  /** JSON has no NaN: `"nan"`, `"inf"`. */
  readonly loss: number | string | null
  readonly epoch: number | null
  readonly eta_seconds: number | null
  readonly nan: boolean
  readonly slowdown: { readonly from_step: number; readonly factor: number } | false
  readonly phase: string | null
}

const figure = (value: number | undefined): number | string | null =>
  value === undefined ? null : Number.isNaN(value) ? 'nan' : Number.isFinite(value) ? value : value < 0 ? '-inf' : 'inf'
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

export function answerOf(progress: Progress | undefined, phase: string | undefined): Answer {
  const { rate, slowdown, lost } = progress ?? { lost: false }
  return {
    unit: rate?.unit ?? null,
    step: progress?.step ?? null,
    total: progress?.total ?? null,
    rate: rate === undefined ? null : Number(rate.value.toPrecision(12)),
    loss: figure(progress?.loss),
    epoch: progress?.epoch ?? null,
    eta_seconds: progress?.etaSeconds === undefined ? null : rounded(progress.etaSeconds, 1),
    nan: lost,
    slowdown: slowdown === undefined ? false : { from_step: slowdown.fromStep, factor: rounded(slowdown.factor, 2) },
    phase: progress?.phase ?? phase ?? null,
  }
}

const BAR_WIDTH = 30
const count = (value: number): string => value.toLocaleString('en-US')

export function progressText(progress: Progress | undefined, phase: string | undefined): string {
  if (progress === undefined) return `No progress found in this log${phase === undefined ? '' : ` (last seen: ${phase})`}.\n`
  const { step, total, rate, loss, epoch, epochs, etaSeconds, etaRange, lost, lostRun, slowdown } = progress
  const lines: string[] = []
  if (step !== undefined) {
    const done = total === undefined || total === 0 ? undefined : Math.min(1, step / total)
    const bar = done === undefined ? '' : `  ${'█'.repeat(Math.round(done * BAR_WIDTH)).padEnd(BAR_WIDTH, '░')} ${Math.floor(done * 100)} %`
    lines.push(`step   ${count(step)}${total === undefined ? '' : ` of ${count(total)}`}${bar}`)
  }
  if (epoch !== undefined) lines.push(`epoch  ${epoch}${epochs === undefined ? '' : ` of ${epochs}`}`)
  if (rate !== undefined) lines.push(`rate   ${Number(rate.value.toPrecision(4))} ${rate.unit}`)
  if (loss !== undefined) lines.push(`loss   ${figure(loss) ?? ''}`)
  if (etaSeconds !== undefined && !(step !== undefined && step === total && etaSeconds < 1)) {
    const range =
      etaRange === undefined || etaRange[1] - etaRange[0] < 0.1 * etaSeconds
        ? ''
        : ` (${twoUnitSpan(etaRange[0] * 1_000)} to ${twoUnitSpan(etaRange[1] * 1_000)})`
    lines.push(`left   ${twoUnitSpan(etaSeconds * 1_000)}${range}`)
  }
  if (progress.phase !== undefined) lines.push(`phase  ${progress.phase}`)
  if (lost)
    lines.push(
      `The loss is not a number any more${lostRun?.since === undefined ? '' : ` since step ${count(lostRun.since)}`}${lostRun?.lastGood === undefined ? '' : `; the last finite loss was ${lostRun.lastGood}`}.`,
    )
  if (slowdown !== undefined) lines.push(`Steps take ${slowdown.factor.toFixed(1)} times as long since step ${count(slowdown.fromStep)}.`)
  return `${lines.join('\n')}\n`
}
