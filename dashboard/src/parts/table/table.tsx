// A sortable table that becomes a list of blocks on a phone; its roles are written out because that layout would take them away.
import { signal, type Signal } from '@preact/signals'
import { Component, type ComponentChildren, type VNode } from 'preact'
import { useState } from 'preact/hooks'
import { heldOrder, nextSort, sortRows, steadyOrder, type SortKey, type SortState } from './sort.ts'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  readonly numeric?: boolean
  readonly key: (row: Row) => SortKey
  readonly cell: (row: Row) => ComponentChildren
  /** Left out until a row shows something in it. */
  readonly spare?: true
  /** All that the cell shows, as text: it is redrawn only when that has changed. Without it with every row that comes. */
  readonly shows?: (row: Row) => string
}

type Props<Row> = {
  readonly id: string
  readonly title: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sort: SortState
  readonly empty: ComponentChildren
  /** What the rows leave out. */
  readonly note?: string | undefined
  /** What one of its figures means. */
  readonly explains?: string | undefined
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

type RestingProps = { readonly shows: string | undefined; readonly draw: () => VNode }

/** Most figures of a quiet host are those of a second ago: redrawn when `shows` is another, each time without it. Kept nodes in its place would keep every table before alive through their parents. */
class Resting extends Component<RestingProps> {
  override shouldComponentUpdate({ shows }: RestingProps): boolean {
    return shows === undefined || shows !== this.props.shows
  }
  override render(): VNode {
    return this.props.draw()
  }
}

/** `seat`: names the row's element. Elements keep their places in the page and change what they show: one that moved would push the others about by itself. */
function drawRow<Row>(row: Row, key: string, seat: number, columns: readonly Column<Row>[]): VNode {
  const shows = columns.map((column) => column.shows?.(row))
  const draw = (): VNode => (
    <tr role="row" data-row={key}>
      {columns.map((each, i) => (
        <Resting
          key={each.id}
          shows={shows[i]}
          draw={() => (
            <td
              role="cell"
              class={each.numeric === true ? `numeric col-${each.id}` : `col-${each.id}`}
              data-label={each.label}
              data-empty={shows[i] === '' ? '' : undefined}
            >
              {each.cell(row)}
            </td>
          )}
        />
      ))}
    </tr>
  )
  return <Resting key={seat} shows={shows.includes(undefined) ? undefined : [key, ...shows].join('\u0000')} draw={draw} />
}

/**
 * What a table showed last, so that it does not change under a reader: a column that had something in it stays, so does the order of rows that are about alike, and all
 * of the order while the pointer or the keyboard focus is on a row.
 */
type Stood = { readonly columns: Set<string>; state?: SortState; order: readonly string[]; seats: readonly number[]; pointed: boolean; focused: boolean }

/** Under a reader each row keeps its element, so that the focus stays on what it was on when a row above ends; else each place does. */
function seated(order: readonly string[], { order: before, seats, pointed, focused }: Stood): readonly number[] {
  const own = pointed || focused ? new Map(before.map((name, place) => [name, seats[place]])) : undefined
  let free = Math.max(-1, ...seats) + 1
  return order.map((name, place) => (own === undefined ? seats[place] : own.get(name)) ?? free++)
}

function placed<Row>(rows: readonly Row[], columns: readonly Column<Row>[], state: SortState, rowKey: (row: Row) => string, stood: Stood): readonly Row[] {
  const column = columns.find((found) => found.id === state.column)
  if (column === undefined) return rows
  const sorted = sortRows(rows, column.key, state.descending, rowKey)
  const order =
    stood.state !== state
      ? sorted
      : stood.pointed || stood.focused
        ? heldOrder(sorted, stood.order, rowKey)
        : column.numeric === true
          ? steadyOrder(sorted, stood.order, column.key, state.descending, rowKey)
          : sorted
  stood.state = state
  const names = order.map(rowKey)
  stood.seats = seated(names, stood)
  stood.order = names
  return order
}

export function DataTable<Row>({ id, title, columns: all, rows, rowKey, sort, empty, note, explains }: Props<Row>) {
  const [stood] = useState((): Stood => ({ columns: new Set(), order: [], seats: [], pointed: false, focused: false }))
  for (const { id: name, spare, shows } of all) if (spare !== true || rows.some((row) => shows?.(row) !== '')) stood.columns.add(name)
  const columns = all.filter(({ id: name }) => stood.columns.has(name))
  const [state] = useState(() => signal(sort))
  const sorted = placed(rows, columns, state.value, rowKey, stood)
  return (
    <section class="panel" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        {title} <span class="count">{rows.length}</span>
      </h2>
      {note !== undefined && <p class="table-note">{note}</p>}
      {explains !== undefined && <p class="sub">{explains}</p>}
      {rows.length === 0 ? (
        note === undefined && <p class="nothing">{empty}</p>
      ) : (
        <table id={id} role="table" aria-labelledby={`${id}-title`}>
          <Head columns={columns} state={state} />
          <tbody
            role="rowgroup"
            onPointerEnter={(event) => event.pointerType === 'mouse' && (stood.pointed = true)}
            onPointerLeave={() => (stood.pointed = false)}
            onFocusIn={() => (stood.focused = true)}
            onFocusOut={() => (stood.focused = false)}
          >
            {sorted.map((row, place) => drawRow(row, rowKey(row), stood.seats[place] ?? place, columns))}
          </tbody>
        </table>
      )}
    </section>
  )
}
