// A process that ended by SIGKILL, where the text does not say who sent it.
import type { Facts } from '../../model/facts.ts'
import { KERNEL_LOG } from './host-oom/remedies.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, whole } from './parts/window.ts'
import { podEnded } from './remedies/kubernetes.ts'
import type { Piece } from './remedies/plan.ts'
import { slurmRecord } from './remedies/shared.ts'

const near = ({ text, at }: Seen): string => around(text, at, 6, 3)
const facts = (seen: Seen): Facts => {
  const lines = near(seen)
  return known({
    pid: whole(/received by PID (\d{1,10})/.exec(lines)?.[1] ?? /\(pid: ?(\d{1,10})\)/.exec(lines)?.[1]),
    rank: whole(/local_rank: ?(\d{1,6})/.exec(lines)?.[1]),
    signal: 'SIGKILL',
    exit_code: -9,
  })
}

/** The rest of an advice. */
export const WHO_STOPPED = 'who or what stopped it at that time: the scheduler, a health check, a time limit or an operator.'

/** What DeepSpeed printed of the host's memory last. */
function hostMemory(text: string): { readonly used: string; readonly percent: number } | undefined {
  const last = [...text.matchAll(/CPU Virtual Memory: {1,3}used = ([\d.]{1,10}) GB, percent = ([\d.]{1,6})%/g)].at(-1)
  return last === undefined ? undefined : { used: last[1] ?? '', percent: Number(last[2]) }
}
const NEARLY_FULL = 75

function remedies({ situation }: Matched): readonly Piece[] {
  const { programs, subject, text } = situation()
  return [
    KERNEL_LOG,
    /offload/i.test(text) &&
      programs.has('deepspeed') && {
        text: 'Keep less of the optimizer and the parameters in host memory: no offload_param where the GPU has space, offload to NVMe (offload_optimizer.device: nvme), or fewer processes on this host.',
      },
    programs.has('slurm') && slurmRecord(subject.slurmJob),
    programs.has('kubernetes') && podEnded(situation()),
    {
      text:
        /Loading checkpoint shards: {1,4}\d{1,2}%/.test(text) && !/Loading checkpoint shards: {1,4}100%/.test(text)
          ? 'It was reading the weights: if the kernel killed it, read them in 16 bit and not twice (from_pretrained with torch_dtype and low_cpu_mem_usage=True), start fewer processes that each read them all, or raise the memory limit of the job or container.'
          : 'If the kernel killed it: load less into host memory at once, or raise the memory limit of the job or container.',
    },
    { text: `If the kernel did not: ask ${WHO_STOPPED}` },
  ]
}

export const jobKilled = ruleFamily({
  id: 'job-killed',
  kind: 'job_killed',
  literals: [
    '[CRITICAL] WORKER TIMEOUT (pid:',
    'exits with return code = -9',
    'exitcode: -9',
    'exitcode : -9',
    'exitcode  : -9',
    'Signal 9 (SIGKILL)',
    'died with <Signals.SIGKILL: 9>',
  ],
  facts,
  rules: [
    {
      // gunicorn/arbiter.py; it then aborts the worker and, if that does not help, sends SIGKILL and asks "Perhaps out of memory?".
      pattern: /\[CRITICAL\] WORKER TIMEOUT \(pid:(\d{1,10})\)/,
      severity: 'critical',
      title: 'Gunicorn killed a worker that did not answer in time',
      facts: ({ match }) => ({ pid: Number(match[1]) }),
      verdict: ({ match }) =>
        `Gunicorn ended its worker ${match[1]} itself: it did not report within the timeout (30 s, where none is set). Loading a model or one long request takes that long; "Perhaps out of memory?" is only a guess.`,
      remedies: [
        { text: 'Give the workers longer than loading and the longest request take.', command: '--timeout 300' },
        { text: 'Only if the kernel log names the pid was memory the reason.', command: "sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail" },
      ],
      unless: ({ text, at }) => text.slice(Math.max(0, at - 200), at).some((line) => line.includes('[CRITICAL] WORKER TIMEOUT')),
    },
    {
      pattern: /exits with return code = -9\b|exitcode {0,3}: ?-9\b|Signal 9 \(SIGKILL\) received by PID|died with <Signals\.SIGKILL: 9>/,
      severity: 'critical',
      title: 'A process was killed by SIGKILL',
      verdict: ({ facts: { pid, rank }, situation }) => {
        const memory = hostMemory(situation().text)
        const { host } = situation().subject
        const likely = 'likely the kernel, because host memory ran out'
        const why =
          memory === undefined
            ? likely
            : memory.percent < NEARLY_FULL
              ? `${likely}, though DeepSpeed last counted ${memory.used} GB of it (${memory.percent} %) in use: it ran out quickly, or a container has a lower limit`
              : `most likely the kernel, because host memory ran out: shortly before, ${memory.used} GB of it (${memory.percent} %) were in use`
        return `${pid === undefined ? 'A process' : `Process ${pid}`}${rank === undefined ? '' : ` (local rank ${rank})`}${host === undefined ? '' : ` on ${host}`} was killed by SIGKILL (exit code -9). The text does not say by whom; ${why}.`
      },
      remedies,
      // host_oom_kill reports the shell's own line below it.
      unless: ({ text, at, message }) =>
        /^\s*Killed\s*$/m.test(around(text, at, 0, 3)) ||
        // Slurm says below who it was.
        (/died with <Signals/.test(message) && /oom[-_ ]kill event/.test(around(text, at, 0, 4))),
    },
  ],
})
