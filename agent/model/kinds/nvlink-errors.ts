// NVLink down or with errors.
import { defineKind } from './kind.ts'

export const nvlinkErrors = defineKind({
  id: 'nvlink_errors',
  title: 'NVLink down or with errors',
  layer: 'gpu',
  from: 'both',
  facts: ['new_errors', 'links_down', 'links_total', 'error_types'],
  quietMinutes: 1440,
  crash: { rank: 7, heldByDetector: true },
  needsReading: true,
  newWhen: { more: ['links_down', 'error_types'], above: ['new_errors'] },
})
