// GPUs as Kubernetes' dynamic resources (DRA, ResourceClaims): drivers that are not there, claims that cannot be prepared or allocated.
import { rowFamily, step, type Row } from './parts/rows.ts'

const NAME = String.raw`[a-z0-9][\w.-]{1,120}`
/** Its kubelet plugin serves GPUs under one name, and NVLink domains over several nodes under another. */
const pluginOf = (driver: string): string =>
  driver === 'compute-domain.nvidia.com'
    ? 'the plugin compute-domains of the DRA driver (resources.computeDomains.enabled in its chart)'
    : driver === 'gpu.nvidia.com'
      ? 'the plugin gpus of the DRA driver (resources.gpus.enabled in its chart)'
      : 'its kubelet plugin'
const PLUGINS = 'kubectl get pods -A -o wide | grep -iE "dra-driver|kubelet-plugin"'

const ROWS: readonly Row[] = [
  {
    kind: 'gpu_unschedulable',
    pattern: new RegExp(String.raw`DRA driver (${NAME}) is not registered|plugin name (${NAME}) not found in the list of registered DRA plugins`),
    title: 'The DRA driver does not run on the node',
    verdict: ({ match }) =>
      `The pod has a claim of the DRA driver ${match[1] ?? match[2]}, and no such driver is registered with the kubelet of its node: the pod waits there until it is.`,
    remedies: ({ match }) => [
      step(`See whether ${pluginOf(match[1] ?? match[2] ?? '')} runs on that node, and why not.`, PLUGINS),
      step(
        "If it runs: compare the kubelet's folder with the one that it registers in (some distributions have another root).",
        'ls /var/lib/kubelet/plugins_registry; ps aux | grep -o "root-dir=[^ ]*"',
      ),
    ],
  },
  {
    kind: 'gpu_unschedulable',
    pattern: new RegExp(String.raw`failed to fetch ResourceClaim (${NAME}) referenced by pod (${NAME}): the server could not find the requested resource`),
    title: 'Kubelet and API server differ on the version of ResourceClaims',
    verdict:
      'The kubelet asks for the ResourceClaim {1} of the pod {2} in a version of the API (resource.k8s.io) that the API server does not serve: the two are of different releases, or only one of them has it switched on.',
    remedies: [
      step(
        'See which version the API server serves, and which release kubelet and server are.',
        'kubectl api-versions | grep resource.k8s.io; kubectl get nodes',
      ),
      step(
        'Bring both to one release: from 1.34 on resource.k8s.io/v1 is served by default. On older ones switch DynamicResourceAllocation on for both, and the API with --runtime-config=resource.k8s.io/<VERSION>=true.',
      ),
    ],
  },
  {
    kind: 'gpu_unschedulable',
    pattern: new RegExp(String.raw`NodePrepareResources failed for (?:claim|ResourceClaim) (${NAME}(?:/${NAME})?)[^\n]{0,40}?: ([^\n]{4,300})`),
    title: "The DRA driver could not prepare the pod's device",
    verdict: ({ match }) =>
      `The DRA driver on the node could not prepare the claim ${match[1]}: "${(match[2] ?? '').replace(/["\\]+(?: pod=.*)?$/, '').trim()}". The pod waits, and the kubelet tries again.`,
    remedies: [
      step('Read what its kubelet plugin on that node says of the claim.', PLUGINS),
      step('See whether the driver works on the node.', 'nvidia-smi'),
      step('If the claim is from an older pod or driver: delete the pod with its claim, so that both are made again.'),
    ],
    // What cannot be created is reported by a rule of its own.
    unless: ({ message }) => /creating GPU instance|MIG device/.test(message),
  },
  {
    kind: 'gpu_unschedulable',
    pattern:
      /cannot allocate all claims|ResourceClaim[^\n]{0,80} (?:not created yet|unresolvable)|(?:allocation|allocate) of devices? [^\n]{0,60}(?:failed|impossible)/,
    title: "No node has the devices that the pod's claim asks for",
    verdict: "The scheduler found no node whose free devices fit the pod's ResourceClaim, so the pod waits.",
    remedies: [
      step('See which devices the nodes offer (ResourceSlices), and which claims hold them.', 'kubectl get resourceslices; kubectl get resourceclaims -A'),
      step('If there are no slices: see whether the DRA driver runs on the nodes.', PLUGINS),
      step('Compare the selectors of the claim (deviceClassName, CEL expressions) with the attributes in the slices.', 'kubectl get deviceclasses'),
    ],
  },
]

export const draRefused = rowFamily(
  'dra-refused',
  ['DRA driver ', 'in the list of registered DRA plugins', 'failed to fetch ResourceClaim ', 'NodePrepareResources failed for ', 'cannot allocate all claims'],
  ROWS,
)
