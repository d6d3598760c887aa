// What container engines, the NVIDIA container toolkit, CDI and the Kubernetes device plugin say when they cannot give a GPU.
import { CUDA_LIBRARY } from '../parts/cuda-libraries.ts'
import type { Rule, Seen } from '../parts/rules.ts'
import { known } from '../parts/window.ts'
import { HOST_DRIVER, WSL } from './driver-remedies.ts'
import { cdi, CDI_LISTED, hook, HOST_WORKS, named, NO_LIBRARY, OPERATOR, toolkit, withoutNvidia, withoutTool } from './engine-remedies.ts'
import { refusal } from './toolkit-refusals.ts'

/** The device plugin got NVML, which found no GPU: without one it says so first. */
const countsNone = (text: string): boolean =>
  /No devices found\. Waiting indefinitely/.test(text) &&
  /Loading NVML|found NVML library/.test(text) &&
  !/could not load NVML|non-NVML|to initialize NVML|[Ii]ncompatible/.test(text)

export const LITERALS = [
  'could not select device driver',
  'unknown or invalid runtime name',
  'Unknown runtime specified',
  '" not found: invalid argument',
  'nvidia-container-cli',
  'nvidia-container-runtime',
  'invoking the NVIDIA Container Runtime Hook directly',
  'error executing hook',
  'unresolvable CDI device',
  'failed to stat CDI host device',
  'crun: cannot stat ',
  'executable file `nvidia-smi` not found',
  'exec: "nvidia-smi": executable file not found',
  'exec: \\"nvidia-smi\\": executable file not found',
  'CDI device injection failed',
  'failed to inject CDI devices',
  'nvidia.com/gpu=',
  'WSL environment detected but no adapters',
  'could not load NVML library',
  'Incompatible platform detected',
  'ncompatible strategy detected',
  'No devices found. Waiting indefinitely',
  'adding custom device "/dev/nvidia',
  'did you set the docker default runtime',
  'no runtime for "nvidia"',
  'RuntimeHandler "nvidia"',
  'runtime for \\"nvidia\\"',
  'RuntimeHandler \\"nvidia\\"',
  'discover GPU vendor from CDI',
  'failed to generate CDI spec',
  'failed to create device CDI specs',
]

/** The toolkit's mode for Jetson. */
const CSV = /mode as 'csv'/
// These reach further kinds: their own families tell them.
const elsewhere = ({ message }: Seen): boolean => /version mismatch|nvml error: unknown error|unsatisfied cond/i.test(message)
const library = ({ message }: Seen): ReturnType<typeof known> => known({ library: new RegExp(`${CUDA_LIBRARY}(?=: cannot)`).exec(message)?.[0] })

export const engineRules: readonly Rule[] = [
  {
    pattern: /failed to stat CDI host device \\?"?([\w./-]{1,80})|crun: cannot stat [`'](\/[\w./-]{0,120}(?:nvidia|libcuda|libnv)[\w./-]{0,80})/,
    severity: 'critical',
    title: 'The CDI description does not fit the host',
    verdict: ({ match }) =>
      `The CDI description names ${match[1] ?? match[2]}, which is not on this host (any more): it was made before the devices or the driver changed.`,
    remedies: (matched) =>
      matched.situation().vendor === 'amd' || matched.situation().vendor === 'intel'
        ? [{ text: "Write the CDI description again with the tool of the GPU's vendor, then start the container." }]
        : cdi(matched),
    facts: ({ match }) => known({ path: match[1] ?? match[2] }),
  },
  {
    // gpu-operator, cmd/nvidia-validator: toolkit-validation runs nvidia-smi, which only NVIDIA's runtime brings into it.
    pattern: /error validating toolkit installation[^\n]{0,40}(?:nvidia-smi|exit status|executable file)/,
    severity: 'critical',
    title: "The GPU Operator's toolkit does not work on the node",
    verdict:
      "The validator's container was started without NVIDIA's runtime, so it has no nvidia-smi: containerd on that node does not use the configuration that the toolkit pod wrote. The device plugin waits for it.",
    remedies: ({ situation }) => [
      {
        text: 'See whether the runtime is in the configuration that containerd uses; another tool may have overwritten it, or imports are missing.',
        command: 'sudo containerd config dump | grep -A 3 nvidia; ls -l /etc/containerd/config.toml /etc/containerd/conf.d',
      },
      {
        text: "k3s and RKE2 have a configuration and socket of their own: name them in the toolkit's environment (CONTAINERD_CONFIG, CONTAINERD_SOCKET of the chart).",
      },
      {
        text: 'Read the log of the toolkit pods.',
        command: `kubectl logs -n ${situation().subject.namespace ?? 'gpu-operator'} -l app=nvidia-container-toolkit-daemonset --tail=40`,
      },
    ],
  },
  {
    pattern: /executable file `nvidia-smi` not found|exec: "nvidia-smi": executable file not found/,
    severity: 'critical',
    title: 'The container has no GPU',
    verdict: 'nvidia-smi is not in the container. The toolkit brings it with the GPU: the container was started without one.',
    remedies: withoutTool,
  },
  {
    pattern: /could not select device driver\s{1,3}(?:\\?"[\w.-]{0,30}\\?"|'[\w.-]{0,30}')?[^\n]{0,40}(?:gpu|nvidia|capabilities)/,
    severity: 'critical',
    title: 'Docker has no GPU driver',
    verdict: ({ situation, message }) =>
      situation().system === 'mac'
        ? 'A container asked for an NVIDIA GPU, and on a Mac Docker has none to give: its containers run in a virtual machine without a GPU.'
        : /device driver \\?"cdi/.test(message)
          ? 'A container asked for a GPU by CDI, and CDI is not switched on in this Docker, or is not known to it.'
          : 'A container asked for a GPU and Docker has no driver for it: the NVIDIA Container Toolkit is missing or not registered, or Docker was not restarted since.',
    remedies: (matched) => (/device driver \\?"cdi/.test(matched.message) ? cdi(matched) : toolkit(matched)),
  },
  {
    pattern:
      /(?:unknown or invalid runtime name|Unknown runtime specified):? ?\\?["']?nvidia|OCI runtime \\?"nvidia\\?" not found|no runtime for \\?"nvidia\\?" is configured|RuntimeHandler \\?"nvidia\\?" not supported/,
    severity: 'critical',
    title: 'Runtime "nvidia" is not known to the engine',
    verdict: 'The container asks for the runtime "nvidia", which is not entered in the engine\'s configuration.',
    remedies: toolkit,
  },
  {
    pattern: /WSL environment detected but no adapters were found/,
    severity: 'critical',
    title: 'No GPU in WSL2',
    verdict: 'Windows offers WSL2 no GPU: the Windows driver is missing or too old, GPU support is off, or the computer has no NVIDIA GPU.',
    remedies: WSL,
  },
  {
    pattern:
      /nvidia-container-cli(?:\.real)?: [a-z ]{0,24}error: (?:driver error: |nvml error: )?(?:driver not loaded|failed to process request|load library failed|cannot open shared object file)/,
    severity: 'critical',
    title: 'The container toolkit finds no driver',
    verdict: ({ message, situation }) =>
      `The NVIDIA container toolkit could not start because ${NO_LIBRARY.test(message) ? (OPERATOR.test(situation().text) ? "it does not find the driver's libraries where the GPU Operator says that they are" : HOST_WORKS.test(situation().text) ? "the engine does not find the driver's libraries, although nvidia-smi works on the host" : situation().system === 'windows' ? "Docker's Linux side does not find the driver's libraries (libnvidia-ml.so.1), which Windows passes on through WSL 2" : "the engine does not find the driver's libraries: the driver is not installed on this host, or the engine does not see it (Docker Desktop, a snap)") : "the host's NVIDIA driver is not loaded or does not answer"}; the container${named(situation)} was not started.`,
    remedies: hook,
    facts: library,
    unless: elsewhere,
  },
  {
    pattern:
      /nvidia-container-cli(?:\.real)?: device error: ([^\n]{0,60}?): unknown device|nvidia-container-cli(?:\.real)?: device error: unknown device id: ?(\S{0,60})/,
    severity: 'critical',
    title: 'A requested GPU does not exist',
    verdict: ({ match }) => `The container asks for GPU "${match[1] ?? match[2] ?? ''}", which this host does not have (any more).`,
    remedies: hook,
  },
  {
    pattern: /nvidia-container-cli(?:\.real)?: [a-z ]{0,24}error: ?(.{0,240})/,
    severity: 'critical',
    title: 'The container toolkit refused',
    verdict: ({ match, situation }) =>
      `The NVIDIA container toolkit could not give the container${named(situation)} its GPU (${
        (match[1] ?? '')
          .replace(/\\[^]*$|[\s:]{1,4}unknown\b.*$|: load program: .*$|\s[$#] .*$/, '')
          .replace(/[\s"]{1,12}$/, '')
          .trim() || 'no reason given'
      }), so it was not started.${refusal(match[0])?.says ?? ''}`,
    remedies: hook,
    unless: elsewhere,
  },
  {
    pattern:
      /nvidia-container-runtime(?:-hook)?\b[^\n]{0,60}(?:executable file not found|no such file or directory|not found in)|fork\/exec \S{0,80}nvidia-container-runtime\S{0,8} ?: no such file/,
    severity: 'critical',
    title: 'The container toolkit is not installed',
    verdict: 'The engine is configured to use the NVIDIA runtime, and its program is not there.',
    remedies: toolkit,
  },
  {
    pattern: /invoking the NVIDIA Container Runtime Hook directly/,
    severity: 'critical',
    title: ({ situation }) => (CSV.test(situation().text) ? 'The container was started with --gpus' : 'The toolkit is in CDI mode'),
    verdict: ({ situation }) =>
      CSV.test(situation().text)
        ? 'On a Jetson the NVIDIA container toolkit works only as a runtime of the engine, and was called in the other way (--gpus).'
        : 'The NVIDIA container toolkit is set to CDI mode and was called in the older way (--gpus).',
    remedies: (matched) =>
      CSV.test(matched.situation().text)
        ? [
            {
              text: 'Start it with the runtime, and without --gpus.',
              command: `docker run --runtime=nvidia ${matched.situation().subject.image ?? '<IMAGE>'}`,
            },
            { text: 'If the runtime is not known: enter it.', command: 'sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker' },
          ]
        : cdi(matched),
  },
  {
    pattern: /error executing hook [^\n]{0,80}nvidia-(?:container-(?:toolkit|runtime-hook)|(ctk|cdi-hook))/,
    severity: 'critical',
    title: "The toolkit's hook failed",
    verdict: ({ match }) =>
      `${match[1] === undefined ? "The engine's hook for NVIDIA GPUs" : `A hook of the CDI description (nvidia-${match[1]})`} failed, so the container was not started. ${match[1] === undefined ? 'Podman is given GPUs by CDI today, and needs no hook.' : 'Likely the description is of another release of the toolkit or the driver.'}`,
    remedies: cdi,
  },
  {
    pattern:
      /(?:failed to inject CDI devices: )?unresolvable CDI devices? ?([\w./=,:-]{0,119}[\w=]|)|\bstat (nvidia\.com\/gpu=[\w:,-]{1,60}): no such file|CDI device injection failed[^\n]{0,80}|failed to inject CDI devices/,
    severity: 'critical',
    title: ({ match }) => (match[2] === undefined ? 'CDI does not know the requested GPU' : 'The engine does not know CDI'),
    verdict: ({ match, situation }) =>
      match[2] !== undefined
        ? `The engine took ${match[2]}, the name of a CDI device, for the path of a file: the engine is too old for CDI, or CDI is switched off in it.`
        : `The container asks for ${match[1] === undefined || match[1] === '' ? 'a GPU by CDI' : match[1]}, and ${CDI_LISTED.test(situation().text) ? 'the engine does not find it, although nvidia-ctk lists CDI devices' : 'no CDI description on this host names it'}.`,
    remedies: cdi,
    unless: ({ message }) => !/nvidia|gpu/i.test(message),
  },
  {
    // Docker from 29.3 on looks into the CDI descriptions for --gpus.
    pattern: /failed to discover GPU vendor from CDI/,
    severity: 'critical',
    title: 'Docker knows no GPU to give',
    verdict:
      'The container was started with --gpus, and no CDI description on this host names a GPU of a known vendor: the NVIDIA Container Toolkit is not installed, has written no description yet, or the host has no such GPU.',
    remedies: (matched) => [
      !withoutNvidia(matched.situation()) && !/^GPU \d{1,2}: NVIDIA|NVIDIA-SMI \d{3}\.\d/m.test(matched.situation().text) && HOST_DRIVER,
      !withoutNvidia(matched.situation()) && {
        text: 'Install the NVIDIA Container Toolkit and let it write the description.',
        command: 'sudo apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && nvidia-ctk cdi list',
      },
      {
        text: 'For an Intel GPU, and an AMD GPU without the toolkit of AMD, leave --gpus out and pass the device files (AMD: /dev/kfd too).',
        command: `docker run --device /dev/dri ${matched.situation().subject.image ?? '<IMAGE>'}`,
      },
    ],
  },
  {
    // cmd/nvidia-ctk/cdi/generate of the toolkit
    pattern: /failed to (?:generate CDI spec|create device CDI specs|create edits common for entities)[^\n]{0,20}: ([^"\n]{4,200})/,
    severity: 'critical',
    title: 'The CDI description of the GPUs was not written',
    verdict: ({ match }) => `nvidia-ctk failed ("${match[1]?.trim()}"), so containers that ask for a GPU by CDI get none, or an old one.`,
    remedies: [
      HOST_DRIVER,
      { text: 'Write it again, and read what it misses.', command: 'sudo nvidia-ctk --debug cdi generate --output=/etc/cdi/nvidia.yaml' },
      {
        text: 'At boot it runs before the device files are there on some hosts: start its service again.',
        command: 'sudo systemctl restart nvidia-cdi-refresh',
      },
      {
        text: 'Until then let the toolkit work without CDI, and restart the engine.',
        command: 'sudo nvidia-ctk config --in-place --set nvidia-container-runtime.mode=legacy',
      },
    ],
  },
  {
    pattern: /adding custom device \\?"?(\/dev\/nvidia[\w-]{0,20})\\?"?: no such file or directory/,
    severity: 'critical',
    title: 'GPU device file missing',
    verdict: ({ match }) =>
      `The container asks for ${match[1] ?? '/dev/nvidia*'}, and the host has no such file: the driver is not loaded, or nothing has created its device files.`,
    remedies: [
      { text: 'Create the device files.', command: 'sudo nvidia-modprobe -c 0 -u && ls -l /dev/nvidia*' },
      { text: 'Check that the driver works on the host.', command: 'nvidia-smi' },
    ],
    facts: ({ match }) => known({ path: match[1] }),
  },
  {
    pattern:
      /could not load NVML library|Incompatible platform detected|[Ii]ncompatible strategy detected|No devices found\. Waiting indefinitely|did you set the docker default runtime to `?nvidia/,
    severity: 'critical',
    title: 'The device plugin finds no GPU',
    verdict: ({ situation }) =>
      countsNone(situation().text)
        ? 'The Kubernetes device plugin loaded NVML on this node, and that counted no GPU, so the node offers none. The plugin looks only once, at its start: mostly it came before the driver was ready, as after a reboot.'
        : 'The Kubernetes device plugin cannot load NVML on this node, so the node offers no GPUs.',
    remedies: ({ situation }) => {
      const { text } = situation()
      if (countsNone(text))
        return [
          { text: 'See on that node which GPUs the driver shows now.', command: "nvidia-smi -L; sudo dmesg | grep -iE 'NVRM|Xid' | tail" },
          {
            text: "If it shows them: recreate the plugin's pod there, so that it looks again. Running work is not stopped.",
            command: 'kubectl get pods -A -o wide | grep -i device-plugin; kubectl delete pod -n <NAMESPACE> <DEVICE_PLUGIN_POD>',
          },
        ]
      const check = { text: 'Check that the driver works on the node.', command: 'nvidia-smi' }
      if (/\b(?:k3s|rke2)\b/i.test(text))
        return [
          {
            text: 'k3s and RKE2 look for the NVIDIA runtime only at their start: restart them, and give the device plugin runtimeClassName: nvidia.',
            command: 'sudo grep nvidia /var/lib/rancher/k3s/agent/etc/containerd/config.toml; kubectl get runtimeclass',
          },
          check,
        ]
      const docker = /docker default runtime|\bdocker:\/\/|cri-dockerd/.test(text) && !/containerd/.test(text)
      return [
        docker
          ? {
              text: 'Make the NVIDIA runtime the default one of Docker, then restart it (containers stop unless live-restore is on).',
              command: 'sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker',
            }
          : {
              text: 'Make the NVIDIA runtime the default one of containerd, then restart it (running containers go on).',
              command: 'sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd',
            },
        check,
        docker && { text: 'Kubernetes from 1.24 on runs containerd instead of Docker: then configure that one.', command: 'kubectl get nodes -o wide' },
      ]
    },
    facts: library,
  },
]
