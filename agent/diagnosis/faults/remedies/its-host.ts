// Which host, and which rank, printed the line of a fault: the logs of many are often in one file.
import type { Remedy } from '../../../model/fault.ts'

type Answer = {
  readonly kind: string
  readonly title: string
  readonly verdict: string
  readonly remedies: readonly Remedy[]
  readonly lines: readonly number[]
}

/** The head of a line of syslog or journald before the kernel's name, also behind the file that grep names. */
const KERNEL = /^(?:[\w./-]{1,80}:)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT[\d:.,+Z-]{8,24}) ([\w.-]{1,80}) kernel: /
/** NCCL begins its lines with host, process, thread and GPU. */
const NCCL = /(?:^|[\s\]>|])([A-Za-z][\w.-]{1,80}):\d{1,9}:\d{1,9} \[\d{1,4}\] [^\n]{0,160}\bNCCL WARN /
/** What stands for any host. */
const NO_NAME = /^(?:localhost|host|hostname|kernel|node|worker|master|server)$/i
const RANK = /\[rank(\d{1,5})\]:|\b[Rr]ank (\d{1,5})\]/
const OF_RANKS: ReadonlySet<string> = new Set(['illegal_memory_access', 'cublas_cudnn_error'])

/** The same, with a sentence for what the answer does not name yet. */
export function placed<Found extends Answer>(found: Found, lines: readonly string[]): Found {
  const said = `${found.title} ${found.verdict} ${found.remedies.map(({ text, command = '' }) => `${text} ${command}`).join(' ')}`
  const line = lines[found.lines[0] ?? -1] ?? ''
  const host = (KERNEL.exec(line) ?? NCCL.exec(line))?.[1]
  const rank = OF_RANKS.has(found.kind)
    ? RANK.exec(line)
        ?.slice(1)
        .find((one) => one !== undefined)
    : undefined
  const sentences = [
    host === undefined || NO_NAME.test(host) || said.includes(host) ? '' : ` Logged on host ${host}.`,
    rank === undefined || /\brank \d/i.test(said) ? '' : ` It happened on rank ${rank}.`,
  ].join('')
  return sentences === '' ? found : { ...found, verdict: found.verdict + sentences }
}
