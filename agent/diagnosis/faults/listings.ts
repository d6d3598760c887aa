// Tables that operators print to see what is wrong: lspci, `ollama ps`, the devices of CDI, what a node has to give, the containers that ended.
import { whoHolds } from './remedies/gpu.ts'
import { onTheCpu } from './remedies/on-the-cpu.ts'
import { requestGpu } from './gpu-not-visible/request.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { around } from './parts/window.ts'

/** `Allocatable:` of `kubectl describe node`, and no other section of it. */
const ofNode = ({ text, at }: Seen): boolean => /^Allocatable:/m.test(around(text, at, 14, 0).replace(/^[^]*^(?=\w[\w ]{2,30}:\s*$)/m, ''))
/** The same resource under `Capacity:`, just above. */
function capacityOf({ text, at }: Seen): number | undefined {
  const found = /^Capacity:\s*\n(?:\s[^\n]{1,80}\n){0,16}?\s{1,8}nvidia\.com\/gpu:\s{1,20}(\d{1,3})\s*$/m.exec(
    text.slice(Math.max(0, at - 30), at).join('\n'),
  )?.[1]
  return found === undefined ? undefined : Number(found)
}
const nodeOf = ({ text, at }: Seen): string =>
  /^Name: {1,30}([\w.-]{1,80})$|\bdescribe nodes? ([\w.-]{1,80})/m
    .exec(text.slice(Math.max(0, at - 80), at).join('\n'))
    ?.slice(1)
    .find((name) => name !== undefined) ?? '<NODE>'

/** Of the size in the third column what is on the GPU: `43 GB` at `52%/48%` is 21 GB. */
function held([, , size = '', , onGpu]: RegExpExecArray): string {
  const [value, unit] = size.split(' ')
  return `${Math.round((Number(value) * Number(onGpu)) / 10) / 10} ${unit}`
}

export const listings = ruleFamily({
  id: 'listings',
  kind: 'gpu_not_visible',
  literals: [
    '"DeviceRequests": null',
    '/Row Remap | Fail',
    'Memory                | Fail',
    '(rev ff)',
    '% CPU/GPU',
    ' 100% CPU ',
    'Found 0 CDI devices',
    'nvidia.com/gpu: ',
    ' Exited (137) ',
  ],
  rules: [
    {
      // pciutils prints the revision as it reads it, and all ones is what a bus gives for a device that does not answer.
      pattern: /^(?:([\da-f]{2,4}(?::[\da-f]{2}){1,2}\.\d) )?[^\n]{0,60}\bNVIDIA\b[^\n]{0,160}\(rev ff\)/i,
      kind: 'gpu_lost',
      severity: 'critical',
      title: ({ match }) => `The GPU${match[1] === undefined ? '' : ` at ${match[1]}`} does not answer on the bus`,
      verdict:
        'The card does not answer on the PCIe bus: lspci reads only ones from it (rev ff). It has fallen off the bus; in a laptop with two GPUs it may only be switched off to save power.',
      remedies: [
        {
          text: 'See what the kernel says of it: "fallen off the bus" (Xid 79) or a failed change of its power state.',
          command: "sudo dmesg -T | grep -iE 'nvrm|xid|pcieport|power state' | tail -n 30",
        },
        { text: 'Switch the machine off completely, then on: a lost card rarely comes back with a reset.', command: 'sudo poweroff' },
        { text: 'If it is lost again: check power cables, seating and riser of the card, its temperature, and the power supply under load.' },
      ],
    },
    {
      pattern: /^(\S{1,80}) {1,40}[\da-f]{12} {1,20}(\d[\d.]{0,6} [KMGT]B) {1,20}(\d{1,3})%\/(\d{1,3})% CPU\/GPU\b/,
      kind: 'precision_fallback',
      severity: 'warning',
      title: 'A part of the model is outside the GPU',
      verdict: ({ match }) =>
        `Ollama keeps ${match[3]} % of ${match[1]} (${match[2]} with its context) in host memory and computes that part on the CPU, because the free memory of the GPUs is too small for it: it answers several times slower.`,
      remedies: ({ match, situation }) => [
        {
          text: `Let all of it fit: the GPUs hold about ${held(match)} of it. A smaller quantization or model, or a shorter context (num_ctx, OLLAMA_CONTEXT_LENGTH), brings it below that.`,
        },
        {
          text: 'Keep the KV cache in 8 bit (with flash attention, which not every model supports), then restart the server.',
          command: 'export OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0',
        },
        { text: 'Unload models that are not needed.', command: 'ollama stop <MODEL>' },
        whoHolds(situation()),
      ],
      facts: () => ({ from: 'cuda', to: 'cpu' }),
    },
    {
      pattern: /^(\S{1,80}) {1,40}[\da-f]{12} {1,20}(\d[\d.]{0,6} [KMGT]B) {1,20}100% CPU\b/,
      kind: 'precision_fallback',
      severity: 'warning',
      title: 'The model runs on the CPU',
      verdict: ({ match }) => `Ollama computes ${match[1]} (${match[2]}) on the CPU only: it found no GPU, or none has space for a part of it.`,
      remedies: (matched) => [onTheCpu(matched)],
      facts: () => ({ from: 'cuda', to: 'cpu' }),
    },
    {
      pattern: /Found 0 CDI devices/,
      severity: 'warning',
      title: 'CDI knows no GPU',
      verdict: 'No specification names the GPUs of this host for CDI, so --device nvidia.com/gpu=… finds none.',
      remedies: [
        {
          text: 'Write one, and again after each update of the driver; nvidia-cdi-refresh of newer toolkits does so by itself.',
          command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && nvidia-ctk cdi list',
        },
        { text: 'It can only name what the driver shows.', command: 'nvidia-smi -L' },
      ],
    },
    {
      // Its name is in the question alone: each container that asked for no GPU has it in its description.
      pattern: /^"DeviceRequests": null/,
      severity: 'warning',
      title: 'The container was started without a GPU',
      verdict:
        'Docker was not asked for a GPU when this container was made (DeviceRequests: null), and it cannot be given one later. Only with the runtime nvidia it would have those of NVIDIA_VISIBLE_DEVICES.',
      remedies: ({ situation }) => [requestGpu(situation())],
      unless: ({ text, at }) => !/\b(?:grep|jq)\b.{0,40}DeviceRequests/.test(around(text, at, 3, 0)),
    },
    {
      pattern: /^(?:\|\s)?(?:GPU )?(Page Retirement\/Row Remap|Memory)\s{1,30}\| Fail/,
      kind: 'ecc_error',
      severity: 'critical',
      title: ({ match }) => `DCGM's diagnosis failed: ${match[1]}`,
      verdict: ({ match }) => `dcgmi diag found the GPU's memory faulty (${match[1]}): a repair is pending or was not possible, or the memory test failed.`,
      remedies: [
        { text: 'See which GPU it is and what is pending.', command: 'nvidia-smi -q -d ROW_REMAPPER,ECC,PAGE_RETIREMENT' },
        { text: 'Where a repair is pending, end what runs on that GPU and reset it.', command: 'sudo nvidia-smi --gpu-reset -i <GPU>' },
        { text: 'Test it again while it is idle; have the card replaced if it fails once more.', command: 'dcgmi diag -r 3 -i <GPU>' },
      ],
    },
    {
      pattern: /^\s*nvidia\.com\/gpu:\s{1,20}0(?![\d.])/,
      kind: 'gpu_unschedulable',
      severity: 'warning',
      title: (matched) => `Node ${nodeOf(matched)} offers no GPU`.replace('Node <NODE>', 'The node'),
      verdict: 'The kubelet counts no GPU that a pod could get (Allocatable: nvidia.com/gpu 0): the device plugin found none, or all are unhealthy.',
      remedies: (matched) => [
        {
          text: 'See what the device plugin of that node says.',
          command: `kubectl get pods -A -o wide --field-selector spec.nodeName=${nodeOf(matched)} | grep -i device-plugin\nkubectl logs -n <NAMESPACE> <POD> --tail=50`,
        },
        {
          text: 'See on the node whether the driver shows the GPUs, and what it says of them.',
          command: "nvidia-smi -L; sudo dmesg -T | grep -E 'NVRM|Xid' | tail",
        },
      ],
      unless: (seen) => !ofNode(seen),
    },
    {
      // Of eight GPUs that the plugin has named it offers seven.
      pattern: /^\s*nvidia\.com\/gpu:\s{1,20}([1-9]\d{0,2})(?![\d.])/,
      kind: 'gpu_unschedulable',
      severity: 'warning',
      title: (matched) => `Node ${nodeOf(matched)} offers fewer GPUs than it has`.replace('Node <NODE>', 'The node'),
      verdict: (matched) =>
        `The node has ${capacityOf(matched)} GPUs and offers pods ${matched.match[1]} (Allocatable below Capacity): the device plugin has marked the others as unhealthy.`,
      remedies: (matched) => [
        {
          text: 'See on the node what happened to the GPU: mostly an Xid.',
          command: "sudo dmesg -T | grep 'NVRM: Xid' | tail; nvidia-smi -L",
        },
        {
          text: 'See which one the device plugin took out. Many releases of the plugin do not look again: when the GPU is well, recreate its pod on that node.',
          command: `kubectl get pods -A -o wide --field-selector spec.nodeName=${nodeOf(matched)} | grep -i device-plugin\nkubectl logs -n <NAMESPACE> <POD> | grep -i -E 'unhealthy|xid'`,
        },
      ],
      unless: (seen) => !ofNode(seen) || !((capacityOf(seen) ?? 0) > Number(seen.match[1])),
    },
    {
      pattern: /^(\S{1,80}) (?:.{1,300}? )?Exited \(137\) (?:\d{1,2} (?:second|minute)s?|About a minute|Less than a second) ago/,
      kind: 'job_killed',
      severity: 'warning',
      title: ({ match }) => `${/^[0-9a-f]{12}$/.test(match[1] ?? '') ? 'A container' : match[1]} was ended by SIGKILL`,
      verdict: ({ match }) =>
        `${match[1]} ended with exit code 137, which is SIGKILL: from the kernel where memory ran out, or from docker kill or a stop that took too long. The table does not say which.`,
      remedies: ({ match }) => [
        {
          text: 'See which: OOMKilled true means its memory limit; else look for the kernel having killed it.',
          command: `docker inspect --format '{{.State.OOMKilled}} {{.State.FinishedAt}}' ${match[1]}; sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail`,
        },
        { text: 'Read what it said last.', command: `docker logs --tail 100 ${match[1]}` },
      ],
    },
  ],
})
