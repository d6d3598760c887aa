// What collectors of logs put before a line: names of containers and pods, hosts, streams, a second time. Every pattern is anchored and bounded.
import { criHead } from '../text/line-prefix.ts'

/** `trainer-1  | ` of docker compose: with the number of the replica, as `train | step: 5` is a line of its own. */
const COMPOSE = String.raw`[A-Za-z][\w.-]{0,58}[-_]\d{1,4} {0,30}\| ?`
/** `[pod/train-0/pytorch] ` of kubectl, `train-job-0-x7k2p pytorch ` of stern. */
const POD = String.raw`\[pod\/[\w./-]{1,200}\] |[a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,8}-[a-z0-9]{5} [a-z][a-z0-9-]{1,62} `
/** `gpu-07 python3[41277]: ` of the journal, behind its time. */
const UNIT = String.raw` ?[\w.-]{1,64} [\w./()-]{1,64}\[\d{1,10}\]: ?`
/** `stdout F ` of Kubernetes' files, `[train.py stdout] `, `INFO stderr: `. */
const STREAM = String.raw` ?(?:stdout|stderr) [FP] | ?\[?(?:[\w.-]{1,40} )?(?:stdout|stderr)\]?:? `
const LEAD = new RegExp(`^(?:${COMPOSE}|${POD}|${UNIT}|${STREAM})`)
/** Any of them has one of these near its head. */
const SIGN = /[|\]:]|std(?:out|err)\b|^[a-z0-9]+-[a-z0-9-]+ /
const HEAD = 200
const MAX_ROUNDS = 3

export function withoutLead(text: string): string {
  if (!SIGN.test(text.slice(0, HEAD))) return text
  let rest = text
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = LEAD.exec(rest)
    if (found === null) return rest
    rest = rest.slice(found[0].length)
  }
  return rest
}

const STREAM_KEY = /"stream": ?"std/
const LEVEL = String.raw`(?:DEBUG|INFO|WARN(?:ING)?|ERROR)`
/** `| INFO     | __main__:train:41 - ` of loguru, `INFO worker.train: `: what a logger puts behind the time. A name that counts or measures is none of a logger. */
const LOGGER = new RegExp(
  String.raw`^ ?(?:P?\d{2,8} ${LEVEL} {1,4}|\| ?${LEVEL} {0,9}\| ?[\w.<>]{1,60}:[\w.<>]{1,60}:\d{1,6} - ?|\[?${LEVEL}\]? {1,4}(?!(?:[A-Z]\w*|steps?|epochs?|iter\w*|it|batch|loss|lr|ep|global_step|\w*loss|updates?|rounds?|eta|progress|training|time|val\w*|eval\w*|test\w*)[:.])[a-z_][\w.]{0,60}: )`,
)
export const withoutLogger = (text: string): string => text.replace(LOGGER, '')

/** A line of Docker's own file, `{"log":"…\n","stream":"stdout","time":"…"}`, or of Kubernetes': its text behind the time. */
export function unwrapped(line: string): string {
  const head = criHead(line)
  if (head !== undefined) return `${head.stamp} ${line.slice(head.length)}`
  if (!line.startsWith('{"log":') || !STREAM_KEY.test(line)) return line
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null || !('log' in value) || typeof value.log !== 'string') return line
    return 'time' in value && typeof value.time === 'string' ? `${value.time} ${value.log}` : value.log
  } catch {
    return line
  }
}
