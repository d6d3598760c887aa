// Whom a process belongs to, and which colour its job has: the same in all sections.
import type { FrameMessage, ProcessRow } from '../../../model/live.ts'
import type { Run } from '../../../model/job.ts'
import type { Colour } from '../terminal/look.ts'

const JOB_COLOURS: readonly Colour[] = ['job0', 'job1', 'job2', 'job3', 'job4', 'job5']
/** Without colours, each job fills its part of a bar with a pattern of its own. */
const FILLS = ['█', '▓', '▒', '░'] as const

export type Holders = {
  readonly nameOf: (process: ProcessRow) => string
  readonly colourOf: (name: string) => Colour
  readonly fillOf: (name: string) => string
  readonly runOf: (process: ProcessRow) => Run | undefined
}

export function holdersOf({ jobs, processes }: Pick<FrameMessage, 'jobs' | 'processes'>): Holders {
  const running = jobs.filter(({ ended_at: ended }) => ended === undefined)
  const byContainer = new Map(running.flatMap((run) => (run.container_id === undefined ? [] : [[run.container_id, run] as const])))
  const bySlurm = new Map(running.flatMap((run) => (run.slurm_job === undefined ? [] : [[run.slurm_job, run] as const])))
  const byUnit = new Map(running.flatMap((run) => (run.unit === undefined ? [] : [[run.unit, run] as const])))
  const byPid = new Map(running.flatMap((run) => (run.pid === undefined ? [] : [[run.pid, run] as const])))
  const runOf = ({ container_id: container = '', slurm_job: slurm = '', unit = '', pid }: ProcessRow): Run | undefined =>
    byContainer.get(container) ?? bySlurm.get(slurm) ?? byPid.get(pid) ?? byUnit.get(unit)
  const nameOf = (process: ProcessRow): string => runOf(process)?.job ?? process.container ?? process.slurm_job ?? process.unit ?? process.process
  // By name and not by place, so that a colour stays when another job ends.
  const names = [...new Set(processes.map(nameOf))].toSorted()
  const at = (name: string): number => Math.max(0, names.indexOf(name))
  return {
    nameOf,
    runOf,
    colourOf: (name) => JOB_COLOURS[at(name) % JOB_COLOURS.length] ?? 'job0',
    fillOf: (name) => FILLS[at(name) % FILLS.length] ?? '█',
  }
}
