// Row remapping failed or pending.
import { defineKind } from './kind.ts'

export const rowRemapFailure = defineKind({
  id: 'row_remap_failure',
  title: 'Row remapping failed or pending',
  layer: 'gpu',
  from: 'numbers',
  facts: ['remapped_rows', 'retired_pages'],
  quietMinutes: 1440,
  needsReading: true,
  ofCard: true,
  follows: [{ causes: ['xid', 'ecc_error', 'ecc_uncorrected'], on: 'gpu', withinMinutes: 10, lateMinutes: 1 }],
  newWhen: { above: ['remapped_rows', 'retired_pages'] },
})
