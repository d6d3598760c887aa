// The kinds of panels that the dashboards use: figures, curves and states over time. Missing values stay missing in all of them.
import * as common from '@grafana/grafana-foundation-sdk/common'
import type { Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import * as stat from '@grafana/grafana-foundation-sdk/stat'
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline'
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'
import { FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard'
import type { Link } from './links.ts'
import { fixed, ORDER, shades, thresholds, type Step } from './look.ts'
import { DATASOURCE } from './select.ts'

export type BuiltPanel = { readonly build: () => Panel }
export type Query = { readonly expr: string; readonly legend?: string; readonly colour?: string }
/** `help` says what the panel means and what to do about it. Widths are of 24. */
export type Common = { readonly title: string; readonly help: string; readonly width?: number; readonly height?: number; readonly unit?: string }

export const refId = (index: number): string => String.fromCodePoint(65 + index)
export const dataLinks = (links: readonly Link[]): object => ({ id: 'links', value: links })

const target = ({ expr, legend }: Query, index: number): DataqueryBuilder => {
  const built = new DataqueryBuilder().refId(refId(index)).datasource(DATASOURCE).expr(expr)
  return legend === undefined ? built : built.legendFormat(legend)
}
export const instantTarget = (query: Query, index: number, format: PromQueryFormat = PromQueryFormat.TimeSeries): DataqueryBuilder =>
  target(query, index).instant().format(format)

type Lines = Common & {
  readonly queries: readonly Query[]
  readonly stacked?: boolean
  readonly min?: number
  readonly max?: number
  readonly steps?: readonly Step[]
  readonly links?: readonly Link[]
  /** Colours of series by their legend. */
  readonly named?: Readonly<Record<string, string>>
}
export function lines({ title, help, width = 12, height = 8, unit, queries, stacked = false, min = 0, max, steps, links, named = {} }: Lines): BuiltPanel {
  const panel = new timeseries.PanelBuilder()
    .title(title)
    .description(help)
    .datasource(DATASOURCE)
    .span(width)
    .height(height)
    .targets(queries.map((query, index) => target(query, index).range()))
    .legend(new common.VizLegendOptionsBuilder().showLegend(true).displayMode(common.LegendDisplayMode.List).placement(common.LegendPlacement.Bottom))
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending))
    .min(min)
    .lineWidth(1)
    .fillOpacity(stacked ? 40 : 0)
    .showPoints(common.VisibilityMode.Auto)
    // A gap is a gap: nobody knows what was between.
    .spanNulls(false)
    .noValue('no readings')
    .thresholds(thresholds(steps))
    .stacking(new common.StackingConfigBuilder().mode(stacked ? common.StackingMode.Normal : common.StackingMode.None).group('A'))
  if (unit !== undefined) panel.unit(unit)
  if (max !== undefined) panel.max(max)
  if (steps !== undefined) panel.thresholdsStyle(new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed))
  for (const [index, { legend = '', colour = ORDER[index % ORDER.length] ?? '' }] of queries.entries())
    panel.overrideByQuery(refId(index), [
      { id: 'color', value: legend.includes('{{') ? shades(colour) : fixed(colour) },
      ...(links === undefined ? [] : [{ id: 'links', value: links }]),
    ])
  for (const [name, colour] of Object.entries(named)) panel.overrideByName(name, [{ id: 'color', value: fixed(colour) }])
  return panel
}

type Figure = Common & {
  readonly queries: readonly Query[]
  readonly steps?: readonly Step[]
  readonly calm?: string
  readonly decimals?: number
  /** In place of a figure, where nothing is reported: what that means. */
  readonly none?: string
  readonly mappings?: ValueMapping[]
  /** Shows the name of the series rather than its value. */
  readonly text?: boolean
}
export function figure({
  title,
  help,
  width = 3,
  height = 4,
  unit,
  queries,
  steps,
  calm,
  decimals,
  none = 'no reading',
  mappings,
  text = false,
}: Figure): BuiltPanel {
  const panel = new stat.PanelBuilder()
    .title(title)
    .description(help)
    .datasource(DATASOURCE)
    .span(width)
    .height(height)
    .targets(queries.map((query, index) => instantTarget(query, index)))
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .graphMode(common.BigValueGraphMode.None)
    .colorMode(common.BigValueColorMode.Value)
    .textMode(text ? common.BigValueTextMode.Name : common.BigValueTextMode.Auto)
    .colorScheme({ build: () => ({ mode: FieldColorModeId.Thresholds }) })
    .thresholds(thresholds(steps, calm))
    .noValue(none)
  if (unit !== undefined) panel.unit(unit)
  if (decimals !== undefined) panel.decimals(decimals)
  if (mappings !== undefined) panel.mappings(mappings)
  return panel
}

type States = Common & { readonly queries: readonly Query[]; readonly mappings: ValueMapping[] }
/** Bands over time; where nothing was reported, there is no band. */
export function states({ title, help, width = 12, height = 8, queries, mappings }: States): BuiltPanel {
  return new statetimeline.PanelBuilder()
    .title(title)
    .description(help)
    .datasource(DATASOURCE)
    .span(width)
    .height(height)
    .targets(queries.map((query, index) => target(query, index).range()))
    .mappings(mappings)
    .mergeValues(true)
    .showValue(common.VisibilityMode.Never)
    .rowHeight(0.8)
    .lineWidth(0)
    .fillOpacity(80)
    .spanNulls(false)
    .noValue('nothing reported')
    .thresholds(thresholds())
    .colorScheme({ build: () => ({ mode: FieldColorModeId.Thresholds }) })
    .legend(new common.VizLegendOptionsBuilder().showLegend(false).displayMode(common.LegendDisplayMode.List).placement(common.LegendPlacement.Bottom))
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Single).sort(common.SortOrder.None))
}
