// Readers of memory snapshots: pickles and JSON, and everything that the command and the dashboard do with one.
import { analyse } from '../../../agent/allocator/snapshot/analyse.ts'
import { SnapshotError } from '../../../agent/allocator/snapshot/error.ts'
import { readSnapshot } from '../../../agent/allocator/snapshot/file.ts'
import { readPickle } from '../../../agent/allocator/snapshot/pickle.ts'
import { pictureOf } from '../../../agent/allocator/snapshot/picture.ts'
import { svgOf } from '../../../agent/allocator/snapshot/svg.ts'
import { answerText } from '../../../agent/cli/snapshot/answer.ts'
import { jitPickle } from '../../unit/allocator/snapshot/pickler.ts'
import { block, frames, free, MIB, segment, snapshot } from '../../unit/allocator/snapshot/scene.ts'
import { HOSTILE_PICKLES } from './hostile-pickles.ts'
import { json, parserOf } from './parser.ts'

const shared = frames('empty', 'step', 'main')
const EXAMPLE = snapshot(
  [
    segment([block(4 * MIB, 'active_allocated', { frames: shared }), free(6 * MIB)]),
    segment([free(2 * MIB)], { segment_type: 'small', stream: 2 ** 45 }),
    segment([block(20 * MIB), free(40 * MIB)], { is_expandable: true, segment_pool_id: [0, 3], device: 1 }),
  ],
  { device_traces: [[{ action: 'oom', device_free: 5 * MIB, size: 90 * MIB, stream: 0, time_us: 1.7e15, frames: shared }]] },
)
const PICKLED = jitPickle(EXAMPLE, new Set([shared]))
const refuses = (error: Error): boolean => error instanceof SnapshotError

export const snapshotPickle = parserOf(
  'snapshot-pickle',
  'pickles, hostile ones among them',
  [PICKLED, ...HOSTILE_PICKLES.map(({ bytes }) => bytes)],
  (input) => void readPickle(input),
  { refuses },
)
export const snapshotFile = parserOf('snapshot-file', 'a file that may be a snapshot', [PICKLED, json(EXAMPLE)], (input) => void readSnapshot(input), {
  refuses,
  inputs: 300_000,
})
export const snapshotAnswer = parserOf(
  'snapshot-answer',
  'a damaged snapshot, judged and drawn',
  [PICKLED, json(EXAMPLE)],
  (input) => {
    const read = readSnapshot(input)
    const { analysis, rules, rankOf } = analyse(read, { requestBytes: 3 * MIB })
    svgOf(pictureOf({ snapshot: read, rules, rankOf, maxRuns: 50 }), analysis.devices, 'x')
    answerText(analysis, 'x', false)
  },
  { refuses, inputs: 50_000 },
)
