// Who is notified of incidents: how each notifier is, what waits, the last error, and a test message.
import { age } from '../../../../agent/text/span.ts'
import { momentText } from '../../../../agent/text/time.ts'
import type { NotifierRow } from '../../../../agent/model/notification.ts'
import { agentNow } from '../../parts/live/state.ts'
import { refresh } from './state.ts'
import { retrySetAside, said, sendTest } from './notifier-state.ts'
import { DASH } from '../../text/format.ts'

const STATES = {
  ok: { shape: '●', word: 'reached' },
  unused: { shape: '○', word: 'nothing sent yet' },
  retrying: { shape: '◐', word: 'tries again' },
  failing: { shape: '▲', word: 'fails' },
} as const

function Buttons({ row: { name, set_aside: setAside } }: { readonly row: NotifierRow }) {
  const word = said.value.get(name)
  const busy = said.value.has(name) && word === undefined
  return (
    <td role="cell" class="col-actions" data-label="Try it">
      <span class="buttons">
        <button type="button" disabled={busy} aria-label={`send a test to ${name}`} onClick={() => void sendTest(name).then(refresh)}>
          Test
        </button>
        {setAside > 0 && (
          <button type="button" disabled={busy} onClick={() => void retrySetAside(name).then(refresh)}>
            {`Retry ${setAside} set aside`}
          </button>
        )}
      </span>
      <span class="sub" role="status" data-good={word?.good}>
        {busy ? 'on its way …' : word?.text}
      </span>
    </td>
  )
}

function Row({ row }: { readonly row: NotifierRow }) {
  const {
    name,
    type,
    host,
    status,
    waiting,
    oldest_waiting_at: oldest,
    delivered,
    expired,
    last_delivered_at: last,
    last_error: error,
    next_try_at: next,
  } = row
  const now = agentNow.value
  // Nobody knows yet whether it can be reached.
  const shown = status === 'ok' && delivered === 0 ? 'unused' : status
  const { shape, word } = STATES[shown]
  return (
    <tr role="row" data-row={name}>
      <td role="cell" class="col-source" data-label="Notifier">
        <span class="name">{name}</span>
        <span class="sub">{`${type} · ${host}`}</span>
      </td>
      <td role="cell" data-label="State">
        <span class="source-status" data-status={shown}>
          <span aria-hidden="true">{shape}</span> {word}
        </span>
        {next !== undefined && next > now && <span class="sub">{`next try in ${age((next - now) / 1000)}`}</span>}
      </td>
      <td role="cell" class="numeric" data-label="Waiting">
        {waiting}
        {oldest !== undefined && <span class="sub">{`for ${age((now - oldest) / 1000)}`}</span>}
      </td>
      <td role="cell" class="numeric" data-label="Delivered">
        {delivered.toLocaleString('en')}
        <span class="sub">{last === undefined ? '' : `last ${momentText(last, now)}`}</span>
        {expired > 0 && <span class="sub">{`${expired} too old`}</span>}
      </td>
      <td role="cell" class="col-error" data-label="Last error">
        {error === undefined ? DASH : `${momentText(error.at, now)} ${error.text}`}
      </td>
      <Buttons row={row} />
    </tr>
  )
}

const HEADS = ['Notifier', 'State', 'Waiting', 'Delivered', 'Last error', 'Try it']

export function Notifiers({ notifiers }: { readonly notifiers: readonly NotifierRow[] }) {
  return (
    <section class="panel" aria-labelledby="notifiers-title">
      <h2 id="notifiers-title">
        Notifiers <span class="count">{notifiers.length}</span>
      </h2>
      {notifiers.length === 0 ? (
        <p class="nothing">
          No notifier is configured. Add one under <code>notifiers</code> in <code>warpwatch.yaml</code>.
        </p>
      ) : (
        <table id="notifiers" role="table" aria-labelledby="notifiers-title">
          <thead role="rowgroup">
            <tr role="row">
              {HEADS.map((head) => (
                <th key={head} role="columnheader" scope="col" class={head === 'Waiting' || head === 'Delivered' ? 'numeric' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {notifiers.map((row) => (
              <Row key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
