// Which host, rank and model the line of a fault is about: the logs of many are often in one file.
import type { Remedy } from '../model/fault.ts'

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
/** A failed task, in the words of srun below what the program said. */
const SRUN = /\bsrun: error: ([\w.-]{1,80}): tasks? /g
/** What stands for any host. */
const NO_NAME = /^(?:localhost|host|hostname|kernel|node|worker|master|server)$/i
/** In the head of PyTorch's lines, and in the words of its process groups. */
const RANK = /\[rank(\d{1,5})\]:|\b[Rr]ank (\d{1,5})\]|\[(\d{1,5}\] is setting up NCCL communicator and retrieving ncclUniqueId from \[\d{1,5})\]/
const OF_RANKS: ReadonlySet<string> = new Set(['illegal_memory_access', 'cublas_cudnn_error', 'nccl_error'])
/** Triton's server and llama.cpp name the model that they could not load, also in a line below. */
const MODEL = /\b(?:failed to load|failed to create context with)(?: model)?,? '([^'\n]{2,200})'/
const OF_PROGRAMS: ReadonlySet<string> = new Set([...OF_RANKS, 'cuda_oom', 'gpu_not_visible'])
const OF_MODELS: ReadonlySet<string> = new Set(['cuda_oom', 'cuda_version_mismatch', 'cublas_cudnn_error'])
/** A path is named by its last part. */
const nameOf = (model: string): string => model.replace(/^.*[\\/](?=[^\\/])/, '')

const named = (match: RegExpExecArray | null): string | undefined => match?.slice(1).find((one) => one !== undefined)

/** The same, with a sentence for what the answer does not name yet. */
export function withWhereabouts<Found extends Answer>(found: Found, lines: readonly string[]): Found {
  const at = found.lines[0] ?? -1
  const line = lines[at] ?? ''
  const host = named(KERNEL.exec(line)) ?? named(NCCL.exec(line))
  const rank = OF_RANKS.has(found.kind) ? named(RANK.exec(line)) : undefined
  const model = OF_MODELS.has(found.kind) ? named(MODEL.exec(lines.slice(Math.max(0, at - 1), at + 5).join('\n'))) : undefined
  const failed = OF_PROGRAMS.has(found.kind)
    ? new Set(
        [
          ...lines
            .slice(Math.max(0, at), at + 6)
            .join('\n')
            .matchAll(SRUN),
        ].map((match) => match[1]),
      )
    : undefined
  const node = failed?.size === 1 ? [...failed][0] : undefined
  if (host === undefined && node === undefined && rank === undefined && model === undefined) return found
  const said = `${found.title} ${found.verdict} ${found.remedies.map(({ text, command = '' }) => `${text} ${command}`).join(' ')}`
  const sentences = [
    model === undefined || said.includes(nameOf(model)) ? '' : ` The model is ${nameOf(model)}.`,
    rank === undefined || /\branks? \d/i.test(said)
      ? ''
      : ` Rank ${rank.replace(/\].*\[/, ', which waited for rank ')}${rank.includes(']') ? ',' : ''} reported it.`,
    node === undefined || said.includes(node) ? '' : ` srun reports that the task failed on host ${node}.`,
    host === undefined || NO_NAME.test(host) || said.includes(host) ? '' : ` Host ${host} logged it.`,
  ].join('')
  return sentences === '' ? found : { ...found, verdict: found.verdict + sentences }
}
