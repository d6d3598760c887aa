// What slurmd and slurmctld say of gres.conf: device files, records and cores that do not fit the node.
// Messages: Slurm src/interfaces/gres.c.
import { rowFamily, step, type Row } from './parts/rows.ts'

const LOOK = step(
  'Compare what slurmd finds with gres.conf and with the line of the node in slurm.conf.',
  'slurmd -G; nvidia-smi -L; grep -v "^#" /etc/slurm/gres.conf',
)
const RESTART = step('Then start slurmd again, and let the node take jobs.', 'sudo systemctl restart slurmd; sudo scontrol update nodename=<NODE> state=resume')
const DETECT = step('Or let Slurm find them: one line AutoDetect=nvml (newer releases also nvidia, which needs no NVML), and no others for GPUs.')
const WRONG = { kind: 'config_error', title: 'Slurm rejects its gres.conf' } as const

const ROWS: readonly Row[] = [
  {
    kind: 'gpu_not_visible',
    pattern: /(fatal: can't stat|Waiting for) gres\.conf file (\/\S{3,80}?)(?::|\s|$)/,
    title: 'slurmd does not find {2}',
    verdict: ({ match }) =>
      `gres.conf names ${match[2]}, which this node does not have: ${/nvidia/.test(match[2] ?? '') ? 'the driver is not loaded, its device files were not made yet, or the node has fewer GPUs' : 'the driver is not loaded, or the node has no such device'}. slurmd waits for it, and does not start without it.`,
    remedies: ({ match }) => [
      /nvidia/.test(match[2] ?? '')
        ? step(
            'Load the driver and make its device files; then see how many GPUs there are.',
            'sudo modprobe nvidia && sudo nvidia-modprobe -c 0 -u; nvidia-smi -L; ls -l /dev/nvidia*',
          )
        : step('Load the driver, and see whether the device is there.', 'ls -l /dev/dri /dev/kfd'),
      step(
        'Let slurmd start after them at boot: with the persistence daemon.',
        'sudo systemctl enable --now nvidia-persistenced; sudo systemctl restart slurmd',
      ),
      step('If the node has no such GPU: correct its line in gres.conf (NodeName=) and slurm.conf (Gres=).'),
    ],
    // The fatal line tells it.
    unless: ({ match, text }) => match[1] === 'Waiting for' && text.some((line) => line.includes("fatal: can't stat gres.conf file")),
  },
  {
    ...WRONG,
    pattern: /gres\.conf duplicate records for (\w{2,30})/,
    verdict: 'gres.conf has more than one record for {1} without File= or Type=, so that they say the same. slurmd does not start.',
    remedies: [step('Write one record (Name={1} Count=…), or give each its device file (File=/dev/nvidia[0-7]); with AutoDetect leave them out.'), RESTART],
  },
  {
    ...WRONG,
    pattern: /gres\.conf for (\w{2,30}), some records have \\?"(File|Type)=?\\?" specification while others do not/,
    verdict: 'Of the records for {1} in gres.conf some have {2}=, others do not. slurmd does not start.',
    remedies: [step('Give all records for {1} {2}=, or none.'), DETECT, RESTART],
  },
  {
    ...WRONG,
    pattern:
      /invalid GRES core specification \(([\d,-]{1,120})\) on node (\S{1,60})|GRES core specification ([\d,-]{1,120}) for node (\S{1,60}) doesn't match socket boundaries/,
    title: 'Slurm rejects the CPU cores that gres.conf assigns to the GPUs of a node',
    verdict: ({ match }) =>
      `gres.conf ties GPUs of ${match[2] ?? match[4]} to cores ${match[1] ?? match[3]}, and ${match[1] === undefined ? 'they reach over the border of a socket as slurm.conf describes it' : 'the node does not have all of them'}. Cores= counts cores as Slurm does (from 0, without threads), not the CPUs of Linux.`,
    remedies: ({ match }) => [
      step('Compare sockets, cores and threads of the node with its line in slurm.conf.', 'slurmd -C; lscpu | grep -E "Socket|Core|Thread|NUMA"'),
      step('Write Cores= with the numbers of cores (half of what lscpu lists where there are two threads a core), or leave it out.'),
      DETECT,
      step(
        'Then load the configuration again and give the node back.',
        `sudo scontrol reconfigure; sudo scontrol update nodename=${match[2] ?? match[4]} state=resume`,
      ),
    ],
  },
  {
    ...WRONG,
    pattern: /If using AutoDetect the amount of GPUs configured in slurm\.conf does not match what was detected/,
    title: 'slurm.conf and the node differ in GPUs',
    verdict:
      'AutoDetect found another number or type of GPUs than Gres= in slurm.conf says: a GPU is gone, MIG changed the number, or the type is written in another way.',
    remedies: [LOOK, step('Write Gres= as slurmd finds it (the type is a part of the name that it prints), or repair the GPU that is missing.'), RESTART],
  },
  {
    ...WRONG,
    pattern: /Invalid GRES record for (\w{2,30}), (?:count does not match File value|invalid count)/,
    verdict: 'A record for {1} has a Count= that does not fit its File=. slurmd does not start.',
    remedies: [step('Leave Count= out where File= names the devices.'), RESTART],
  },
  {
    ...WRONG,
    pattern: /(\/dev\/\S{2,60}) is not a valid character or block device, fix your gres\.conf/,
    verdict: '{1} is no device file.',
    remedies: [LOOK, RESTART],
  },
]

export const slurmGres = rowFamily(
  'slurm-gres',
  [
    ' gres.conf file /',
    'gres.conf duplicate records',
    'gres.conf for ',
    'invalid GRES core specification',
    'GRES core specification ',
    'does not match what was detected',
    'Invalid GRES record for ',
    'fix your gres.conf',
  ],
  ROWS,
)
