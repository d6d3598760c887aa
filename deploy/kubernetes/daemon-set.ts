// One agent on each node, with the reason for every right that it has; the reasons are in the YAML as comments.
import { DaemonSet } from 'kubernetes-models/apps/v1'
import type { IContainer, IVolume, IVolumeMount } from 'kubernetes-models/v1'
import { DATA_DIR, IMAGE, LABELS, NAME, NAMESPACE, PORT, PROBE_DIR, SELECTOR, TOKEN_SECRET } from './names.ts'

type Mounted = {
  readonly name: string
  readonly mountPath: string
  readonly source: Omit<IVolume, 'name'>
  readonly writable?: boolean
  readonly why: string
}

const host = (path: string, type: '' | 'Directory' | 'DirectoryOrCreate' = 'Directory'): Omit<IVolume, 'name'> => ({ hostPath: { path, type } })

const MOUNTED: readonly Mounted[] = [
  { name: 'config', mountPath: '/etc/warpwatch', source: { configMap: { name: 'warpwatch-config' } }, why: 'warpwatch.yaml' },
  {
    name: 'data',
    mountPath: DATA_DIR,
    source: host(DATA_DIR, 'DirectoryOrCreate'),
    writable: true,
    why: 'History, incidents, and how far each log has been read: they outlive the pod.',
  },
  {
    name: 'probe',
    mountPath: PROBE_DIR,
    source: host(PROBE_DIR, 'DirectoryOrCreate'),
    writable: true,
    why: 'The socket of the PyTorch probe; pods that mount this folder report what their allocators do.',
  },
  { name: 'proc', mountPath: '/host/proc', source: host('/proc'), why: "Disks, /dev/shm and network of the node instead of the pod's own." },
  {
    name: 'cgroup',
    mountPath: '/host/sys/fs/cgroup',
    source: host('/sys/fs/cgroup'),
    why: "What each container uses; the pod's own /sys/fs/cgroup shows the agent alone.",
  },
  {
    name: 'container-logs',
    mountPath: '/var/log/containers',
    source: host('/var/log/containers'),
    why: "The kubelet's links: their names say which container id is which pod, so no API access is needed.",
  },
  {
    name: 'pod-resources',
    mountPath: '/var/lib/kubelet/pod-resources',
    source: host('/var/lib/kubelet/pod-resources', 'DirectoryOrCreate'),
    why: "The kubelet's socket that says which GPUs it gave to which pod; it can only be asked.",
  },
  { name: 'pod-logs', mountPath: '/var/log/pods', source: host('/var/log/pods'), why: 'Where those links lead.' },
]

const mounts: IVolumeMount[] = MOUNTED.map(({ name, mountPath, writable }) => ({ name, mountPath, readOnly: writable !== true }))

const agent: IContainer = {
  name: NAME,
  image: IMAGE,
  imagePullPolicy: 'IfNotPresent',
  env: [
    { name: 'WARPWATCH_HOST_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'WARPWATCH_HTTP__TOKEN', valueFrom: { secretKeyRef: { ...TOKEN_SECRET } } },
    { name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' },
    { name: 'NVIDIA_DRIVER_CAPABILITIES', value: 'utility' },
  ],
  ports: [{ name: 'http', containerPort: PORT }],
  livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5, timeoutSeconds: 5 },
  resources: { requests: { cpu: '50m', memory: '256Mi' }, limits: { memory: '1Gi' } },
  securityContext: {
    runAsUser: 0,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], add: ['SYS_PTRACE', 'DAC_OVERRIDE'] },
    seccompProfile: { type: 'RuntimeDefault' },
    appArmorProfile: { type: 'Unconfined' },
  },
  volumeMounts: mounts,
}

export const daemonSet = new DaemonSet({
  metadata: { name: NAME, namespace: NAMESPACE, labels: { ...LABELS } },
  spec: {
    selector: { matchLabels: { ...SELECTOR } },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    template: {
      metadata: { labels: { ...LABELS }, annotations: { 'kubectl.kubernetes.io/default-container': NAME } },
      spec: {
        serviceAccountName: NAME,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        priorityClassName: NAME,
        hostPID: true,
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] }] }],
            },
          },
        },
        tolerations: [
          { key: 'nvidia.com/gpu', operator: 'Exists' },
          { key: 'sku', operator: 'Equal', value: 'gpu' },
          { key: 'kubernetes.azure.com/scalesetpriority', operator: 'Equal', value: 'spot' },
        ],
        containers: [agent],
        volumes: MOUNTED.map(({ name, source }) => ({ name, ...source })),
      },
    },
  },
})

const POD = ['spec', 'template', 'spec'] as const
const CONTAINER = [...POD, 'containers', 0] as const
const SECURITY = [...CONTAINER, 'securityContext'] as const

export type Reason = { readonly at: readonly (string | number)[]; readonly why: string }

export const reasons: readonly Reason[] = [
  { at: ['spec', 'updateStrategy'], why: 'Never two agents on a node: one alone may write the history.' },
  { at: [...POD, 'automountServiceAccountToken'], why: 'The agent never speaks to the Kubernetes API.' },
  {
    at: [...POD, 'hostPID'],
    why: 'The driver translates the pids that hold GPU memory into the namespace of whoever asks, and leaves out those that are not visible there.',
  },
  { at: [...POD, 'nodeSelector'], why: 'The image is for these; components/gpu-nodes narrows it down to nodes with GPUs.' },
  {
    at: [...POD, 'tolerations'],
    why: 'Taints that GPU nodes usually have: of the device plugin and GKE, of AKS, and of spot nodes in AKS. components/every-node tolerates all taints.',
  },
  {
    at: [...CONTAINER, 'env', 2],
    why: 'All GPUs of the node, to look at: no resource limit, so none is taken from the scheduler; utility is NVML without CUDA.',
  },
  { at: [...CONTAINER, 'livenessProbe'], why: 'Says only that the process answers: a hanging driver must not restart the agent that reports it.' },
  { at: [...CONTAINER, 'resources'], why: 'No CPU limit: throttled sampling has holes. A flood of logs costs 0.06 cores (docs/measurements.md).' },
  { at: [...SECURITY, 'runAsUser'], why: 'Sockets, logs and processes of other users.' },
  {
    at: [...SECURITY, 'capabilities', 'add', 0],
    why: '/proc/PID/root and /proc/PID/environ of others: device nodes, CUDA_VISIBLE_DEVICES, and probes without the mount.',
  },
  { at: [...SECURITY, 'capabilities', 'add', 1], why: 'Probe sockets of other users have mode 0600, /proc/PID/environ has 0400.' },
  { at: [...SECURITY, 'appArmorProfile'], why: "The runtime's default profile lets a container look only at processes of the same profile." },
  ...MOUNTED.map(({ why }, index) => ({ at: [...CONTAINER, 'volumeMounts', index], why })),
]
