// A job's GPU memory, how busy its GPUs are, its CPU and its host memory over the range.
import { zoneName } from '../../../../../agent/text/time.ts'
import { useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { ChartBox } from '../../../parts/chart/box.tsx'
import { type Palette, PALETTES } from '../../../parts/chart/palette.ts'
import { roundTop } from '../../../parts/chart/values.ts'
import { hovered } from '../../../parts/live/state.ts'
import { steadyList } from '../../../parts/live/steady.ts'
import { setParams } from '../../../parts/route.ts'
import { theme } from '../../../parts/theme.ts'
import { cores, DASH, memory, percent } from '../../../text/format.ts'
import { colourOf } from '../name.tsx'
import { spanWords } from '../range.tsx'
import type { Job } from '../running.ts'
import { all } from '../table/state.ts'
import { createJobChart } from './chart.ts'
import { highest, type Line, type Lines, newest } from './lines.ts'
import { charts, type Charts, comparedKey, failed } from './readings.ts'

/** An open list of choices is not drawn again each second. */
const known = steadyList(
  () => all.value.map(({ job: { key, name } }) => ({ key, name })),
  ({ key }) => key,
)

/** Below, the scale would be of parts of a MiB. */
const LEAST_BYTES = 64 * 2 ** 20

/** One GPU has the colour of the job, several have colours by their index. */
function colourIn({ lines, job }: Pick<Props, 'lines' | 'job'>, { slot }: Line, { containers, trace }: Palette): string {
  if (slot === undefined) return trace
  return lines.lines.length === 1 && slot !== 1 ? colourOf(job) : (containers[slot % containers.length] ?? trace)
}

type Props = {
  readonly id: string
  readonly title: string
  readonly job: Job
  readonly all: Charts
  readonly lines: Lines
  readonly text: (value: number) => string
  /** The least top of the scale. */
  readonly least: number
  /** Bytes end at round GiB. */
  readonly base?: 1024
  readonly limit?: { readonly label: string; readonly value: number | undefined }
}

function Legend({ lines, text, limit, job }: Pick<Props, 'lines' | 'text' | 'limit' | 'job'>) {
  const palette = PALETTES[theme.value]
  const second = hovered.value
  const at = second === undefined ? -1 : lines.t.indexOf(second)
  return (
    <span class="legend">
      {lines.lines.map((line) => {
        const value = second === undefined ? newest(line) : (line.values[at] ?? undefined)
        return (
          <span key={line.label} class="legend-entry">
            <span class="swatch" style={{ '--swatch': colourIn({ lines, job }, line, palette) }} />
            {line.label} <b>{value === undefined ? DASH : text(value)}</b>
          </span>
        )
      })}
      {limit?.value !== undefined && (
        <span class="legend-entry of">
          <span class="swatch dashed" />
          {limit.label} {text(limit.value)}
        </span>
      )}
    </span>
  )
}

function Chart({ id, title, job, all, lines, text, least, base, limit }: Props) {
  const palette = PALETTES[theme.value]
  const latest = useRef({ all, lines, limit: limit?.value })
  latest.current = { all, lines, limit: limit?.value }
  if (lines.lines.length === 0) return null
  // A limit far above what was used would press the line to the ground: then it is reported in words alone.
  const top = (): number => {
    const { lines: now, limit: bound } = latest.current
    const most = Math.max(least, highest(now))
    return roundTop(bound !== undefined && most >= bound * 0.02 ? Math.max(bound, most) : most, base)
  }
  return (
    <figure class="evidence-figure" data-chart={id}>
      <figcaption>
        <b>{title}</b>
        <Legend job={job} lines={lines} text={text} {...(limit !== undefined && { limit })} />
      </figcaption>
      <ChartBox
        className="job-chart"
        about={[all.key, ...(all.other === undefined ? [] : [all.other])].map((key) => `job ${key}`)}
        table={() => {
          const { t, lines: now } = latest.current.lines
          return { name: `${job.name}-${id}`, columns: now.map(({ label }) => label), seconds: t, values: now.map(({ values }) => values) }
        }}
        height={132}
        label={`${title} over ${spanWords(all.range)}`}
        version={`${theme.value} ${lines.lines.map(({ label }) => label).join(' ')}`}
        create={(host, width, height) =>
          createJobChart(host, width, height, {
            palette,
            colours: lines.lines.map((line) => colourIn({ lines, job }, line, palette)),
            limit: () => latest.current.limit,
            top,
            base,
            span: () => latest.current.all,
            valueText: text,
          })
        }
        data={() => {
          const { t, lines: now } = latest.current.lines
          const data: uPlot.AlignedData = [[...t], ...now.map(({ values }) => [...values])]
          return data
        }}
      />
    </figure>
  )
}

function When({ all: { range, to } }: { readonly all: Charts }) {
  return <span class="count">{`${range.end === undefined ? `last ${range.label}` : range.label}, ${zoneName(to)}`}</span>
}

function CompareChoice({ jobKey }: { readonly jobKey: string }) {
  const others = known.value.filter(({ key }) => key !== jobKey)
  if (others.length === 0) return null
  return (
    <label class="choice compare">
      <span>Compare with</span>
      <select value={comparedKey.value ?? ''} onChange={({ currentTarget: { value } }) => setParams({ with: value === '' ? undefined : value })}>
        <option value="">no other</option>
        {others.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

export function JobCharts({ job, jobKey }: { readonly job: Job; readonly jobKey: string }) {
  const all = charts.value
  if (all === undefined || all.key !== jobKey)
    return (
      <p class="nothing" role={failed.value ? 'alert' : 'status'} aria-busy={!failed.value}>
        {failed.value ? 'The past could not be fetched. The page tries again.' : 'Asking the agent for the past …'}
      </p>
    )
  const total = [all.memory, all.busy, all.cores, all.host].reduce((sum, { lines }) => sum + lines.length, 0)
  if (total === 0) return <p class="nothing">{`Nothing was read of it in ${spanWords(all.range)}.`}</p>
  return (
    <section aria-labelledby="job-charts-title">
      <h3 id="job-charts-title">
        Readings <When all={all} />
      </h3>
      <CompareChoice jobKey={jobKey} />
      <div class="job-charts">
        <Chart id="memory" title="GPU memory" job={job} all={all} lines={all.memory} text={memory} least={LEAST_BYTES} base={1024} />
        <Chart id="busy" title="GPU busy" job={job} all={all} lines={all.busy} text={percent} least={1} />
        <Chart id="cores" title="CPU cores" job={job} all={all} lines={all.cores} text={cores} least={0.2} />
        <Chart
          id="host"
          title="Host memory"
          job={job}
          all={all}
          lines={all.host}
          text={memory}
          least={LEAST_BYTES}
          base={1024}
          limit={{ label: 'limit', value: all.other === undefined ? job.limitBytes : undefined }}
        />
      </div>
    </section>
  )
}
