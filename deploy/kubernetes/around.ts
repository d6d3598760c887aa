// What is around the agents: their namespace, account, priority, name in DNS, and who may connect.
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1'
import { Namespace, Service, ServiceAccount } from 'kubernetes-models/v1'
import { LABELS, MONITORING_NAMESPACE, NAME, NAMESPACE, PORT, SELECTOR } from './names.ts'

const metadata = { name: NAME, namespace: NAMESPACE, labels: { ...LABELS } }
const POD_SECURITY = 'pod-security.kubernetes.io'

/** hostPID and hostPath are what the levels `baseline` and `restricted` forbid. */
export const namespace = new Namespace({
  metadata: {
    name: NAMESPACE,
    labels: { ...LABELS, ...Object.fromEntries(['enforce', 'audit', 'warn'].map((mode) => [`${POD_SECURITY}/${mode}`, 'privileged'])) },
  },
})

export const serviceAccount = new ServiceAccount({ metadata, automountServiceAccountToken: false })

export const priorityClass = new PriorityClass({
  metadata: { name: NAME, labels: { ...LABELS } },
  value: 1_000_000,
  // A full node must not lose a training to its observer; under pressure of memory or disk others go first.
  preemptionPolicy: 'Never',
})

/** Headless: each node's agent is a target of its own, and a balanced address would answer for any of them. */
export const service = new Service({
  metadata,
  spec: { clusterIP: 'None', selector: { ...SELECTOR }, ports: [{ name: 'http', port: PORT, targetPort: 'http' }] },
})

/** Egress stays open: notifiers, targets and OTLP go wherever the configuration says. */
export const networkPolicy = new NetworkPolicy({
  metadata,
  spec: {
    podSelector: { matchLabels: { ...SELECTOR } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': MONITORING_NAMESPACE } } }],
        ports: [{ protocol: 'TCP', port: 'http' }],
      },
    ],
  },
})
