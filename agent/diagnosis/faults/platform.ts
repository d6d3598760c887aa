// What keeps a job from starting, or ends it, on its platform: registries, probes and volumes of Kubernetes, the GPU Operator's pods.
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { podEvents, podLastWords } from './remedies/kubernetes.ts'
import type { Piece } from './remedies/plan.ts'

const PULL =
  /(?:[Ff]ailed to (?:pull|resolve|import|fetch)\b[^\n]{0,60}(?:image|reference)|pull access denied|[Ee]rror (?:response from daemon|pulling image)|Trying to pull|URL https:\/\/[\w.-]{3,80}\/\S{0,200} returned error code)/
const HOST = /https:\/\/((?:[\w-]{1,60}\.){1,6}\w{2,20}(?::\d{1,5})?)\/(?:v2|proxy_auth|token|auth|service)/
const NAMED =
  /image \\?"([\w./:@-]{3,200})\\?"|reference \\?"([\w./:@-]{3,200})\\?"|pull access denied for ([\w./:@-]{3,200}?)[,\s]|(?:manifest for|Trying to pull) ([\w./:@-]{3,200})/
const imageOf = (message: string): string | undefined =>
  NAMED.exec(message)
    ?.slice(1)
    .find((one) => one !== undefined)
    ?.replace(/[:.]+$/, '')
/** The registry by its address, or by the image's name: the part before the first slash is a host where it holds a dot or a port. */
function registry(message: string): string {
  const part = /^([\w-]{1,60}(?:[.:][\w.:-]{1,80})|localhost)\//.exec(imageOf(message) ?? '')?.[1]
  return part ?? HOST.exec(message)?.[1] ?? 'docker.io'
}
/** Around the line: an engine's own lines are above and below. */
const said = ({ message, text, at }: Seen): string => `${message} ${text.slice(Math.max(0, at - 6), at + 3).join(' ')}`
const inPods = ({ situation }: Seen): boolean => situation().programs.has('kubernetes')
const pulled = (seen: Seen): string => {
  const image = imageOf(seen.message) ?? imageOf(said(seen))
  return image === undefined ? 'the image' : image
}

function login(seen: Matched): readonly Piece[] {
  const host = registry(said(seen))
  const { programs, subject } = seen.situation()
  if (programs.has('kubernetes'))
    return [
      {
        text: `Give the namespace a secret with an account that may read the image, and name it under imagePullSecrets of the pod. Secrets of other namespaces do not count.`,
        command: `kubectl create secret docker-registry <NAME> -n ${subject.namespace ?? '<NAMESPACE>'} --docker-server=${host} --docker-username=<USER> --docker-password=<TOKEN>`,
      },
      { text: 'If the pod names one already: its account lacks the right to this repository, or its token has expired.' },
    ]
  if (programs.has('slurm') || /enroot|pyxis/.test(said(seen)))
    return [
      {
        text: `Enter the account for ${host} in ~/.config/enroot/.credentials, on the node that pulls (machine, login, password; for nvcr.io the login is $oauthtoken and the password an API key, which authn.nvidia.com needs too).`,
        command: 'grep -o "^machine [^ ]*" ~/.config/enroot/.credentials',
      },
      { text: 'If it is there: the account lacks the right to this image, or its key has expired.' },
    ]
  return [
    {
      text: 'Log in with an account that may read the image.',
      command: `${programs.has('podman') ? 'podman' : 'docker'} login ${host === 'docker.io' ? '' : host}`.trim(),
    },
    { text: 'A private image and one that does not exist get the same answer: check owner, name and tag too.' },
  ]
}

const events = ({ situation }: Seen): Piece => podEvents(situation())
const before = ({ situation }: Seen): Piece => podLastWords(situation())
export const platform = ruleFamily({
  id: 'platform',
  kind: 'config_error',
  literals: [
    'ailed to pull image',
    'ailed to pull and unpack image',
    'pull access denied',
    'manifest unknown',
    'manifest for ',
    '/proxy_auth returned error code',
    'returned error code: 40',
    'cannot allocate all claims',
    'unbound immediate PersistentVolumeClaims',
    ' failed startup probe',
    ' failed liveness probe',
    'Usage of EmptyDir volume',
    'ephemeral local storage usage exceeds',
    'exceeded its local ephemeral storage limit',
    'nvidia-driver-daemonset-',
    'Could not unload NVIDIA driver kernel modules',
    'Profiling module returned an unrecoverable error',
    'module of DCGM that is not currently loaded',
    'libdcgm.so not Found',
  ],
  rules: [
    {
      pattern:
        /\b40[13]\b[^\n]{0,20}(?:Forbidden|Unauthorized)|pull access denied|no basic auth credentials|[Aa]uthorization failed|authentication required|unauthorized:/,
      kind: 'permission_denied',
      severity: 'critical',
      title: 'The registry refused the image',
      verdict: (matched) => `${registry(said(matched))} did not let this account read ${pulled(matched)}, so the container was not started.`,
      remedies: login,
      unless: (seen) => !PULL.test(said(seen)) || /huggingface|hf\.co/.test(seen.message),
    },
    {
      pattern: /: not found\b|manifest unknown|manifest for \S{3,200} not found/,
      kind: 'file_missing',
      severity: 'critical',
      title: 'The image does not exist',
      verdict: (matched) => `The registry has no image ${pulled(matched)}: name or tag is wrong, or the tag was deleted. The container was not started.`,
      remedies: (matched) => [
        { text: 'Take a tag that its registry lists.', command: `docker manifest inspect ${pulled(matched) === 'the image' ? '<IMAGE>' : pulled(matched)}` },
        inPods(matched) && events(matched),
      ],
      unless: (seen) => !PULL.test(said(seen)) || /no such host|file not found/.test(seen.message),
    },
    {
      pattern: /(\d{1,5}) cannot allocate all claims/,
      kind: 'gpu_unschedulable',
      severity: 'critical',
      title: 'No node has a device for the claims of the pod',
      verdict: ({ match }) =>
        `Kubernetes cannot place the pod: on ${match[1]} ${match[1] === '1' ? 'node' : 'nodes'} no free device fits its resource claims (dynamic resource allocation).`,
      remedies: (matched) => [
        {
          text: 'See which devices the driver offers and what the claims ask for: no slice means that the DRA driver of the node does not run.',
          command: 'kubectl get resourceslices; kubectl get resourceclaims -A; kubectl get deviceclasses',
        },
        { text: 'A device that another claim holds is not free: end what is not needed, or ask for another class or selector.' },
        events(matched),
      ],
    },
    {
      pattern: /unbound immediate PersistentVolumeClaims/,
      kind: 'storage_error',
      severity: 'critical',
      title: 'The pod waits for a volume',
      verdict: 'Kubernetes cannot place the pod: a volume that it claims is not there. This is no lack of GPUs.',
      remedies: [
        {
          text: 'See which claim is Pending and why: no storage class of that name, no free volume of that size, or a provisioner that does not run.',
          command: 'kubectl get pvc,pv; kubectl get storageclass',
        },
        { text: 'See the events of the claim.', command: 'kubectl describe pvc <CLAIM>' },
      ],
    },
    {
      pattern: /Container (\S{1,80}) failed (startup|liveness) probe/,
      kind: 'job_killed',
      severity: 'warning',
      title: ({ match }) => `Kubernetes restarted ${match[1]}: its ${match[2]} probe failed`,
      verdict: ({ match }) =>
        match[2] === 'startup'
          ? `The kubelet ended ${match[1]} because it did not answer its startup probe in time: loading a large model often takes longer than the probe allows.`
          : `The kubelet ended ${match[1]} because it no longer answered its liveness probe: it hangs, computes for too long, or still loads its model.`,
      remedies: (matched) => [
        before(matched),
        {
          text: `Give it more time: periodSeconds times failureThreshold of ${matched.match[2] === 'startup' ? 'the startupProbe' : 'a startupProbe, which holds the liveness probe back,'} must be longer than the load takes (figures in the container's log).`,
        },
        { text: 'Keep the weights on a volume, so that a restart does not download them again.' },
      ],
    },
    {
      pattern:
        /Usage of EmptyDir volume "([\w.-]{1,80})" exceeds the limit "([\w.]{1,20})"|ephemeral local storage usage exceeds the total limit of containers (\d\w{0,12})|Container (\S{1,80}) exceeded its local ephemeral storage limit "(\w{1,20})"/,
      kind: 'job_killed',
      severity: 'critical',
      title: 'The pod was evicted: it wrote too much',
      verdict: ({ match }) =>
        match[4] !== undefined
          ? `The kubelet evicted the pod: the files that container ${match[4]} wrote outside of volumes passed its limit of ${match[5]} (ephemeral-storage).`
          : match[1] === undefined
            ? `The kubelet evicted the pod: its files outside of volumes passed the limit of ${match[3]} (ephemeral-storage).`
            : `The kubelet evicted the pod: its volume ${match[1]} passed its limit of ${match[2]}.`,
      remedies: (matched) => [
        matched.match[1] === undefined
          ? {
              text: `Raise resources.limits.ephemeral-storage ${matched.match[4] === undefined ? '' : `of ${matched.match[4]} `}(now ${matched.match[3] ?? matched.match[5]}), or let caches, checkpoints and large files go to a volume (PVC).`,
            }
          : {
              text: `Raise sizeLimit of the emptyDir ${matched.match[1]} (now ${matched.match[2]}). With medium: Memory, as for /dev/shm, it counts against the container's memory limit: raise that by as much.`,
            },
      ],
    },
    {
      pattern:
        /(nvidia-driver-daemonset-\w{4,10}) {1,20}\d\/\d {1,20}(CrashLoopBackOff|Error|Init:\S{1,30}|ImagePullBackOff|ErrImagePull)|Back-off restarting failed container [\w-]{3,40} in pod (?<pod>nvidia-driver-daemonset-\w{4,10})_(?<namespace>[a-z0-9-]{2,60})\(/,
      kind: 'driver_not_loaded',
      severity: 'critical',
      title: "The GPU Operator's driver pod does not start",
      verdict: ({ match }) =>
        `${match.groups?.['pod'] ?? match[1]} is in ${match[2] ?? 'CrashLoopBackOff'}: it loads the driver of its node. The toolkit, the validator and the device plugin there wait for it.`,
      remedies: ({ match, situation, message }) => {
        const namespace = match.groups?.['namespace'] ?? situation().subject.namespace ?? /^(\S{1,60}) {1,20}nvidia-driver/.exec(message)?.[1] ?? 'gpu-operator'
        return [
          {
            text: 'Read why: the kernel has no headers or ready-made module, nouveau or a driver of the host is loaded, or Secure Boot refuses the module.',
            command: `kubectl logs -n ${namespace} ${match.groups?.['pod'] ?? match[1]} -c nvidia-driver-ctr${match[1] === undefined ? ' --previous' : ''} --tail=60`,
          },
          { text: 'Where the driver is installed on the node itself, switch the pod off: driver.enabled=false in the chart.' },
          { text: 'See how far the others of that node are.', command: `kubectl get pods -n ${namespace} -o wide` },
        ]
      },
    },
    {
      // NVIDIA/dcgm-exporter #148, #328, #449, NVIDIA/DCGM #62.
      pattern: /Profiling module returned an unrecoverable error|module of DCGM that is not currently loaded|libdcgm\.so not Found/,
      severity: 'warning',
      title: ({ match }) => (/libdcgm/.test(match[0]) ? 'dcgm-exporter finds no DCGM' : 'DCGM cannot collect its profiling metrics'),
      verdict: ({ match }) =>
        /libdcgm/.test(match[0])
          ? 'DCGM is not installed where dcgm-exporter runs. Work on the GPUs is not affected.'
          : /not currently loaded/.test(match[0])
            ? 'The part of DCGM that profiles (DCGM_FI_PROF_…) is not installed or not supported on this GPU: it is made for data centre GPUs. Work on the GPUs is not affected.'
            : 'The part of DCGM that profiles (DCGM_FI_PROF_…) failed. Only one program may profile a GPU, and a GPU in a bad state ("ERR!" in nvidia-smi) ends it too. Other metrics are not affected.',
      remedies: ({ match }) => [
        /libdcgm/.test(match[0])
          ? { text: 'Use the image of dcgm-exporter, which brings it, or install DCGM on the host.', command: 'dcgmi --version' }
          : { text: 'See the state of the GPUs, and which part of DCGM is loaded.', command: 'nvidia-smi; dcgmi modules -l' },
        /unrecoverable/.test(match[0]) && {
          text: 'End other profilers (Nsight, a second DCGM) on that host, and restart DCGM; a DCGM older than the driver fails so too: update it.',
        },
        /not currently loaded/.test(match[0]) && {
          text: 'DCGM 4 has it in a package of its own.',
          command: 'sudo apt-get install -y datacenter-gpu-manager-4-proprietary',
        },
        !/libdcgm/.test(match[0]) && { text: 'Or leave the fields DCGM_FI_PROF_… out of the list of metrics of the exporter.' },
      ],
      // Without them the exporter goes on, as on every card for desktops.
      unless: ({ message }) => /Not collecting DCP metrics/.test(message),
    },
    {
      pattern: /Could not unload NVIDIA driver kernel modules, driver is in use/,
      kind: 'driver_not_loaded',
      severity: 'critical',
      title: 'The loaded driver is in use',
      verdict: 'The driver container cannot replace the driver that is loaded: something still uses it. Until then the GPU pods of the node wait.',
      remedies: [
        {
          text: 'See on the node what uses it: work on the GPUs, a display, monitoring, or a driver that is installed on the host.',
          command: 'sudo fuser -v /dev/nvidia*; lsmod | grep nvidia; systemctl list-units "nvidia*" "dcgm*"',
        },
        { text: 'Where the driver belongs to the host, switch the driver pod off: driver.enabled=false in the chart.' },
        {
          text: 'Else drain the node, so that its GPU pods end; where the module stays in use, reboot it.',
        },
      ],
    },
  ],
})
