// What prometheus-operator scrapes and evaluates.
import { PodMonitor, PrometheusRule, ServiceMonitor, type IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { LABELS, NAME, NAMESPACE, SELECTOR, TOKEN_SECRET } from './names.ts'

const metadata = { name: NAME, namespace: NAMESPACE, labels: { ...LABELS } }

/** What the operator adds to every target of a PodMonitor, and of a ServiceMonitor. */
const ADDED_LABELS = ['namespace', 'pod', 'container', 'endpoint'] as const
const ADDED_BY_SERVICE = [...ADDED_LABELS, 'service'] as const

const scraped = (added: readonly string[]) => ({
  port: 'http',
  path: '/metrics',
  interval: '15s',
  authorization: { credentials: { ...TOKEN_SECRET } },
  relabelings: [
    // The node stays when the agent's pod is replaced, and with it the series.
    { action: 'replace' as const, sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'instance' },
    // These are of whoever uses the GPU. Else the agent's own would take their place (and theirs become exported_pod, …), and a GPU's series,
    // which has none, would seem to belong to the agent's pod and start over with each of its pods.
    { action: 'labeldrop' as const, regex: added.join('|') },
  ],
})

export const podMonitor = new PodMonitor({
  metadata,
  spec: {
    // The job is `warpwatch`, as the rules expect it.
    jobLabel: 'app.kubernetes.io/name',
    selector: { matchLabels: { ...SELECTOR } },
    podMetricsEndpoints: [scraped(ADDED_LABELS)],
  },
})

/** In place of the PodMonitor, where a Prometheus selects ServiceMonitors only: the same targets through the headless Service. */
export const serviceMonitor = new ServiceMonitor({
  metadata,
  spec: {
    jobLabel: 'app.kubernetes.io/name',
    selector: { matchLabels: { ...SELECTOR } },
    endpoints: [scraped(ADDED_BY_SERVICE)],
  },
})

export type RuleGroups = NonNullable<IPrometheusRule['spec']['groups']>
type Rule = NonNullable<RuleGroups[number]['rules']>[number]

/** Links to the agent's own port lead nowhere here: `instance` is a node, and the agent is reached through the cluster. */
const isOwnLink = (text: string): boolean => text.startsWith('http://{{ $labels.instance }}/')

function withoutOwnLinks({ annotations, ...rule }: Rule): Rule {
  const kept = Object.entries(annotations ?? {}).filter(([, text]) => !isOwnLink(text))
  return { ...rule, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) }
}

/** From the rule file that `warpwatch rules` prints. */
export const prometheusRule = (groups: RuleGroups): PrometheusRule =>
  new PrometheusRule({ metadata, spec: { groups: groups.map((group) => ({ ...group, rules: (group.rules ?? []).map(withoutOwnLinks) })) } })
