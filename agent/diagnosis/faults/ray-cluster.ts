// A cluster of Ray that does not come together: no head, no node for what was asked, versions that differ.
import { ruleFamily, type Seen } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

const inPods = ({ situation }: Seen): boolean => situation().programs.has('kubernetes') || /kuberay|raycluster/i.test(situation().text)
const head = (seen: Seen): Piece =>
  inPods(seen)
    ? {
        text: "See whether the head's pod runs, and why it ended if not (OOMKilled is frequent).",
        command: 'kubectl get pods -l ray.io/node-type=head; kubectl describe pod -l ray.io/node-type=head',
      }
    : { text: 'See on the head whether Ray runs, and what its GCS said last.', command: 'ray status; tail -n 40 /tmp/ray/session_latest/logs/gcs_server.out' }
const ADDRESS =
  /(?:GCS|gcs|head node|Ray) ?(?:service )?(?:at|with|on)? ?(?:address |the address )?(?:at )?[`'"]?((?:\d{1,3}\.){3}\d{1,3}:\d{2,5}|[\w-]{2,60}(?:\.[\w-]{1,60}){0,6}:\d{2,5})/
/** Before 2.10 in bytes. */
const onDisk = (amount = '', unit = ''): string => (unit === '' ? `${(Number(amount) / 1e9).toFixed(1)} GB` : `${Number(Number(amount).toFixed(2))} GB`)
const resources = (words: string): string =>
  [...words.matchAll(/'([\w:.-]{1,60})': (\d{1,6}(?:\.\d{1,3})?)/g)].map(([, name, count]) => `${Number(count)} ${name}`).join(', ')

export const rayCluster = ruleFamily({
  id: 'ray-cluster',
  kind: 'network_error',
  literals: [
    'ailed to connect to GCS',
    'nable to connect to GCS',
    'GCS to become available',
    'can fulfill resource request',
    'cannot be scheduled right now. It requires',
    'that cannot be fulfilled by any node',
    'infeasible resource requests',
    'placement group cannot be',
    'Waiting for creating a placement group',
    "Error: Can't find a `node_ip_address.json`",
    'Version mismatch: The cluster was started with',
    'Could not find any running Ray instance',
    'Object creation will fail if spilling',
  ],
  rules: [
    {
      pattern:
        /Version mismatch: The cluster was started with[^]{0,20}?Ray: (\S{3,20})[^]{0,20}?Python: (\S{3,20})[^]{0,120}?Ray: (\S{3,20})[^]{0,20}?Python: (\S{3,20})/,
      kind: 'config_error',
      severity: 'critical',
      title: 'Versions of Ray or Python differ',
      verdict: ({ match }) =>
        `The cluster has Ray ${match[1]} with Python ${match[2]}, this process Ray ${match[3]?.replace(/\.$/, '')} with Python ${match[4]?.replace(/\.$/, '')}: both must be the same.`,
      remedies: ({ match }) => [
        { text: 'Use one image or environment for head, workers and drivers.', command: `python -m pip install "ray==${match[1]}"; python --version` },
      ],
    },
    {
      // file_system_monitor.cc; it says so again and again.
      pattern: /(\/\S{1,200}?) is over (\d{2})% full, available space: ([\d.]{1,16})( GB)?; capacity: ([\d.]{1,18})(?: GB)?/,
      kind: 'disk_full',
      severity: 'warning',
      title: 'The disk of Ray is nearly full',
      verdict: ({ match }) =>
        `The file system of ${match[1]} is over ${match[2]} % full: ${onDisk(match[3], match[4])} of ${onDisk(match[5], match[4])} are left. When memory fills up Ray writes objects there, and then their creation fails.`,
      remedies: ({ match }) => [
        {
          text: 'See what fills it. Folders of earlier sessions (session_*) can go when no Ray runs.',
          command: `df -h ${match[1]}; du -sh ${(match[1] ?? '').replace(/\/session_.*$/, '')}/* | sort -h | tail`,
        },
        { text: 'Or start Ray with its folder on a larger disk.', command: 'ray start --head --temp-dir <FOLDER_WITH_SPACE>' },
      ],
    },
    {
      pattern: /Could not find any running Ray instance/,
      kind: 'config_error',
      severity: 'critical',
      title: 'No Ray cluster runs here',
      verdict: 'The program wants to join a cluster of Ray (address="auto" or RAY_ADDRESS), and none runs on this host.',
      remedies: [
        { text: 'Start one, or name the address of the head.', command: 'ray start --head; ray status' },
        { text: 'For a single host leave the address out: ray.init() then starts its own.', command: 'unset RAY_ADDRESS' },
      ],
    },
    {
      pattern:
        /No available node types can fulfill resource request (?:defaultdict\(<class 'float'>, )?(\{[^}]{2,200}\})|(\{[^}]{2,200}\})[^\n]{0,80}that cannot be fulfilled by any node|infeasible resource requests?/,
      kind: 'gpu_unschedulable',
      severity: 'critical',
      title: 'No node of the Ray cluster can take the work',
      verdict: ({ match }) => {
        const asked = resources(match[1] ?? match[2] ?? '')
        return `Ray waits for a node that can give ${asked === '' ? 'what was asked for' : asked} at once, and the cluster has none: it does not see as many GPUs as are asked for, or not on one node.`
      },
      remedies: (seen) => [
        { text: 'See what the cluster has and what waits: the GPUs that Ray counts, and those in use.', command: 'ray status -v; ray list nodes' },
        {
          text: 'Ask for no more than one node has (num_gpus, the bundles of the placement group, tensor_parallel_size), or let the other nodes join.',
          command: 'ray start --address=<HEAD_ADDRESS>',
        },
        {
          text: 'If the hosts have more GPUs than Ray counts: it was started where they were not visible. Start it again there.',
          command: 'nvidia-smi -L; env | grep CUDA_VISIBLE_DEVICES',
        },
        inPods(seen) && { text: 'In Kubernetes give rayStartParams num-gpus, and the pod limits of nvidia.com/gpu.' },
      ],
    },
    {
      // vLLM, ray_utils.py: after 10 s, then each time twice as long. A cluster that grows by itself takes some minutes.
      pattern: /Waiting for creating a placement group of specs for (\d{3,5}) seconds\. specs=\[([^\]\n]{2,400})\]/,
      kind: 'gpu_unschedulable',
      severity: 'warning',
      title: 'vLLM waits for GPUs of the Ray cluster',
      verdict: ({ match, situation }) => {
        const asked = [...(match[2] ?? '').matchAll(/'GPU': (\d{1,3}(?:\.\d{1,3})?)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
        const [, used, all] = /^ *(\d{1,4}(?:\.\d{1,3})?)\/(\d{1,4}(?:\.\d{1,3})?) GPU$/m.exec(situation().text) ?? []
        return `vLLM has waited ${match[1]} s for ${asked === 0 ? 'its workers' : `${asked} GPUs`} of the Ray cluster.${all === undefined ? ' The cluster has fewer free, or they are not where the group needs them.' : ` Ray counts ${Number(all)} in all, of which ${Number(used)} ${Number(used) === 1 ? 'is' : 'are'} in use.`}`
      },
      remedies: ({ situation }) => [
        {
          text: 'See how many GPUs Ray counts on each node: it counts at its start, and a node where the driver or the vendor was not recognised offers none.',
          command: 'ray list nodes --detail; nvidia-smi -L',
        },
        {
          text: 'On a node whose GPUs Ray does not count: start it again with their number.',
          command: 'ray stop; ray start --address=<HEAD_ADDRESS> --num-gpus=<GPUS>',
        },
        { text: 'With several hosts VLLM_HOST_IP must be, on each, the address by which Ray knows it.', command: 'printenv VLLM_HOST_IP; hostname -I' },
        situation().programs.has('kubernetes') && { text: 'In Kubernetes give rayStartParams num-gpus, and the pod limits of nvidia.com/gpu.' },
      ],
      unless: ({ match }) => Number(match[1]) < 150,
    },
    {
      pattern: /(?:cannot be scheduled right now\. It requires (\{[^}]{2,200}\})|placement group cannot be (?:created|scheduled))/,
      kind: 'gpu_unschedulable',
      severity: 'warning',
      title: 'Work waits for resources of the Ray cluster',
      verdict: ({ match }) =>
        `Ray cannot place an actor, task or placement group now${match[1] === undefined ? '' : ` (it requires ${resources(match[1])})`}: all is in use, or no node has as much.`,
      remedies: () => [
        {
          text: 'See what is in use, and by whom; actors that are not needed still hold their GPUs.',
          command: 'ray status -v; ray list actors --filter "state=ALIVE"',
        },
        { text: 'Ask for less (num_gpus, num_cpus), end what is not needed, or add a node.' },
      ],
    },
    {
      pattern: /[Ff]ailed to connect to GCS|[Uu]nable to connect to GCS|waiting for GCS to become available|Can't find a `node_ip_address\.json`/,
      severity: 'critical',
      title: "Ray's head does not answer",
      verdict: (seen) => {
        const address = ADDRESS.exec(seen.message)?.[1]
        return /node_ip_address/.test(seen.message)
          ? 'Ray did not start on this host: its raylet left no record of the session.'
          : `The head of the cluster (its GCS${address === undefined ? '' : ` at ${address}`}) cannot be reached: it ended or never started, the address is wrong, or a firewall is between.`
      },
      remedies: (seen) => {
        const address = ADDRESS.exec(seen.message)?.[1]
        const [host, port] = address?.split(':') ?? []
        return [
          head(seen),
          {
            text: `See whether this host reaches it${address === undefined ? '' : ` at ${address}`}: the port of the GCS is 6379 by default, and not that of the dashboard (8265).`,
            command: `nc -zv ${host ?? '<HEAD_ADDRESS>'} ${port ?? '6379'}`,
          },
          { text: 'Ray and Python must have the same version on head, workers and drivers.', command: 'ray --version; python --version' },
        ]
      },
      unless: ({ message }) => /[Rr]etry(?:ing)? (?:in|attempt)|\bwithin \d{1,2} seconds\. (?:Ret|Wait)/.test(message),
    },
  ],
})
