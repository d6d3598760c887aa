// What the API server, the kubelet and the device plugin of Kubernetes refuse before a job runs.
import { rowFamily, step, type Row } from './parts/rows.ts'
import type { Matched } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

const inNamespace = ({ situation }: Matched): string => {
  const { namespace } = situation().subject
  return namespace === undefined ? '' : ` -n ${namespace}`
}
/** A chain of errors ends with its reason. */
const lastWords = (chain = ''): string => (chain.length < 160 ? chain : chain.split(': ').slice(-2).join(': ')).trim()
const plugin = (): Piece => step("See the plugin's log on that node.", 'kubectl get pods -A -o wide | grep -i device-plugin')

const ROWS: readonly Row[] = [
  {
    kind: 'permission_denied',
    pattern: /You must be logged in to the server(?: \(([^)\n]{3,60})\))?/,
    title: 'The cluster does not know this user',
    verdict: 'The API server did not accept the credentials of kubectl: its token or certificate has expired, or belongs to another cluster.',
    remedies: [
      step('See which cluster and user kubectl takes.', 'kubectl config get-contexts'),
      step('Log in again (the command of the cloud or of the login service), or fetch a new kubeconfig.'),
    ],
  },
  {
    kind: 'job_failed',
    pattern: /Back-off restarting failed container(?: ([\w.-]{1,63}) in pod ([a-z0-9.-]{1,120})_([a-z0-9-]{1,63}))?/,
    title: 'The container crashes again and again',
    verdict: ({ match }) =>
      `${match[1] === undefined ? 'The container' : `The container ${match[1]} of the pod ${match[2]}`} ends each time it is started, and Kubernetes waits longer before each try. Why it ends is in its own log.`,
    remedies: ({ match, situation }) => {
      const pod = match[2] ?? situation().subject.pod ?? '<POD>'
      const namespace = match[3] ?? situation().subject.namespace
      const where = `${pod}${namespace === undefined ? '' : ` -n ${namespace}`}`
      return [
        step('Read what it said before it ended.', `kubectl logs ${where}${match[1] === undefined ? '' : ` -c ${match[1]}`} --previous --tail=100`),
        step(
          'See reason and exit code: OOMKilled and 137 mean host memory, 1 an error of its own, 139 a crash.',
          `kubectl describe pod ${where} | grep -A 8 'Last State'`,
        ),
      ]
    },
    // What is said of the end itself counts.
    unless: ({ text }) => text.some((line) => /nvidia-driver-daemonset|Last State|Traceback|OOMKilled|Exit Code/.test(line)),
  },
  {
    kind: 'gpu_unschedulable',
    pattern: /^(?:([a-z\d][\w-]{0,62}) {1,20})?([a-z\d][\w.-]{1,120}) {1,20}\d{1,2}\/\d{1,2} {1,20}UnexpectedAdmissionError\b/,
    title: 'The node refused the pod {2}',
    verdict:
      'The kubelet refused the pod as it was to start, after the scheduler had placed it: mostly what the device plugin had promised was not there any more (the plugin restarted, a GPU is unhealthy or taken). Such a pod is not tried again.',
    remedies: ({ match }) => [
      step('Read the reason that it gives.', `kubectl describe pod {2}${match[1] === undefined ? '' : ' -n {1}'} | grep -A 4 -i "^Message"`),
      plugin(),
      step(
        'When the node offers its GPUs again: delete the pod, so that its controller makes a new one. It runs nothing.',
        `kubectl delete pod {2}${match[1] === undefined ? '' : ' -n {1}'}`,
      ),
    ],
  },
  {
    kind: 'storage_error',
    pattern: /persistentvolumeclaim "([\w.-]{1,120})" not found/,
    title: 'The volume claim {1} does not exist',
    verdict: 'The pod asks for the claim {1}, which its namespace does not have, so it is not placed.',
    remedies: (matched) => [step('See which claims there are; create it, or correct the name.', `kubectl get pvc${inNamespace(matched)}`)],
  },
  {
    kind: 'gpu_unschedulable',
    pattern: /no instance type satisfied resources (\{[^}\n]{3,200}\})(?: and requirements ([^\n]{3,200}))?/,
    title: 'Karpenter knows no machine for the pod',
    verdict: ({ match }) =>
      `No type of machine that the node pool allows gives ${match[1]} at once${match[2] === undefined ? '' : ` (${match[2].slice(0, 120)})`}.`,
    remedies: [
      step(
        'Ask for less on one node, or let the node pool use larger types (requirements of the NodePool).',
        'kubectl get nodepools -o yaml | grep -A 20 requirements',
      ),
    ],
  },
  {
    kind: 'gpu_unschedulable',
    severity: 'warning',
    pattern: /insufficient (?:unused )?quota for ([\w./-]{2,60}) in flavor ([\w.-]{1,60}), (\S{1,20}) more needed/,
    title: 'The quota of the queue is used up',
    verdict: 'Kueue holds the job back: its queue lacks {3} {1} of the flavor {2}.',
    remedies: [step('See what uses the queue: the job starts when that ends.', 'kubectl get workloads -A; kubectl describe clusterqueue')],
  },
  {
    kind: 'gpu_unschedulable',
    severity: 'warning',
    pattern: /(\d{1,5})\/(\d{1,5}) tasks in gang unschedulable: pod group is not ready, ([^\n;]{3,120})/,
    title: 'The group of pods waits for all its members',
    verdict: 'Volcano starts the group only together ({3}), and there is no place for all.',
    remedies: [
      step(
        'See what each pod lacks, and how much the queue may use.',
        'kubectl get podgroups,queues -A; kubectl get events -A --field-selector reason=FailedScheduling',
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern: /exceeded quota: ([\w.-]{1,80}), requested: ([^\n]{3,160}?), used: ([^\n]{3,160}?), limited: ([\w.=/,-]{3,200})/,
    title: 'The quota of the namespace is used up',
    verdict: 'The quota {1} does not allow it: {2} was asked for, {3} is in use, the limit is {4}. The pod was not created.',
    remedies: (matched) => [
      step('See what uses it, and end what is not needed.', `kubectl describe quota${inNamespace(matched)}; kubectl get pods${inNamespace(matched)}`),
      step('Or ask for less, or have the quota raised.'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /admission webhook "([\w.-]{3,120})" denied the request: ([^\n]{3,240})/,
    title: 'A policy of the cluster refused the object',
    verdict: 'The admission check {1} refused it: "{2}". Nothing was created.',
    remedies: [
      step('Change in the manifest what the message names, then apply it again.'),
      step('See what that policy asks for, or ask who runs it.', 'kubectl get validatingwebhookconfigurations'),
    ],
  },
  {
    kind: 'config_error',
    pattern:
      /failed calling webhook "([\w.-]{3,120})"[^\n]{0,300}?(?:: |")((?:no endpoints|connect: |context deadline|dial tcp|x509|service "|EOF|i\/o)[^\n]{0,120})/,
    title: 'The webhook {1} does not answer',
    verdict:
      'The cluster asks the webhook {1} before it creates such objects, and cannot reach it ({2}): its operator does not run, is starting, or its certificate does not fit.',
    remedies: [
      step(
        'See whether the pods of that operator run; wait until they are ready, then apply it again.',
        'kubectl get pods -A | grep -iE "webhook|operator|cert-manager"',
      ),
      step('See which service it names.', 'kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /no matches for kind "(\w{2,60})" in version "([\w./-]{2,80})"|no matches for ([\w./-]{3,80}), Kind=(\w{2,60})/,
    title: 'The cluster does not know this kind of object',
    verdict: ({ match }) =>
      `The cluster has no ${match[1] ?? match[4]} of ${match[2] ?? match[3]}: the operator that brings it is not installed, or serves another version.`,
    remedies: ({ match }) => [
      step('See which versions it serves, and correct apiVersion.', `kubectl api-resources | grep -i ${(match[1] ?? match[4] ?? '').toLowerCase()}`),
      step('If there are none: install the operator with its CRDs first.'),
    ],
  },
  {
    kind: 'permission_denied',
    pattern:
      /User "([^"\n]{2,160})" cannot (\w{2,20}) resource "([\w./-]{2,80})"(?: in API group "[\w.-]{0,80}")?(?: in the namespace "([\w-]{1,63})"| at the cluster scope)?/,
    title: 'Kubernetes does not allow this account to do that',
    verdict: ({ match }) => `${match[1]} may not ${match[2]} ${match[3]}${match[4] === undefined ? ' in the cluster' : ` in the namespace ${match[4]}`}.`,
    remedies: ({ match }) => [
      step(
        'Check what it may do; give it a Role and a RoleBinding for that, or name a serviceAccountName that has them.',
        `kubectl auth can-i ${match[2]} ${match[3]} --as=${match[1]}${match[4] === undefined ? '' : ` -n ${match[4]}`}`,
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern: /The connection to the server (\S{3,80}?) was refused - did you specify the right host or port/,
    title: 'kubectl does not reach the cluster',
    verdict: ({ match }) =>
      match[1] === 'localhost:8080'
        ? 'kubectl has no configuration of a cluster, so it tried localhost:8080.'
        : `The API server at ${match[1]} does not answer: it is down, or the configuration names the wrong one.`,
    remedies: [
      step('Name the configuration of the cluster.', 'kubectl config view --minify; ls -l ~/.kube/config; export KUBECONFIG=<FILE>'),
      step('On k3s it is /etc/rancher/k3s/k3s.yaml, with kubeadm /etc/kubernetes/admin.conf.'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /RuntimeClass "([\w.-]{1,60})" not found|pod rejected: RuntimeClass "([\w.-]{1,60})" not found/,
    title: 'The RuntimeClass does not exist',
    verdict: ({ match }) => `The pod asks for the RuntimeClass ${match[1] ?? match[2]}, which the cluster does not have.`,
    remedies: [
      step(
        'See which there are; the GPU Operator makes nvidia. Leave runtimeClassName out where NVIDIA is the default runtime of containerd.',
        'kubectl get runtimeclass',
      ),
    ],
  },
  {
    kind: 'network_error',
    pattern: /failed to (?:setup|set up) network for sandbox[^\n]{0,120}?: (plugin type="[\w-]{2,40}"[^\n]{3,160}|[^\n]{3,160})/,
    title: "The node's network plugin does not work",
    verdict: 'The pod got no network: {1}.',
    remedies: [
      step(
        'See the pods of the network plugin on that node, and restart the one that fails.',
        'kubectl get pods -A -o wide | grep -iE "calico|cilium|flannel|weave|cni"',
      ),
      step('On the node, see its configuration.', 'ls -l /etc/cni/net.d; sudo journalctl -u kubelet -n 40'),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /error getting device memory: Not Supported/,
    title: 'The device plugin is too old for this GPU',
    verdict:
      'The GPU shares the memory of the CPU (GB10, DGX Spark), so NVML gives no size, and this release of the device plugin ends on that. The node offers no GPUs.',
    remedies: [step('Install release 0.17.4 or newer of the device plugin (GPU Operator 25.10 or newer).', 'helm list -A | grep -iE "nvidia|gpu-operator"')],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /[Ff]ailed to created? FS watcher[^\n]{0,40}too many open files/,
    title: 'The node has no inotify instances left',
    verdict:
      'The device plugin cannot watch the kubelet\'s folder: the node\'s limit of inotify instances is reached ("too many open files" means that here). The node offers no GPUs.',
    remedies: [
      step('Raise the limit on the node, and keep it in a file of /etc/sysctl.d.', 'sudo sysctl fs.inotify.max_user_instances=1024'),
      step('See who uses them.', 'sudo find /proc/*/fd -lname "anon_inode:inotify" 2>/dev/null | cut -d/ -f3 | sort | uniq -c | sort -n | tail'),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /[Ff]ailed to created? FS watcher/,
    title: 'The device plugin does not find the kubelet',
    verdict:
      "The device plugin cannot watch the kubelet's folder for plugins: it is not mounted into its pod, is elsewhere in this distribution, or the limit of inotify is reached.",
    remedies: [
      step(
        'Mount the folder of the kubelet of this node (usually /var/lib/kubelet/device-plugins).',
        'ls /var/lib/kubelet/device-plugins; ps aux | grep -o "root-dir=[^ ]*"',
      ),
      step('See the limit of watches.', 'sysctl fs.inotify.max_user_instances fs.inotify.max_user_watches'),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /error building device map[^\n]{0,300}?: ([^:\n]{4,120})$|[Ff]ailed to start plugin: ([^\n]{4,160})|error starting plugins: ([^\n]{4,600})/,
    title: 'The device plugin does not start',
    verdict: ({ match }) => `The device plugin ended: "${lastWords(match[1] ?? match[2] ?? match[3])}". The node offers no GPUs until it runs.`,
    remedies: ({ match }) => [
      /lib(?:cuda|nvidia-ml)\.so/.test(match[0]) &&
        step(
          "The plugin's pod sees no library of the driver: run it under the nvidia runtime (runtimeClassName: nvidia), or make that the default of containerd.",
        ),
      step('See whether the driver works on the node.', 'nvidia-smi'),
      plugin(),
    ],
    // Rules of their own tell these.
    unless: ({ message }) => /invalid MIG configuration|could not load NVML|ERROR_LIBRARY_NOT_FOUND|ncompatible/.test(message),
  },
]

export const kubeRefused = rowFamily(
  'kube-refused',
  [
    'You must be logged in to the server',
    'Back-off restarting failed container',
    'UnexpectedAdmissionError',
    'is forbidden: exceeded quota',
    'admission webhook "',
    'persistentvolumeclaim "',
    'no instance type satisfied resources',
    'insufficient unused quota for ',
    'insufficient quota for ',
    'tasks in gang unschedulable',
    'failed calling webhook "',
    'no matches for kind "',
    'no matches for ',
    '" cannot create resource "',
    '" cannot get resource "',
    '" cannot list resource "',
    '" cannot patch resource "',
    'did you specify the right host or port',
    'RuntimeClass "',
    'network for sandbox',
    'error getting device memory: Not Supported',
    'reated FS watcher',
    'reate FS watcher',
    'error building device map',
    'ailed to start plugin: ',
    'error starting plugins: ',
  ],
  ROWS,
)
