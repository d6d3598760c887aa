// What apt, dnf, systemd, Docker and the driver's packages say where something of the host is not installed, or is only half installed.
import { rowFamily, step, type Row } from './parts/rows.ts'
import type { Matched, Seen } from './parts/rules.ts'
import { around } from './parts/window.ts'
import { TOOLKIT_REPOSITORY } from './remedies/toolkit-repository.ts'
import type { Piece } from './remedies/plan.ts'

const READ_DOCKER = 'sudo journalctl -u docker -n 40 --no-pager'
const DKMS_LOG = "grep -m 5 -iE ' error' /var/lib/dkms/nvidia/*/build/make.log; dkms status"
/** Of the driver's own lines, which say why, other rules tell. */
const hasReason = ({ text, at }: Seen): boolean => /NVRM:/.test(around(text, at, 20, 8))

function addToolkit({ message }: Matched): readonly Piece[] {
  const rpm = /Unable to find a match|No match for argument/.test(message)
  return [
    rpm
      ? step(
          'Add the repository of NVIDIA.',
          'sudo curl -fsSL -o /etc/yum.repos.d/nvidia-container-toolkit.repo https://nvidia.github.io/libnvidia-container/stable/rpm/nvidia-container-toolkit.repo',
        )
      : step('Add the repository of NVIDIA with its key.', TOOLKIT_REPOSITORY),
    step('Install the toolkit (nvidia-docker2 is its old name).', `sudo ${rpm ? 'dnf' : 'apt-get'} install -y nvidia-container-toolkit`),
    step(
      'Make it known to Docker. The restart ends containers, unless live-restore is set.',
      'sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker',
    ),
  ]
}

const ROWS: readonly Row[] = [
  {
    kind: 'missing_dependency',
    pattern:
      /Unable to locate package (?:nvidia-(?:container-toolkit|docker2|container-runtime))\b|Package '?nvidia-(?:container-toolkit|docker2|container-runtime)'? has no installation candidate|(?:Unable to find a match|No match for argument): nvidia-(?:container-toolkit|docker2)\b/,
    title: "The host's package sources have no container toolkit",
    verdict: 'NVIDIA keeps the container toolkit in a repository of its own, which is not set up on this host. Until it is installed, containers get no GPU.',
    remedies: addToolkit,
  },
  {
    kind: 'missing_dependency',
    pattern:
      /Unable to locate package (nvidia-(?:driver|utils|dkms|headless)(?:-[\w.-]{1,30})?)\s{0,4}$|Package '?(nvidia-driver(?:-\d{3})?)'? has no installation candidate/,
    title: "The host's package sources have no such driver",
    verdict: ({ match }) =>
      `apt knows no package ${match[1] ?? match[2]}: that branch is not in the sources of this release, or the part of them that holds it is switched off.`,
    remedies: [
      step('Update the lists, then see which drivers there are for this GPU.', 'sudo apt-get update && apt-cache search --names-only "^nvidia-driver"'),
      step('Debian has them in non-free: add contrib, non-free and non-free-firmware to its sources. Ubuntu has them in restricted.'),
    ],
  },
  {
    kind: 'missing_dependency',
    pattern: /Unable to locate package ((?:cuda-toolkit|cuda|libcudnn\d|cudnn\d|libnccl2|libnvinfer\d{1,2}|libcublas)[\w.-]{0,30})\s{0,4}$/,
    title: "The host's package sources have no {1}",
    verdict: "NVIDIA's repository of CUDA is not set up here, or has no {1} for this release of the system.",
    remedies: [
      step(
        'Add it (the folder has the name of the system, such as ubuntu2404 or debian12; on Arm servers sbsa in place of x86_64), then install again.',
        'curl -fsSLO https://developer.download.nvidia.com/compute/cuda/repos/<SYSTEM>/x86_64/cuda-keyring_1.1-1_all.deb && sudo dpkg -i cuda-keyring_1.1-1_all.deb && sudo apt-get update',
      ),
      step('PyTorch brings its own CUDA libraries: a wheel of it needs no toolkit, only a driver.'),
    ],
  },
  {
    kind: 'missing_dependency',
    pattern: /Unit docker\.service (?:not found|could not be found|does not exist)/,
    title: 'Docker is not a service of this host',
    verdict: 'systemd knows no docker.service: Docker is not installed here, or as a snap, rootless or as Docker Desktop, which are started in other ways.',
    remedies: [
      step('See which Docker there is, and which engine its client uses.', 'command -v docker; docker context ls; snap list docker'),
      step('Or install the engine.', 'sudo apt-get install -y docker.io'),
    ],
  },
  {
    kind: 'config_error',
    pattern: /Job for docker\.service failed/,
    title: 'Docker does not start',
    verdict: 'The engine ended as it started. Its own log says why: mostly a mistake in /etc/docker/daemon.json.',
    remedies: [
      step('Check the file: the first mistake is named with its place.', 'sudo dockerd --validate --config-file /etc/docker/daemon.json'),
      step('Read what the engine said.', READ_DOCKER),
    ],
    unless: ({ situation }) => /unable to configure the Docker daemon|failed to start daemon: \S/.test(situation().text),
  },
  {
    kind: 'missing_dependency',
    pattern: /docker: '(compose|buildx)' is not a docker command/,
    title: "Docker's plugin {1} is not installed",
    verdict: '{1} is a plugin of the docker command, and it is not installed here.',
    remedies: ({ match }) => [
      step("From Docker's own repository.", 'sudo apt-get install -y docker-{1}-plugin'),
      step('From the repositories of Ubuntu.', match[1] === 'compose' ? 'sudo apt-get install -y docker-compose-v2' : 'sudo apt-get install -y docker-buildx'),
    ],
  },
  {
    kind: 'file_missing',
    pattern:
      /failed to (?:solve|resolve source metadata for [^\n]{1,60}?)(?:: failed to resolve source metadata for)?:? ?((?:[\w.-]{1,80}\/)[\w./-]{1,160}:[\w.-]{1,128}): (?:[^\n]{0,200}: )?not found\s{0,4}$/,
    title: 'The image does not exist',
    verdict: 'The registry has no image {1}: name or tag is wrong, or there is none for this architecture.',
    remedies: ({ match: [, image = ''] }) => [
      step('Take a tag that its registry lists.', `docker run --rm quay.io/skopeo/stable list-tags docker://${image.replace(/:[\w.-]+$/, '')}`),
    ],
  },
  {
    kind: 'file_missing',
    pattern: /bind source path does not exist: (\S{1,300}?)\.?\s{0,4}$/,
    title: '{1} does not exist on the host',
    verdict: 'The container was to have {1} of the host, which is not there. Docker creates it by itself only with -v, not with --mount.',
    remedies: [step('Correct the path, or make the folder.', 'ls -ld {1}')],
  },
  {
    kind: 'config_error',
    pattern: /(?:docker: |[Ee]rror: )?invalid reference format(?:: repository name \(([^)\n]{1,200})\) must be lowercase)?/,
    title: 'No valid name of an image',
    verdict: ({ match }) =>
      match[1] === undefined
        ? 'Docker took something for the name of the image that can be none: mostly an empty variable, a blank in a path without quotes, or a line whose backslash is not at its very end.'
        : `Names of images have no capital letters: ${match[1]}.`,
    remedies: ({ match }) => [
      match[1] === undefined
        ? step('Put quotes around paths and variables (-v "$PWD":/work), and see what the shell made of the line (set -x).')
        : step('Write the name in small letters.'),
    ],
    unless: ({ situation }) => /ErrImagePull|InvalidImageName/.test(situation().text),
  },
  {
    kind: 'file_missing',
    pattern: /exec user process caused:? "?no such file or directory|^(?:[\w.-]{1,80} +\| )?exec (\/\S{1,200}): no such file or directory/,
    title: "The container's first program cannot be started",
    verdict: ({ match }) =>
      `${match[1] ?? 'What the image starts'} is not in the image, or what runs it is not: the interpreter in its first line (with line ends of Windows that name ends in \\r), or the loader of another C library.`,
    remedies: ({ match: [, program = '<PROGRAM>'] }) => [
      step(
        'See whether it is there, and how its first line ends.',
        `docker run --rm --entrypoint sh <IMAGE> -c 'ls -l ${program}; head -n 1 ${program} | od -c | head -n 2'`,
      ),
      step('Line ends of Windows: take them out, and let git keep them out (*.sh text eol=lf in .gitattributes).', "sed -i 's/\\r$//' <SCRIPT>"),
    ],
  },
  {
    kind: 'driver_not_loaded',
    pattern: /dpkg: error processing package (nvidia-dkms-\S{1,40}|nvidia-kernel-dkms|nvidia-driver-\S{1,40}) \(--configure\)/,
    title: 'The driver is only half installed',
    verdict:
      'The set-up of {1} failed, so the kernel module is missing: mostly it cannot be built for a kernel (no headers, or a kernel newer than the driver).',
    remedies: [
      step('Read the first error of the build.', DKMS_LOG),
      step('When headers and compiler are there, let the packages finish.', 'sudo apt-get install -y linux-headers-$(uname -r); sudo dpkg --configure -a'),
      step('If the kernel is newer than that driver: take a newer driver, or boot an older kernel.'),
    ],
    unless: ({ situation }) => /Bad return status for module build/.test(situation().text),
  },
  {
    kind: 'driver_not_loaded',
    pattern:
      /\bnvidia ([\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d): probe with driver nvidia failed with error -\d|\bnvidia: probe of ([\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d) failed with error -\d/,
    title: 'The driver could not start the GPU',
    verdict: ({ match }) =>
      `The driver gave the GPU at ${match[1] ?? match[2]} up as it started. Its lines just before (NVRM) say why: a card that it does not support, a card that does not answer, or memory windows (BARs) that the firmware did not give.`,
    remedies: [step('Read those lines.', "sudo dmesg -T | grep -iE 'nvrm|nvidia' | tail -n 30")],
    unless: hasReason,
  },
  {
    kind: 'driver_not_loaded',
    pattern: /The kernel module failed to load\. Secure boot is enabled on this system/,
    title: 'Secure Boot refuses the driver',
    verdict: "Secure Boot is on, and the module that NVIDIA's installer built is not signed by a key that this machine trusts, so the kernel does not load it.",
    remedies: [
      step('Install the driver as packages of the distribution: their modules are signed, or a key is enrolled at the next boot (Ubuntu asks for a password).'),
      step('Or let the installer sign it, with a key of your own that is enrolled.', 'sudo mokutil --import <KEY.der>'),
      step("Or switch Secure Boot off in the machine's firmware."),
    ],
  },
]

export const hostPackages = rowFamily(
  'host-packages',
  [
    'Unable to locate package ',
    'has no installation candidate',
    'Unable to find a match: nvidia-',
    'No match for argument: nvidia-',
    'Unit docker.service ',
    'Job for docker.service failed',
    'is not a docker command',
    ': not found',
    'bind source path does not exist: ',
    'invalid reference format',
    'exec user process caused',
    ': no such file or directory',
    'dpkg: error processing package nvidia-',
    'probe with driver nvidia failed',
    'nvidia: probe of ',
    'The kernel module failed to load. Secure boot',
  ],
  ROWS,
)
