// Which container a pid of the host belongs to, as the kernel's own lines about kills name it.
import type { LogLine } from '../../model/event.ts'

const MAX_PIDS = 1_000

export type PidToContainer = {
  readonly note: (kernelLine: string) => void
  readonly containerOf: (pid: number) => string | undefined
  /** Of a kernel line about a kill: the container whose process it names. */
  readonly originOf: (line: LogLine) => LogLine['origin']
}

export function createPidToContainer(): PidToContainer {
  const placed = new Map<number, string>()
  return {
    note(text) {
      // oom-kill:…,task_memcg=/docker/<64 hex>,task=python,pid=7672,uid=0 (mm/oom_kill.c, dump_oom_victim, since 5.0)
      const match = /task_memcg=([^,\n]{0,500}),task=[^,\n]{0,64},pid=(\d{1,10})/.exec(text)
      const id = match?.[1] === undefined ? undefined : [...match[1].matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)].at(-1)?.[0]
      if (id === undefined || match?.[2] === undefined) return
      placed.set(Number(match[2]), id.slice(0, 12))
      const oldest = placed.size > MAX_PIDS ? placed.keys().next().value : undefined
      if (oldest !== undefined) placed.delete(oldest)
    },
    containerOf: (pid) => placed.get(pid),
    originOf({ stream, origin, text }) {
      const pid = stream === 'kernel' ? /\bKilled process (\d{1,10})\b|,pid=(\d{1,10})\b/.exec(text) : null
      const id = pid === null ? undefined : placed.get(Number(pid[1] ?? pid[2]))
      return id === undefined ? origin : { container_id: id }
    },
  }
}
