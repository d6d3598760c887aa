// Java and Node give each program a heap with a limit of its own: it can be full while the host has memory left, and the option that raises it is what helps.
import type { Piece } from '../faults/remedies/plan.ts'
import type { EndContext } from './end-kind.ts'

type OwnHeap = { readonly title: string; readonly says: string; readonly remedies: (context: EndContext) => readonly Piece[] }

const SEE: Piece = { text: 'See how much memory the host or the container has left.', command: 'free -h' }
/** Wrappers around Java that take its options in ways of their own. */
const JAVA_BY: readonly (readonly [RegExp, string])[] = [
  [/broadinstitute\.hellbender|\bgatk\b/i, 'gatk --java-options "-Xmx<SIZE>g" <TOOL> …'],
  [/org\.apache\.spark|spark-submit|\bExecutor task launch worker\b/, 'spark-submit --driver-memory <SIZE>g --executor-memory <SIZE>g …'],
  [/\bnextflow\b/i, 'export NXF_OPTS=-Xmx<SIZE>g'],
]
const larger = ({ situation }: EndContext): Piece => ({
  text: 'Let Java take a larger heap, and leave some of the memory to what is outside it.',
  command: JAVA_BY.find(([pattern]) => pattern.test(situation.text))?.[1] ?? 'export JAVA_TOOL_OPTIONS=-Xmx<SIZE>g',
})

const HEAPS: readonly (readonly [RegExp, OwnHeap])[] = [
  [
    /Java heap space|GC overhead limit/,
    {
      title: "Java's heap is full",
      says: 'filled the heap that Java may take (-Xmx; without it a quarter of the memory of host or container)',
      remedies: (context) => [
        larger(context),
        SEE,
        context.situation.programs.has('slurm') && { text: 'Ask for as much memory for the job, and somewhat more.', command: 'sbatch --mem=<SIZE> <SCRIPT>' },
        { text: 'Or give it less at once: smaller inputs, regions or batches, fewer threads.' },
      ],
    },
  ],
  [
    /Could not reserve enough space for/,
    {
      title: 'Java cannot have the heap that it was set to take',
      says: 'asked for a heap (-Xmx) that memory, or a limit on it, does not allow, and did not start',
      remedies: () => [
        { text: 'Give a smaller -Xmx than there is memory, and see whether a limit is set for the session.', command: 'free -h; ulimit -v' },
        { text: 'With a Java of 32 bits about 1.5 GiB is all that it can have: use one of 64 bits.', command: 'java -version' },
      ],
    },
  ],
  [
    /JavaScript heap out of memory/,
    {
      title: "Node's heap is full",
      says: 'filled the heap that Node may take, which has a limit of its own below the memory of the host',
      remedies: () => [{ text: 'Let Node take a larger heap (in MiB).', command: 'export NODE_OPTIONS=--max-old-space-size=<MIB>' }, SEE],
    },
  ],
]

/** What is true of the heap that was full; undefined where host memory itself was. */
export const ownHeap = ({ error }: EndContext): OwnHeap | undefined => {
  const words = `${error?.message ?? ''}\n${error?.tail ?? ''}`
  return HEAPS.find(([pattern]) => pattern.test(words))?.[1]
}
