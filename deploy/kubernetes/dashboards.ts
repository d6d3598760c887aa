// Grafana's dashboards as ConfigMaps, for the sidecar of Grafana's Helm charts (kube-prometheus-stack has it): it loads what has the label.
import { ConfigMap } from 'kubernetes-models/v1'
import { LABELS, NAME, NAMESPACE } from './names.ts'

/** The default of the charts' `sidecar.dashboards.label` and `labelValue`. */
export const DASHBOARD_LABEL = { grafana_dashboard: '1' } as const

/** `json`: the dashboard by its file's name without the ending. Without line breaks: `kubectl apply` keeps a second copy in an annotation of at most 256 KiB. */
export const dashboardConfigMap = (name: string, json: unknown): ConfigMap =>
  new ConfigMap({
    metadata: { name: `${NAME}-dashboard-${name}`, namespace: NAMESPACE, labels: { ...LABELS, ...DASHBOARD_LABEL } },
    data: { [`${NAME}-${name}.json`]: JSON.stringify(json) },
  })
