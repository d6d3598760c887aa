// The driver reported an Xid.
import { defineKind } from './kind.ts'

export const xid = defineKind({
  id: 'xid',
  title: 'The driver reported an Xid',
  layer: 'gpu',
  from: 'both',
  facts: ['xid', 'sxid', 'caused_by_xid', 'pci_bus_id', 'recovery_action'],
  quietMinutes: 60,
  crash: { rank: 6, hitsWholeGpu: true, echoesGpu: true, heldByDetector: true },
  needsReading: true,
  ofCard: true,
  // The driver's Xid reports the error that the counters show.
  follows: [{ causes: ['ecc_uncorrected', 'nvlink_errors'], on: 'gpu', withinMinutes: 1, lateMinutes: 1 }],
  // The recovery that the driver asks for; an Xid itself is an event, and each one is new.
  newWhen: { other: ['recovery_action'] },
  chart: ['utilization'],
})
