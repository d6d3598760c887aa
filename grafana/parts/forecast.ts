// When memory runs out, as a figure: the nearest forecast of those selected.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { memoryExhaustionEarliestSeconds } from '../../agent/metrics/incident.ts'
import { BAD, BLUE, WARN } from './look.ts'
import { figure, type BuiltPanel } from './panels.ts'

export const forecastFigure = (selector: string, { title, help }: { readonly title: string; readonly help: string }): BuiltPanel =>
  figure({
    title,
    help,
    unit: units.Seconds,
    queries: [{ expr: `min(${memoryExhaustionEarliestSeconds.name}{${selector}})` }],
    // Within half an hour someone must act now, within two hours today.
    steps: [
      [0, BAD],
      [1800, WARN],
      [7200, BLUE],
    ],
    none: 'no forecast',
  })
