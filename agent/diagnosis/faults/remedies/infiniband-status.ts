// What the status of a transfer over InfiniBand or RoCE means, as NCCL prints it.
import { step } from '../parts/rows.ts'
import type { Matched } from '../parts/rules.ts'
import { setVariables } from './environment.ts'
import type { Piece } from './plan.ts'
import type { Situation } from '../../situation/situation.ts'

export const set = ({ situation }: Matched, values: Readonly<Record<string, string>>): string => setVariables(situation(), values)
export const peerLog: Piece = step('Look for the first error of any rank: a rank that ended takes its connections with it.')

type Ends = { readonly device?: string | undefined; readonly peer?: string | undefined }
/** Of verbs: what the status of a completion means (rdma/verbs.h). */
export const STATUS: Readonly<Record<string, readonly [means: string, first: (matched: Matched, ends?: Ends) => readonly Piece[]]>> = {
  '12': [
    'the other side did not answer (retries exceeded): the two ports cannot reach each other, a link or switch fails, or the peer ended',
    (matched, { device = '<DEVICE>', peer = '<PEER>' } = {}) => [
      peerLog,
      step(
        'See that the two ports reach each other (on the peer start it first, without an address): same fabric or VLAN, and on RoCE the right GID, MTU and flow control (PFC).',
        `ib_write_bw -d ${device} ${peer}`,
      ),
      step('If all is sound and only slow, let it wait longer.', set(matched, { NCCL_IB_TIMEOUT: '22', NCCL_IB_RETRY_CNT: '7' })),
    ],
  ],
  '5': ['the queue was emptied after an earlier error, which is above or on another rank', () => [peerLog]],
  '4': [
    'the card may not read or write the local buffer',
    (matched) => [
      step(
        'See whether it works without direct access of the card to GPU memory; then nvidia-peermem, DMA-BUF, ATS or the IOMMU is at fault.',
        set(matched, { NCCL_NET_GDR_LEVEL: 'LOC' }),
      ),
    ],
  ],
  '10': [
    'the other side does not let the card at its buffer',
    (matched) => [peerLog, step('See whether it works without direct access of the card to GPU memory.', set(matched, { NCCL_NET_GDR_LEVEL: 'LOC' }))],
  ],
  '13': ['the receiver was not ready in time', () => [peerLog]],
  '11': ['the other side reports a fault of its own', () => [peerLog]],
  '9': [
    'the other side refused the request as invalid: versions of NCCL or of the network plugin may differ',
    () => [step('Run one image with one NCCL on all hosts.'), peerLog],
  ],
}

/** One port only: with several another may be the one in use. */
const PORT_DOWN = /^CA '(\w{2,24})'(?![^]*^CA ')[^]{0,400}?\bPort \d:\s{1,16}State: Down\b(?![^]*State: Active)/m
/** What ibstat shows beside the error. */
export function portDown(situation: Situation): Piece {
  const down = PORT_DOWN.exec(situation.text)?.[1]
  return (
    down !== undefined && {
      text: `ibstat shows the port of ${down} down: bring it up (cable, switch port, link), or let NCCL use a port that is up.`,
      command: setVariables(situation, { NCCL_IB_HCA: '<DEVICE>' }),
    }
  )
}
