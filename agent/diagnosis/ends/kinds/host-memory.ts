// A program asked for host memory and was refused.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Facts } from '../../../model/facts.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { type EndContext, WEIGHT, anyOf, openFrame, raises, saying, says, type EndKind } from '../end-kind.ts'
import { ownHeap } from '../own-heap.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }
const asked = (match: RegExpExecArray): Facts => {
  const bytes = /(?:allocate|mmap) (\d{4,18}) bytes|allocation of (\d{4,18}) bytes/.exec(match.input)
  if (bytes !== null) return { requested_bytes: Number(bytes[1] ?? bytes[2]) }
  const sized = /(?:allocate|size|of) (\d{1,9}(?:\.\d{1,3})?) ?([KMGT])i?[Bb]/.exec(match.input)
  return sized === null ? {} : { requested_bytes: Math.round(Number(sized[1]) * (UNITS[(sized[2] ?? '').toLowerCase()] ?? 1)) }
}
const REFUSED = says(
  /(?:^|\b)Unable to allocate (?:internal )?buffer|malloc(?:\(\))?.{0,20}failed|[Ff]ailed to allocate (?:host|cpu|pinned)? ?memory/,
  WEIGHT.exception,
  asked,
)
/** PyTorch maps the file of a model privately, and the kernel counts all of it where it may be written. */
const mapped = ({ error }: EndContext): string | undefined => /unable to mmap \d{1,18} bytes from file <([^>\n]{1,300})>/.exec(error?.message ?? '')?.[1]
/** More than many hosts have at all: no worker or prefetch is behind one such request. */
const LARGE = 16 * 2 ** 30
const MAPPED: readonly Piece[] = [
  {
    text: 'Add swap, or let the kernel allow it: only what is read of the file then takes memory.',
    command: 'free -h; sudo sysctl vm.overcommit_memory=1',
  },
]
export const hostMemory: EndKind = {
  kind: 'host_memory',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(
      /Unable to allocate .{1,30} for an array|DefaultCPUAllocator|not enough memory: you tried|Cannot allocate memory|std::bad_alloc|\bbad_alloc\b|paging file is too small|JavaScript heap out of memory|Java heap space|GC overhead limit|Could not reserve enough space for|insufficient memory for the Java Runtime|cannot allocate vector of size|insufficient virtual memory|runtime: out of memory|LLVM ERROR: out of memory|memory allocation of \d{1,18} bytes failed|[Oo]ut of (?:host|system|main) memory|More than \d{1,3}% of the memory on node|killed due to (?:the node running low on memory|memory pressure)|OutOfMemoryError\(\)/,
      WEIGHT.message,
      asked,
    ),
    // TensorFlow says the same of GPU memory.
    (error) => (error.name === 'ResourceExhaustedError' ? undefined : REFUSED(error)),
    raises(/^(?:MemoryError|_?ArrayMemoryError|OutOfMemoryException|bad_alloc|RayOutOfMemoryError|ArrowMemoryError)$/, WEIGHT.errno),
    ({ name, module }) => (name === 'OutOfMemoryError' && /ray|java/.test(module ?? '') ? { weight: WEIGHT.message } : undefined),
  ),
  title: (context) => {
    const { requested_bytes: bytes, frame } = context.facts
    const at = frame === undefined ? '' : ` at ${frame}`
    const heap = ownHeap(context)?.title
    return heap === undefined ? `Out of host memory${bytes === undefined ? '' : `: ${gib(bytes)} refused`}${at}` : `${heap}${at}`
  },
  verdict: (context) =>
    saying(
      context,
      ownHeap(context)?.says ??
        (mapped(context) !== undefined
          ? 'could not map a whole file: RAM and swap are too small for it, or limited'
          : `asked for${context.facts.requested_bytes === undefined ? '' : ` ${gib(context.facts.requested_bytes)} of`} host memory (RAM, not GPU memory) and was refused`),
    ),
  remedies: (context) => {
    const heap = ownHeap(context)
    if (heap !== undefined) return [...heap.remedies(context), openFrame(context)]
    return mapped(context) !== undefined
      ? MAPPED
      : [
          context.situation.system === 'windows'
            ? {
                text: 'Windows refuses what memory and page file together cannot back: let it manage the page file, or enlarge it, and see in Task Manager who holds memory.',
              }
            : {
                text: 'See how much memory the host or the container has left, and who holds it.',
                command: 'free -h; ps -eo pid,user,rss,args --sort=-rss | head',
              },
          (context.facts.requested_bytes ?? 0) >= LARGE
            ? {
                text: `This one request is ${gib(context.facts.requested_bytes ?? 0)}: give the program smaller pieces (shorter sequences, smaller images or tiles, fewer samples or frames at once).`,
              }
            : { text: 'Need less at once: read in pieces or memory-map (np.memmap, Arrow, safetensors), fewer DataLoader workers, smaller prefetch.' },
          context.situation.programs.has('slurm')
            ? { text: 'Or ask for more memory for the job.', command: 'sbatch --mem=<SIZE> <SCRIPT>' }
            : context.situation.system !== 'windows' && { text: "Or raise the container's or the host's memory." },
          context.facts.requested_bytes !== undefined &&
            context.facts.requested_bytes > 2 ** 37 && {
              text: `${gib(context.facts.requested_bytes)} in one piece is rarely meant: check the shape that is asked for.`,
            },
          openFrame(context),
        ]
  },
}
