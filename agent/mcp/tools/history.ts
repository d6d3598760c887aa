// How a figure went over time: lowest, mean and highest per series, and a few points.
import * as z from 'zod'
import { figureText } from '../../text/figures.ts'
import { utcStamp } from '../../text/time.ts'
import { parseDuration } from '../../text/duration.ts'
import { inLine } from '../answer.ts'
import { rowsOf, series } from '../rows.ts'
import { tool } from '../tool.ts'

const POINTS = 8
const MAX_SERIES = 16
/** UCUM codes by the last word of a metric's name. */
const UNITS: Readonly<Record<string, string>> = { bytes: 'By', watts: 'W', celsius: 'Cel', hertz: 'Hz', seconds: 's', ratio: '1' }
const unitOf = (metric: string): string => UNITS[metric.slice(metric.lastIndexOf('_') + 1)] ?? ''

export const history = tool({
  name: 'history',
  title: 'History of a metric',
  description:
    'How a metric went: lowest, mean, highest and a few points per series. Metrics such as gpu_memory_used_bytes, gpu_utilization_ratio, gpu_power_watts, gpu_temperature_celsius, process_gpu_memory_bytes, container_memory_bytes, job_loss.',
  input: {
    metric: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,99}$/)
      .describe('name, with or without warpwatch_'),
    gpu: z
      .string()
      .regex(/^\d{1,3}$/)
      .optional()
      .describe('index of a GPU'),
    span: z.string().max(10).optional().describe('how far back: 15m (default), 6h, 7d'),
  },
  hint: 'Ask for one GPU.',
  async run({ metric, gpu, span = '15m' }, ask) {
    const ms = parseDuration(span)
    if (ms === undefined || ms < 60_000) throw new Error(`span: must be a time from 1m to 30d such as 15m, 6h or 7d, not ${JSON.stringify(span)}`)
    const to = Date.now()
    const query = new URLSearchParams({ metric, from: String(to - ms), to: String(to), points: String(POINTS), ...(gpu === undefined ? {} : { gpu }) })
    const found = await rowsOf(ask, `/api/v1/series?${query.toString()}`, series)
    if (found.length === 0) return [`No readings of ${metric} in the last ${span}${gpu === undefined ? '' : ` of GPU ${gpu}`}.`]
    const text = (value: number): string => figureText(value, unitOf(metric))
    return [
      `${metric}, last ${span}, times in UTC. A dash: no reading.`,
      ...found.slice(0, MAX_SERIES).map(({ labels, t, min, mean, max }) => {
        const known = mean.filter((value) => value !== null)
        const whose = ['gpu', 'container', 'process', 'pid', 'job', 'rank']
          .flatMap((name) => (labels[name] === undefined ? [] : [`${name} ${inLine(labels[name], 60)}`]))
          .join(' ')
        const lowest = Math.min(...min.filter((value) => value !== null))
        const highest = Math.max(...max.filter((value) => value !== null))
        if (known.length === 0) return `${whose}: no readings`
        const average = known.reduce((sum, value) => sum + value, 0) / known.length
        const points = t.map(
          (at, i) => `${utcStamp(at).slice(ms > 86_400_000 ? 5 : 11, 16)} ${mean[i] === null || mean[i] === undefined ? '–' : text(mean[i])}`,
        )
        return `${whose}: lowest ${text(lowest)}, mean ${text(average)}, highest ${text(highest)}; ${points.join(', ')}`
      }),
      ...(found.length > MAX_SERIES ? [`and ${found.length - MAX_SERIES} more series`] : []),
    ]
  },
})
