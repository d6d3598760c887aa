// Processes of the simulated host that run outside of containers, as the agent learns of them on a real one: first seen, ended.
import type { ProcessEvent, SlurmDetails } from '../../model/event.ts'
import { isAlive, type Process, type World } from './world.ts'

type Submitted = SlurmDetails & { readonly slurm_name: string; readonly slurm_user: string }

/** What the controller knows of each job, by the script that it runs. Accounts and users are invented. */
const SUBMITTED: Readonly<Record<string, Submitted>> = {
  '/app/train.py': { slurm_name: 'pretrain', slurm_user: 'maya', account: 'language', partition: 'gpu' },
  '/usr/lib/vllm/engine.py': { slurm_name: 'chat', slurm_user: 'serving', account: 'platform', partition: 'gpu' },
  '/srv/embed.py': { slurm_name: 'embedder', slurm_user: 'serving', account: 'platform', partition: 'shared' },
  '/srv/rerank.py': { slurm_name: 'reranker', slurm_user: 'serving', account: 'platform', partition: 'shared' },
  '/work/finetune.py': { slurm_name: 'finetune', slurm_user: 'jonas', account: 'language', partition: 'shared' },
  '/tmp/sweep.py': { slurm_name: 'sweep', slurm_user: 'ana', account: 'research', partition: 'shared' },
}
const NOTEBOOK: Submitted = { slurm_name: 'notebook', slurm_user: 'ana', account: 'research', partition: 'shared' }
/** Of /home/ops/bench.py, which a user runs in a login session. */
const SESSION_USER = 'ops'
/** Slurm's own word for a job that the kernel killed at its memory limit. */
const KILLED_AT_LIMIT = { reported_by: 'Slurm', reported_words: 'OUT_OF_MEMORY', outcome: 'out_of_memory' } as const

/** The root of its job: the process itself, which the simulated host starts directly. */
const rootOf = ({ pid, identity, name, script }: Process): ProcessEvent['root'] => ({ pid, start_ticks: identity.startTicks, command: `${name} ${script}` })

/** Who runs a process that is in no container. */
export const userOutside = ({ script, identity: { unit } }: Process): string => (unit === undefined ? (SUBMITTED[script] ?? NOTEBOOK).slurm_user : SESSION_USER)

function seenEvent(process: Process, t: number): ProcessEvent {
  const { pid, script, identity } = process
  const { slurmJob: job, unit } = identity
  const details = job === undefined ? {} : { ...(SUBMITTED[script] ?? NOTEBOOK), slurm_job: job }
  const user = unit === undefined ? {} : { user: SESSION_USER }
  return { type: 'process', t, action: 'seen', pid, root: rootOf(process), ancestors: [], ...user, ...details }
}

/** What has changed since the last call. Processes of containers come from the engine. */
export function createHostJobs(world: World): (t: number) => readonly ProcessEvent[] {
  const seen = new Map<Process, ProcessEvent>()
  return (t) => {
    const events: ProcessEvent[] = []
    for (const process of world.processes) {
      if (process.owner !== undefined) continue
      const before = seen.get(process)
      if (before !== undefined && (before.pid !== process.pid || process.ended)) {
        // The only way in which one ends here; it may have come again as another since the last call.
        const end = before.slurm_job === undefined ? {} : KILLED_AT_LIMIT
        events.push({ type: 'process', t, action: 'exit', pid: before.pid, root: before.root, ancestors: [], ...end })
        seen.delete(process)
      }
      if (seen.has(process) || !isAlive(process)) continue
      const event = seenEvent(process, t)
      seen.set(process, event)
      events.push(event)
    }
    return events
  }
}
