// Slurm's queue and its nodes: why a job is still pending, why a node is drained, in the words of squeue, scontrol and sinfo -R.
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'
import { drained, single } from './parts/slurm-nodes.ts'
import { step } from './parts/rows.ts'

type Reason = readonly [pattern: RegExp, verdict: string, remedies: readonly Piece[]]
const DRAINED = step('See why they are down or drained.', 'sinfo -R; sinfo -N -l | grep -E "down|drain|fail"')
const RESUME = step('When the cause is gone, let a node take jobs again.', 'sudo scontrol update nodename=<NODE> state=resume')
const LIMITS = step(
  'See what runs already, and what the limits are.',
  'squeue -A <ACCOUNT> -o "%i %u %T %b"; sacctmgr show qos format=name,grptres,maxtresperuser,maxjobsperuser; sacctmgr show assoc format=account,user,grptres,grptresmins',
)

/** What only waits for its turn (Priority, Resources, BeginTime, a dependency that can still be met) is left out. */
const REASONS: readonly Reason[] = [
  [
    /^ReqNodeNotAvail, ?UnavailableNodes:(\S{2,200})/,
    'nodes that the job needs are down, drained or do not answer: $1',
    [DRAINED, RESUME, step('Or leave those nodes out (--nodelist, --exclude), or use another partition.')],
  ],
  [
    /^ReqNodeNotAvail/,
    'the nodes that it may use are reserved or not free; a maintenance reservation also holds back each job whose time limit reaches into it',
    [
      step('See reservations and when they begin; a shorter time limit may still fit before.', 'scontrol show reservation; sbatch --time=<TIME> <SCRIPT>'),
      DRAINED,
    ],
  ],
  [
    /^(?:Nodes? required for job (?:is|are)|NodeDown|Node ?Down)/,
    'nodes that it needs are down, drained, or kept for jobs of a partition with a higher priority',
    [DRAINED, RESUME, step('See whether a partition of higher priority has them.', 'scontrol show partition | grep -E "PartitionName|PriorityTier"')],
  ],
  [
    /^(?:QOSGrp|AssocGrp|AssocMax|QOSMax|MaxGRES|MaxTRES|QOSMin|Assoc\w{0,20}Limit|QOS\w{0,30}Limit)\w{0,40}/,
    'a limit of its account or quality of service is reached ($0)',
    [LIMITS, step('It starts when jobs that count against the limit end: end what is not needed, or ask for fewer GPUs or less time.')],
  ],
  [
    /^Partition(?:TimeLimit|NodeLimit)/,
    'it asks for more time or nodes than its partition allows ($0): it will never start',
    [
      step(
        'See the limits of the partitions, then change the job or submit it again.',
        'sinfo -o "%P %l %s %D"; scontrol update jobid=<JOB_ID> timelimit=<TIME>',
      ),
    ],
  ],
  [/^Partition(?:Down|Inactive)/, 'its partition is closed ($0)', [step('See the state of the partitions, and use another one.', 'sinfo -s')]],
  [
    /^DependencyNeverSatisfied/,
    'the job that it waits for failed, so it will never start',
    [step('See what became of that job; then cancel this one and submit it again.', 'scontrol show job <JOB_ID> | grep -i dependency; scancel <JOB_ID>')],
  ],
  [
    /^(?:launch failed requeued held|JobHoldMaxRequeue|job requeued in held state)/i,
    'its start failed on a node, mostly in the prolog, and Slurm holds it',
    [
      step('See on which node, and why it was drained.', 'scontrol show job <JOB_ID>; sinfo -R'),
      step('Then let it start again without that node.', 'scontrol update jobid=<JOB_ID> excnodelist=<NODE>; scontrol release <JOB_ID>'),
    ],
  ],
  [
    /^JobHeld(?:User|Admin)/,
    'it is held ($0)',
    [step('Release it; what an administrator holds, only an administrator releases.', 'scontrol release <JOB_ID>')],
  ],
  [
    /^BadConstraints/,
    'no node can ever give what it asks for (GPUs, features, memory): it will never start',
    [step('Compare its request with the nodes.', 'scontrol show job <JOB_ID>; sinfo -o "%P %N %G %f %c %m"')],
  ],
  [
    /^(?:InvalidAccount|InvalidQOS|AccountNotAllowed|QOSNotAllowed|AssociationJobLimit)/,
    'its account or quality of service may not use the partition ($0)',
    [
      step(
        'See what is open to you, and change the job.',
        'sacctmgr show assoc user="$USER" format=account,partition,qos; scontrol update jobid=<JOB_ID> account=<ACCOUNT>',
      ),
    ],
  ],
  [/^Licenses/, 'a licence that it asks for is in use', [step('See which licences are free.', 'scontrol show licenses')]],
  [/^Reservation(?:Deleted)?/, 'its reservation has not begun, has ended or was deleted', [step('See the reservations.', 'scontrol show reservation')]],
  [/^(?:Prolog|Cleaning)/, 'the clean-up after an earlier job has not ended on its nodes', [DRAINED]],
]
const ROW = /^\s{0,20}(\d{1,12}(?:_[\d[\]\-,%]{1,40})?) [^\n]{3,200}?\((?!null)([A-Za-z][^\n()]{2,240})\)\s*$/
const FIELD = /\bReason=([A-Za-z][\w:,[\]-]{2,200}(?: [\w:,[\]-]{2,60}){0,14}?)(?= \w{2,30}=| Dependency|\s*$)/

type Pending = { readonly job: string; readonly verdict: string; readonly remedies: readonly Piece[] }
function pending(job: string, reason: string): Pending | undefined {
  for (const [pattern, verdict, remedies] of REASONS) {
    const match = pattern.exec(reason)
    if (match !== null) return { job, verdict: verdict.replace(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? ''), remedies }
  }
  return undefined
}
/** In the table below its heading, or in the record of scontrol. */
function found({ text, at, message }: Seen): Pending | undefined {
  if (/NODELIST ?\(REASON\)/.test(text[at] ?? '')) {
    for (const line of text.slice(at + 1, at + 60)) {
      const row = ROW.exec(line)
      const one = row === null ? undefined : pending(row[1] ?? '', row[2] ?? '')
      if (one !== undefined) return one
    }
    return undefined
  }
  const reason = FIELD.exec(message)?.[1]
  return reason === undefined ? undefined : pending(/\bJobId=(\d{1,12})/.exec(text.slice(Math.max(0, at - 4), at + 1).join(' '))?.[1] ?? '', reason)
}
const filled = (pieces: readonly Piece[], job: string): readonly Piece[] =>
  pieces.map((piece) =>
    typeof piece === 'object' && 'command' in piece && piece.command !== undefined && job !== ''
      ? { ...piece, command: piece.command.replaceAll('<JOB_ID>', job) }
      : piece,
  )

export const slurmQueue = ruleFamily({
  id: 'slurm-queue',
  kind: 'gpu_unschedulable',
  literals: [
    'NODELIST(REASON)',
    'NODELIST (REASON)',
    'JobState=PENDING',
    'REASON               USER      TIMESTAMP',
    'step creation temporarily disabled, retrying',
    'Unable to contact slurm controller',
    'Munge encode failed: ',
    'Munge decode failed: ',
  ],
  rules: [
    {
      pattern: /NODELIST ?\(REASON\)|JobState=PENDING/,
      severity: 'warning',
      title: (matched) => {
        const job = found(matched)?.job ?? ''
        return `Slurm does not start ${job === '' ? 'the job' : `job ${job}`} yet`
      },
      verdict: (matched) => `Slurm keeps ${jobOf(matched)} pending: ${found(matched)?.verdict ?? ''}.`,
      remedies: (matched) => {
        const one = found(matched)
        return one === undefined ? [] : filled(one.remedies, one.job)
      },
      unless: (seen) => found(seen) === undefined,
    },
    {
      pattern: /REASON USER TIMESTAMP/,
      kind: 'job_killed',
      severity: 'warning',
      title: ({ text, at }) => `Slurm took ${drained(text, at)?.node ?? 'a node'} out of use`,
      verdict: ({ text, at }) => {
        const one = drained(text, at)
        return `Slurm gives ${one?.node ?? 'the node'} no jobs ("${one?.said ?? ''}"): ${one?.why ?? ''}.`
      },
      remedies: ({ text, at }) => {
        const one = drained(text, at)
        if (one === undefined) return []
        const node = single(one.node)
        return [
          ...one.remedies.map((piece) =>
            typeof piece === 'object' && 'command' in piece && piece.command !== undefined
              ? { ...piece, command: piece.command.replaceAll('<NODE>', node) }
              : piece,
          ),
          step('When the cause is gone, let it take jobs again.', `sudo scontrol update nodename=${node} state=resume`),
        ]
      },
      unless: ({ text, at }) => drained(text, at) === undefined,
    },
    {
      pattern: /Job (\d{1,12}) step creation temporarily disabled, retrying(?: \(([^()\n]{3,80})\))?/,
      severity: 'warning',
      title: 'The step waits for resources of its own job',
      verdict: ({ match }) =>
        `srun waits to start a step in job ${match[1]}${match[2] === undefined ? '' : ` (${match[2]})`}: another step of the job holds the CPUs, memory or GPUs that this one asks for.`,
      remedies: ({ match }) => [
        step('See which steps the job runs, and end what is not needed: an interactive shell is one too.', `squeue -s -j ${match[1]}`),
        step(
          'Let steps share: srun --overlap for a step beside a shell, --exact for several steps at once, each with its own --gpus and --mem.',
          'srun --overlap <COMMAND>',
        ),
      ],
    },
    {
      pattern: /^(?:slurm_load_\w{3,30}(?: error)?|\S{1,40}: error: [^\n]{0,80}|[^\n]{0,40}): Unable to contact slurm controller/,
      kind: 'network_error',
      severity: 'critical',
      title: "Slurm's controller does not answer",
      verdict: 'slurmctld is down, overloaded, or cannot be reached from this host. Jobs that run go on.',
      remedies: [
        step('See whether it answers.', 'scontrol ping'),
        step('On the controller:', 'systemctl status slurmctld; sudo tail -n 50 /var/log/slurm/slurmctld.log'),
        step('In a container or on a new host: the same slurm.conf and munge key must be there, and munged run.', 'munge -n | unmunge | head -n 2'),
      ],
    },
    {
      pattern: /Munge (?:en|de)code failed: ([^\n]{4,120})/,
      kind: 'permission_denied',
      severity: 'critical',
      title: 'munge refused',
      verdict: ({ match }) => `munge, which signs the messages between Slurm's hosts, refused: "${match[1]?.trim()}".`,
      remedies: [
        step('See that munged runs here, and that clock and key are those of the controller.', 'systemctl status munge; munge -n | unmunge | head -n 4; date'),
        step('After a correction restart it.', 'sudo systemctl restart munge'),
      ],
    },
  ],
})
function jobOf(matched: Matched): string {
  const job = found(matched)?.job ?? ''
  return job === '' ? 'the job' : `job ${job}`
}
