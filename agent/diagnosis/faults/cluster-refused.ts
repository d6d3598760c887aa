// Kubernetes: shared GPUs, MIG, pods that crash again and again, secrets and volumes that are not there, nodes that are not ready.
import { ruleFamily, type Seen } from './parts/rules.ts'
import { podEvents } from './remedies/kubernetes.ts'
import type { Piece } from './remedies/plan.ts'

const inNamespace = ({ situation }: Seen): string => {
  const { namespace } = situation().subject
  return namespace === undefined ? '' : ` -n ${namespace}`
}
/** The text shows how the container last ended. */
const killed = ({ text }: Pick<Seen, 'text'>): boolean => text.some((line) => /\b[Ee]xit ?[Cc]ode:? {1,8}137\b/.test(line))
const events = ({ situation }: Seen): Piece => podEvents(situation())

export const clusterRefused = ruleFamily({
  id: 'cluster-refused',
  kind: 'config_error',
  literals: [
    'maximum request size for shared resources',
    'invalid MIG configuration',
    ' CrashLoopBackOff ',
    'with CrashLoopBackOff: ',
    'MountVolume.',
    'Multi-Attach error for volume',
    'NodeNotReady',
    'Error: secret "',
    'Error: configmap "',
  ],
  rules: [
    {
      pattern: /request for '([\w./-]{3,60}): (\d{1,4})' too large: maximum request size for shared resources is (\d{1,3})/,
      kind: 'gpu_unschedulable',
      severity: 'critical',
      title: 'The pod asks for more than one share of a GPU',
      verdict: ({ match }) =>
        `The pod asks for ${match[2]} ${match[1]}, and the device plugin gives at most ${match[3]}: with time-slicing or MPS, two shares are no second GPU and no more memory.`,
      remedies: (matched) => [
        {
          text: `Ask for ${matched.match[3]} (resources.limits), or for whole GPUs on nodes that do not share theirs. The rejected pod must be deleted and created again.`,
        },
        events(matched),
      ],
    },
    {
      pattern: /device (\d{1,3}) has an invalid MIG configuration/,
      kind: 'gpu_unschedulable',
      severity: 'critical',
      title: 'The device plugin cannot start: MIG does not fit its strategy',
      verdict: ({ match }) =>
        `MIG is on for GPU ${match[1]} and it has no instances, or others than the plugin's strategy allows (single: the same on all GPUs). The node offers no GPUs.`,
      remedies: ({ match }) => [
        { text: 'See mode and instances of each GPU on the node.', command: 'nvidia-smi -L; nvidia-smi mig -lgi' },
        {
          text: `Create the instances (with the GPU Operator by the label nvidia.com/mig.config of the node), use migStrategy mixed, or switch MIG off for GPU ${match[1]}, which ends what runs there.`,
          command: `nvidia-smi -i ${match[1]} --query-gpu=mig.mode.current,mig.mode.pending --format=csv`,
        },
      ],
    },
    {
      pattern: /^(?:([a-z0-9-]{1,60}) {1,4})?([a-z0-9][a-z0-9.-]{2,80}) \d{1,2}\/\d{1,2} (?:Init:)?CrashLoopBackOff (\d{1,5})/,
      kind: 'job_failed',
      severity: 'critical',
      title: ({ match }) => `${match[2]} crashes again and again`,
      verdict: ({ match, ...seen }) =>
        `Kubernetes restarted ${match[2]} ${match[3]} ${match[3] === '1' ? 'time' : 'times'}, and waits longer before each try. ${killed(seen) ? 'It last ended with exit code 137 (SIGKILL): mostly it reached its memory limit, host memory and not GPU memory.' : 'The table does not say why it ends.'}`,
      remedies: ({ match, ...seen }) => {
        const where = match[1] === undefined ? inNamespace({ match, ...seen }) : ` -n ${match[1]}`
        return [
          killed(seen) && { text: 'Raise the memory limit of the container (resources.limits.memory), if the reason below is OOMKilled.' },
          { text: 'Read what it said before it ended.', command: `kubectl logs ${match[2]}${where} --previous --tail=100` },
          {
            text: 'See reason and exit code: OOMKilled and 137 mean host memory, 1 an error of its own, 139 a crash.',
            command: `kubectl describe pod ${match[2]}${where} | grep -A 8 'Last State'`,
          },
        ]
      },
      unless: ({ text }) => text.some((line) => /nvidia-driver-daemonset|Last State|Traceback/.test(line)),
    },
    {
      // The kubelet's own log.
      pattern:
        /failed to "StartContainer" for "([\w.-]{1,80})" with CrashLoopBackOff: "back-off (\w{1,8}) restarting failed container=\S{1,90} pod=([a-z0-9.-]{1,100})_([a-z0-9-]{1,63})\(/,
      kind: 'job_failed',
      severity: 'critical',
      title: ({ match }) => `${match[1]} crashes again and again`,
      verdict: ({ match }) =>
        `The container ${match[1]} of the pod ${match[3]} ends each time it is started; Kubernetes waits ${match[2]} before the next try. Why it ends is in its own log.`,
      remedies: ({ match }) => [
        { text: 'Read what it said before it ended.', command: `kubectl logs ${match[3]} -n ${match[4]} -c ${match[1]} --previous --tail=100` },
        {
          text: 'See reason and exit code: OOMKilled and 137 mean host memory, 1 an error of its own, 139 a crash.',
          command: `kubectl describe pod ${match[3]} -n ${match[4]} | grep -A 8 'Last State'`,
        },
      ],
    },
    {
      pattern: /Error: (secret|configmap) "([\w.-]{1,120})" not found/,
      severity: 'critical',
      title: ({ match }) => `The ${match[1]} ${match[2]} does not exist`,
      verdict: ({ match }) => `The container was not created: it takes values from the ${match[1]} ${match[2]}, which its namespace does not have.`,
      remedies: (matched) => [
        {
          text: 'See which there are: they must be in the namespace of the pod. Create it there, or correct the name; the pod then starts by itself.',
          command: `kubectl get ${matched.match[1]}s${inNamespace(matched)}`,
        },
        matched.match[1] === 'secret' && {
          text: 'For a token:',
          command: `kubectl create secret generic ${matched.match[2]}${inNamespace(matched)} --from-literal=<KEY>=<TOKEN>`,
        },
      ],
    },
    {
      pattern: /MountVolume\.\w{3,20} failed for volume "([\w.-]{1,120})"/,
      kind: 'storage_error',
      severity: 'critical',
      title: ({ match }) => `The volume ${match[1]} cannot be mounted`,
      verdict: ({ match, text, at }) => {
        const why = /(?:Output: |mount\.\w{2,8}: )([^\n]{4,160})/.exec(text.slice(at, at + 6).join('\n'))?.[1]?.trim()
        return `The pod waits for its volume ${match[1]}, which the node cannot mount${why === undefined ? '' : `: "${why}"`}.`
      },
      remedies: (matched) => [
        /access denied by server/.test(matched.text.slice(matched.at, matched.at + 6).join('\n'))
          ? {
              text: "The file server does not allow this node: add the node's address to the export, and see that the path is right.",
              command: 'showmount -e <SERVER>',
            }
          : { text: 'See that the server or driver of the volume answers from this node, and that the node has its client (nfs-common, ceph-common).' },
        events(matched),
      ],
    },
    {
      pattern: /Multi-Attach error for volume "([\w.-]{1,120})"(?: Volume is already (?:used by pod\(s\) ([\w.-]{1,120})|exclusively attached))?/,
      kind: 'storage_error',
      severity: 'critical',
      title: ({ match }) => `The volume ${match[1]} is attached to another node`,
      verdict: ({ match }) =>
        `The volume ${match[1]} can be attached to one node at a time (ReadWriteOnce), and ${match[2] ?? 'a pod of another node'} still has it.`,
      remedies: (matched) => [
        {
          text: `End the pod that has it and wait until it is detached; of a node that is gone, this takes some six minutes.`,
          command: `kubectl get pods -o wide${inNamespace(matched)}; kubectl get volumeattachments`,
        },
        { text: 'For pods on several nodes use a volume that may be ReadWriteMany.' },
      ],
    },
    {
      pattern: /NodeNotReady\b/,
      kind: 'job_killed',
      severity: 'warning',
      title: 'The node of the pod is not ready',
      verdict:
        'The node no longer reports to Kubernetes, which after some minutes starts its pods elsewhere: it crashed, hangs, lost its network or has no memory or disk left.',
      remedies: [
        { text: 'See what the node last reported.', command: 'kubectl get nodes; kubectl describe node <NODE>' },
        {
          text: 'On the node, see whether kubelet runs, and what the kernel says.',
          command: "systemctl status kubelet; sudo dmesg -T | grep -iE 'oom|NVRM|Xid|blocked for' | tail",
        },
      ],
    },
  ],
})
