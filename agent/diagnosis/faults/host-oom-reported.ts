// Kills because host memory ran out, as others report them: Docker, Kubernetes, Slurm, systemd, PyTorch's DataLoader, the shell.
import { limitNear, ollamaEstimate, overLimit, unitPeak } from './host-oom/estimates.ts'
import { stripPrefix } from '../../text/line-prefix.ts'
import type { Facts } from '../../model/facts.ts'
import { gibAsPrinted as gib } from '../../text/bytes.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import type { Situation } from '../situation/situation.ts'
import { byDaemon } from './host-oom/daemons.ts'
import { byRayMonitor } from './host-oom/ray.ts'
import { givenLimit, hostFull, KERNEL_LOG, MORE_FOR_WSL, needLess, raiseLimit, slurmRemedies } from './host-oom/remedies.ts'
import { isDescribed } from './remedies/kubernetes.ts'
import { plan, type Piece } from './remedies/plan.ts'
import { nodeOnCpu } from './parts/tensorflow-node.ts'
import { around, known, lineWith, whole } from './parts/window.ts'

const EXIT_CODE = /"?Exit ?Code"?: {0,20}(\d{1,3})\b|exit(?:ed with)? (?:code|status) (\d{1,3})\b|exitCode["=: ]{1,4}(\d{1,3})\b/i
/** After a run that ended well its workers are killed too; that is no fault. */
const TEARDOWN = /Exception ignored in|__del__|shutting down|KeyboardInterrupt|resource_tracker|DataLoader worker \(\.{3}\)/

/**
 * The shell's "Killed" says who ended the program in none of these cases: it had failed already and was cleared away (by torchrun, a
 * watchdog, a container's stop), or the lines above name the one who killed it. Looked for in this many lines above.
 */
const LINES_ABOVE = 24
const EXPLAINED =
  /Traceback \(most recent call last\)|^.{0,40} File "[^"\n]{1,300}", line \d{1,7}, in |terminate called (?:after throwing|without an active)|Fatal Python error|Watchdog (?:caught collective|timeout)|\(core dumped\)|Segmentation fault|CANCELLED AT|DUE TO (?:TIME LIMIT|PREEMPTION)|KeyboardInterrupt|(?:^|[\s$#;])(?:sudo )?(?:kill (?:-9|-KILL|-SIGKILL|-s KILL)|pkill|killall|timeout (?:-s|--signal)) ?|[Rr]eceived (?:signal )?(?:SIGTERM|sigquit|15\b)/
/** A failure that itself says that a process was killed, or that host memory ran out, makes the kernel more likely and not less. */
const OF_HOST_MEMORY =
  /SIGKILL|[Ss]ignal:? 9\b|exitcode ?: ?-9\b|MemoryError|Cannot allocate memory|terminated abruptly|is killed by signal: Killed|std::bad_alloc/
const explained = (text: LogText, at: number): boolean => {
  let found = false
  for (let line = at - 1; line >= 0 && line >= at - 1 - LINES_ABOVE; line--) {
    const above = text[line] ?? ''
    // A shell in a loop says the same again and again.
    if (above === text[line + 1]) continue
    if (OF_HOST_MEMORY.test(above)) return false
    found ||= EXPLAINED.test(above)
  }
  return found
}

function said(verdict: string, facts: Facts, lines: readonly number[], pieces: readonly Piece[], severity: Recognised['severity'] = 'critical'): Recognised {
  const title =
    severity === 'critical'
      ? 'Killed because host memory ran out'
      : `Killed by SIGKILL, likely ${facts.limit_bytes === undefined ? 'because host memory ran out' : 'at the memory limit of its container'}`
  return { kind: 'host_oom_kill', severity, title, verdict, facts, remedies: plan(pieces), lines }
}

function exitCodeNear(text: LogText, at: number): { readonly code: number | undefined; readonly line: number | undefined } {
  const line = lineWith(text, Math.max(0, at - 3), at + 6, EXIT_CODE)
  const match = EXIT_CODE.exec(text[line ?? -1] ?? '')
  return { code: whole(match?.[1] ?? match?.[2] ?? match?.[3]), line }
}

const EVICTED = /node was low on resource: memory\.(?:.{0,120}?[Cc]ontainer (\S{1,80}) was using (\d{1,12})([KMG])i,.{0,40}?request is (\d\w{0,12}))?/

/** A container has a limit of its own, and its engine says whether it was reached. */
const container = (situation: Situation): readonly Piece[] =>
  situation.programs.has('kubernetes')
    ? raiseLimit({}, situation)
    : situation.programs.has('docker') || situation.programs.has('compose')
      ? [
          {
            text: 'See whether the engine saw the container reach its memory limit.',
            command: `docker inspect --format '{{.State.OOMKilled}}' ${situation.subject.container ?? '<CONTAINER>'}`,
          },
          raiseLimit(known({ limit_bytes: givenLimit(situation) }), situation),
        ]
      : situation.hosted
        ? [{ text: 'Choose a runtime with more memory (Colab: High-RAM), or hold less of the data at once.' }]
        : situation.system === 'wsl'
          ? [MORE_FOR_WSL]
          : [{ text: 'If it ran in a container or a job with a memory limit: raise that limit.' }]

/** `script: line 28:  8156 Killed  python3 main.py` of a shell. */
const SHELL_KILLED = /: line \d{1,6}: {1,8}(\d{1,10}) Killed {2,40}(\S{1,60}(?: [\w./-]{1,60}\.py\b)?)/

const CPU_TENSOR = /OOM when allocating tensor with shape ?(\[[\d,]{1,80}\])[^\n]{0,120}(?:device:CPU:\d|by allocator cpu)/
/** TensorFlow 1 before 1.7: the node below says where. */
const BARE_TENSOR = /OOM when allocating tensor with shape ?(\[[\d,]{1,80}\])\s*$/
function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  const bare = BARE_TENSOR.exec(line)?.[1]
  const tensor = CPU_TENSOR.exec(line)?.[1] ?? (bare !== undefined && nodeOnCpu(text, at) ? bare : undefined)
  if (tensor !== undefined)
    return {
      ...said(
        `TensorFlow could not allocate a tensor of shape ${tensor} in host memory (on the CPU, not on the GPU).`,
        {},
        [at],
        [
          { text: 'Make that tensor smaller: a smaller batch, fewer rows at once, or a generator (tf.data) instead of one array of all data.' },
          { text: 'See how much host memory is free while it runs.', command: 'free -g' },
          container(situation()),
        ],
      ),
      kind: 'host_memory',
      title: 'Out of host memory',
    }
  if (
    /\bcontainer oom [0-9a-f]{12,64} \(|"?[Oo][Oo][Mm]Killed"?["' ]{0,2}[:=] {0,20}"?true|(?:[Rr]eason"?[:=] {0,20}"?|\breason ")OOMKilled|\bOOMKilled\b(?! ?["']? ?[:=])(?!.{0,12}false)/.test(
      line,
    )
  ) {
    // A format asks for it: the answer is below.
    if (
      /\{\{[^}]{0,80}OOMKilled|OOMKilled"?["' ]{0,2}[:=] {0,20}"?false|\b(?:if|avoid|prevent|not|no|never|what|why|when|how|does) (?:[\w-]{1,20} ){0,3}["'`]?OOMKilled/i.test(
        line,
      )
    )
      return undefined
    const { code, line: codeAt } = exitCodeNear(text, at)
    const limit = limitNear(text, at)
    return said(
      `The container${isDescribed(situation()) && situation().subject.pod !== undefined ? ` of pod ${situation().subject.pod}` : ''} was killed by the kernel because it reached its memory limit${limit === undefined ? '' : ` of ${gib(limit)}`} (host memory, not GPU memory).`,
      known({ exit_code: code, limit_bytes: limit }),
      codeAt === undefined || codeAt === at ? [at] : [at, codeAt],
      [
        raiseLimit(known({ limit_bytes: limit }), situation()),
        needLess({}, situation()),
        { text: 'Files in /dev/shm and other tmpfs mounts count against the limit too: see what is there.', command: 'df -h -t tmpfs' },
      ],
    )
  }
  if (/oom[-_ ]kill event|^srun: error: .{1,100}: Out Of Memory$|Exceeded job memory limit|exceeded memory limit \(\d+ > \d+\), being killed/.test(line)) {
    const slurmJob = /(?:StepId=|step |[Jj]ob )(\d{1,12})/.exec(line)?.[1] ?? situation().subject.slurmJob
    const shell = SHELL_KILLED.exec(around(text, at, 8, 4))
    const srun = /srun: error: ([\w.-]{1,60}): (tasks? [\d,-]{1,40}): Out Of Memory/.exec(around(text, at, 8, 8))
    const where = srun === null ? '' : ` It hit ${srun[2]} on ${srun[1]}.`
    const who = shell === null ? '' : ` Killed: ${shell[2]} (pid ${shell[1]}).`
    const over = overLimit(around(text, at, 4, 2))
    const job = slurmJob === undefined ? 'this job step' : `job ${slurmJob}`
    return said(
      `${over === undefined ? `Slurm saw the kernel kill processes of ${job}, because the memory that the job asked for was used up.` : `Slurm ended ${job}: its processes held ${gib(over.used)}, and it had asked for ${gib(over.limit)}.`}${who}${where}`,
      known({ job_id: whole(slurmJob), limit_bytes: over?.limit }),
      [at],
      [slurmRemedies(slurmJob, situation().text), needLess({}, situation())],
    )
  }
  if (
    /\bTERM_MEMLIMIT\b|=>> PBS: job killed: (?:p|v)?mem \d{1,20}[kmg]?b exceeded limit|^Job exceeded a memory resource limit\b|^Cgroup mem(?:sw)? limit exceeded: /.test(
      line,
    )
  ) {
    const scheduler = /TERM_MEMLIMIT/.test(line) ? 'LSF' : 'PBS'
    return said(
      `${scheduler} ended the job because it used more memory than it had asked for (host memory, not GPU memory).`,
      {},
      [at],
      [
        {
          text: 'Ask for more memory when you submit the job.',
          command: scheduler === 'LSF' ? 'bsub -M <MEMORY> -R "rusage[mem=<MEMORY>]" <COMMAND>' : 'qsub -l select=1:mem=<MEMORY> <JOB_SCRIPT>',
        },
        needLess({}, situation()),
      ],
    )
  }
  const daemon = byDaemon(text, at, situation)
  if (daemon !== undefined)
    return {
      ...said(daemon.verdict, daemon.facts, daemon.lines, daemon.pieces),
      ...(daemon.lives ? { title: 'Host memory nearly full, and the largest process did not end' } : {}),
    }
  if (/\bFailed with result 'oom-kill'|A process of this unit has been killed by the OOM killer|systemd-oomd\b.{0,80}\bKilled \//.test(line)) {
    const unit = /([\w@.-]{1,60}\.service)/.exec(line)?.[1] ?? /([\w@.\\-]{1,80}\.(?:slice|scope)): A process/.exec(line)?.[1]
    return said(
      `systemd reports that the OOM killer ended a process of ${unit ?? 'this unit'}: the unit reached a memory limit of its own, or the whole host ran out.${unitPeak(around(text, at, 2, 4))}${ollamaEstimate(situation().text)}`,
      {},
      [at],
      [
        {
          text: 'See whether the unit has a limit of its own (infinity: none), and how much it used.',
          command: `systemctl show ${unit ?? '<UNIT>'} -p MemoryMax -p MemoryPeak`,
        },
        needLess({}, situation()),
        unit === undefined ? undefined : { text: 'If it has one, raise it.', command: `sudo systemctl set-property ${unit} MemoryMax=<SIZE>` },
        KERNEL_LOG,
        hostFull({}, situation()),
      ],
    )
  }
  if (/DataLoader worker \(pid\(?s?\)? ?[\d, ]{1,40}\) (?:is killed by signal: Killed|exited unexpectedly with signal 9)/.test(line)) {
    if (TEARDOWN.test(around(text, at, 1, 2))) return undefined
    const pid = whole(/\(pid\(?s?\)? ?(\d{1,10})/.exec(line)?.[1])
    return said(
      `DataLoader worker${pid === undefined ? '' : ` ${pid}`} was killed with SIGKILL. Likely the kernel did it because host memory ran out; its log says for certain.`,
      known({ pid }),
      [at],
      [KERNEL_LOG, needLess({}, situation()), container(situation())],
    )
  }
  const evicted = EVICTED.exec(line)
  if (evicted !== null) {
    const [, name, used, unit = 'K', request] = evicted
    const { pod, namespace } = situation().subject
    return said(
      `The kubelet evicted ${pod ?? 'the pod'} because its node ran low on memory${used === undefined ? '' : `: container ${name} used ${gib(Number(used) * 1024 ** ('KMG'.indexOf(unit) + 1))}, its request is ${request}`}.`,
      {},
      [at],
      [
        {
          text: `Request what the container needs (resources.requests.memory${request === undefined ? '' : `, now ${request}`}): pods above their request go first.`,
          ...(pod === undefined ? {} : { command: `kubectl describe pod ${pod}${namespace === undefined ? '' : ` -n ${namespace}`}` }),
        },
        { text: 'See what takes the memory of the node.', command: 'kubectl top pods -A --sort-by=memory | head -n 20' },
        needLess({}, situation()),
      ],
    )
  }
  const ray = byRayMonitor(text, at, situation)
  if (ray !== undefined) return said(ray.verdict, ray.facts, [at], [ray.pieces, container(situation())])
  const victim =
    /out of memory: OOM victim (?:\d{1,10} )\((.{1,40}?)\)()/.exec(line) ??
    /System OOM encountered, victim process: ([^,]{0,40}), pid: (\d{1,10})/.exec(line) ??
    /oom_reaper: reaped process (?:\d{1,10} )\((.{1,40}?)\)()/.exec(line)
  if (victim !== null) {
    const pid = whole(victim[2] === '' ? /(?:reaped process|OOM victim) (\d{1,10})/.exec(line)?.[1] : victim[2])
    return said(
      'The kernel killed this process because memory ran out (host memory, not GPU memory).',
      known({ pid, process: victim[1] }),
      [at],
      hostFull(known({ process: victim[1] }), situation()),
    )
  }
  // A bar has not ended its line.
  const shell = stripPrefix(line).replace(/^.*\d%\|.*(?:it\/s|s\/it|\?)\](?=Killed\s*$)/, '')
  if (/^\s{0,8}(?:[\w./-]{1,80}: line \d{1,6}: {1,8}\d{1,10} )?Killed(?: {2,40}\S.{0,200})?\s*$/.test(shell) && /^\s*(?:Killed\b|\S+: line)/.test(shell)) {
    if (explained(text, at)) return undefined
    // Compose says so of the container below.
    const composed =
      /^(?!(?:[Cc]ontainer|[Pp]rocess|[Jj]ob|[Tt]ask|[Pp]od|[Pp]rogram|[Cc]ommand|[Ss]cript|[Ss]ervice|It)\b)([\w.-]{1,60}) exited with code 137\b/m.exec(
        around(text, at, 0, 4),
      )
    return said(
      `The shell reports that the program was killed (SIGKILL)${composed === null ? '' : `; container ${composed[1]} then exited with code 137`}. The text does not say who killed it. Most likely the kernel, because ${givenLimit(situation()) === undefined ? 'host memory ran out' : `the container reached the ${gib(givenLimit(situation()) ?? 0)} that docker run gave it`}.`,
      known({ limit_bytes: givenLimit(situation()) }),
      [at],
      composed === null
        ? givenLimit(situation()) === undefined
          ? [KERNEL_LOG, needLess({}, situation()), container(situation())]
          : [raiseLimit(known({ limit_bytes: givenLimit(situation()) }), situation()), KERNEL_LOG, needLess({}, situation())]
        : [
            { text: 'See whether the container reached its memory limit.', command: `docker inspect --format '{{.State.OOMKilled}}' ${composed[1]}` },
            KERNEL_LOG,
            needLess({}, situation()),
            {
              text: 'If it did, raise the limit (mem_limit in compose, --memory of docker run); if not, the whole host ran out (on a Mac or Windows: the memory of Docker Desktop).',
            },
          ],
      'warning',
    )
  }
  return undefined
}

export const hostOomReported: FaultFamily = {
  id: 'host-oom-reported',
  kinds: ['host_oom_kill', 'host_memory'],
  literals: [
    'OOMKilled',
    'container oom ',
    'oomKilled',
    'out of memory: OOM victim ',
    'oom-kill event',
    'oom_kill event',
    'Exceeded job memory limit',
    'TERM_MEMLIMIT',
    'PBS: job killed: ',
    'Job exceeded a memory resource limit',
    'Cgroup mem',
    'exceeded memory limit (',
    "Failed with result 'oom-kill'",
    'has been killed by the OOM killer',
    'systemd-oomd[',
    'DataLoader worker (pid',
    'Perhaps out of memory',
    'running low on memory',
    'exceeds the memory usage threshold of',
    'killed due to memory pressure',
    'System OOM encountered',
    'node was low on resource: memory',
    'oom_reaper: reaped process',
    'Victim status (found',
    'illing process ',
    'ending SIGTERM to ',
    'ending SIGKILL to ',
    ': Out Of Memory',
    'OOM when allocating tensor',
    '\nKilled\n',
    // behind a prefix, or with blanks after it
    ' Killed\n',
    '\nKilled ',
    ':Killed\n',
    ']Killed\n',
    ' Killed   ',
  ],
  recognise,
}
