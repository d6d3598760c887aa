// What to do with an inference server that does not move: read its log, see where it is, begin it again.
import type { Remedy } from '../../../model/fault.ts'
import type { ServerRow } from './server-rows.ts'

/** Families whose server is a Python program; the others are C++, Go or Rust, where py-spy sees nothing. */
const PYTHON: ReadonlySet<string> = new Set(['vllm', 'sglang', 'lmdeploy', 'trtllm-serve', 'nim', 'comfyui', 'infinity', 'webui', 'xinference', 'speaches'])

/** For a shell: within single quotes nothing but a quote has a meaning. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const pidOf = ({ pid }: Pick<ServerRow, 'pid'>): string => (pid === undefined ? '<PID>' : String(pid))

export const readLog = ({ container, pid }: Pick<ServerRow, 'container' | 'pid'>, text: string): Remedy => ({
  text,
  command: container === undefined ? `journalctl -n 200 --no-pager _PID=${pidOf({ pid })}` : `docker logs --tail 200 ${quoted(container)}`,
})
export const seeThreads = (row: Pick<ServerRow, 'server' | 'pid'>): Remedy => ({
  text: 'See where its threads are stuck, and whether one of them takes a whole core.',
  command: PYTHON.has(row.server) ? `py-spy dump --pid ${pidOf(row)}` : `top -H -b -n 1 -p ${pidOf(row)}`,
})
/** `why` is a whole sentence. Outside a container the command only ends it: what started it is not known. */
export const startAgain = ({ container, pid }: Pick<ServerRow, 'container' | 'pid'>, why: string): Remedy =>
  container === undefined
    ? { text: `End it and start it again as before. ${why}`, command: `kill ${pidOf({ pid })}` }
    : { text: `Restart its container. ${why}`, command: `docker restart ${quoted(container)}` }
