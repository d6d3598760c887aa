// Kills for want of host memory as others report them: Docker, Kubernetes, Slurm, systemd, PyTorch's DataLoader, the shell.
import type { Facts } from '../../model/facts.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { HOST_OOM_REMEDIES, LIMIT_REMEDIES, WORKER_REMEDIES } from './host-oom/remedies.ts'
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
  /Traceback \(most recent call last\)|^.{0,40} File "[^"\n]{1,300}", line \d{1,7}, in |terminate called (?:after throwing|without an active)|Fatal Python error|Watchdog caught collective|\(core dumped\)|Segmentation fault|CANCELLED AT|DUE TO (?:TIME LIMIT|PREEMPTION)|KeyboardInterrupt|(?:^|[\s$#;])(?:sudo )?(?:kill (?:-9|-KILL|-SIGKILL|-s KILL)|pkill|killall|timeout (?:-s|--signal)) ?|[Rr]eceived (?:signal )?(?:SIGTERM|15\b)/m
/** A failure that itself says that a process was killed, or that host memory ran out, makes the kernel more likely and not less. */
const OF_HOST_MEMORY =
  /SIGKILL|[Ss]ignal:? 9\b|exitcode ?: ?-9\b|MemoryError|Cannot allocate memory|terminated abruptly|is killed by signal: Killed|std::bad_alloc/
const explained = (text: LogText, at: number): boolean => {
  const above = around(text, at - 1, LINES_ABOVE, 0)
  return EXPLAINED.test(above) && !OF_HOST_MEMORY.test(above)
}

const titleOf = 'Killed for want of host memory'

function said(verdict: string, facts: Facts, lines: readonly number[], remedies = LIMIT_REMEDIES, severity: Recognised['severity'] = 'critical'): Recognised {
  return { kind: 'host_oom_kill', severity, title: titleOf, verdict, facts, remedies, lines }
}

function exitCodeNear(text: LogText, at: number): { readonly code: number | undefined; readonly line: number | undefined } {
  const line = lineWith(text, Math.max(0, at - 3), at + 6, EXIT_CODE)
  const match = EXIT_CODE.exec(text[line ?? -1] ?? '')
  return { code: whole(match?.[1] ?? match?.[2] ?? match?.[3]), line }
}

function recognise(text: LogText, at: number): Recognised | undefined {
  const line = text[at] ?? ''
  if (
    /"?[Oo][Oo][Mm]Killed"?["' ]{0,2}[:=] {0,20}"?true|(?:[Rr]eason"?[:=] {0,20}"?|\breason ")OOMKilled|\bOOMKilled\b(?! ?["']? ?[:=])(?!.{0,12}false)/.test(
      line,
    )
  ) {
    if (/OOMKilled"?["' ]{0,2}[:=] {0,20}"?false|\b(?:if|avoid|prevent|not|no|never|what|why|when|how|does) (?:[\w-]{1,20} ){0,3}["'`]?OOMKilled/i.test(line))
      return undefined
    const { code, line: codeAt } = exitCodeNear(text, at)
    return said(
      'The container was killed by the kernel because it reached its memory limit (host memory, not GPU memory).',
      known({ exit_code: code }),
      codeAt === undefined || codeAt === at ? [at] : [at, codeAt],
    )
  }
  if (/Detected \d{1,9} oom[-_ ]kill event|oom_kill event|Exceeded job memory limit|exceeded memory limit \(\d{1,16} > \d{1,16}\), being killed/.test(line)) {
    return said(
      'Slurm saw the kernel kill processes of this job step, because the memory that the job asked for was used up.',
      {},
      [at],
      [
        { text: 'Ask for more memory.', command: 'sbatch --mem=64G …' },
        { text: 'See what the job really used.', command: 'sacct -j JOBID --format=JobID,MaxRSS,ReqMem,State' },
      ],
    )
  }
  if (/\bFailed with result 'oom-kill'|A process of this unit has been killed by the OOM killer|systemd-oomd\b.{0,80}\bKilled \//.test(line)) {
    return said('systemd reports that the out-of-memory killer ended a process of this unit.', {}, [at], HOST_OOM_REMEDIES)
  }
  if (/DataLoader worker \(pid\(?s?\)? ?[\d, ]{1,40}\) (?:is killed by signal: Killed|exited unexpectedly with signal 9)/.test(line)) {
    if (TEARDOWN.test(around(text, at, 1, 2))) return undefined
    const pid = whole(/\(pid\(?s?\)? ?(\d{1,10})/.exec(line)?.[1])
    return said(
      "A DataLoader worker was killed with SIGKILL: nearly always the kernel, because host memory ran out. The kernel's log tells for certain.",
      known({ pid }),
      [at],
      WORKER_REMEDIES,
    )
  }
  if (/Perhaps out of memory|killed due to the node running low on memory|node was low on resource: memory/.test(line)) {
    return said(
      'A worker was ended because host memory ran out, or was about to.',
      known({ pid: whole(/\(?pid: ?(\d{1,10})/i.exec(line)?.[1]) }),
      [at],
      WORKER_REMEDIES,
    )
  }
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
      HOST_OOM_REMEDIES,
    )
  }
  if (/nohang|earlyoom/.test(line) && /Victim status|Sending SIG(?:TERM|KILL) to|sending SIG(?:TERM|KILL) to process/.test(line)) {
    const chosen = /PID: {1,12}(\d{1,10}), name: ([^,]{1,40}),/.exec(around(text, at, 0, 3)) ?? /process (\d{1,10}) uid \d{1,10} "([^"]{1,40})"/.exec(line)
    return said(
      'A low-memory daemon chose a process to end before the host ran out of memory.',
      known({ pid: whole(chosen?.[1]), process: chosen?.[2] }),
      [at, at + 1].filter((n) => n < text.length),
      HOST_OOM_REMEDIES,
    )
  }
  if (/^\s{0,8}(?:[\w./-]{1,80}: line \d{1,6}: {1,3}\d{1,10} )?Killed(?: {2,40}\S.{0,200})?\s*$/.test(line) && /^\s*(?:Killed\b|\S+: line)/.test(line)) {
    if (explained(text, at)) return undefined
    return said(
      'The shell says that the program was killed with SIGKILL and nobody says by whom: most often the kernel, because host memory ran out. Look in its log.',
      {},
      [at],
      WORKER_REMEDIES,
      'warning',
    )
  }
  return undefined
}

export const hostOomReported: FaultFamily = {
  id: 'host-oom-reported',
  kinds: ['host_oom_kill'],
  literals: [
    'OOMKilled',
    'oomKilled',
    'out of memory: OOM victim ',
    'oom-kill event',
    'oom_kill event',
    'Exceeded job memory limit',
    'exceeded memory limit (',
    "Failed with result 'oom-kill'",
    'has been killed by the OOM killer',
    'systemd-oomd[',
    'DataLoader worker (pid',
    'Perhaps out of memory',
    'running low on memory',
    'System OOM encountered',
    'node was low on resource: memory',
    'oom_reaper: reaped process',
    'Victim status (found',
    'sending SIGTERM to process',
    'sending SIGKILL to process',
    'Sending SIGTERM to ',
    'Sending SIGKILL to ',
    '\nKilled\n',
    ' Killed   ',
  ],
  recognise,
}
