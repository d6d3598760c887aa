// Kubernetes has no GPU for a pod: the scheduler's word, the kubelet's refusal, and GPUs that the device plugin takes out of use.
import { driverLines } from './parts/drm.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { ruledOut } from './parts/scheduler.ts'
import type { Piece } from './remedies/plan.ts'

const RESOURCE = '((?:nvidia|amd|gpu\\.intel)\\.com/[\\w-]{1,30}(?:\\.[\\w-]{1,20}){0,3})'
const quoted = (resource: string): string => resource.replaceAll('.', '\\.')

const offered = (resource: string): Piece => ({
  text: 'See how many GPUs each node offers, and how many are requested: 0 means that the device plugin finds none.',
  command: `kubectl describe nodes | grep -E '^Name:|${quoted(resource)}'`,
})
const holders = (resource: string): Piece => ({
  text: 'See which pods hold GPUs, and end what is not needed.',
  command: `kubectl get pods -A -o yaml | grep -B 20 '${resource}:' | grep -E ' name:|namespace:'`,
})
/** The pod that could not be placed, where the text names it. */
function events({ situation }: Matched): Piece {
  const { pod, namespace } = situation().subject
  return (
    pod !== undefined && {
      text: 'See what else rules nodes out for this pod.',
      command: `kubectl describe pod ${pod}${namespace === undefined ? '' : ` -n ${namespace}`}`,
    }
  )
}
const NAMED =
  /^(?:[a-z0-9-]{1,60}[ \t]{1,40})?([a-z0-9][a-z0-9.-]{2,80})[ \t]{1,40}0\/\d{1,2}[ \t]{1,20}Pending\b|^Name: {1,20}([a-z0-9][a-z0-9.-]{1,80})\s*\n(?:Namespace|Priority):/gm
/** The only pod that a table shows as waiting, or that is described. */
function waiting({ situation }: Pick<Seen, 'situation'>): string {
  const names = new Set([...situation().text.matchAll(NAMED)].map((match) => match[1] ?? match[2] ?? ''))
  return names.size === 1 ? `pod ${[...names].join('')}` : 'the pod'
}
/** In the table of one pod's events: it found a node since. */
const placedSince = ({ text, at }: Seen): boolean => {
  const line = text[at] ?? ''
  const pod = /\bpod[s/ ]{1,2}([\w.-]{3,80})/.exec(line)?.[1]
  const since = text.slice(at + 1)
  return (
    (/^\s{0,8}Warning {2,20}FailedScheduling {2}/.test(line) && since.some((other) => /^\s{0,8}Normal {2,20}Scheduled {2}/.test(other))) ||
    since.some((other) => / Successfully assigned \S{3,160} to \S/.test(other) && (pod === undefined || other.includes(pod)))
  )
}
/** Karpenter's own word, beside the one of the scheduler. */
const LIMITED = /all available instance types exceed limits for nodepool(?:,? ?"([\w.-]{1,60})"|,? ?\(NodePool=([\w.-]{1,60})\))?/
function limited({ situation }: Pick<Seen, 'situation'>): { readonly says: string; readonly piece: Piece } | undefined {
  const match = LIMITED.exec(situation().text)
  if (match === null) return undefined
  const name = match[1] ?? match[2]
  return {
    says: `Karpenter may add no node, because the limits of its NodePool${name === undefined ? '' : ` ${name}`} are reached`,
    piece: {
      text: `Raise the limits of the NodePool${name === undefined ? '' : ` ${name}`} (spec.limits: nvidia.com/gpu, cpu, memory), or end what uses them.`,
      command: `kubectl get nodepool ${name ?? ''} -o yaml | grep -A 6 -E 'limits:|resources:'`.replace('  ', ' '),
    },
  }
}
const and = (more: string): string => (more === '' ? '' : `; ${more}`)

export const gpuUnschedulable = ruleFamily({
  id: 'gpu-unschedulable',
  kind: 'gpu_unschedulable',
  literals: [
    'nsufficient nvidia.com/',
    'Insufficient amd.com/gpu',
    'Insufficient gpu.intel.com/',
    'devices unavailable for nvidia.com/',
    'devices unavailable for amd.com/',
    'devices unavailable for gpu.intel.com/',
    'Allocate failed due to rpc error',
    'Allocate failed due to device plugin ',
    'in cache for a registered resource',
    'OutOfnvidia.com/',
    'OutOfamd.com/gpu',
    ' nodes are available: ',
    "didn't trigger scale-up: ",
    "Node didn't have enough resource: ",
    ' device marked unhealthy: ',
    'arking it unhealthy',
    'arking it as unhealthy',
  ],
  rules: [
    {
      // "0/6 nodes are available: … 6 Insufficient nvidia.com/gpu".
      pattern: new RegExp(`(\\d{1,6})/(\\d{1,6}) nodes are available:[^\\n]{0,400}?(\\d{1,6}) [Ii]nsufficient ${RESOURCE}`),
      severity: 'critical',
      unless: placedSince,
      title: 'No node has a free GPU for the pod',
      verdict: ({ match, message, situation }) =>
        `Kubernetes cannot place ${waiting({ situation })}: ${match[3]} of ${match[2]} ${match[2] === '1' ? 'node has' : 'nodes have'} no free ${match[4]}${and(ruledOut(message).verdict)}${and(limited({ situation })?.says ?? '')}.`,
      remedies: (matched) => {
        const { match } = matched
        const resource = match[4] ?? 'nvidia.com/gpu'
        const others = ruledOut(matched.message).remedies
        // Nodes with GPUs that are closed come before GPUs that are in use.
        const closed = /taints? \{nvidia\.com\/gpu|unschedulable/.test(matched.message)
        return [limited(matched)?.piece, ...(closed ? others : []), offered(resource), holders(resource), ...others, events(matched)]
      },
    },
    {
      // Without a lack of GPUs: taints, labels, volumes, CPU, memory.
      pattern: /(\d{1,6})\/(\d{1,6}) nodes are available: |didn't trigger scale-up: /,
      severity: 'critical',
      title: 'No node can take the pod',
      verdict: ({ match, message, situation }) =>
        match[2] === undefined
          ? `The autoscaler added no node for ${waiting({ situation })}, because none of its groups would fit: of them ${ruledOut(message).verdict}.`
          : `Kubernetes cannot place ${waiting({ situation })}: of ${match[2]} ${match[2] === '1' ? 'node' : 'nodes'}, ${ruledOut(message).verdict}.`,
      remedies: (matched) => [...ruledOut(matched.message).remedies, events(matched)],
      // Claims and volumes have rules of their own.
      unless: ({ message, match, ...seen }) =>
        placedSince({ message, match, ...seen }) ||
        (match[1] ?? '0') !== '0' ||
        /Insufficient (?:nvidia|amd|gpu\.intel)\.com/.test(message) ||
        /unbound immediate|cannot allocate all claims|persistentvolumeclaim "/.test(message) ||
        ruledOut(message).reasons === 0,
    },
    {
      pattern: new RegExp(`(?:didn't trigger scale-up|FailedScheduling)[^\\n]{0,400}?Insufficient ${RESOURCE}`),
      severity: 'critical',
      unless: placedSince,
      title: 'No node has a free GPU for the pod',
      verdict: ({ match }) =>
        `Kubernetes cannot place the pod: too few ${match[1]} are free${match[0].startsWith('didn') ? ', and the autoscaler would not add a node that has them' : ''}.`,
      remedies: (matched) => [offered(matched.match[1] ?? 'nvidia.com/gpu'), holders(matched.match[1] ?? 'nvidia.com/gpu'), events(matched)],
    },
    {
      pattern: new RegExp(`requested number of devices unavailable for ${RESOURCE}\\. Requested: ?(\\d{1,6}), Available: ?(\\d{1,6})`),
      severity: 'critical',
      title: 'The node has no free GPU for the pod',
      verdict: ({ match }) =>
        `The kubelet rejected the pod: it asks for ${match[2]} ${match[1]}, and ${match[3]} ${match[3] === '1' ? 'is' : 'are'} free and healthy on the node.`,
      remedies: (matched) => [
        {
          text: 'See what the device plugin of that node says: after a restart, or with unhealthy GPUs, it offers none.',
          command: 'kubectl get pods -A -o wide | grep -i device-plugin',
        },
        offered(matched.match[1] ?? 'nvidia.com/gpu'),
        { text: 'A rejected pod is not tried again: delete it, and create it again when GPUs are free.' },
        events(matched),
      ],
    },
    {
      pattern: /Allocate failed due to rpc error: code = Unavailable desc = [^\n]{3,80}/,
      severity: 'critical',
      title: 'The device plugin did not answer the kubelet',
      verdict: 'The kubelet rejected the pod: the device plugin that assigns GPUs exited or restarted during the request.',
      remedies: (matched) => [
        {
          text: 'See whether the device plugin of that node restarts, and what it said before it ended.',
          command: 'kubectl get pods -A -o wide | grep -i device-plugin; kubectl logs -n <NAMESPACE> <DEVICE_PLUGIN_POD> --previous | tail -n 40',
        },
        { text: 'A rejected pod is not tried again: delete it, and create it again when the plugin runs.' },
        events(matched),
      ],
    },
    {
      pattern:
        /Allocate failed due to (?:device plugin \w{4,40} rpc failed with err: )?rpc error: code = (?!Unavailable)\w{4,20} desc = ([^\n]{3,160}?),? which is unexpected/,
      severity: 'critical',
      title: 'The device plugin refused to give the pod its GPUs',
      verdict: ({ match }) => `The kubelet rejected the pod, because the device plugin of its node answered "${match[1]}".`,
      remedies: (matched) => [
        {
          text: 'See on the node whether all GPUs are still there: a lost, hidden or replaced one changes the numbers that the plugin knows.',
          command: 'nvidia-smi -L; ls /dev/nvidia*',
        },
        {
          text: 'Then recreate the pod of the device plugin on that node, so that it lists them again. Running work is not stopped.',
          command: 'kubectl get pods -A -o wide | grep -i device-plugin; kubectl delete pod -n <NAMESPACE> <DEVICE_PLUGIN_POD>',
        },
        { text: 'A rejected pod is not tried again: delete it, and create it again.' },
        events(matched),
      ],
      // A lost GPU and too large a request are told by themselves.
      unless: ({ message }) => /GPU is lost|ERROR_GPU_IS_LOST|Unknown Error|maximum request size/i.test(message),
    },
    {
      // The kubelet remembers the resource of a plugin that is no longer connected to it.
      pattern: new RegExp(`endpoint not found in cache for a registered resource: ${RESOURCE}`),
      severity: 'critical',
      title: 'The device plugin is not connected to the kubelet',
      verdict: ({ match }) =>
        `The kubelet cannot create the container: it knows ${match[1]} from before, and no device plugin of its node is connected to it now. Mostly the kubelet or the plugin was restarted, and the plugin did not register again.`,
      remedies: (matched) => [
        {
          text: 'See whether the device plugin runs on that node, and whether its socket is there.',
          command: 'kubectl get pods -A -o wide | grep -i device-plugin; ls -l /var/lib/kubelet/device-plugins',
        },
        {
          text: "Recreate the plugin's pod on that node, so that it registers again. Running work is not stopped, and the kubelet tries the container again by itself.",
          command: 'kubectl delete pod -n <NAMESPACE> <DEVICE_PLUGIN_POD>',
        },
        offered(matched.match[1] ?? 'nvidia.com/gpu'),
        events(matched),
      ],
    },
    {
      // The reason alone, or in the line above its message, or the message.
      pattern: new RegExp(
        `OutOf${RESOURCE}(?![^]{0,120}Node didn't have enough)|Node didn't have enough resource: ${RESOURCE}, requested: (\\d{1,6}), used: (\\d{1,6}), capacity: (\\d{1,6})`,
      ),
      severity: 'critical',
      title: 'The node has no free GPU for the pod',
      verdict: ({ match }) =>
        match[3] === undefined
          ? `The kubelet rejected the pod: its node has too few free ${match[1]}.`
          : `The kubelet rejected the pod: it asks for ${match[3]} ${match[2]}, and ${match[4]} of the node's ${match[5]} are in use.`,
      remedies: (matched) => [
        holders(matched.match[1] ?? matched.match[2] ?? 'nvidia.com/gpu'),
        offered(matched.match[1] ?? matched.match[2] ?? 'nvidia.com/gpu'),
        events(matched),
      ],
    },
    {
      pattern: /(?:GPU with UUID|[Dd]evice) (\S{4,60}) (is too old|[^\n]{3,160}?)[^\n]{0,120}[Mm]arking it (?:as )?unhealthy/,
      severity: 'critical',
      title: 'The device plugin took a GPU out of use',
      verdict: ({ match }) =>
        match[2] === 'is too old'
          ? `The device plugin marked ${match[1]} as unhealthy, because the GPU is too old for its health check: the node does not offer it.`
          : `The device plugin marked ${match[1]} as unhealthy: new pods do not get it.`,
      remedies: ({ match }) => [
        match[2] === 'is too old'
          ? { text: 'Use a newer GPU. The plugin watches GPUs by their Xid events, and this one does not report them.', command: 'nvidia-smi -L' }
          : { text: 'See on the node what happened to the GPU: mostly an Xid.', command: "sudo dmesg -T | grep 'NVRM: Xid' | tail; nvidia-smi -L" },
      ],
    },
    {
      pattern: /'((?:nvidia|amd)\.com\/[\w.-]{1,40})' device marked unhealthy: (\S{4,60})/,
      severity: 'critical',
      title: 'The device plugin took a GPU out of use',
      verdict: ({ match }) => `The device plugin marked ${match[2]} as unhealthy: new pods do not get it. Pods that have it keep it.`,
      remedies: ({ match }) => [
        match[1]?.startsWith('nvidia') === true
          ? { text: 'See on the node what happened to the GPU: mostly an Xid.', command: "sudo dmesg -T | grep 'NVRM: Xid' | tail; nvidia-smi -L" }
          : { text: 'See on the node what happened to the GPU.', command: driverLines('amdgpu', 40) },
        {
          text: "Many releases of the plugin do not look again: when the GPU is well, recreate the plugin's pod on that node.",
          command: 'kubectl get pods -A -o wide | grep -i device-plugin',
        },
      ],
    },
  ],
})
