// CPU time and wake-ups of a process and its children by thread, from the scheduler's own counters.
import { readFileSync, readdirSync } from 'node:fs'

export type Thread = { readonly pid: number; readonly child: boolean; readonly main: boolean; readonly cpuNs: number; readonly switches: number }
export type Cost = { readonly main: number; readonly workers: number; readonly child: number; readonly childWorkers: number; readonly switches: number }

const tasks = (pid: number): readonly string[] => readdirSync(`/proc/${pid}/task`)

/** By `PID/TID`. A thread that ends between the listing and the reading is left out. */
export function threadsOf(pids: readonly number[]): ReadonlyMap<string, Thread> {
  const found = new Map<string, Thread>()
  for (const pid of pids)
    for (const task of tasks(pid)) {
      try {
        const cpuNs = Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0])
        const switches = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8'))?.[1])
        found.set(`${pid}/${task}`, { pid, child: pid !== pids[0], main: Number(task) === pid, cpuNs, switches })
      } catch {
        // Ended meanwhile.
      }
    }
  return found
}

/** CPU seconds an hour by thread, and voluntary switches a second (each is a wake-up), between two looks `seconds` apart. */
export function costBetween(before: ReadonlyMap<string, Thread>, after: ReadonlyMap<string, Thread>, seconds: number): Cost {
  const spent = [...after].map(([id, thread]) => ({
    ...thread,
    hourly: ((thread.cpuNs - (before.get(id)?.cpuNs ?? 0)) / 1e9 / seconds) * 3600,
    switches: (thread.switches - (before.get(id)?.switches ?? 0)) / seconds,
  }))
  const sum = (child: boolean, main: boolean): number => spent.reduce((all, each) => all + (each.child === child && each.main === main ? each.hourly : 0), 0)
  return {
    main: sum(false, true),
    workers: sum(false, false),
    child: sum(true, true),
    childWorkers: sum(true, false),
    switches: spent.reduce((all, { switches }) => all + switches, 0),
  }
}
export const total = ({ main, workers, child, childWorkers }: Cost): number => main + workers + child + childWorkers
