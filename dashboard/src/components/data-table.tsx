// A sortable table that becomes a list of blocks on a phone; its roles are written out because that layout would take them away.
import { signal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { nextSort, sortRows, type SortKey, type SortState } from '../state/sort.ts'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  readonly numeric?: boolean
  readonly key: (row: Row) => SortKey
  readonly cell: (row: Row) => ComponentChildren
}

type Props<Row> = {
  readonly id: string
  readonly title: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sort: SortState
  readonly empty: string
}

const arrow = (state: SortState, column: string): string => (state.column !== column ? '' : state.descending ? '↓' : '↑')

function Head<Row>({ columns, state }: { readonly columns: readonly Column<Row>[]; readonly state: Signal<SortState> }) {
  const now = state.value
  return (
    <thead role="rowgroup">
      <tr role="row">
        {columns.map((column) => (
          <th
            key={column.id}
            role="columnheader"
            scope="col"
            class={column.numeric === true ? 'numeric' : undefined}
            aria-sort={now.column !== column.id ? 'none' : now.descending ? 'descending' : 'ascending'}
          >
            <button type="button" onClick={() => (state.value = nextSort(state.value, column.id, column.numeric === true))}>
              {column.label}
              <span class="arrow" aria-hidden="true">
                {arrow(now, column.id)}
              </span>
            </button>
          </th>
        ))}
      </tr>
    </thead>
  )
}

export function DataTable<Row>({ id, title, columns, rows, rowKey, sort, empty }: Props<Row>) {
  const [state] = useState(() => signal(sort))
  const column = columns.find((found) => found.id === state.value.column)
  const sorted = column === undefined ? rows : sortRows(rows, column.key, state.value.descending, rowKey)
  return (
    <section class="panel" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        {title} <span class="count">{rows.length}</span>
      </h2>
      {rows.length === 0 ? (
        <p class="nothing">{empty}</p>
      ) : (
        <table id={id} role="table" aria-labelledby={`${id}-title`}>
          <Head columns={columns} state={state} />
          <tbody role="rowgroup">
            {sorted.map((row) => (
              <tr key={rowKey(row)} role="row" data-row={rowKey(row)}>
                {columns.map((each) => (
                  <td key={each.id} role="cell" class={each.numeric === true ? `numeric col-${each.id}` : `col-${each.id}`} data-label={each.label}>
                    {each.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
