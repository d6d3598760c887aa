// The GPUs: what each has, whether the model fits now, when the idle leave, or never, and how much would be left.
import type { FitReport, GpuAnswer, GpuRoom } from '../../../../agent/model/fit.ts'
import { agentNow, gpus as known } from '../../parts/live/state.ts'
import { leftOf, scaleOf, stretchesOf, type Stretch } from './report.ts'
import { DASH, memory } from '../../text/format.ts'
import { gpuModel, gpuName, peakText, VERDICTS } from '../../text/fit.ts'
import { GpuBar } from './gpu-bar.tsx'

/** What programs can have of it: the driver keeps the rest. */
const MEMORY = 'Usable memory'
const signed = (bytes: number | undefined): string => (bytes === undefined ? DASH : memory(bytes).replace('-', '−'))
const keyOf = ({ uuid, gi, name }: GpuRoom, i: number): string => (uuid === undefined ? `${name} ${i}` : `${uuid} ${gi ?? ''}`)

function VerdictCell({ answer: { verdict, tight, why } }: { readonly answer: GpuAnswer }) {
  const { text, shape, tone } = VERDICTS[verdict]
  return (
    <td role="cell" class="col-verdict" data-label="Does it fit">
      <span class="verdict-mark" data-tone={tone} data-verdict={verdict}>
        <span aria-hidden="true">{shape}</span> {text}
        {tight && (
          <span class="tag" title="The range crosses the line: it may go either way.">
            tight
          </span>
        )}
      </span>
      <span class="sub">{why}</span>
    </td>
  )
}

function Name({ room }: { readonly room: GpuRoom }) {
  return (
    <td role="cell" class="col-gpu-name" data-label="GPU">
      <span class="name">{gpuName(room)}</span>
      <span class="sub">{gpuModel(room)}</span>
    </td>
  )
}

/** A GPU of this host of which the agent knew no memory when it was asked: missing in silence it would be taken for none. */
function Unread({ rooms, columns }: { readonly rooms: readonly GpuRoom[]; readonly columns: number }) {
  const read = new Set(rooms.map(({ uuid }) => uuid))
  return known.value
    .map((of) => of.peek())
    .filter(({ uuid }) => !read.has(uuid))
    .map(({ uuid, index, name }) => (
      <tr key={uuid} role="row" data-row={uuid} data-unread>
        <Name room={{ name, index, capacity_bytes: 0 }} />
        <td role="cell" class="col-card" data-label="Card" colSpan={columns - 1}>
          not read
        </td>
      </tr>
    ))
}

type Column = readonly [label: string, figure: (answer: GpuAnswer) => number | undefined]
const NOW: readonly Column[] = [
  ['Left now', (answer) => leftOf(answer, answer.headroom.now_bytes)],
  ['Left at the peak', (answer) => leftOf(answer, answer.headroom.at_peak_bytes)],
]
const EMPTY: readonly Column[] = [['Left', (answer) => leftOf(answer, answer.headroom.empty_bytes)]]

function whenEmpty(answer: GpuAnswer): string {
  const bytes = leftOf(answer, answer.headroom.empty_bytes) ?? 0
  return bytes < 0 ? '' : `, ${memory(bytes)} left when empty`
}

const Heads = ({ labels }: { readonly labels: readonly string[] }) => (
  <thead role="rowgroup">
    <tr role="row">
      {labels.map((label) => (
        <th
          key={label}
          role="columnheader"
          scope="col"
          class={label.startsWith('Left') || label.startsWith('Free') || label === MEMORY ? 'numeric' : undefined}
        >
          {label}
        </th>
      ))}
    </tr>
  </thead>
)

const KEYS = { held: 'in use', idle: 'in use by the idle', need: 'needed', perhaps: 'at the most', claim: 'taken by vLLM', over: 'beyond the card' } as const

/** What is drawn, and nothing else. */
function Legend({ rooms, stretches }: { readonly rooms: readonly GpuRoom[]; readonly stretches: readonly Stretch[] }) {
  const drawn = new Set(stretches.flatMap(({ kind, over }) => (over === true ? [kind, 'over'] : [kind])))
  const peaks = rooms.filter(({ peak_used_bytes: bytes }) => bytes !== undefined)
  // Of the GPU that is known for the shortest time: of the others it holds as well.
  const since = Math.max(...peaks.map(({ peak_since_ms: ms = Infinity }) => ms))
  return (
    <p class="bar-legend" aria-hidden="true">
      {Object.entries(KEYS)
        .filter(([key]) => drawn.has(key))
        .map(([key, text]) => (
          <span key={key}>
            <span class={`key ${key}`} /> {text}
          </span>
        ))}
      {peaks.length > 0 && (
        <span>
          <span class="key peak" /> {peakText(since, agentNow.peek())}
        </span>
      )}
    </p>
  )
}

export function AnswerTable({ report: { gpus, estimate } }: { readonly report: FitReport }) {
  const scale = scaleOf(
    gpus.map(({ gpu }) => gpu),
    estimate.total,
  )
  const left = gpus.some(({ headroom }) => headroom.now_bytes !== undefined) ? NOW : EMPTY
  const ofHost = gpus.some(({ gpu }) => gpu.uuid !== undefined)
  return (
    <section class="part" aria-labelledby="gpus-title">
      <h3 id="gpus-title">{ofHost ? 'The GPUs of this host' : 'These cards'}</h3>
      <table class="fit-gpus" role="table" aria-labelledby="gpus-title">
        <Heads labels={['GPU', 'Card', 'Does it fit', ...left.map(([label]) => label)]} />
        <tbody role="rowgroup">
          {gpus.map((answer, i) => (
            <tr key={keyOf(answer.gpu, i)} role="row" data-row={answer.gpu.uuid ?? answer.gpu.name} data-verdict={answer.verdict}>
              <Name room={answer.gpu} />
              <td role="cell" class="col-card" data-label="Card">
                <GpuBar room={answer.gpu} scale={scale} total={estimate.total} claim={answer.claim_bytes} />
                <span class="sub">
                  {memory(answer.gpu.capacity_bytes)}
                  {left === NOW && whenEmpty(answer)}
                </span>
              </td>
              <VerdictCell answer={answer} />
              {left.map(([label, figure]) => (
                <td key={label} role="cell" class="numeric" data-label={label}>
                  {signed(figure(answer))}
                </td>
              ))}
            </tr>
          ))}
          {ofHost && <Unread rooms={gpus.map(({ gpu }) => gpu)} columns={3 + left.length} />}
        </tbody>
      </table>
      <Legend rooms={gpus.map(({ gpu }) => gpu)} stretches={gpus.flatMap(({ gpu, claim_bytes: claim }) => stretchesOf(gpu, estimate.total, claim))} />
    </section>
  )
}

export function RoomTable({ list }: { readonly list: readonly GpuRoom[] }) {
  const scale = scaleOf(list)
  return (
    <section class="part" aria-labelledby="gpus-title">
      <h3 id="gpus-title">What this host’s GPUs have</h3>
      <table class="fit-gpus" role="table" aria-labelledby="gpus-title">
        <Heads labels={['GPU', 'Card', MEMORY, 'Free now', 'Free at the peak']} />
        <tbody role="rowgroup">
          {list.map((room, i) => (
            <tr key={keyOf(room, i)} role="row" data-row={room.uuid ?? room.name}>
              <Name room={room} />
              <td role="cell" class="col-card" data-label="Card">
                <GpuBar room={room} scale={scale} />
              </td>
              <td role="cell" class="numeric" data-label={MEMORY}>
                {memory(room.capacity_bytes)}
              </td>
              <td role="cell" class="numeric" data-label="Free now">
                {memory(room.free_bytes)}
              </td>
              <td role="cell" class="numeric" data-label="Free at the peak">
                {memory(room.peak_used_bytes === undefined ? undefined : Math.max(0, room.capacity_bytes - room.peak_used_bytes))}
              </td>
            </tr>
          ))}
          <Unread rooms={list} columns={5} />
        </tbody>
      </table>
      <Legend rooms={list} stretches={list.flatMap((room) => stretchesOf(room))} />
    </section>
  )
}
