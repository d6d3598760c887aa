// Why Slurm did not accept a job or a step: the errors of sbatch, srun and salloc (slurm_errno.c), with what each asks for.
import type { Known } from './message.ts'
import type { Piece } from '../../faults/remedies/plan.ts'

type Row = readonly [pattern: RegExp, says: string, remedies: readonly Piece[]]
const do1 = (text: string, command?: string): Piece => (command === undefined ? { text } : { text, command })
const NODES = do1('Compare what is asked for with what the nodes have: GPUs and their type, CPUs, memory.', 'sinfo -o "%P %N %G %c %m %l"')
const LIMITS = do1(
  'See what runs already, and what the limits are.',
  'squeue -u "$USER" -o "%i %T %b"; sacctmgr show qos format=name,maxtresperuser,maxjobsperuser,maxwall',
)

const ROWS: readonly Row[] = [
  [
    /GRES option unsupported by configured SelectType/,
    "The cluster's way of choosing nodes (SelectType) does not know --gpus and the options beside it, which need select/cons_tres; the job was not queued.",
    [
      do1('Ask for the GPUs of each node, which every Slurm knows.', 'sbatch --gres=gpu:<GPUS> <SCRIPT>'),
      do1(
        'If the cluster gives only whole nodes (select/linear), leave the request out: their GPUs come with them.',
        'scontrol show config | grep -i SelectType; sinfo -o "%P %G"',
      ),
    ],
  ],
  [
    /SLURM_MEM_PER_\w{3,4}[^\n]{0,60}mutually exclusive/,
    'srun found more than one of these in its environment: it was started inside another job and inherited the memory of that one beside its own.',
    [
      do1('Take those of the outer job out of the environment, then start it again.', 'unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE'),
      do1('Ask for memory in one way only: --mem, --mem-per-cpu or --mem-per-gpu.'),
    ],
  ],
  [
    /Requested node configuration is not available|Invalid generic resource \(gres\)/,
    'No node of the partition can ever give what was asked for, so the job was not queued.',
    [
      NODES,
      do1(
        'Then ask for less on each node, for another type of GPU, or in another partition (some also want a --qos of their own).',
        'sbatch --partition=<PARTITION> --gres=gpu:<GPUS> <SCRIPT>',
      ),
    ],
  ],
  [
    /Requested time limit is invalid/,
    'The partition allows less time, or asks for a limit that was not given; the job was not queued.',
    [do1('Ask for no more than the limit of the partition, or use another.', 'sinfo -o "%P %l %L"; sbatch --time=<TIME> <SCRIPT>')],
  ],
  [
    /Invalid account or account\/partition combination/,
    'The user does not belong to that account, or the account may not use the partition; the job was not queued.',
    [
      do1(
        'See your accounts and partitions, and name one of them.',
        'sacctmgr show assoc user="$USER" format=account,partition,qos; sbatch --account=<ACCOUNT> <SCRIPT>',
      ),
    ],
  ],
  [
    /QOSMax\w{2,40}|violates accounting\/QOS policy|Assoc(?:Grp|Max)\w{2,40}/,
    'The limits of the account or its quality of service do not allow it, so the job was not queued.',
    [LIMITS, do1('Ask for fewer GPUs or less time, or wait until jobs of your own end.')],
  ],
  [
    /Invalid (?:partition name|qos) specifi|Requested partition configuration|[Ii]nvalid partition specified/i,
    'Slurm has no partition or quality of service of that name for this user.',
    [do1('Name one that exists.', 'sinfo -o "%P %a %l %G"; sacctmgr show assoc user="$USER" format=account,partition,qos')],
  ],
  [
    /Required partition not available|[Pp]artition .{0,40}(?:is )?(?:down|inactive)/,
    'The partition is closed (down, inactive or draining).',
    [do1('See its state, and use another one meanwhile.', 'sinfo -s')],
  ],
  [
    /Invalid feature specification|[Ii]nvalid constraint/,
    'No node has the feature that --constraint names.',
    [do1('See which features the nodes have.', 'sinfo -o "%N %f %G"')],
  ],
  [
    /Memory required by task is not available|Memory specification can not be satisfied/,
    'No node of the partition has as much memory as was asked for.',
    [do1('See how much memory the nodes have (MB), and ask for less than that.', 'sinfo -o "%P %N %m"; sbatch --mem=<MEMORY> <SCRIPT>')],
  ],
  [
    /More processors requested than permitted|CPU count per node can not be satisfied|[Nn]ode count specification invalid|Requested number of nodes/,
    'More CPUs or nodes were asked for than the partition has or allows.',
    [NODES, do1('Lower --nodes, --ntasks-per-node or --cpus-per-task.')],
  ],
  [
    /Invalid (?:Trackable RESource|TRES)|Invalid --gpus/i,
    'The request for GPUs is not written as Slurm expects, or it has no GPUs set up.',
    [do1('Write it as gpu:<TYPE>:<NUMBER>, with a type that the nodes have.', 'sinfo -o "%N %G"')],
  ],
  [
    /User's group not permitted|Access\/permission denied|[Uu]ser is not permitted/,
    'The user may not use that partition, account or reservation.',
    [
      do1(
        'See what is open to you; else ask the administrator.',
        'sacctmgr show assoc user="$USER" format=account,partition,qos; scontrol show partition | grep -iE "PartitionName|Allow"',
      ),
    ],
  ],
  [
    /Unable to contact slurm controller|Zero Bytes were transmitted|Socket timed out on send\/recv|Slurm backup controller|slurmctld .{0,40}not respond/,
    "Slurm's controller (slurmctld) does not answer: it is down, overloaded, or cannot be reached from this host.",
    [
      do1('See whether it answers; jobs that run go on meanwhile.', 'scontrol ping'),
      do1('On the controller:', 'systemctl status slurmctld; sudo tail -n 50 /var/log/slurm/slurmctld.log'),
      do1('In a container or on a new host: the same slurm.conf and munge key must be there, and munged run.', 'munge -n | unmunge | head -n 2'),
    ],
  ],
  [
    /Protocol authentication error|Munge (?:en|de)code failed|munge.{0,40}(?:Invalid credential|Expired|Rewound|Failed to connect)/,
    'munge, which signs messages between the hosts, refused: it does not run, or its key or the clock differs.',
    [
      do1('See that munged runs, and compare clocks.', 'systemctl status munge; munge -n | unmunge | head -n 4; date'),
      do1('Take the same /etc/munge/munge.key on all hosts, then restart it.', 'sudo systemctl restart munge'),
    ],
  ],
  [
    /Couldn't find the specified plugin name for mpi\/(?:\w{2,20})|cannot find mpi plugin for mpi\//,
    'srun was asked for an MPI plugin (--mpi) that this Slurm does not have.',
    [do1('See which it has, and name one of those; without one start the ranks with mpirun.', 'srun --mpi=list')],
  ],
  [
    /low (?:real_memory|tmp_disk) size|rpc_node_registration/,
    'A node reports less than slurm.conf says of it, so Slurm does not take it in.',
    [do1('Compare what the node has with its line in slurm.conf, and write a little less there; or find the memory that is gone.', 'slurmd -C; free -m')],
  ],
  [
    /Job dependency problem/,
    'A job named in --dependency does not exist any more.',
    [do1('See which jobs there still are.', 'squeue -u "$USER"; sacct -u "$USER" --format=JobID,State')],
  ],
  [/DOS line breaks/, 'The script has line ends of Windows.', [do1('Convert it.', "sed -i 's/\\r$//' <SCRIPT>")]],
  [
    /does not look like a batch script/,
    'The first line of the script names no interpreter.',
    [do1('Begin it with #!/bin/bash, or pass a command with --wrap.')],
  ],
  [/Unable to open file/, 'The batch script is not where sbatch was started.', [do1('Name its path.', 'ls -l <SCRIPT>')]],
  [
    /Job\/step already completing or completed|Invalid job id specified/,
    'The job of that number has ended or never was.',
    [do1('See what became of it.', 'sacct -j <JOB_ID> --format=JobID,State,ExitCode,Elapsed')],
  ],
  [
    /Job credential expired/,
    'The node got the order of the step when its credential had run out: the clocks of the hosts differ, or slurmd was too slow for it.',
    [
      do1(
        'Compare the clocks of this host and of the nodes, and let all of them follow the same time server.',
        'srun --overlap --ntasks-per-node=1 date; chronyc tracking',
      ),
      do1(
        'If they agree: see why slurmd of that node is slow (a prolog, a file system that hangs).',
        'scontrol show node <NODE>; sudo tail -n 50 /var/log/slurm/slurmd.log',
      ),
    ],
  ],
  [
    /Unable to (?:confirm allocation|attach to step)|Application launch failed|Task launch for .{0,60} failed|Communication connection failure/,
    'Slurm could not start the step on its nodes: slurmd of a node does not answer, or it cannot call back to this host.',
    [
      do1('See the state of the nodes of the job.', 'scontrol show job "$SLURM_JOB_ID" | grep -i nodelist; sinfo -N -l'),
      do1(
        'See that the nodes reach this host on all ports (srun listens on ports that the system chooses, or SrunPortRange).',
        'scontrol show config | grep -i SrunPortRange',
      ),
    ],
  ],
  [
    /Could not establish a configuration source/,
    'It found no slurm.conf in its place and no record of the cluster in DNS: this machine, or the container, is not set up for the cluster.',
    [
      do1(
        'Run it on a login node. In a container, mount the folder of slurm.conf and the socket of MUNGE.',
        'ls -l /etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf',
      ),
      do1('Where slurm.conf is elsewhere, name it.', 'export SLURM_CONF=<FILE>'),
    ],
  ],
]

const FROM_SLURM =
  /\b(?:sbatch|srun|salloc|squeue|sinfo|scontrol|scancel|slurm|munge)|SLURM_|Batch job submission|Unable to allocate resources|Unable to create step/i

const titleOf = ({ source }: RegExp): string =>
  source.includes('configuration source')
    ? 'Slurm is not set up here'
    : /attach to step|credential expired/.test(source)
      ? 'Slurm could not start the step'
      : source.includes('rpc_node')
        ? 'Slurm does not take a node in'
        : 'Slurm did not accept the job'

/** A plugin of the site (job_submit) says why in a line of its own. */
const PLUGIN = /^(?:\S{0,40} )?(?:sbatch|srun|salloc): error: (?!Batch job|Unable to)([^\n]{8,240})$/m
/** srun and salloc take the same options as sbatch, and no script. */
const asTyped = (remedies: readonly Piece[], text: string): readonly Piece[] => {
  const typed = /\b(srun|salloc): error: Unable to allocate/.exec(text)?.[1]
  return typed === undefined
    ? remedies
    : remedies.map((one) =>
        typeof one === 'object' && 'command' in one && one.command !== undefined
          ? { ...one, command: one.command.replace(/\bsbatch ((?:--\S{3,40} )+)<SCRIPT>/, `${typed} $1${typed === 'srun' ? '<COMMAND>' : ''}`).trim() }
          : one,
      )
}

export const SLURM: readonly Known[] = [
  {
    pattern: /Batch job submission failed: Unspecified error|Unable to allocate resources: Unspecified error/,
    title: 'The rules of the cluster refused the job',
    when: ({ situation }) => PLUGIN.test(situation.text),
    says: (_, { situation }) => `A check of the site (a job_submit plugin) says why: "${PLUGIN.exec(situation.text)?.[1]?.trim()}".`,
    remedies: (_, { situation }) => [
      /\bGPUs?\b|gres/i.test(PLUGIN.exec(situation.text)?.[1] ?? '')
        ? { text: 'Ask for the GPUs as it wants it, or choose a partition without them.', command: 'sinfo -o "%P %G"; sbatch --gres=gpu:<GPUS> <SCRIPT>' }
        : { text: 'Change the request as it says; the documentation of the cluster has its rules.', command: 'sinfo -o "%P %l %G"' },
    ],
  },
  {
    pattern: /Unable to create step for job (\d{1,12}): Invalid generic resource/,
    title: 'Slurm did not accept the step',
    says: 'The step asks for GPUs that its own job was not given.',
    remedies: ([, job]) => [
      {
        text: 'Compare the GPUs of the step (srun) with those of the job (sbatch, salloc): number, type, and on how many nodes.',
        command: `scontrol show job ${job}`,
      },
    ],
  },
  ...ROWS.map(([pattern, says, remedies]): Known => ({
    pattern,
    title: titleOf(pattern),
    when: ({ situation, error }) => FROM_SLURM.test(error?.message ?? '') || FROM_SLURM.test(situation.text),
    says,
    remedies: (_, { situation }) => asTyped(remedies, situation.text),
  })),
]
