// The host's (or the container's) memory ran out and something was killed: kernel, Docker, Kubernetes, Slurm, systemd, low-memory daemons.
import type { Facts } from '../../model/facts.ts'
import { gib } from '../../text/bytes.ts'
import { around, known, lineWith, whole } from './parts/window.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import type { Situation } from '../situation/situation.ts'
import { hostFull, KERNEL_LOG, needLess, raiseLimit } from './host-oom/remedies.ts'
import { plan } from './remedies/plan.ts'

/** Kernels before 4.19 wrote "Kill process … or sacrifice child" and then "Killed process"; some capitalise "Memory". */
const KILLED =
  /(?:(?:Memory cgroup o|O)ut of [Mm]emory(?: \([\w ]{1,40}\))?: )?Kill(?:ed)? process (?:(\d{1,10}),? ?)?(?:\((\([^)]{1,62}\)|[^)]{1,64})\)|, UID \d+, \(([^)]{1,64})\))/
const OOM_WORDS = /[Oo]ut of [Mm]emory|oom-kill:|invoked oom-killer|total-vm:/
const TASK = /oom-kill:constraint=(\w{1,40}).{0,2000}?\btask=(.{1,40}?),pid=(\d{1,10})/
const INVOKED = /invoked oom-killer:/
const LIMIT = /\bmemory: usage \d{1,16}kB, limit (\d{1,16})kB/
/** What the group held, of the kernel's statistics: cgroup 1 in one line of KB, cgroup 2 in lines of bytes. */
const HELD = /Memory cgroup stats for \S{1,200} cache:(\d{1,15})KB rss:(\d{1,15})KB(?:.{0,80} shmem:(\d{1,15})KB)?/
const HELD_2 = /Memory cgroup stats for [^]{1,240}?\banon (\d{1,18})\b[^]{1,80}?\bfile (\d{1,18})\b(?:[^]{1,400}?\bshmem (\d{1,18})\b)?/
const UNLIMITED_KB = 9_007_199_254_740_988

/** Newer kernels count in the list of processes, in pages, what each holds of its own. */
const HELD_ALONE = /\bpid {0,2}\] {1,4}uid {1,4}tgid total_vm {1,10}rss rss_anon\b/
function listedAnon(near: string, pid: string | undefined): number | undefined {
  if (pid === undefined || !HELD_ALONE.test(near)) return undefined
  const pages = whole(new RegExp(String.raw`\[ {0,8}${pid}\] {1,8}\d{1,10} {1,8}${pid} {1,10}\d{1,14} {1,10}\d{1,14} {1,10}(\d{1,14}) `).exec(near)?.[1])
  return pages === undefined ? undefined : pages * 4096
}

const kib = (digits: string | undefined): number | undefined => {
  const value = whole(digits)
  return value === undefined ? undefined : value * 1024
}

type Victim = {
  readonly facts: Facts
  readonly cgroup: boolean
  readonly group: string | undefined
  readonly asked: string | undefined
  /** Bytes of files and of tmpfs that the group held, where they are more than its programs'. */
  readonly files: { readonly cached: number; readonly shared: number } | undefined
  readonly lines: readonly number[]
}
const GROUP = /oom_memcg=(\/[^,\s]{1,200})|killed as a result of limit of (\/\S{1,200})|task_memcg=(\/[^,\s]{1,200})/
const ASKED = ' invoked oom-killer:'
/** A process name has at most 15 characters, and may hold spaces. */
const ASKER = /(\S{1,16}(?: \S{1,15})?)$/

/** Who asked for the memory that was not there. */
function askerIn(text: string): string | undefined {
  const at = text.indexOf(ASKED)
  return at < 0 ? undefined : ASKER.exec(text.slice(Math.max(0, at - 40), at))?.[1]?.replace(/^.*[\]:] /, '')
}

function filesIn(near: string): Victim['files'] {
  const [, cache, rss, shmem] = HELD.exec(near) ?? []
  const [, anon, file, shared] = HELD_2.exec(near) ?? []
  const cached = kib(cache) ?? whole(file)
  return cached === undefined || cached < (kib(rss) ?? whole(anon) ?? 0) ? undefined : { cached, shared: kib(shmem) ?? whole(shared) ?? 0 }
}

/** Everything that the kernel's lines around `at` tell of one kill: they span tens of lines. */
function victimAround(text: LogText, at: number): Victim {
  const to = Math.min(text.length - 1, at + 40)
  const killedAt = KILLED.test(text[at] ?? '') ? at : lineWith(text, at, to, KILLED)
  // The line with the sizes follows the one with the score in old kernels.
  const sized = killedAt === undefined ? undefined : lineWith(text, killedAt, killedAt + 2, /total-vm:/)
  const taskAt = TASK.test(text[at] ?? '') ? at : (lineWith(text, at, killedAt ?? to, TASK) ?? lineWith(text, Math.max(0, at - 4), at, TASK))
  // Old kernels choose a process, and kill a child of it or the thread that leads it: the last line tells which.
  const sacrificed =
    killedAt !== undefined && /\bKill process/.test(text[killedAt] ?? '') ? lineWith(text, killedAt, killedAt + 2, /\bKilled process/) : undefined
  const killed = KILLED.exec(text[sacrificed ?? killedAt ?? -1] ?? '')
  const task = TASK.exec(text[taskAt ?? -1] ?? '')
  const sizes = text[sized ?? killedAt ?? -1] ?? ''
  // Not the lines of an earlier kill.
  const began = text.slice(0, (killedAt ?? at) + 1).findLastIndex((line) => INVOKED.test(line))
  const near = around(text, killedAt ?? at, began < 0 ? 40 : Math.min(40, (killedAt ?? at) - began), 1)
  const limitKib = whole(LIMIT.exec(near)?.[1])
  const cgroup = /Memory cgroup out of memory|CONSTRAINT_MEMCG|killed as a result of limit of|mem_cgroup_out_of_memory/.test(
    `${near}\n${text[at] ?? ''}${killedAt === undefined ? around(text, at, 0, 24) : ''}`,
  )
  const facts = known({
    pid: whole(killed?.[1] ?? task?.[3]),
    process: killed?.[2] ?? killed?.[3] ?? task?.[2],
    anon_rss_bytes: kib(/anon-rss:(\d{1,16})kB/.exec(sizes)?.[1]) ?? listedAnon(near, killed?.[1] ?? task?.[3]),
    total_vm_bytes: kib(/total-vm:(\d{1,16})kB/.exec(sizes)?.[1]),
    limit_bytes: cgroup && limitKib !== undefined && limitKib < UNLIMITED_KB ? limitKib * 1024 : undefined,
  })
  const lines = [killedAt ?? at, ...[at, taskAt, sized].filter((line) => line !== undefined && line !== (killedAt ?? at))]
  const groups = GROUP.exec(near)
  return {
    facts,
    cgroup,
    group: groups?.[1] ?? groups?.[2] ?? groups?.[3],
    asked: askerIn(near),
    files: filesIn(near),
    lines: [...new Set(lines)].filter((line) => line !== undefined),
  }
}

/** A victim below this was likely chosen by its score, not by its size. */
const SMALL = 2 ** 26

function kernelKill(text: LogText, at: number, situation: () => Situation): Recognised {
  const { facts, cgroup, group, asked, files, lines } = victimAround(text, at)
  const job = cgroup ? /\/slurm.*\/job_(\d{1,12})/.exec(group ?? '')?.[1] : undefined
  const kubelet = cgroup && byKubelet(text[lines[0] ?? at] ?? '')
  const { pod, container } = /kubepods|docker/.test(group ?? '') ? situation().subject : {}
  const ofPod = kubelet || (cgroup && /kubepods/.test(group ?? ''))
  const owner = pod !== undefined ? `of pod ${pod}` : container !== undefined ? `of container ${container}` : ofPod ? 'of a pod' : undefined
  const named = facts.process !== undefined || facts.pid !== undefined
  const who = facts.process === undefined ? 'A process' : `${facts.process}${facts.pid === undefined ? '' : ` (pid ${facts.pid})`}`
  const held = facts.anon_rss_bytes === undefined ? '' : ` while it held ${gib(facts.anon_rss_bytes)}`
  const its =
    job !== undefined
      ? `of Slurm job ${job}`
      : owner !== undefined
        ? owner
        : group === undefined
          ? 'of its cgroup'
          : `of ${group.length > 60 ? `${group.slice(0, 24)}…` : group}`
  const limit = facts.limit_bytes === undefined ? `the memory limit ${its} was reached` : `the memory limit ${its} (${gib(facts.limit_bytes)}) was reached`
  const why = cgroup ? limit : situation().system === 'wsl' ? 'WSL 2 had no memory left' : 'the whole host had no memory left'
  return {
    kind: 'host_oom_kill',
    severity: 'critical',
    title:
      job !== undefined
        ? `Slurm job ${job} was killed at its memory limit${facts.limit_bytes === undefined ? '' : ` (${gib(facts.limit_bytes)})`}`
        : cgroup
          ? 'Killed at a memory limit'
          : 'Killed because the host ran out of memory',
    verdict: named
      ? `The kernel killed ${who}${held}, because ${why}.${files === undefined ? '' : ` ${gib(files.cached)} of it was ${files.shared > files.cached / 2 ? 'shared memory (/dev/shm, tmpfs)' : 'cached file data'}, not memory of its programs.`}${cgroup && facts.limit_bytes === undefined && (facts.anon_rss_bytes ?? Infinity) < SMALL ? ' If the limit is much larger than that, others under it hold the rest.' : ''} This is host memory, not GPU memory.`
      : `${asked ?? 'A process'} asked for memory and the kernel started its OOM killer, because ${why}. Which process was killed is in later lines.`,
    facts,
    remedies: named
      ? plan(
          files !== undefined &&
            (files.shared > files.cached / 2
              ? { text: 'Files in /dev/shm and other tmpfs mounts count against the limit: see what is there.', command: 'df -h -t tmpfs' }
              : {
                  text: 'Written data counts against the limit until it is on the disk: write to a faster disk, or in smaller pieces with a sync between them.',
                }),
          cgroup ? [raiseLimit(facts, situation(), group ?? (kubelet ? '/kubepods' : undefined)), needLess(facts, situation())] : hostFull(facts, situation()),
        )
      : plan({ ...KERNEL_LOG, text: 'See which process it killed.' }, cgroup ? raiseLimit(facts, situation(), group) : hostFull(facts, situation())),
    lines,
  }
}

/** The kubelet gives containers these scores: -997 where requests are limits, 3 to 999 by the request, of which nothing else uses those near 999. */
const byKubelet = (line: string): boolean => /\boom_score_adj:(?:-99[78]|9[5-9]\d)\b/.test(line)

/** Its report goes on in lines that have not come yet: the last one names the process, and whether a limit or the host was full. */
const goesOn = (text: LogText, at: number): boolean =>
  at === text.length - 1 && (INVOKED.test(text[at] ?? '') ? at > 0 : text.slice(Math.max(0, at - 60), at).some((line) => INVOKED.test(line)))

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  if (!KILLED.test(line) && goesOn(text, at)) return undefined
  if (INVOKED.test(line) || TASK.test(line) || /killed as a result of limit of \//.test(line) || line.includes('oom-kill:constraint='))
    return kernelKill(text, at, situation)
  // Without a word of memory nearby "Killed process" may be anything.
  if (KILLED.test(line) && OOM_WORDS.test(around(text, at, 2, 2))) return kernelKill(text, at, situation)
  return undefined
}

export const hostOomKill: FaultFamily = {
  id: 'host-oom-kill',
  kinds: ['host_oom_kill'],
  literals: ['Killed process ', 'Kill process ', 'invoked oom-killer', 'oom-kill:constraint', 'killed as a result of limit of'],
  recognise,
}
