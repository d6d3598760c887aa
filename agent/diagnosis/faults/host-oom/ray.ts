// Workers that Ray's own memory monitor ended: the kernel's log has no line of it. It lists who used the memory.
import type { Facts } from '../../../model/facts.ts'
import type { Situation } from '../../situation/situation.ts'
import type { LogText } from '../family.ts'
import { around, known, whole } from '../parts/window.ts'
import type { Piece } from '../remedies/plan.ts'
import { KERNEL_LOG, needLess } from './remedies.ts'

const SAYS = /Perhaps out of memory|killed due to the node running low on memory|killed due to memory pressure|exceeds the memory usage threshold of/
const TASK = /\((?:task|actor|lease) ID: \w{1,80}, name=([^,\n]{1,80}), pid=(\d{1,10}), memory used=([\d.]{1,9}) ?GB\)/
const LARGEST = /PID\s{1,8}MEM\(GB\)\s{1,8}COMMAND\s{1,8}(\d{1,10})\s{1,8}([\d.]{1,9})\s{1,8}(\S{1,300})/
/** As many as a worker prints while it is aborted. */
const LATE_LINES = 60
/** Ray says how full the node was. */
const FULL = /was running was ([\d.]{1,9} ?GB) \/ ([\d.]{1,9} ?GB)/

function logs(near: string): readonly Piece[] {
  const ip = /\bIP: ([\d.]{7,15})\b/.exec(near)?.[1]
  const threshold = /usage threshold of (0\.\d{1,4})/.exec(near)?.[1] ?? '0.95'
  return [
    { text: 'See which workers Ray ended, and how much memory each held.', command: `ray logs raylet.out${ip === undefined ? '' : ` -ip ${ip}`}` },
    { text: `Ray acts when ${Math.round(100 * Number(threshold))} % of the node's memory is in use (RAY_memory_usage_threshold).` },
  ]
}

export function byRayMonitor(
  text: LogText,
  at: number,
  situation: () => Situation,
): { readonly verdict: string; readonly facts: Facts; readonly pieces: readonly Piece[] } | undefined {
  const line = text[at] ?? ''
  if (!SAYS.test(line)) return undefined
  // Gunicorn kills a worker itself that does not answer in time, and guesses so all the same.
  const late = /Worker \(pid: ?(\d{1,10})\) was sent SIGKILL/.exec(line)?.[1]
  if (late !== undefined && text.slice(Math.max(0, at - LATE_LINES), at).some((earlier) => earlier.includes(`WORKER TIMEOUT (pid:${late})`))) return undefined
  // The figures are below the sentence, which speaks for both.
  if (/exceeds the memory usage threshold of/.test(line) && SAYS.test(text[at - 1] ?? '')) return undefined
  const near = around(text, at, 0, 6)
  const count = /(\d{1,6}) Workers \(tasks \/ actors\) killed due to memory pressure/.exec(line)?.[1]
  const full = FULL.exec(around(text, at, 6, 4))
  const [, name, pid, used] = TASK.exec(near) ?? []
  const [, largestPid, most, command] = LARGEST.exec(near) ?? []
  const largest = `${/([^/]{1,60})$/.exec(command ?? '')?.[1] ?? command} (pid ${largestPid}, ${most} GB)`
  // The newest task is ended, however little it holds.
  const elsewhere = most !== undefined && largestPid !== pid && Number(most) > 2 * Number(used ?? 0)
  const guessed = /Worker \(pid: ?(\d{1,10})\) was sent SIGKILL/.exec(line)?.[1]
  const who =
    guessed !== undefined
      ? `Gunicorn's worker ${guessed} was killed from outside (SIGKILL), likely`
      : name === undefined
        ? 'A worker was ended'
        : `Ray ended ${name} (pid ${pid}, ${used} GB)`
  return {
    verdict:
      count === undefined
        ? `${who} because host memory ran out, or was about to${full === null ? '' : `: ${full[1]} of the node's ${full[2]} were in use`}.${most === undefined ? '' : ` The largest process was ${largest}.`}`
        : `Ray killed ${count} of its workers on this node because host memory was nearly used up${full === null ? '' : `: ${full[1]} of ${full[2]} were in use`}.${name === undefined ? '' : ` One of them: ${name} (pid ${pid}, ${used} GB).`}`,
    facts: known({ pid: whole(pid ?? /\(?pid: ?(\d{1,10})/i.exec(line)?.[1]) }),
    pieces: [
      elsewhere && { text: `Look at ${largest} first: the worker that Ray ended held little.` },
      needLess({}, situation()),
      /Perhaps/.test(line) ? KERNEL_LOG : logs(around(text, at, 0, 5)),
    ],
  }
}
