// A signal from outside ended the process: SIGKILL, SIGTERM, SIGHUP, an eviction, a node that failed.
import { WEIGHT, anyOf, raises, says, who, type EndKind, type EndContext } from '../end-kind.ts'
import { bytesText } from '../../../text/bytes.ts'
import { signalName } from '../signals.ts'
import { KERNEL_LOG } from '../../faults/host-oom/remedies.ts'
import { WHO_STOPPED } from '../../faults/job-killed.ts'
import { podArguments, podEnded } from '../../faults/remedies/kubernetes.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { slurmRecord } from '../../faults/remedies/shared.ts'
import type { Situation } from '../../situation/situation.ts'

/** What the kubelet says of the largest container. */
function usedBy(text: string): string {
  const [, name, used, request] = /[Cc]ontainer (\S{1,80}) was using (\d{1,12})Ki, (?:request is|which exceeds its request of) (\d\w{0,12})/.exec(text) ?? []
  return name === undefined ? '' : ` Container ${name} used ${bytesText(Number(used) * 1024)}; its request is ${request}.`
}

/** Where the system that lost the node says more of it. */
function lostNode({ programs, text }: Situation): Piece {
  const see = 'See whether that host is up, and what it logged then: no memory left, a reboot, a cut network.'
  if (programs.has('ray')) {
    const heartbeats = /missing too many heartbeats/.test(text)
    return [
      { text: `${see} Ray writes there why its raylet ended.`, command: 'ray list nodes; tail -n 40 /tmp/ray/session_latest/logs/raylet.out' },
      heartbeats && {
        text: 'A host whose CPUs or memory are full answers too late and counts as dead: leave Ray some of both.',
      },
      { text: 'Let Ray start the workers again: max_failures of FailureConfig with checkpoints (Train), max_restarts of the actor.' },
    ]
  }
  if (programs.has('slurm')) return { text: see, command: 'scontrol show node <NODE> | grep -iE "state|reason|boottime"' }
  if (programs.has('kubernetes')) return { text: see, command: 'kubectl get nodes; kubectl describe node <NODE>' }
  return { text: see }
}

/** `docker compose up` says so of the container whose lines are above. */
const COMPOSED = /^(?!(?:[Cc]ontainer|[Pp]rocess|[Jj]ob|[Tt]ask|[Pp]od|[Pp]rogram|[Cc]ommand|[Ss]cript|[Ss]ervice|It)\b)([\w.-]{1,80}) exited with code 137\b/m
const NOT_MEMORY = /OOMKilled["']?[:=] ?false/
/** `docker events` and `podman events` tell each signal that the engine was asked to send. */
const ASKED_TO_KILL = /\bcontainer kill \S{1,80} \((?:[^()\n]{0,300}[ ,(])?name=([\w.-]{1,80})[^()\n]{0,200}?\bsignal=(\w{1,8})/g
function askedEngine({ text }: Situation): { readonly name: string; readonly first: string; readonly last: string } | undefined {
  const asked = [...text.matchAll(ASKED_TO_KILL)].map(([, name = '', signal]) => ({ name, signal: signalName(signal) ?? `signal ${signal}` }))
  const last = asked.at(-1)
  const first = asked.find(({ name }) => name === last?.name)
  return last && first && { name: last.name, first: first.signal, last: last.signal }
}
function moreTime(situation: Situation): readonly Piece[] {
  const asked = askedEngine(situation)
  if (asked === undefined || asked.first === asked.last) return []
  return [
    { text: 'To leave it time to save a checkpoint, stop it with a longer grace period (the default is 10 s).', command: `docker stop -t 120 ${asked.name}` },
  ]
}
const composedIn = ({ facts: { signal }, situation: { text } }: EndContext): string | undefined => (signal === 'SIGKILL' ? COMPOSED.exec(text)?.[1] : undefined)
export const jobKilled: EndKind = {
  kind: 'job_killed',
  stage: 'crash',
  severity: 'critical',
  claims: anyOf(
    raises(/^SignalException$/),
    says(/Process (\d{1,10}) got signal: (\d{1,2})/, WEIGHT.message, ([, pid, number]) => ({
      pid: Number(pid),
      ...(signalName(number) === undefined ? {} : { signal: signalName(number) ?? '' }),
    })),
  ),
  title: ({ facts: { signal, pattern } }) =>
    pattern === 'evicted'
      ? 'The pod was evicted'
      : pattern === 'node_failed'
        ? 'The node failed or was shut down'
        : `A process was killed${signal === undefined ? '' : ` by ${signal}`}`,
  verdict: (context) => {
    const { signal, pattern, reason } = context.facts
    const left = /Threshold quantity: \S{1,30}, available: (\d{1,15})Ki/.exec(context.situation.text)?.[1]
    if (pattern === 'evicted' && left !== undefined)
      return `The kubelet evicted the pod, because its node ran low on ${reason ?? 'a resource'}: ${bytesText(Number(left) * 1024)} were left, below the node's limit.${usedBy(context.situation.text)}`
    if (pattern === 'evicted') return `The kubelet evicted the pod, because its node ran low on ${reason ?? 'a resource (memory, disk or processes)'}.`
    if (pattern === 'node_failed') return 'The node on which the job ran failed or was shut down.'
    const asked = askedEngine(context.situation)
    if (asked !== undefined)
      return asked.first === asked.last
        ? `The engine was asked to send ${asked.last} to container ${asked.name}: a person, a script or a scheduler stopped it.`
        : `The engine was asked to stop container ${asked.name}: it sent ${asked.first}, and then ${asked.last}, as the program did not end in time. No memory ran out.`
    return `${who(context, composedIn(context) === undefined ? 'A process' : `Container ${composedIn(context)}`)} was ended by ${signal ?? 'a signal'}${signal === 'SIGHUP' ? ': its terminal was closed' : ''}. The text does not say who sent it${signal !== 'SIGKILL' ? '' : NOT_MEMORY.test(context.situation.text) ? "; the container's engine saw no kill for memory (OOMKilled: false). A stop sends it when the program does not end in time" : '; the kernel does so when host memory runs out'}.`
  },
  remedies: ({ facts: { signal, pattern, reason, job_id: job }, situation }) => [
    ...moreTime(situation),
    signal === 'SIGKILL' &&
      !NOT_MEMORY.test(situation.text) &&
      COMPOSED.test(situation.text) && {
        text: 'See whether the container reached its memory limit (true): then raise it (mem_limit in compose), or need less.',
        command: `docker inspect --format '{{.State.OOMKilled}}' ${COMPOSED.exec(situation.text)?.[1]}`,
      },
    pattern === 'evicted' &&
      /ephemeral|[Dd]isk/.test(`${reason}`) && {
        text: 'Let the pod write elsewhere: caches of models, checkpoints and large files onto a volume (PVC), or set requests and limits of ephemeral-storage so that it gets a node with space.',
      },
    pattern === 'evicted' && {
      text: 'See what the node ran out of, and give the pod requests that cover what it uses.',
      command: `kubectl describe pod ${podArguments(situation.subject)}; kubectl describe node <NODE>`,
    },
    pattern === undefined &&
      signal === 'SIGHUP' &&
      // torch.distributed.elastic sets a handler of its own, which undoes nohup.
      (situation.distributed || /torch[./]distributed|torchrun|SignalException/.test(situation.text)
        ? {
            text: 'Start long jobs so that they survive the end of the session: in tmux, a session of their own, systemd-run or the scheduler. nohup does not protect torchrun, which handles SIGHUP itself.',
            command: 'setsid <COMMAND> > train.log 2>&1 < /dev/null &',
          }
        : {
            text: 'Start long jobs so that they survive the end of the session: tmux, nohup, systemd-run or the scheduler.',
            command: 'nohup <COMMAND> > train.log 2>&1 &',
          }),
    pattern === undefined && signal === 'SIGKILL' && !NOT_MEMORY.test(situation.text) && askedEngine(situation) === undefined && KERNEL_LOG,
    pattern === undefined &&
      signal === 'SIGKILL' &&
      NOT_MEMORY.test(situation.text) && {
        text: 'See whether the engine was asked to end it: a kill event names the signal. It remembers its last 256 events.',
        command: `${situation.programs.has('podman') ? 'podman' : 'docker'} events --since 24h --until 1s --filter event=kill --filter container=${situation.subject.container ?? '<CONTAINER>'}`,
      },
    pattern === 'node_failed' && lostNode(situation),
    situation.programs.has('slurm') && slurmRecord(job ?? situation.subject.slurmJob),
    situation.programs.has('kubernetes') && pattern === undefined && podEnded(situation),
    (signal === 'SIGUSR1' || signal === 'SIGUSR2') && {
      text: `See whether its time limit was near: schedulers send ${signal} some time before it (LSF and SGE by themselves, Slurm with --signal), and it ends a program that has no handler for it. Save a checkpoint in that handler.`,
    },
    pattern !== 'evicted' && { text: `Ask ${WHO_STOPPED}` },
    signal === 'SIGTERM' && { text: 'Save a checkpoint when SIGTERM comes: schedulers send it some seconds before SIGKILL.' },
  ],
}
