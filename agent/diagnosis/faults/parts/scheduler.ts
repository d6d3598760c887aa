// Why the scheduler of Kubernetes rules nodes out: "0/6 nodes are available: 2 Insufficient cpu, 4 node(s) had untolerated taint {…}".
import type { Piece } from '../remedies/plan.ts'

type Reason = readonly [pattern: RegExp, verdict: (count: string, what: string) => string, remedy: (what: string) => Piece]
const are = (count: string, one: string, many: string): string => `${count} ${count === '1' ? one : many}`
const text = (said: string, command?: string) => (): Piece => (command === undefined ? { text: said } : { text: said, command })
const LABELS = 'kubectl get nodes --show-labels'
const CLAIMS = 'kubectl get pvc,pv -o wide'

const STATE: Readonly<Record<string, string>> = {
  'not-ready': 'its kubelet reports a fault',
  unreachable: 'it no longer reports',
  'disk-pressure': 'its disk is nearly full',
  'memory-pressure': 'its memory is nearly full',
  'pid-pressure': 'it has nearly no process ids left',
  'network-unavailable': 'its network plugin is not ready',
}
const state = (taint: string): string | undefined => STATE[/^node\.(?:cloudprovider\.)?kubernetes\.io\/([\w-]{1,40})/.exec(taint)?.[1] ?? '']

function taint(what: string): Piece {
  const key = what.split(':')[0]?.trim() ?? what
  if (key.startsWith('node-role.')) return undefined
  if (state(key) !== undefined)
    return { text: `The node itself is at fault (${state(key)}): repair that, not the pod.`, command: 'kubectl get nodes; kubectl describe node <NODE>' }
  if (/uninitialized|autoscaler|DeletionCandidate|startup|agent-not-ready/.test(key))
    return { text: 'The node is only starting or being removed: the taint goes away by itself, or with the node.', command: 'kubectl get nodes' }
  return {
    text: `Give the pod a toleration for the taint ${key}, if it may run there; or take the taint off the node.`,
    command: `kubectl describe nodes | grep -E '^Name:|^Taints:'`,
  }
}

/** In the order in which advice is given. */
const REASONS: readonly Reason[] = [
  [
    /(\d{1,6}) node\(s\) (?:were|was) unschedulable()/g,
    (count) => are(count, 'is cordoned', 'are cordoned'),
    text('A cordoned node takes no new pods: allow them again when its maintenance is over.', 'kubectl get nodes; kubectl uncordon <NODE>'),
  ],
  [
    /(\d{1,6}) node\(s\) had (?:untolerated )?taints?(?:\(s\))? \{([^}]{1,120})\}/g,
    (count, what) => `${are(count, 'has', 'have')} the taint ${what.split(':')[0]}`,
    taint,
  ],
  [
    // Before Kubernetes 1.12.
    /(\d{1,6}) node\(s\) had untolerated taint\(s\)()|(?<![\w/])(\d{1,6}) PodToleratesNodeTaints()/g,
    (count) => `${are(count, 'has a taint', 'have taints')} that the pod does not tolerate`,
    () => taint('that it lacks'),
  ],
  [
    /(\d{1,6}) Insufficient (cpu|memory|ephemeral-storage|hugepages-\w{1,8}|pods|(?!nvidia|amd|gpu\.intel)[\w.-]{1,60}\/[\w.-]{1,60})/g,
    (count, what) => `${are(count, 'has', 'have')} too little ${what === 'cpu' ? 'CPU' : what} free`,
    (what) => ({
      text: `Ask for less ${what === 'cpu' ? 'CPU' : what} (resources.requests), end what is not needed, or add a node: requests count, not use.`,
      command: "kubectl describe nodes | grep -A 9 -E '^Name:|Allocated resources'",
    }),
  ],
  [
    /(\d{1,6}) node\(s\) (?:didn't|did not) match (?:Pod's )?(?:node affinity(?:\/selector)?|node selector)()/g,
    (count) => `${are(count, 'does', 'do')} not have the labels that the pod asks for (nodeSelector or node affinity)`,
    text('Compare nodeSelector and affinity of the pod with the labels of the nodes; a label is missing or differs.', LABELS),
  ],
  [
    /(\d{1,6}) node\(s\) had (?:volume node affinity conflict|no available volume zone)()/g,
    (count) => `${are(count, 'cannot', 'cannot')} reach the volume of the pod`,
    text(
      "The pod's volume is in another zone or on another node than these: use a node there, or a volume made where the GPUs are (volumeBindingMode: WaitForFirstConsumer).",
      CLAIMS,
    ),
  ],
  [
    /(\d{1,6}) node\(s\) (?:didn't|did not) find available persistent volumes to bind()/g,
    (count) => `for ${count} there is no volume that fits the claim`,
    text('See what the claim asks for and which volumes exist: size, class and node must fit.', CLAIMS),
  ],
  [
    /(\d{1,6}) node\(s\) exceed max volume count()/g,
    (count) => `${are(count, 'has', 'have')} as many volumes as they can`,
    text('Use another node, or fewer volumes: the provider limits them for each node.'),
  ],
  [
    /(\d{1,6}) node\(s\) (?:didn't|did not) (?:match|satisfy) (?:existing )?pods?(?: topology spread constraints|(?: anti-)?affinity(?:\/anti-affinity| rules)?)()/gi,
    (count) => `${are(count, 'is', 'are')} ruled out by what runs there (pod affinity or topology spread)`,
    text(
      "Each such node already has a pod that rules this one out, or lacks one that it wants: relax the pod's podAffinity, podAntiAffinity or topologySpreadConstraints, or add a node.",
    ),
  ],
  [
    /(\d{1,6}) node\(s\) (?:didn't|did not) have free ports(?: for the requested pod ports)?()/g,
    (count) => `on ${count} the port of the host is taken`,
    text('Leave hostPort (or hostNetwork) out, or end the pod that has the port: an old copy of the same one, mostly.', 'kubectl get pods -A -o wide'),
  ],
  // Of the autoscaler: node groups, not nodes.
  [
    /(\d{1,6}) max node group size reached()/g,
    (count) => are(count, 'node group is at its largest size', 'node groups are at their largest size'),
    text('Raise the largest size of the node group with GPUs (its settings at the provider), or end pods that hold GPUs.'),
  ],
  [
    /(\d{1,6}) in backoff after failed scale-up()/g,
    (count) => `for ${are(count, 'node group', 'node groups')} the provider just refused a node (quota, capacity)`,
    text(
      'See why the provider refused: a quota that is too low, or no such GPUs free in the zone. The autoscaler tries again later.',
      'kubectl -n kube-system describe configmap cluster-autoscaler-status; kubectl get events -A | grep -iE "scale.?up"',
    ),
  ],
  [
    /(\d{1,6}) Too many pods()/g,
    (count) => `${are(count, 'runs', 'run')} as many pods as they may`,
    text('End pods that are not needed, or raise maxPods of the kubelet.', 'kubectl get pods -A -o wide --field-selector spec.nodeName=<NODE>'),
  ],
]

export type Ruled = { readonly verdict: string; readonly remedies: readonly Piece[]; readonly reasons: number }

/** Of the scheduler's sentence, without what it says of preemption. */
export function ruledOut(message: string): Ruled {
  const own = message.split(/\. ?(?:preemption|no new claims)\b/)[0] ?? message
  const found = REASONS.flatMap(([pattern, verdict, remedy]) =>
    [...own.matchAll(pattern)].map((match) => ({ verdict: verdict(match[1] ?? match[3] ?? '', match[2] ?? ''), remedy: remedy(match[2] ?? '') })),
  )
  return { verdict: found.map((one) => one.verdict).join('; '), remedies: found.map((one) => one.remedy), reasons: found.length }
}
