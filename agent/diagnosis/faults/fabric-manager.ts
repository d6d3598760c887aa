// What NVIDIA's Fabric Manager, which joins GPUs over NVSwitches, says when it does not start or loses a part of the fabric.
// https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/, https://github.com/NVIDIA/gpu-operator/issues/544 and 610
import { ruleFamily, type Matched } from './parts/rules.ts'
import { known } from './parts/window.ts'
import type { Piece } from './remedies/plan.ts'

const LOG: Piece = {
  text: 'Read what the Fabric Manager says.',
  command: 'sudo journalctl -u nvidia-fabricmanager -n 50; sudo tail -n 50 /var/log/fabricmanager.log',
}
export const FABRIC_STATE: Piece = {
  text: 'See the state of the fabric: it must say Completed. In a virtual machine or cloud the fabric belongs to the host: ask its operator.',
  command: 'nvidia-smi -q | grep -A3 -i fabric',
}

/** Names of cards that no NVSwitch joins, as nvidia-smi writes them. */
const PCIE_CARD = /\b(?:GeForce(?: [GR]TX \d{3,4}(?: \w{2,5})?)?|Quadro(?: \w{2,4} ?\d{4})?|RTX A\d{4}|Tesla T4|A10G?|A40|L4|L40S?|RTX 6000)(?= |$)/

/** Boards whose switches Fabric Manager reaches over InfiniBand; its start script names the generation. */
export const NVLINK_5 = /\bB[123]00\b|Detected NVL5\+ system/
const SUBNET: readonly Piece[] = [
  {
    text: "Load the InfiniBand modules, now and at each boot. On Ubuntu's kernel mlx5_ib is in linux-modules-extra.",
    command: "sudo modprobe -a mlx5_ib ib_umad; printf 'mlx5_ib\\nib_umad\\n' | sudo tee /etc/modules-load.d/nvlsm.conf",
  },
  { text: "Install the NVLink Subnet Manager from NVIDIA's repository.", command: 'sudo apt-get install -y nvlsm' },
  { text: 'Restart the Fabric Manager.', command: 'sudo systemctl restart nvidia-fabricmanager; systemctl status nvidia-fabricmanager' },
]

function sameVersion({ match, situation }: Matched): readonly Piece[] {
  const driver = match[2]
  const branch = driver?.split('.')[0]
  return [
    situation().programs.has('apt') || situation().system === 'linux' || branch !== undefined
      ? {
          text: `Install the Fabric Manager of exactly the driver's version${driver === undefined ? '' : ` (${driver})`}, from the same repository, then start it.`,
          command: `apt-cache madison nvidia-fabricmanager-${branch ?? '<BRANCH>'}; dpkg -l | grep -E 'nvidia-(driver|fabricmanager|kernel)'`,
        }
      : undefined,
    { text: 'Start it after that, and see that it runs.', command: 'sudo systemctl restart nvidia-fabricmanager; systemctl status nvidia-fabricmanager' },
    FABRIC_STATE,
  ]
}

export const fabricManager = ruleFamily({
  id: 'fabric-manager',
  kind: 'fabric_manager',
  literals: [
    'fabric manager NVIDIA GPU driver interface version',
    'NVSwitch driver failed with error',
    'nvidia-fabricmanager.service: ',
    'Job for nvidia-fabricmanager.service failed',
    'abric manager detected',
    'nv-fabricmanager',
    'Unknown option: /usr/share/nvidia/nvswitch/',
    'fabric manager config file item: ',
    'fabric manager cannot start',
    'Please install "Nvidia NVLink Subnet Manager"',
  ],
  rules: [
    {
      pattern:
        /fabric manager NVIDIA GPU driver interface version (\d{3}\.[\d.]{2,12}) (?:don['’]t|doesn['’]t|does not|do not) match with driver version (\d{3}\.[\d.]{2,12}?)(?=\.?(?:\s|$))/i,
      severity: 'critical',
      title: 'Fabric Manager and driver differ in version',
      verdict: ({ match }) => `The Fabric Manager is of version ${match[1]}, the driver of ${match[2]}: it does not start, and CUDA fails with error 802.`,
      remedies: sameVersion,
      facts: ({ match }) => known({ client_version: match[1], kernel_version: match[2], pattern: 'version_mismatch' }),
    },
    {
      // https://github.com/siderolabs/extensions/pull/717: from the B200 on, the switches are reached over InfiniBand.
      pattern: /request to query NVSwitch device information from NVSwitch driver failed with error:? ?WARNING Nothing to do/i,
      severity: 'critical',
      title: 'Fabric Manager finds no NVSwitch',
      verdict:
        'The NVSwitches of this generation are reached over InfiniBand and need the NVLink Subnet Manager (nvlsm). Fabric Manager found none of them and ended; CUDA fails with error 802 until it runs.',
      remedies: [...SUBNET, FABRIC_STATE],
      facts: () => ({ pattern: 'no_nvlsm' }),
      unless: ({ situation }) => !NVLINK_5.test(situation().text),
    },
    {
      pattern: /Kernel module "(ib_umad)" has not been loaded, fabric manager cannot start|Please install "Nvidia NVLink Subnet Manager"/i,
      severity: 'critical',
      title: 'Fabric Manager lacks a part',
      verdict: ({ match }) =>
        `Fabric Manager does not start: ${match[1] === undefined ? 'the package nvlsm (NVLink Subnet Manager) is' : 'the kernel module ib_umad is'} missing. CUDA fails with error 802 until it runs.`,
      remedies: ({ match }) => [...(match[1] === undefined ? SUBNET.slice(1) : [SUBNET[0], SUBNET.at(-1)]), FABRIC_STATE],
    },
    {
      pattern: /request to query NVSwitch device information from NVSwitch driver failed with error:? ?WARNING Nothing to do/i,
      severity: 'warning',
      title: 'Fabric Manager on a host without NVSwitch',
      verdict: 'The Fabric Manager found no NVSwitch on this host and ends. GPUs that are joined by bridges or PCIe do not need it.',
      remedies: [
        {
          text: 'Switch the service off where the host really has no NVSwitch.',
          command: 'lspci | grep -i -E "bridge.*nvidia|nvswitch"; sudo systemctl disable --now nvidia-fabricmanager',
        },
        { text: 'If it has NVSwitches: see why the kernel does not show them.', command: 'sudo dmesg -T | grep -i nvswitch | tail' },
      ],
      facts: () => ({ pattern: 'no_nvswitch' }),
    },
    {
      pattern: /nv-fabricmanager(?:\[\d{1,10}\])?: [^\n]{0,200}?\b(?:failed|error|fatal|timed out|unable to)\b/i,
      severity: 'critical',
      title: 'Fabric Manager failed',
      verdict: ({ message }) => {
        const said = /nv-fabricmanager(?:\[\d{1,10}\])?: (.{1,160})/i.exec(message)?.[1]?.trim()
        return `The Fabric Manager reports a fault${said === undefined ? '' : `: "${said}"`}. Until it runs, CUDA fails with error 802.`
      },
      remedies: [LOG, FABRIC_STATE],
    },
    {
      // https://github.com/NVIDIA/gpu-operator/issues/1595
      pattern: /Unknown option: \/usr\/share\/nvidia\/nvswitch\/fabricmanager\.cfg/,
      severity: 'critical',
      title: 'Fabric Manager was not started',
      verdict:
        "The driver container called the Fabric Manager's start script with arguments that this release does not take, so the fabric has no manager. CUDA fails with error 802.",
      remedies: [
        {
          text: 'Use a newer GPU Operator, or a driver image whose start script fits (driver.version in its values).',
          command: 'kubectl get clusterpolicies -o yaml | grep -A6 "driver:"',
        },
        FABRIC_STATE,
      ],
    },
    {
      pattern: /fabric manager config file item: (\w{3,60}) has an invalid value/,
      severity: 'critical',
      title: 'Fabric Manager rejects its configuration',
      verdict: ({ match }) =>
        `The Fabric Manager does not accept the value of ${match[1]} in fabricmanager.cfg, and does not start. Likely the file is of another release, or names a file that is not there.`,
      remedies: [
        { text: 'See what the file says.', command: `grep -nv '^#' /usr/share/nvidia/nvswitch/fabricmanager.cfg | grep =` },
        {
          text: 'Take the fabricmanager.cfg that comes with the installed release, and write your own changes into it again.',
          command: 'nv-fabricmanager --version',
        },
        LOG,
      ],
    },
    {
      // What systemctl says; a GeForce, a workstation card or an inference card never has an NVSwitch.
      pattern: /Job for nvidia-fabricmanager\.service failed/,
      severity: 'warning',
      title: ({ situation }) => (PCIE_CARD.test(situation().text) ? 'Fabric Manager on a host without NVSwitch' : 'Fabric Manager failed'),
      verdict: ({ situation }) => {
        const card = PCIE_CARD.exec(situation().text)?.[0]
        return card === undefined
          ? 'The service nvidia-fabricmanager did not start. On hosts with NVSwitches CUDA fails with error 802 until it runs; others do not need it.'
          : `The service nvidia-fabricmanager did not start. It manages NVSwitches, and a host with a ${card} has none: it is not needed there.`
      },
      remedies: ({ situation }) =>
        PCIE_CARD.test(situation().text)
          ? [{ text: 'Switch the service off, or remove its package.', command: 'sudo systemctl disable --now nvidia-fabricmanager' }]
          : [
              LOG,
              {
                text: 'Its version must be exactly that of the driver: compare, and install the matching one.',
                command: 'nv-fabricmanager --version; cat /proc/driver/nvidia/version',
              },
              FABRIC_STATE,
            ],
    },
    {
      pattern: /nvidia-fabricmanager\.service: (?:Control process exited|Main process exited|Failed with result)/,
      severity: 'critical',
      title: 'Fabric Manager failed',
      verdict: 'The service nvidia-fabricmanager ended with an error. Until it runs, CUDA fails with error 802 on hosts with NVSwitches.',
      remedies: [LOG, FABRIC_STATE],
    },
  ],
})
