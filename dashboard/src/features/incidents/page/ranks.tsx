// The ranks of a job that hangs: who holds it up, what each waits for and where it is, and how far each has come in the collectives in which ranks
// wait; the culprits first.
import type { Incident } from '../../../../../agent/model/incident.ts'
import { momentText } from '../../../../../agent/text/time.ts'
import { Breakable } from '../../../parts/breakable.tsx'
import { Part } from '../../../parts/incident/account.tsx'
import { gpuHref } from '../../../parts/job/links.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { DASH } from '../../../text/format.ts'
import { collectivesOf } from './collectives.ts'

type Rows = NonNullable<Incident['facts']['ranks']>
type Column = {
  readonly head: string
  readonly numeric?: true
  /** One of the collectives. */
  readonly call?: true
  readonly text: (row: Rows[number]) => string | undefined
}
/** Where a rank runs. */
const PLACES: ReadonlySet<string> = new Set(['Host', 'Container'])
const classOf = ({ head, numeric, call }: Column): string | undefined =>
  call === true ? 'call' : numeric === true ? 'numeric' : head === 'At' ? 'place' : undefined

const COLUMNS: readonly Column[] = [
  { head: 'Rank', numeric: true, text: ({ rank }) => String(rank) },
  { head: 'GPU', numeric: true, text: ({ gpu }) => gpu },
  { head: 'Host', text: ({ host }) => host },
  { head: 'Container', text: ({ container }) => container },
  { head: 'PID', numeric: true, text: ({ pid }) => (pid === undefined ? undefined : String(pid)) },
  { head: 'Waits for', text: ({ waits_for: waits }) => waits },
  { head: 'Since', text: ({ since_ms: since }) => (since === undefined ? undefined : momentText(since, agentNow.peek())) },
  { head: 'At', text: ({ stands_at: stands }) => stands },
]

export function Ranks({ incident: { facts } }: { readonly incident: Pick<Incident, 'facts'> }) {
  const rows = facts.ranks ?? []
  if (rows.length === 0) return null
  // No GPU, one host, one container: a column that says the same in every row says nothing.
  const known = COLUMNS.filter(({ head, text }) => rows.some((row) => text(row) !== undefined) && (!PLACES.has(head) || new Set(rows.map(text)).size > 1))
  const columns = [...known, ...collectivesOf(rows).map((head): Column => ({ head, call: true, text: ({ calls }) => calls?.[head] }))]
  return (
    <Part id="ranks" title="Ranks">
      <div class="ranks-scroll" tabIndex={0} role="region" aria-labelledby="ranks-title">
        <table role="table" class="then ranks" aria-labelledby="ranks-title">
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <th key={column.head} role="columnheader" scope="col" class={classOf(column)}>
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={row.rank} role="row" data-culprit={row.culprit === true ? '' : undefined}>
                {columns.map((column) => (
                  <td key={column.head} role="cell" data-label={column.head} class={classOf(column)} data-call={column.call && column.text(row)}>
                    {column.head === 'At' ? (
                      <Breakable text={column.text(row) ?? DASH} />
                    ) : column.head === 'GPU' && row.gpu !== undefined && row.elsewhere !== true ? (
                      <a href={gpuHref(row.gpu)}>{row.gpu}</a>
                    ) : (
                      (column.text(row) ?? DASH)
                    )}
                    {column.head === 'Rank' && row.culprit === true && <span class="sub">holds it up</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Part>
  )
}
