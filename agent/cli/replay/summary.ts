// What a recording holds, in a few lines.
import { gpuOf } from '../../inventory/identity.ts'
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import type { Event } from '../../model/event.ts'
import type { RecordingCounts } from '../../sources/recording.ts'
import { exactSpan } from '../../text/span.ts'

export type Summary = {
  readonly text: string
  /** What was passed over; empty when nothing was. */
  readonly skipped: string
}
export type SummaryBuilder = {
  readonly add: (event: Event) => void
  readonly events: () => number
  readonly finish: (host: string | undefined, counts: RecordingCounts) => Summary
}

const TYPES = ['scrape', 'log', 'log_tail', 'container', 'allocator', 'allocator_oom', 'operator'] as const

export function createSummary(): SummaryBuilder {
  const byType = new Map<string, number>()
  const gpus = new Map<string, string>()
  let [total, readings, gaps, first, last] = [0, 0, 0, Infinity, -Infinity]

  return {
    add(event) {
      total += 1
      byType.set(event.type, (byType.get(event.type) ?? 0) + 1)
      first = Math.min(first, event.t)
      last = Math.max(last, event.t)
      if (event.type !== 'scrape') return
      readings += event.readings.length
      gaps += event.gaps.length
      for (const { series } of event.readings) {
        const gpu = gpuOf(series)
        // The info series tells the model; any other GPU series at least that the GPU is there.
        if (gpu !== undefined && (series.metric.name === gpuInfo.name || !gpus.has(gpu.uuid)))
          gpus.set(gpu.uuid, `${gpu.labels['gpu'] ?? '?'}  ${gpu.uuid}${gpu.name === undefined ? '' : `  ${gpu.name}`}`)
      }
    },
    events: () => total,
    finish(host, counts) {
      const span = total === 0 ? 'no events' : `${exactSpan(last - first)}, from ${new Date(first).toISOString()} to ${new Date(last).toISOString()}`
      const events = TYPES.filter((type) => byType.has(type)).map((type) => `${byType.get(type) ?? 0} ${type}`)
      const lines = [
        `Host      ${host ?? 'not said'}`,
        `Span      ${span}`,
        `Events    ${events.length === 0 ? 'none' : events.join(', ')}`,
        `Readings  ${readings}, gaps ${gaps}`,
        `GPUs      ${gpus.size}`,
        ...[...gpus.values()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).map((gpu) => `  ${gpu}`),
      ]
      return { text: `${lines.join('\n')}\n`, skipped: skippedText(counts) }
    },
  }
}

function skippedText({ lines, malformed, tooLong, malformedEntries, unknown }: RecordingCounts): string {
  const parts: string[] = []
  if (malformed > 0) parts.push(`${malformed} malformed`)
  if (tooLong > 0) parts.push(`${tooLong} too long`)
  for (const [type, count] of unknown) parts.push(`${count} of unknown type ${JSON.stringify(type)}`)
  const whole = parts.length === 0 ? '' : `skipped of ${lines} lines: ${parts.join(', ')}`
  const entries = malformedEntries === 0 ? '' : `${malformedEntries} malformed readings or gaps left out`
  return [whole, entries].filter((part) => part !== '').join('; ')
}
