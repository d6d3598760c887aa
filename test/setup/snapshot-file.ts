// A memory snapshot as a training job leaves it, with as many blocks as asked: large segments cut up by long and short lives, small ones, another stream, a private pool.
import { jitPickle, type Plain } from '../unit/allocator/snapshot/pickler.ts'
import { block, free, GIB, MIB, segment, snapshot } from '../unit/allocator/snapshot/scene.ts'

const FILES = '/home/me/train'
/** Innermost first, as PyTorch writes them; shared by all blocks of a place. */
const place = (file: string, line: number, name: string, operation = 'linear'): Plain => [
  { filename: '??', line: 0, name: `at::_ops::${operation}::call(at::Tensor const&)` },
  { filename: '/opt/conda/lib/python3.12/site-packages/torch/nn/modules/linear.py', line: 125, name: 'forward' },
  { filename: `${FILES}/${file}`, line, name },
  { filename: `${FILES}/train.py`, line: 88, name: 'step' },
  { filename: `${FILES}/train.py`, line: 140, name: '<module>' },
]
export const MARKUP = '<img src=x onerror="document.title=1">'
const PLACES = [
  place('model.py', 216, 'attention', 'scaled_dot_product_attention'),
  place('model.py', 301, 'feed_forward'),
  place('optimizer.py', 57, 'init_state', 'zeros_like'),
  place('model.py', 41, 'embed', 'embedding'),
  place(`${MARKUP}.py`, 12, MARKUP, 'cross_entropy'),
  place('data.py', 77, 'collate', 'stack'),
]
const placeAt = (i: number): Plain => PLACES[i % PLACES.length] ?? []

/** The same for the same number. */
export function trainingSnapshot(blocks = 2_000): Uint8Array {
  const weights = Array.from({ length: 6 }, (_, s) =>
    segment(
      Array.from({ length: 12 }, (_, b) => block(128 * MIB, 'active_allocated', { frames: placeAt(b % 4 === 0 ? 2 : 1), requested_size: 128 * MIB - 512 * s })),
    ),
  )
  const perSegment = 60
  const cutUp = Array.from({ length: Math.max(1, Math.floor(blocks / perSegment)) }, (_, s) =>
    segment(
      Array.from({ length: perSegment }, (_, b) => {
        const bytes = 512 * (1 + ((s * 31 + b * 17) % 9_000))
        return (s + b) % 3 === 0 ? free(bytes) : block(bytes, (s * b) % 61 === 60 ? 'active_pending_free' : 'active_allocated', { frames: placeAt(s * 7 + b) })
      }),
    ),
  )
  const cache = [segment([free(2 * GIB)]), segment([free(640 * MIB)]), segment([free(20 * MIB)])]
  const small = Array.from({ length: 40 }, (_, s) =>
    segment([block(MIB, 'active_allocated', { frames: placeAt(s) }), free(MIB / 2), block(MIB / 2, 'active_allocated', { frames: placeAt(3) })], {
      segment_type: 'small',
    }),
  )
  const stream = [segment([block(300 * MIB, 'active_allocated', { frames: placeAt(5) }), free(212 * MIB)], { stream: 7 })]
  const graph = [segment([block(500 * MIB, 'active_allocated', { frames: placeAt(0) }), free(12 * MIB)], { segment_pool_id: [0, 1] })]
  const shared = new Set<unknown>([...PLACES, ...PLACES.flatMap((frames) => (Array.isArray(frames) ? frames : []))])
  return jitPickle(snapshot([...weights, ...cutUp, ...cache, ...small, ...stream, ...graph]), shared)
}
