// From rows of panels to a dashboard: numbers, places, variables, links, annotations.
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
  type Dashboard,
  type DashboardLink,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { incidentActive } from '../../agent/metrics/incident.ts'
import { TAG, toOthers } from './links.ts'
import { VERMILLION } from './look.ts'
import type { BuiltPanel } from './panels.ts'
import { datasource, DATASOURCE, job } from './select.ts'

export type Board = {
  /** Its file's name; `warpwatch-` before it is the uid, by which links find it. */
  readonly name: string
  readonly title: string
  readonly about: string
  /** Beside data source and job. */
  readonly variables: readonly { readonly build: () => VariableModel }[]
  /** Matchers of the incidents that are marked in all its charts. */
  readonly marks?: string
  readonly links?: readonly DashboardLink[]
  readonly from?: string
  readonly rows: readonly (readonly [title: string, panels: readonly BuiltPanel[]])[]
}

const marksOf = (matchers: string): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name('Incidents')
    .enable(true)
    .datasource(DATASOURCE)
    .iconColor(VERMILLION)
    .expr(`max by (kind, severity, gpu, container, instance) (${incidentActive.name}{${matchers}})`)
    .step('30s')
    .titleFormat('{{kind}} ({{severity}})')
    .textFormat('GPU {{gpu}} {{container}} on {{instance}}')
    .tagKeys('kind,severity')

export function dashboardOf({ name, title, about, variables, marks, links = [], from = 'now-1h', rows }: Board): Dashboard {
  const board = new DashboardBuilder(`Warpwatch: ${title}`)
    .uid(`warpwatch-${name}`)
    .description(about)
    .tags([TAG])
    .time({ from, to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([datasource, job, ...variables])
    .links([toOthers, ...links].map((link) => ({ build: () => link })))
    .annotations(marks === undefined ? [] : [marksOf(marks)])
  let id = 0
  for (const [row, panels] of rows) {
    board.withRow(new RowBuilder(row).id((id += 1)))
    for (const panel of panels) {
      const number = (id += 1)
      board.withPanel({ build: () => ({ ...panel.build(), id: number }) })
    }
  }
  return board.build()
}
