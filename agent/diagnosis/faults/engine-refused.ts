// What Docker, runc, and Podman refuse: the engine itself, images for another CPU, mounts, ports, names, limits.
import { rowFamily, step, type Row } from './parts/rows.ts'
import type { Matched } from './parts/rules.ts'

const image = ({ situation }: Matched): string => situation().subject.image ?? '<IMAGE>'

const ROWS: readonly Row[] = [
  {
    kind: 'config_error',
    pattern: /unable to configure the Docker daemon with file (\/\S{3,120}?): ([^\n]{5,200})/,
    title: 'Docker does not start: its configuration is wrong',
    verdict: 'The engine could not read {1}: {2}. It does not run, and no container with it.',
    remedies: ({ match }) => [
      match[2]?.includes('both as a flag and in the configuration') === true
        ? step('Take the key that is named out of the file, or the flag out of the unit of the service.', 'systemctl cat docker | grep ExecStart')
        : step('Find the place: a comma too many or too few, a quote, a brace; JSON takes no comments.', `python3 -m json.tool ${match[1]}`),
      step('Then check the file, and start the engine.', `sudo dockerd --validate --config-file=${match[1]} && sudo systemctl restart docker`),
    ],
  },
  {
    kind: 'config_error',
    // `runtime` came with Compose 1.19 (files 2.3), for files of version 3 with 1.27; GPUs by `deploy` with 1.28 (its CHANGELOG.md).
    pattern:
      /Unsupported config option for services\.([\w.-]{1,60}): '(runtime)'|services\.([\w.-]{1,60})\.deploy\.resources\.reservations value Additional properties are not allowed \('devices' was unexpected\)/,
    title: 'This Compose is too old to give GPUs',
    verdict: ({ match }) =>
      `This docker-compose does not know ${match[2] === undefined ? 'the devices under deploy.resources.reservations' : `"runtime" in this file`}, by which the service ${match[1] ?? match[3]} asks for a GPU.`,
    remedies: [
      step(
        'Install the Compose of today, a plugin of docker, and start with it.',
        'sudo apt-get install -y docker-compose-plugin || sudo apt-get install -y docker-compose-v2',
      ),
      step('Leave the line "version:" out of the file: the current format has none.'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /vfio (\S{7,16}): group (\d{1,5}) is not viable/,
    title: 'The GPU cannot be passed to the virtual machine',
    verdict: 'Other devices share the IOMMU group {2} with {1}, and not all of them are bound to vfio-pci.',
    remedies: [
      step(
        'See what is in the group, and bind all of it (the audio function of the card too), or use another slot.',
        'ls -l /sys/kernel/iommu_groups/{2}/devices',
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern: /can't mount image: failed to mount squashfs filesystem: ([^\n]{3,80})/,
    title: 'The image cannot be mounted',
    verdict:
      'Apptainer could not mount the image ({1}): the file is damaged or cut off, its compression is not known to this kernel, or the system allows no mounts by users.',
    remedies: [
      step('See whether the file is whole, and pull it again.', 'apptainer inspect <IMAGE>; ls -l <IMAGE>'),
      step('Or unpack it into a folder.', 'apptainer build --sandbox <FOLDER> <IMAGE>'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /no matching manifest for (\w{3,20}\/\w{2,20}(?:\/v\d)?)/,
    title: 'The image is not built for this kind of CPU',
    verdict: 'The image has no build for {1}, the CPU of this machine, so it was not pulled.',
    remedies: (matched) => [
      step('See for which it is built, and take a tag or image that has this one.', `docker manifest inspect ${image(matched)} | grep architecture`),
      /arm64/.test(matched.match[1] ?? '') &&
        step('For ARM with an NVIDIA GPU (Grace, GB10, Jetson) NVIDIA publishes images in nvcr.io; another CPU can be emulated, without a GPU.'),
    ],
  },
  {
    kind: 'config_error',
    // --gpus: Docker 19.03 and newer; `podman run` takes it from 3.3 on and acts on it from 5.0 on (its RELEASE_NOTES.md), `podman create` from 5.0 on.
    pattern: /unknown flag: --gpus[^]{0,40}?(podman|docker)?(?: run)? ?--help|unknown flag: --gpus/,
    title: 'This engine does not know --gpus',
    verdict: ({ match }) =>
      match[1] === 'podman'
        ? 'This Podman is too old for --gpus: it gives GPUs by that from 5.0 on (3.3 to 4.9 take the option and ignore it).'
        : 'This command line of Docker is older than 19.03, which knows --gpus, or is that of an older Podman.',
    remedies: ({ match }) => [
      match[1] === 'podman'
        ? step('Ask for the GPU by its CDI name (Podman 4.1 and newer).', 'podman run --device nvidia.com/gpu=all <IMAGE>')
        : step('See which engine and version it is, and update it.', 'docker version'),
      step('Generate the CDI description if there is none.', 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml'),
    ],
  },
  {
    kind: 'network_error',
    pattern:
      /failed to do request: \w{3,5} \\?"https?:\/\/([\w.:-]{3,80})\/[^\n]{0,300}?((?:i\/o timeout|connection refused|no such host|TLS handshake timeout|context deadline exceeded|no route to host|EOF))/,
    title: 'The registry {1} cannot be reached',
    verdict: 'The node could not fetch the image: {1} does not answer it ({2}). This is the network of the node, and not the right to the image.',
    remedies: (matched) => [
      step('Try it from that node: name server, proxy and firewall.', `curl -sSI https://${matched.match[1]}/v2/ | head -n 1; env | grep -i proxy`),
      step('Behind a proxy the engine needs it too (a drop-in of its systemd unit), not only the shell.', 'systemctl show containerd docker -p Environment'),
      step('Without a way out: copy the image into a registry inside.'),
    ],
  },
  {
    kind: 'network_error',
    pattern: /https?:\/\/([\w.:-]{3,80})\/v2\/[^\n]{0,200}?(?:x509: ([^\n"]{6,120})|http: server gave HTTP response to HTTPS client)/,
    title: 'The engine does not trust the registry {1}',
    verdict: ({ match }) =>
      match[2] === undefined
        ? `${match[1]} answers without TLS, and the engine asks with it.`
        : `The certificate of ${match[1]} was not accepted: ${match[2].trim()}.`,
    remedies: ({ match }) => [
      match[2] === undefined
        ? step(
            `Allow this registry without TLS, only inside a network that you trust (insecure-registries in /etc/docker/daemon.json; containerd: hosts.toml for ${match[1]}).`,
            'docker info --format "{{json .RegistryConfig.InsecureRegistryCIDRs}}"',
          )
        : step(
            "Put the certificate of the registry's authority where the engine looks, on each node.",
            `sudo mkdir -p /etc/docker/certs.d/${match[1]} && sudo cp <CA_FILE> /etc/docker/certs.d/${match[1]}/ca.crt`,
          ),
      match[2] !== undefined && step('A wrong clock makes good certificates bad.', 'date'),
    ],
  },
  {
    kind: 'network_error',
    pattern: /open \/\/\.\/pipe\/(\w{3,60}): The system cannot find the file specified/,
    title: 'Docker Desktop does not run',
    verdict: 'The client reaches no engine: Docker Desktop is not started, or still starting.',
    remedies: [step('Start Docker Desktop and wait until its engine runs.', 'docker version'), step('If it runs: choose its context.', 'docker context ls')],
  },
  {
    kind: 'permission_denied',
    pattern: /permission denied while trying to connect to the (?:Docker daemon socket|docker API) at (?:unix:\/\/)?(\/\S{3,80}?)(?:[:\s]|$)/,
    title: 'The user may not use Docker',
    verdict: 'The socket of Docker ({1}) belongs to root and the group docker, and this user is not in it.',
    remedies: [
      step(
        'Add the user to the group; it takes effect at the next login, and gives rights like those of root.',
        'sudo usermod -aG docker "$USER"; newgrp docker',
      ),
    ],
  },
  {
    kind: 'network_error',
    pattern: /Cannot connect to the Docker daemon at (\S{5,120}?)\. Is the docker daemon running/,
    title: 'Docker does not run',
    verdict: 'No engine answers at {1}.',
    remedies: [
      step('See whether it runs, and why not.', 'systemctl status docker; sudo journalctl -u docker -n 40'),
      step('Rootless Docker and Docker Desktop listen elsewhere: see which is chosen.', 'docker context ls; echo "$DOCKER_HOST"'),
    ],
  },
  {
    kind: 'port_in_use',
    pattern:
      /(?:Bind for |failed to bind (?:host )?port (?:for )?)(\S{3,60}?):(\d{2,5})(?:\/tcp)?[^\n]{0,60}(?:port is already allocated|address already in use)/,
    title: 'Port {2} is in use',
    verdict: 'The container was to have port {2} of the host, which a container or program has already. It was not started.',
    remedies: [step('See who has it, and end that or take another port.', 'docker ps --filter publish={2}; sudo ss -ltnp "sport = :{2}"')],
  },
  {
    kind: 'config_error',
    pattern: /Conflict\. The container name "?\/?([\w.-]{1,80})"? is already in use by container "?(\w{4,64})/,
    title: 'A container is already called {1}',
    verdict: 'An earlier container has the name {1}, running or stopped, so the new one was not created.',
    remedies: [
      step('See whether it still runs, and start it again if it is the right one.', 'docker ps -a --filter name={1}'),
      {
        text: 'Else remove it: what it wrote outside of volumes is lost. With --rm a container goes away by itself.',
        command: 'docker rm {1}',
        destroys: true,
      },
    ],
  },
  {
    kind: 'config_error',
    pattern:
      /error mounting "([^"\n]{1,160})" to rootfs at "([^"\n]{1,160})"[^]{0,300}?(not a directory|no such file or directory|permission denied|operation not permitted|read-only file system)/,
    title: 'A path cannot be mounted into the container',
    verdict: ({ match }) =>
      `${match[1]} could not be mounted at ${match[2]} (${match[3]})${match[3] === 'not a directory' ? ': one of them is a file and the other a folder. Docker makes a folder where the path of the host does not exist' : ''}. The container was not started.`,
    remedies: [
      step('See what is at that path of the host, and correct it.', 'ls -ld {1}'),
      step('With Docker Desktop the path must be shared with its machine.'),
    ],
  },
  {
    kind: 'host_oom_kill',
    pattern: /container init was OOM-killed \(memory limit too low\?\)/,
    title: "The container's memory limit is too low to start it",
    verdict: 'The kernel killed the container while it was started: its memory limit is smaller than the runtime itself needs.',
    remedies: [step('Raise the limit (docker run --memory, resources.limits.memory): Mi and Gi are meant, m in Kubernetes is a thousandth.')],
  },
  {
    kind: 'config_error',
    pattern: /error setting rlimit type (\d{1,2}): operation not permitted/,
    title: 'The container may not raise a limit',
    verdict: ({ match }) =>
      `The container asks for a higher ${match[1] === '8' ? 'limit of locked memory (memlock)' : match[1] === '7' ? 'limit of open files (nofile)' : `limit of type ${match[1]}`} than the engine may give: a rootless engine, or a limit of its own service.`,
    remedies: ({ match }) => [
      step(
        `Raise the limit of the engine first (${match[1] === '8' ? 'LimitMEMLOCK=infinity' : match[1] === '7' ? 'LimitNOFILE=1048576' : 'the Limit… line of its unit'}; rootless: /etc/security/limits.conf for the user), or leave --ulimit out.`,
        'systemctl show docker containerd -p LimitMEMLOCK -p LimitNOFILE',
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern: /cgroup mountpoint does not exist|no cgroup mount found in mountinfo/,
    title: 'The engine does not find its cgroups',
    verdict: 'cgroups are not mounted as this engine expects: an old Docker on a system with cgroup v2 only, or a WSL or container without systemd.',
    remedies: [
      step(
        'See which version the system has, and update the engine: Docker 20.10 and newer know cgroup v2.',
        'stat -fc %T /sys/fs/cgroup; docker version --format "{{.Server.Version}}"',
      ),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /NvRmMemInitNvmap failed with (No such file or directory|Permission denied)|NvRmMemMgrInit failed/,
    title: "The Jetson's memory driver cannot be opened",
    verdict: ({ match }) =>
      `A library of the Jetson could not open the memory driver of the board (/dev/nvmap${match[1] === undefined ? '' : `: ${match[1]}`}).`,
    remedies: ({ match }) => [
      match[1] === 'Permission denied'
        ? step('Add the user to the group video, or run the container as one that is in it.', 'ls -l /dev/nvmap; id')
        : step(
            'In a container: start it with the NVIDIA runtime, from an image for the L4T of this board: it brings the devices in.',
            'head -n 1 /etc/nv_tegra_release; docker run --runtime=nvidia <IMAGE>',
          ),
      step(
        'Libraries of another JetPack release than that of the board do the same: install no nvidia-l4t packages into an image, and none of another release.',
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern: /failed to create symlink: failed to remove existing file: remove (?:\S{0,160}\/merged)?(\/\S{3,120}): (device or resource busy|\w[\w ]{3,40})/,
    title: "The toolkit's hook cannot make a link in the container",
    verdict: '{1} is a mount in the container, where the NVIDIA container toolkit wants to make a link ({2}). The container was not started.',
    remedies: [
      step('Take that path out of the mounts (-v) of the container.'),
      step(
        'If nothing of yours mounts it: it is mounted twice by the lists of the toolkit. Update the toolkit, and on a Jetson take {1} out of them.',
        'grep -rn "{1}" /etc/nvidia-container-runtime/host-files-for-container.d',
      ),
    ],
  },
  {
    kind: 'config_error',
    pattern:
      /error running (?:\w{3,20} )?hook #\d{1,2}: (?:error running hook: )?exit status \d{1,3}[^\n]{0,600}?level=error msg=\\?"([^\n]{8,240}?)\\?"(?::|\s|$)/,
    title: 'A hook of the container runtime failed',
    verdict: 'The container was not started, because a hook failed: "{1}".',
    remedies: [
      step(
        'Update the NVIDIA Container Toolkit and generate its description of the devices again.',
        'nvidia-ctk --version; sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml',
      ),
    ],
  },
]

export const engineRefused = rowFamily(
  'engine-refused',
  [
    'unable to configure the Docker daemon',
    'no matching manifest for ',
    ' is not viable',
    'failed to mount squashfs',
    'failed to do request: ',
    'unknown flag: --gpus',
    'x509: certificate',
    'server gave HTTP response to HTTPS client',
    'open //./pipe/',
    'permission denied while trying to connect to the',
    'Cannot connect to the Docker daemon',
    'port is already allocated',
    'failed to bind host port',
    'Conflict. The container name',
    'error mounting "',
    'container init was OOM-killed',
    'error setting rlimit type',
    'cgroup mountpoint does not exist',
    'no cgroup mount found',
    'NvRmMemInitNvmap failed',
    'NvRmMemMgrInit failed',
    'failed to create symlink: ',
    'Unsupported config option for services.',
    "('devices' was unexpected)",
    'hook #0: ',
    'hook #1: ',
  ],
  ROWS,
)
