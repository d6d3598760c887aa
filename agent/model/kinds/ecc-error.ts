// GPU memory errors (ECC).
import { defineKind } from './kind.ts'

export const eccError = defineKind({
  id: 'ecc_error',
  title: 'GPU memory errors (ECC)',
  layer: 'gpu',
  from: 'logs',
  facts: ['cuda_error_code', 'pci_bus_id', 'remapped_rows', 'retired_pages'],
  quietMinutes: 60,
  crash: { rank: 1, hitsWholeGpu: true, echoesGpu: true },
  needsReading: true,
  ofCard: true,
  follows: [{ causes: ['xid', 'ecc_uncorrected'], on: 'gpu', withinMinutes: 2, lateMinutes: 1 }],
})
