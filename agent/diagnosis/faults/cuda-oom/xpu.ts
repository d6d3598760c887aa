// What is special to Intel GPUs when PyTorch runs out of memory: Arc cards serve no single request of 4 GiB or more, unless asked to.
// https://github.com/oneapi-src/unified-runtime/pull/1245, https://github.com/intel/intel-extension-for-pytorch/issues/325
import type { Facts } from '../../../model/facts.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Situation } from '../../situation/situation.ts'
import { setVariables } from '../remedies/environment.ts'
import type { Piece } from '../remedies/plan.ts'

const LIMIT = 4 * 2 ** 30

/** One request of that size, while what PyTorch holds leaves room for it on the card. */
export function overSingleLimit({
  requested_bytes: asked = 0,
  total_bytes: total,
  allocated_bytes: held = 0,
  reserved_unallocated_bytes: cached = 0,
}: Facts): boolean {
  return asked >= LIMIT && total !== undefined && held + cached + asked < total
}
export const singleLimitSentence = ({ total_bytes: total = 0 }: Facts): string =>
  `The card has ${gib(total)}, and PyTorch holds little of it. Likely cause: Intel Arc cards serve no single request of ${gib(LIMIT)} or more by default.`

export const relaxLimit = (facts: Facts, situation: Situation): Piece =>
  overSingleLimit(facts) && [
    {
      text: 'Allow single requests of 4 GiB and more (needs a recent compute runtime).',
      command: setVariables(situation, { UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS: '1' }),
    },
    { text: 'Or split the tensor: a smaller batch, attention in chunks, a tiled decode.' },
  ]
