// What Slurm's nodes, compose files and the WSL say of jobs that cannot start or were ended.
import { ruleFamily, type Seen } from './parts/rules.ts'

const nodeOf = ({ text, at }: Seen): string =>
  /\bnode (?!state)([a-z][\w.-]{0,60}\d[\w.-]{0,20}|[\w-]{1,40}\d) state/.exec(text.slice(Math.max(0, at - 3), at + 4).join('\n'))?.[1] ??
  /^gres\/gpu count \S{1,20} {1,8}\S{1,20} {1,8}\S{10,30} {1,8}([\w.-]{1,60})\s*$/m.exec(text[at] ?? '')?.[1] ??
  /\bNodeName=([\w.-]{1,60})/.exec(text.slice(Math.max(0, at - 30), at + 1).join('\n'))?.[1] ??
  '<NODE>'

export const hostPlatform = ruleFamily({
  id: 'host-platform',
  kind: 'config_error',
  literals: [
    'gres/gpu count repor',
    'DUE TO JOB NOT ENDING WITH SIGNALS',
    'configured to autodetect nvml',
    'Invalid job credential',
    'Prolog failed',
    'Prolog or job env setup failure',
    'Windows Subsystem for Linux instance has terminated',
    '.deploy.resources.reservations.devices',
  ],
  rules: [
    {
      pattern: /gres\/gpu count repor(?:ted lower than configured \((\d{1,3}) < (\d{1,3})\))?/,
      kind: 'gpu_lost',
      severity: 'critical',
      title: 'Slurm drained a node: GPUs are missing',
      verdict: ({ match }) =>
        `The node has ${match[1] === undefined ? 'fewer GPUs than' : `${match[1]} GPUs, and not the ${match[2]} that`} slurm.conf names: a GPU was lost, the driver does not show it, its device file is missing, or MIG was set up in another way.`,
      remedies: (matched) => [
        {
          text: 'See on the node which GPU is missing, and what the kernel says of it.',
          command: "nvidia-smi -L; ls /dev/nvidia[0-9]*; sudo dmesg -T | grep -E 'NVRM|Xid' | tail",
        },
        { text: 'Compare gres.conf with what slurmd finds.', command: 'slurmd -G; scontrol show node ' + nodeOf(matched) },
        {
          text: `If ${matched.match[1] === undefined ? 'the smaller number' : matched.match[1]} is right (MIG was changed, a GPU was taken out), write it into Gres= of the node in slurm.conf, then load that.`,
          command: 'sudo scontrol reconfigure',
        },
        { text: 'When the numbers agree, let the node take jobs again.', command: `sudo scontrol update nodename=${nodeOf(matched)} state=resume` },
      ],
    },
    {
      pattern: /(?:STEPD TERMINATED|STEP \S{1,30})\b[^\n]{0,60}? ON (\S{1,60}) AT \S{1,30} DUE TO JOB NOT ENDING WITH SIGNALS/,
      kind: 'job_killed',
      severity: 'critical',
      title: ({ match }) => `A process on ${match[1]} does not end`,
      verdict: ({ match }) =>
        `A process of the job did not end even on SIGKILL: it is stuck in the kernel, mostly in storage that does not answer or in the GPU's driver. Slurm drained ${match[1]}.`,
      remedies: ({ match }) => [
        { text: 'See on the node which processes wait in the kernel (state D), and for what.', command: "ps -eo pid,stat,wchan:32,args | awk '$2 ~ /^D/'" },
        {
          text: 'See what the kernel says of storage and GPUs.',
          command: "sudo dmesg -T | grep -iE 'nfs|lustre|blocked for more|NVRM|Xid|amdgpu' | tail -n 30",
        },
        { text: 'When they are gone (else after a reboot), let the node take jobs again.', command: `sudo scontrol update nodename=${match[1]} state=resume` },
      ],
    },
    {
      pattern: /configured to autodetect nvml functionality, but we weren't able to find that lib/,
      severity: 'critical',
      title: 'This Slurm was built without NVML',
      verdict: 'gres.conf says AutoDetect=nvml, and this slurmd was built without it: it finds no GPU, and older releases do not start.',
      remedies: [
        {
          text: "Install the distribution's or vendor's plugin for NVML of the same version, or build Slurm where the headers and library of NVML are.",
          command: 'slurmd -V; find / -name "gpu_nvml.so" 2>/dev/null',
        },
        { text: 'Or name the devices in gres.conf instead (AutoDetect=off, File=/dev/nvidia[0-7]).' },
      ],
    },
    {
      pattern: /(?:StepId=(\d{1,12})[^\n]{0,20} failed on node (\S{1,60}): )?Invalid job credential/,
      kind: 'job_failed',
      severity: 'critical',
      title: 'Slurm refused to start the step',
      verdict: ({ match }) =>
        `${match[2] ?? 'A node'} did not accept the credential of the job: its clock differs from the controller's, or its munge key does.`,
      remedies: ({ match }) => [
        {
          text: 'Compare clocks and keys: the node must decode what the controller encodes.',
          command: `munge -n | ssh ${match[2] ?? '<NODE>'} unmunge | head -n 4; date; ssh ${match[2] ?? '<NODE>'} date`,
        },
        { text: 'After correcting time or /etc/munge/munge.key, restart munge and slurmd there.', command: 'sudo systemctl restart munge slurmd' },
      ],
    },
    {
      pattern: /error: (?:\S{1,60}: Launch failed: )?Prolog failed|Prolog or job env setup failure/,
      kind: 'job_failed',
      severity: 'critical',
      title: "The node's prolog failed",
      verdict: 'Slurm runs a prolog on the node before each job (often a check of its GPUs). It failed, so the job did not start, and the node was drained.',
      remedies: ({ text, at }) => {
        const node =
          /error: (\S{1,60}): Launch failed|failure on node ([\w.-]{1,60})/
            .exec(text.slice(Math.max(0, at - 3), at + 4).join('\n'))
            ?.slice(1)
            .find((one) => one !== undefined) ?? '<NODE>'
        return [
          {
            text: 'See why the node was drained, and what its prolog said.',
            command: `scontrol show node ${node} | grep -i reason; ssh ${node} sudo tail -n 50 /var/log/slurm/slurmd.log`,
          },
          { text: 'Meanwhile leave that node out.', command: `sbatch --exclude=${node} <SCRIPT>` },
        ]
      },
    },
    {
      pattern: /Windows Subsystem for Linux instance has terminated/,
      kind: 'job_killed',
      severity: 'critical',
      title: 'The WSL instance ended',
      verdict: 'Windows ended the virtual machine of WSL 2, and all that ran in it: it crashed, or Windows had no memory left for it.',
      remedies: [
        { text: 'Update WSL and start it again (in PowerShell).', command: 'wsl --update\nwsl --shutdown' },
        { text: 'If it ends under load: set memory= and swap= in %UserProfile%\\.wslconfig (section [wsl2]) so that Windows keeps enough.' },
      ],
    },
    {
      pattern: /services\.([\w-]{1,60})\.deploy\.resources\.reservations\.devices(?:\.\d{1,2}|\[\d{1,2}\])?:? ([^\n]{3,120})/,
      severity: 'critical',
      title: 'The compose file is not valid',
      verdict: ({ match }) => `The request for GPUs of the service ${match[1]} is not valid: "${match[2]?.trim()}". Nothing was started.`,
      remedies: [
        {
          text: 'An entry of devices takes driver: nvidia, capabilities: [gpu], and either count (a number or all) or device_ids (a list of strings such as ["0", "1"]); nothing else.',
          command: 'docker compose config --quiet',
        },
      ],
    },
  ],
})
