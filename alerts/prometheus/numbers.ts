// The detectors' own expressions as alerts, for those who want Prometheus to judge the numbers. A kind is judged by one of both, never by both.
import { LOG_KINDS, alertName, INCIDENT_KINDS, type IncidentKind } from '../../agent/model/kinds.ts'
import type { Severity } from '../../agent/model/severity.ts'
import { annotationsOf, SUBJECT } from './incidents.ts'
import type { KindPages } from './kind-page.ts'
import { firingBefore, type AlertRule, type Links, type RuleGroup } from './rule.ts'

/** What the rules need to know of a detector. */
export type JudgedNumbers = {
  readonly id: string
  readonly kinds: readonly IncidentKind[]
  readonly severity: Severity
  readonly expression: { readonly promql: string; readonly for?: string } | { readonly none: string }
  /** Of a threshold of the user's own. */
  readonly threshold?: { readonly name: string; readonly title: string }
  /** The configuration sets options that the expression does not know. */
  readonly changed?: boolean
}
type Sayable = JudgedNumbers & { readonly expression: { readonly promql: string; readonly for?: string } }
export type Judge = { readonly by: 'prometheus'; readonly detectors: readonly Sayable[] } | { readonly by: 'agent'; readonly why: string }

const isSayable = (detector: JudgedNumbers): detector is Sayable => 'promql' in detector.expression

/** Whether Prometheus can judge the kind alone, or why the agent has to. */
export function judgeOf(kind: IncidentKind, detectors: readonly JudgedNumbers[]): Judge {
  if ((LOG_KINDS as readonly string[]).includes(kind)) return { by: 'agent', why: 'log-based; no PromQL equivalent' }
  const own = detectors.filter(({ kinds }) => kinds.includes(kind))
  for (const { expression } of own)
    if ('none' in expression) return { by: 'agent', why: expression.none.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase()).replace(/\.$/, '') }
  const sayable = own.filter(isSayable)
  return sayable.length > 0 ? { by: 'prometheus', detectors: sayable } : { by: 'agent', why: 'nothing of the configuration judges it' }
}

/** The detectors' expressions know one host; here each host is compared with itself alone. A test holds that they aggregate `by` and match `on` lists only. */
export const perHost = (promql: string): string =>
  promql.replace(
    /\b(on|by)\s*\(\s*([^()]*?)\s*\)/g,
    (_, word: string, labels: string) => `${word} (${['job', 'instance', ...(labels === '' ? [] : [labels])].join(', ')})`,
  )

function ruleOf(kind: IncidentKind, detector: Sayable, pages: KindPages, links: Links): AlertRule {
  const { id, severity, expression, threshold, changed } = detector
  // Names that no metric has as a label of its own where they are set, or two series would become one alert.
  const own = threshold === undefined ? { kind } : { threshold_name: threshold.name }
  const labels = { severity, ...own }
  const expr = [
    threshold === undefined ? perHost(expression.promql) : expression.promql,
    'or',
    firingBefore({ alertname: alertName(kind), ...own }, Object.keys(labels)),
    '  and on (job, instance) up == 0',
  ].join('\n')
  return {
    ...(changed === true ? { comment: `The configuration sets options of ${id}; the expression has their defaults.` } : {}),
    alert: alertName(kind),
    expr,
    ...(expression.for === undefined ? {} : { for: expression.for }),
    labels,
    annotations: annotationsOf(kind, pages, links, {
      title: threshold?.title,
      subject: { target: 'service', ...SUBJECT, gi: 'MIG instance', source: 'source' },
    }),
  }
}

/** The group, and the kinds that stay with the agent. */
export function numbersGroup(
  detectors: readonly JudgedNumbers[],
  pages: KindPages,
  links: Links,
): { readonly group: RuleGroup; readonly left: readonly IncidentKind[] } {
  const judged = INCIDENT_KINDS.map((kind) => ({ kind, judge: judgeOf(kind, detectors) }))
  return {
    left: judged.flatMap(({ kind, judge }) => (judge.by === 'agent' ? [kind] : [])),
    group: {
      name: 'warpwatch-numbers',
      comment: [
        'What PromQL can say of the detectors, in place of their incidents; all other kinds stay with the agent (warpwatch-incidents).',
        'While the agent is down what fired goes on firing.',
      ].join('\n'),
      interval: '15s',
      rules: judged.flatMap(({ kind, judge }) => (judge.by === 'prometheus' ? judge.detectors.map((detector) => ruleOf(kind, detector, pages, links)) : [])),
    },
  }
}
