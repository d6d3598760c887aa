// One alert for each kind of incident, from the agent's own judgment: so that Alertmanager and the agent's notifiers say the same of the same subjects.
import { incidentActive, incidentsTotal } from '../../agent/metrics/incident.ts'
import { alertName, type IncidentKind } from '../../agent/model/kinds.ts'
import type { KindPages } from './kind-page.ts'
import { firingBefore, literal, quoted, whereText, type AlertRule, type Links, type RuleGroup, type Texts } from './rule.ts'

/**
 * The agent tells an incident by a series that is there, and its end by one that is gone. It is only gone when the same scrape tells the count of its kind, which is
 * there from the agent's start: a scrape that fails, an agent that has just started or one whose judgment does not move ends nothing.
 */
function expression(kind: IncidentKind): string {
  return [
    `${incidentActive.name}{kind=${quoted(kind)}} == 1`,
    'or',
    firingBefore({ alertname: alertName(kind) }),
    '  and on (job, instance) up',
    `  unless on (job, instance) ${incidentsTotal.name}{kind=${quoted(kind)}}`,
  ].join('\n')
}

export const SUBJECT: Texts = { container: 'container', gpu: 'GPU' }

/** Titles that name what the labels say: the number of an Xid decides what is to be done. */
const TITLES: Partial<Record<IncidentKind, string>> = {
  xid: 'The driver reports {{ if $labels.xid }}Xid {{ $labels.xid }}{{ else if $labels.sxid }}SXid {{ $labels.sxid }}{{ else }}an Xid{{ end }}',
}

/** What every alert of a kind says, whoever judges. */
export function annotationsOf(kind: IncidentKind, pages: KindPages, links: Links, { title, subject = SUBJECT }: Words = {}): AlertRule['annotations'] {
  const page = pages.get(kind)
  return {
    summary: `${title === undefined && TITLES[kind] !== undefined ? TITLES[kind] : literal(title ?? page?.title ?? kind)}${whereText(subject)}`,
    ...(page === undefined ? {} : { description: literal(page.lead) }),
    runbook_url: `${links.runbooks}/${kind}`,
    dashboard: links.dashboard,
  }
}

type Words = { readonly title?: string | undefined; readonly subject?: Texts }

export function incidentGroup(kinds: readonly IncidentKind[], pages: KindPages, links: Links): RuleGroup {
  return {
    name: 'warpwatch-incidents',
    comment: [
      "One alert for each kind of incident, as the agent judges it; severity, gpu, uuid, container and xid are those of the incident. None has a 'for':",
      'the agent reports an incident when it has lasted long enough. While the agent is down (or reports nothing) what fired goes on firing, by the',
      "alert's own state of the evaluation before; that works while Prometheus evaluates at least every five minutes.",
    ].join('\n'),
    interval: '15s',
    rules: kinds.map((kind) => ({ alert: alertName(kind), expr: expression(kind), annotations: annotationsOf(kind, pages, links) })),
  }
}
