// Kills because host memory ran out, as what runs jobs for others says it: AWS Batch, Vertex AI, Modal, notebooks, YARN, HTCondor, Dask.
import type { FaultFamily, LogText, Recognised } from './family.ts'
import type { Situation } from '../situation/situation.ts'
import { needLess } from './host-oom/remedies.ts'
import { known, lineWith, whole } from './parts/window.ts'
import { plan, type Piece } from './remedies/plan.ts'

type Service = {
  readonly name: string
  readonly pattern: RegExp
  /** How to ask for more. */
  readonly more: Piece
}
const SERVICES: readonly Service[] = [
  {
    name: 'AWS Batch',
    pattern: /\bOutOfMemoryError: Container killed due to memory usage\b/,
    more: { text: "Raise the job's memory in its definition (resourceRequirements, type MEMORY)." },
  },
  {
    name: 'Vertex AI',
    pattern: /\breplica \S{1,60} ran out-of-memory and exited with a non-zero status of 137\b/,
    more: { text: 'Choose a machine type with more memory for that worker pool.' },
  },
  {
    name: 'The platform',
    pattern: /\b[Cc]ontainer ran out of memory \(exit code 137\)/,
    more: { text: 'Reserve more memory for the function or the container.' },
  },
  {
    name: 'Databricks',
    pattern: /\bexited with exit code 137 \(SIGKILL: Killed\)\. This may have been caused by an OOM error\b/,
    more: { text: 'Choose a driver with more memory, or hold less of the data in it.' },
  },
  {
    name: 'The notebook service',
    pattern: /\btried to allocate more memory than is available\. It has restarted\b|\bsession crashed after using all available RAM\b/,
    more: { text: 'Choose an environment with more memory, or read the data in parts.' },
  },
  {
    name: 'Slurm',
    pattern: /^State: OUT_OF_MEMORY\b|^\d{1,12}\s.{1,120}\sOUT_OF_ME(?:MORY|\+)(?:\s|$)/,
    more: { text: 'Ask for more memory when you submit the job (--mem, or --mem-per-cpu).' },
  },
  {
    name: 'YARN',
    pattern:
      /\bContainer (?:\S{1,80} )?killed by YARN for exceeding (?:physical |virtual )?memory limits\b|\bis running \d{1,16}B beyond the '(?:PHYSICAL|VIRTUAL)' memory limit\b/,
    more: { text: 'Give the executors more memory beside the heap.', command: 'spark-submit --conf spark.executor.memoryOverhead=<MEMORY> <SCRIPT>' },
  },
  {
    name: 'The scheduler',
    pattern: /\bjob \S{1,60} exceeded V?MEM usage hard limit \(/i,
    more: { text: 'Ask for more memory when you submit the job.', command: 'qsub -l mem=<MEMORY>,pmem=<MEMORY> <SCRIPT>' },
  },
  {
    name: 'HTCondor',
    pattern: /\bjob has gone over (?:cgroup |its )?memory limit of \d{1,9} (?:megabytes|Mb)\b|\bmemory usage exceeded request_memory\b/i,
    more: { text: 'Ask for more memory in the submit file.', command: 'request_memory = <MEMORY>' },
  },
  {
    name: "Dask's nanny",
    pattern: /\bexceeded \d{1,3}% memory budget\. {1,2}Restarting\b/,
    more: { text: 'Give each worker more memory, or start fewer of them.', command: 'dask worker <SCHEDULER> --memory-limit <MEMORY> --nworkers <N>' },
  },
]
const EXIT_CODE = /\b(?:exit ?[Cc]ode["']?[:=]? ?|status of )(\d{1,3})\b/
const PID = /\(pid=(\d{1,10})\)/
const LIMIT = /\bmemory limit of (\d{1,9}) (?:megabytes|Mb)\b/

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  const service = SERVICES.find(({ pattern }) => pattern.test(line))
  if (service === undefined) return undefined
  const codeAt = lineWith(text, Math.max(0, at - 3), at + 4, EXIT_CODE)
  const limit = whole(LIMIT.exec(line)?.[1])
  return {
    kind: 'host_oom_kill',
    severity: 'critical',
    title: 'Killed because host memory ran out',
    verdict: `${service.name} ended it because it used more memory than it may${limit === undefined ? '' : ` (limit: ${limit} MB)`}: host memory, not GPU memory.`,
    facts: known({
      exit_code: whole(EXIT_CODE.exec(text[codeAt ?? -1] ?? '')?.[1]),
      pid: whole(PID.exec(line)?.[1]),
      limit_bytes: limit === undefined ? undefined : limit * 1024 ** 2,
    }),
    remedies: plan([service.more, needLess({}, situation())]),
    lines: codeAt === undefined || codeAt === at ? [at] : [at, codeAt],
  }
}

export const hostOomPlatforms: FaultFamily = {
  id: 'host-oom-platforms',
  kinds: ['host_oom_kill'],
  literals: [
    'Container killed due to memory usage',
    'ran out-of-memory and exited',
    'ontainer ran out of memory (exit code 137',
    'SIGKILL: Killed). This may have been caused',
    'allocate more memory than is available. It has restarted',
    'crashed after using all available RAM',
    'OUT_OF_ME',
    'killed by YARN for exceeding',
    "B beyond the '",
    'gone over cgroup memory limit',
    'gone over its memory limit',
    'gone over memory limit',
    'emory usage exceeded request_memory',
    '% memory budget.',
    'usage hard limit (',
  ],
  recognise,
}
