// Which file is in which folder: base, components that change it, and overlays to apply.
import type { Model, TypeMeta } from '@kubernetes-models/base'
import { namespace, networkPolicy, priorityClass, service, serviceAccount } from './around.ts'
import { daemonSet, reasons, type Reason } from './daemon-set.ts'
import { dashboardConfigMap } from './dashboards.ts'
import { podMonitor, prometheusRule, serviceMonitor, type RuleGroups } from './monitoring.ts'
import { NAME, NAMESPACE, TOKEN_SECRET } from './names.ts'
import { everyNode, gpuNodes, nvidiaRuntime, privileged, simulated, type DaemonSetPatch } from './patches.ts'

export type Folder = {
  readonly path: string
  /** Stands in its kustomization. */
  readonly about: string
  readonly kind?: 'Component'
  /** Other folders, relative to this one. */
  readonly on?: readonly string[]
  readonly objects?: readonly { readonly file: string; readonly object: Model<TypeMeta>; readonly about: string; readonly reasons?: readonly Reason[] }[]
  readonly patch?: DaemonSetPatch
  /** Further keys of the kustomization. */
  readonly more?: Readonly<Record<string, unknown>>
}

const component = (name: string, about: string, patch: DaemonSetPatch): Folder => ({ path: `components/${name}`, kind: 'Component', about, patch })

/** Grafana's dashboards, by the names of their files without the ending. */
export type Dashboards = ReadonlyMap<string, unknown>

export const folders = (rules: RuleGroups, dashboards: Dashboards): readonly Folder[] => [
  {
    path: 'base',
    about: `One agent on each node. Before: a Secret "${TOKEN_SECRET.name}" with the key "${TOKEN_SECRET.key}" (docs/kubernetes.md).`,
    objects: [
      { file: 'namespace', object: namespace, about: 'hostPID and hostPath need the Pod Security level "privileged".' },
      { file: 'service-account', object: serviceAccount, about: 'Without a token and without rights: pods are identified by files of the kubelet.' },
      { file: 'priority-class', object: priorityClass, about: 'Evicted late, and never in the place of a running job.' },
      { file: 'daemon-set', object: daemonSet, about: 'One agent on each node.', reasons },
      { file: 'service', object: service, about: 'Headless: a name for each agent, for readers that find them by DNS.' },
      { file: 'network-policy', object: networkPolicy, about: 'Readers connect from the namespace of Prometheus; kubectl port-forward goes on working.' },
    ],
    // The name carries a hash of the content, so that a change of the configuration rolls the agents.
    more: { configMapGenerator: [{ name: 'warpwatch-config', namespace: NAMESPACE, files: ['warpwatch.yaml'] }] },
  },
  component('gpu-nodes', 'Only nodes that gpu-feature-discovery (or the GPU operator) found a GPU on.', gpuNodes),
  component('every-node', 'Every node, whatever its taints, control planes too.', everyNode),
  component('nvidia-runtime', `For nodes whose default runtime is not NVIDIA's: the RuntimeClass "nvidia", as the GPU operator makes it.`, nvidiaRuntime),
  component(
    'privileged',
    "The kernel's log (Xids with their process, OOM kills as they happen), MIG instances, and toolkits that ignore NVIDIA_VISIBLE_DEVICES of unprivileged pods.",
    privileged,
  ),
  {
    path: 'components/dashboards',
    kind: 'Component',
    about: "Grafana's dashboards as ConfigMaps, for the sidecar that loads what has the label grafana_dashboard.",
    objects: Array.from(dashboards, ([name, json]) => ({
      file: name,
      object: dashboardConfigMap(name, json),
      about: `grafana/dashboards/${name}.json`,
    })),
  },
  {
    path: 'overlays/prometheus-operator',
    about: 'With what prometheus-operator scrapes and evaluates.',
    on: ['../../base'],
    objects: [
      { file: 'pod-monitor', object: podMonitor, about: 'The job is "warpwatch", the instance is the node.' },
      { file: 'prometheus-rule', object: prometheusRule(rules), about: "From alerts/prometheus/warpwatch.rules.yml, without links to the agent's own port." },
    ],
  },
  {
    path: 'overlays/service-monitor',
    about: 'The same for a Prometheus that selects ServiceMonitors only: a ServiceMonitor in place of the PodMonitor. Both at once would scrape twice.',
    on: ['../prometheus-operator'],
    objects: [{ file: 'service-monitor', object: serviceMonitor, about: 'The job is "warpwatch", the instance is the node.' }],
    more: {
      patches: [
        {
          target: { kind: 'PodMonitor', name: NAME },
          patch: `$patch: delete\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata:\n  name: ${NAME}\n`,
        },
      ],
    },
  },
  {
    path: 'overlays/simulate',
    about: 'To try it on a cluster without GPUs: the same pods, eight simulated GPUs on each node. The token is "simulated".',
    on: ['../../base'],
    patch: simulated,
    more: {
      secretGenerator: [
        { name: TOKEN_SECRET.name, namespace: NAMESPACE, literals: [`${TOKEN_SECRET.key}=simulated`], options: { disableNameSuffixHash: true } },
      ],
    },
  },
]
