// What a Prometheus rule file is made of, and the parts that its expressions and texts share.
import type { Severity } from '../../agent/model/severity.ts'

export type Texts = Readonly<Record<string, string>>

export type AlertRule = {
  /** Why it is so, for whoever reads the file. */
  readonly comment?: string
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Texts
  readonly annotations: Texts
}
export type RecordRule = { readonly comment: string; readonly record: string; readonly expr: string }
export type RuleGroup = {
  readonly name: string
  readonly comment: string
  readonly interval: string
  readonly rules: readonly (AlertRule | RecordRule)[]
}

/** Where the links of an alert lead to; both may hold templates of Prometheus, such as `{{ $labels.instance }}`. */
export type Links = { readonly runbooks: string; readonly dashboard: string }
/** The agent serves its pages on the port that is scraped. */
export const OWN_LINKS: Links = { runbooks: 'http://{{ $labels.instance }}/runbooks', dashboard: 'http://{{ $labels.instance }}/' }

/** `none`: an alert that nobody is to be woken by. */
export type AlertSeverity = Severity | 'none'

/** Text as Prometheus shall print it: braces of a template are no template. */
export const literal = (text: string): string => text.replaceAll('{{', '{{ "{{" }}')

/** A string of PromQL. */
export const quoted = (text: string): string => JSON.stringify(text)

/** Who is hit, as far as the labels tell. An absent label is the empty string to a template. */
export const whereText = (names: Texts): string =>
  `${Object.entries(names)
    .map(([label, name]) => `{{ with $labels.${label} }}, ${name} {{ . }}{{ end }}`)
    .join('')}, on {{ $labels.instance }}`

/**
 * The alert's own state of the evaluation before, as the labels that its expression gave. By it an alert goes on firing while nothing can be known: Prometheus ends
 * an alert whose series are gone, and they are gone too when the agent is. `up` has to be there, so that a host that is scraped no more is forgotten.
 */
export function firingBefore(matchers: Texts, added: readonly string[] = []): string {
  const all = Object.entries({ ...matchers, alertstate: 'firing' }).map(([name, value]) => `${name}=${quoted(value)}`)
  return `max without (${['alertname', 'alertstate', ...added].join(', ')}) (ALERTS{${all.join(', ')}})`
}
