// Faults without a log line: the engine's oom event, the kernel's counter of kills in a container, the allocator's OOM event.
import { containerOomKillsTotal } from '../../metrics/container.ts'
import type { AllocatorOom, Scrape } from '../../model/event.ts'
import type { Facts } from '../../model/facts.ts'
import type { Fault, Remedy } from '../../model/fault.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { gib, memoryText } from '../../text/bytes.ts'
import type { IncidentSubject } from '../../model/incident.ts'
import { oomTitle } from '../faults/cuda-oom/causes.ts'
import { raiseLimit } from '../faults/host-oom/remedies.ts'
import { plan } from '../faults/remedies/plan.ts'
import type { Knowledge } from '../situation/knowledge.ts'
import { readSituation } from '../situation/situation.ts'

export function oomKillFault(container: string, limitBytes: number | undefined, who: string, known: Knowledge = {}): Fault<IncidentKind> {
  const limit = limitBytes === undefined ? '' : ` Its memory limit is ${gib(limitBytes)}.`
  const facts: Facts = limitBytes === undefined ? {} : { limit_bytes: limitBytes }
  const ofPod = known.pod === undefined || limitBytes === undefined ? [] : plan(raiseLimit(facts, readSituation('', known)))
  const remedies: readonly Remedy[] = [
    ...ofPod,
    ...(ofPod.length > 0
      ? []
      : [
          limitBytes === undefined
            ? { text: 'See how much memory the host has left: the container has no limit of its own that is known.', command: 'free -h' }
            : {
                text: `Raise or remove the memory limit of the container (now ${gib(limitBytes)}), where the host has more.`,
                command: `docker update --memory ${Math.ceil((limitBytes / 2 ** 30) * 1.5)}g --memory-swap ${Math.ceil((limitBytes / 2 ** 30) * 1.5)}g ${container}`,
              },
        ]),
    { text: 'Or use less host memory: fewer DataLoader workers, less prefetch, memory-mapped data.' },
  ]
  return {
    kind: 'host_oom_kill',
    severity: 'critical',
    title: `Host OOM killer killed a process in ${container}`,
    verdict: `The kernel killed a process of container ${container} because it was out of memory (host RAM, not GPU memory); ${who} says so.${limit}`,
    facts,
    remedies,
    evidence: [],
  }
}

/** The first line of the kernel's report of a kill; its last line names the process. */
export const namesNobody = ({ kind, facts }: Fault<IncidentKind>): boolean => kind === 'host_oom_kill' && facts.pid === undefined && facts.process === undefined

/** Who was killed, where the container is known. */
export function withVictim(fault: Fault<IncidentKind>, { container }: IncidentSubject): Fault<IncidentKind> {
  if (container === undefined || fault.kind !== 'host_oom_kill') return fault
  const { limit_bytes: limit } = fault.facts
  const who = container.pod === undefined ? container.name : `Pod ${container.pod}`
  return {
    ...fault,
    title: `${who} was killed ${limit === undefined ? 'because memory ran out' : `at its memory limit (${memoryText(limit).replace('.0 ', ' ')})`}`,
  }
}

const NO_KILLS: readonly never[] = []

/** A counter that rose since it was last read. The first reading of a container tells nothing new, one that fell started over. */
export function createKillCounter(): (scrape: Scrape) => readonly { readonly id: string; readonly container: string; readonly kills: number }[] {
  const known = new Map<string, number>()
  return ({ readings }) => {
    let found: { id: string; container: string; kills: number }[] | undefined
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at]
      if (reading === undefined) continue
      const { series, value } = reading
      if (series.metric.name !== containerOomKillsTotal.name) continue
      const id = series.labels['container_id']
      if (id === undefined) continue
      const before = known.get(id)
      known.set(id, value)
      if (before !== undefined && value > before) (found ??= []).push({ id, container: series.labels['container'] ?? id, kills: value - before })
      if (known.size > 5_000) for (const oldest of known.keys()) if (known.delete(oldest)) break
    }
    return found ?? NO_KILLS
  }
}

/** What the probe saw: exact figures, though the program may yet handle it. */
export function allocatorFault({ request_bytes: requested, limit_bytes: limit, free_bytes: free, stats, pid }: AllocatorOom): Fault<IncidentKind> {
  const reserved = stats.reserved_bytes
  const allocated = stats.allocated_bytes
  const facts: Facts = {
    requested_bytes: requested,
    ...(limit === undefined ? {} : { total_bytes: limit }),
    ...(free === undefined ? {} : { free_bytes: free }),
    ...(allocated === undefined ? {} : { allocated_bytes: allocated }),
    ...(reserved === undefined ? {} : { reserved_bytes: reserved }),
    ...(allocated === undefined || reserved === undefined ? {} : { reserved_unallocated_bytes: Math.max(0, reserved - allocated) }),
    pid,
  }
  return {
    kind: 'cuda_oom',
    severity: 'critical',
    title: oomTitle(undefined),
    verdict: `PyTorch asked the driver for ${gib(requested)} more GPU memory and got none${free === undefined ? '' : `; ${gib(free)} were free`}${allocated === undefined ? '' : `. The process itself had ${gib(allocated)} in use`}.`,
    facts,
    remedies: [{ text: 'Use a smaller batch, shorter sequences or activation checkpointing.' }],
    evidence: [],
  }
}
