// A run in one line, for the end of a job's output: `used 2 of 4 GPUs; peak 31 of 80 GiB; 12 % busy; 3.1 kWh`.
import type { Run, RunGpu } from '../model/job.ts'
import { energyText, outcomeText } from '../text/job.ts'
import { percent } from '../text/figures.ts'
import { counted } from '../text/grammar.ts'
import { gpuTimeText, twoUnitSpan } from '../text/span.ts'

const GIB = 2 ** 30
/** `31 GiB`, `4.3 GiB`: in one line whole figures are enough above 10. */
const gib = (bytes: number): string => `${(bytes / GIB).toFixed(bytes < 10 * GIB ? 1 : 0).replace(/\.0$/, '')} GiB`
/** Less is what a program does that only looks which GPUs there are. */
const USED_SECONDS = 1
const USED_RATIO = 0.01
const isUsed = ({ active_seconds: active, held_seconds: held }: RunGpu): boolean =>
  active === undefined ? held > 0 : active >= USED_SECONDS || (held > 0 && active / held >= USED_RATIO)

function gpusText({ gpus, gpus_requested: asked }: Run): string {
  const held = new Set(gpus.map(({ uuid, gi = '' }) => `${uuid} ${gi}`)).size
  const used = new Set(gpus.filter(isUsed).map(({ uuid, gi = '' }) => `${uuid} ${gi}`)).size
  const of = Math.max(asked ?? 0, held)
  if (of === 0) return 'used no GPU'
  return used === of ? `used ${counted(of, 'GPU')}` : `used ${used} of ${counted(of, 'GPU')}`
}
/** The highest of one GPU, of what that one has. */
function memoryText(gpus: readonly RunGpu[]): string | undefined {
  const most = gpus.toSorted((a, b) => (b.memory_peak_bytes ?? 0) - (a.memory_peak_bytes ?? 0))[0]
  if (most?.memory_peak_bytes === undefined) return undefined
  const { memory_peak_bytes: peak, memory_total_bytes: total } = most
  return `peak ${gib(peak)}${total === undefined ? '' : ` of ${gib(total)}`}`
}
function busyText({ gpus }: Run): string | undefined {
  const known = gpus.filter(({ active_seconds: active }) => active !== undefined)
  const held = known.reduce((sum, { held_seconds: seconds }) => sum + seconds, 0)
  return held === 0 ? undefined : `${percent(known.reduce((sum, { active_seconds: active = 0 }) => sum + active, 0) / held)} busy`
}

export function runLine(run: Run): string {
  const { outcome, energy_joules: joules, gpu_seconds: seconds, started_at: from, ended_at: to, seen_at: seen } = run
  const parts = [
    gpusText(run),
    memoryText(run.gpus),
    busyText(run),
    joules === undefined ? undefined : energyText(joules),
    seconds.lost > 0 ? `${gpuTimeText(seconds.lost)} lost` : undefined,
    `${outcome === undefined ? 'ran' : `${outcomeText(outcome)} after`} ${twoUnitSpan((to ?? seen) - from)}`,
  ]
  return parts.filter((part) => part !== undefined).join('; ')
}
