// Who held which card when: a row for each GPU, a bar for each hold as high as the share of the card that was held. For the eye and the pointer; the same is below as a list.
import { since, timeWithSeconds, zoneName } from '../../../../../agent/text/time.ts'
import { computed, signal } from '@preact/signals'
import { views } from '../../../parts/live/state.ts'
import { memory } from '../../../text/format.ts'
import { shortGpuName } from '../../../text/names.ts'
import { fullTitle, Swatch } from '../name.tsx'
import { asked, past, type Past } from '../past.ts'
import { ticksOf } from '../ranges.ts'
import { Bar } from './bar.tsx'
import { TimelineList } from './list.tsx'
import { packed, readSince, type Span } from './spans.ts'

type Pointed = { readonly span: Span; readonly t: number; readonly x: number; readonly y: number }
const pointed = signal<Pointed | undefined>(undefined)
type Card = Pick<RowProps, 'uuid' | 'model' | 'total'> & { readonly index: number }
/** As text, so that a frame in which no card came, went or told its size redraws nothing. */
const cardsText = computed(() =>
  JSON.stringify((views.value ?? []).map(({ uuid, index, name, row }): Card => ({ uuid, index, model: shortGpuName(name), total: row.memory_total_bytes }))),
)
/** More lines than these are no picture any more; the list has them all. */
const MOST_LINES = 10
/** Of the width: a label that is in the middle would be cut there. */
const EDGE = 0.06

function Tip({ now }: { readonly now: number }) {
  const found = pointed.value
  if (found === undefined) return null
  const { span, t, x, y } = found
  const step = span.steps.find(({ from, to }) => from <= t && t < to)
  return (
    <div class="timeline-tip" data-left={x > innerWidth / 2 || undefined} style={{ left: `${x}px`, top: `${y}px` }}>
      <b>
        <Swatch job={span.job} /> {fullTitle(span.job)}
      </b>
      <span>
        GPU {span.gpu}
        {span.gi === undefined ? '' : `, MIG instance ${span.gi}`}: {step === undefined ? 'not read' : memory(step.bytes)} at {timeWithSeconds(t)}
      </span>
      <span class="of">
        {since(span.from, now)} to {since(span.to, now)}, at most {memory(span.highest)}
      </span>
    </div>
  )
}

type RowProps = {
  readonly past: Past
  readonly uuid: string
  readonly name: string
  readonly model: string | undefined
  readonly total: number | undefined
  readonly spans: readonly Span[]
}

function Row({ past: { begin: from, to, unseen }, uuid, name, model, total, spans }: RowProps) {
  const lines = packed(spans)
  const shown = lines.slice(0, MOST_LINES)
  const place = (ms: number): string => `${(((Math.min(to, Math.max(from, ms)) - from) / (to - from)) * 100).toFixed(3)}%`
  const width = (a: number, b: number): string => `${((Math.max(0, Math.min(to, b) - Math.max(from, a)) / (to - from)) * 100).toFixed(3)}%`
  const read = readSince(unseen.get(uuid) ?? [], from)
  return (
    <div class="timeline-row" data-uuid={uuid}>
      <div class="timeline-name">
        <b>{name}</b>
        <span class="of">{model}</span>
      </div>
      <div class="timeline-lines">
        {(unseen.get(uuid) ?? []).map((hole) => (
          <span key={hole.from} class="timeline-unseen" style={{ left: place(hole.from), width: width(hole.from, hole.to) }} />
        ))}
        {shown.map((line, at) => (
          <div key={at} class="timeline-line">
            {line.map((span) => (
              <Bar
                key={`${span.job.key} ${span.from}`}
                span={span}
                total={total}
                left={place(span.from)}
                width={width(span.from, span.to)}
                onPoint={(x, y, share) =>
                  (pointed.value = { span, x, y, t: Math.max(from, span.from) + share * (Math.min(to, span.to) - Math.max(from, span.from)) })
                }
                onLeave={() => (pointed.value = undefined)}
              />
            ))}
          </div>
        ))}
        {lines.length === 0 && read < to && <span class="timeline-free">no job since {since(read, to)}</span>}
        {lines.length > shown.length && <span class="timeline-free">{`${lines.slice(MOST_LINES).flat().length} more in the list below`}</span>}
      </div>
    </div>
  )
}

/** The cards of the host, those that have gone but were held, and of them only those asked for. */
function cardsOf({ spans }: Past, only: ReadonlySet<string> | undefined): readonly Omit<RowProps, 'past'>[] {
  const here: readonly Card[] = JSON.parse(cardsText.value)
  const gone = new Map(spans.filter(({ uuid }) => !here.some((card) => card.uuid === uuid)).map(({ uuid, gpu }) => [uuid, gpu]))
  return [...here, ...[...gone].map(([uuid, index]) => ({ uuid, index, model: 'is gone', total: undefined }))]
    .filter(({ uuid }) => only === undefined || only.has(uuid))
    .map(({ uuid, index, model, total }) => ({ uuid, name: `GPU ${index}`, model, total, spans: spans.filter((span) => span.uuid === uuid) }))
}

export function Timeline({ title, only }: { readonly title: string; readonly only?: ReadonlySet<string> }) {
  const known = past.value
  const state = asked.value
  if (known === undefined)
    return (
      <section class="panel" aria-labelledby="timeline-title">
        <h2 id="timeline-title">{title}</h2>
        <p class="nothing" role={state.state === 'failed' ? 'alert' : 'status'} aria-busy={state.state === 'asking'}>
          {state.state === 'failed' ? `The past could not be fetched: ${state.why}.` : 'Asking the agent for the past …'}
        </p>
      </section>
    )
  const { begin: from, to, range } = known
  const cards = cardsOf(known, only)
  if (cards.length === 0) return null
  const recorded = Math.min(...cards.map(({ uuid }) => readSince(known.unseen.get(uuid) ?? [], from)))
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">
        {title}{' '}
        <span class="count">{`${range.end === undefined ? `last ${range.label}` : range.label}${from > known.from ? `, recorded since ${since(recorded, to)}` : ''}`}</span>
      </h2>
      <div class="timeline" aria-hidden="true">
        <div class="timeline-axis">
          <span class="timeline-zone">{zoneName(to)}</span>
          <div class="timeline-ticks">
            {ticksOf(from, to).map(({ ms, label }) => (
              <span
                key={ms}
                class="timeline-tick"
                data-edge={ms - from < (to - from) * EDGE ? 'left' : to - ms < (to - from) * EDGE ? 'right' : undefined}
                style={{ left: `${(((ms - from) / (to - from)) * 100).toFixed(3)}%` }}
              >
                <span>{label}</span>
              </span>
            ))}
          </div>
        </div>
        {cards.map((card) => (
          <Row key={card.uuid} past={known} {...card} />
        ))}
        <Tip now={to} />
      </div>
      <p class="timeline-legend">
        <span>Height of a bar: the highest share of the GPU’s memory in each step.</span>
        {cards.some(({ uuid }) => (known.unseen.get(uuid) ?? []).length > 0) && (
          <span>
            <span class="swatch unread" /> The card was not read.
          </span>
        )}
      </p>
      <TimelineList past={known} spans={cards.flatMap(({ spans }) => spans)} />
    </section>
  )
}
