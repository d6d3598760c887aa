// Tables: labels, and for each figure a query of its own; rows that carry the same labels are one.
import * as common from '@grafana/grafana-foundation-sdk/common'
import { FieldColorModeId, type DynamicConfigValue, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import * as table from '@grafana/grafana-foundation-sdk/table'
import type { Link } from './links.ts'
import { thresholds, type Step } from './look.ts'
import { instantTarget, refId, type BuiltPanel, type Common } from './panels.ts'
import { DATASOURCE } from './select.ts'

type Shown = { readonly name: string; readonly width?: number; readonly links?: readonly Link[]; readonly mappings?: ValueMapping[] }
/** A column of labels. */
export type LabelColumn = Shown & { readonly label: string }
/** A column of figures; the query must give exactly the labels of the label columns, or some of them. */
export type FigureColumn = Shown & { readonly expr: string; readonly unit?: string; readonly decimals?: number; readonly steps?: readonly Step[] }
export type Column = LabelColumn | FigureColumn
type Table = Omit<Common, 'unit'> & {
  readonly columns: readonly Column[]
  /** Columns by which it is sorted, the highest first. */
  readonly worst?: readonly string[]
  /** Figures that only make the rows, such as a 1. */
  readonly hidden?: readonly string[]
  readonly none?: string
}

const isFigure = (column: Column): column is FigureColumn => 'expr' in column

function properties(column: Column): DynamicConfigValue[] {
  const { width, links, mappings } = column
  const steps = isFigure(column) ? column.steps : undefined
  const coloured = steps !== undefined || mappings !== undefined
  return [
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(links === undefined ? [] : [{ id: 'links', value: links }]),
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: mappings }]),
    ...(isFigure(column) && column.unit !== undefined ? [{ id: 'unit', value: column.unit }] : []),
    ...(isFigure(column) && column.decimals !== undefined ? [{ id: 'decimals', value: column.decimals }] : []),
    ...(steps === undefined ? [] : [{ id: 'thresholds', value: thresholds(steps, 'text').build() }]),
    ...(coloured ? [{ id: 'custom.cellOptions', value: { type: common.TableCellDisplayMode.ColorText } }] : []),
  ]
}

export function rows({ title, help, width = 24, height = 8, columns, worst = [], hidden = [], none = 'nothing' }: Table): BuiltPanel {
  const figures = columns.filter(isFigure)
  // Grafana calls the only figure of a table Value, several ones Value #A, Value #B.
  const source = (column: Column): string => (isFigure(column) ? (figures.length > 1 ? `Value #${refId(figures.indexOf(column))}` : 'Value') : column.label)
  const kept = columns.filter(({ name }) => !hidden.includes(name))
  const dropped = ['Time', ...columns.filter(({ name }) => hidden.includes(name)).map(source)]
  const panel = new table.PanelBuilder()
    .title(title)
    .description(help)
    .datasource(DATASOURCE)
    .span(width)
    .height(height)
    .targets(figures.map((column, index) => instantTarget(column, index, PromQueryFormat.Table)))
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(dropped.map((name) => [name, true])),
        indexByName: Object.fromEntries(kept.map((column, index) => [source(column), index])),
        renameByName: Object.fromEntries(kept.map((column) => [source(column), column.name])),
      },
    })
    .sortBy(worst.map((name) => new common.TableSortByFieldStateBuilder().displayName(name).desc(true)))
    .filterable(true)
    .noValue(none)
    .thresholds(thresholds([], 'text'))
    .colorScheme({ build: () => ({ mode: FieldColorModeId.Thresholds }) })
  for (const column of kept) {
    const found = properties(column)
    if (found.length > 0) panel.overrideByName(column.name, found)
  }
  return panel
}
