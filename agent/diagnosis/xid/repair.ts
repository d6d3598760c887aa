// Xid 63 and 64: what became of the repair of bad GPU memory. Messages: the driver's ecc_events.c (NVIDIA, MIT licence).
import type { Facts } from '../../model/facts.ts'
import { resetGpu } from '../faults/remedies/gpu.ts'
import type { Piece } from '../faults/remedies/plan.ts'

export type Repair = { readonly says: string; readonly remedies: (facts: Facts) => readonly Piece[] }

const NO_SPARE = /All reserved rows for bank are remapped|table is full|no (?:more )?spare|HW limit reached|full inforom object/
/** The driver refuses a second repair of what a reset repairs anyway. */
const PENDING = /already pending remapping|due to pending (?:row|bank) remap|due to pending LTS swap/

export function repairIn(words: string): Repair | undefined {
  if (NO_SPARE.test(words))
    return {
      says: 'There is no spare left for it: the bad memory stays in use, and NVIDIA replaces such boards.',
      remedies: () => [{ text: 'Take the GPU out of service and have the board replaced: no reset gives it new spares.' }],
    }
  if (PENDING.test(words))
    return {
      says: 'Its repair is already noted and waits for a reset: no sign that the board is used up.',
      remedies: (facts) => [resetGpu(facts, 'The repair takes effect only then. Wait until its work has ended: a reset stops it')],
    }
  return undefined
}
