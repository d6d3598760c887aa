// NVLink down or with errors.
import { defineKind } from './kind.ts'

export const nvlinkErrors = defineKind({
  id: 'nvlink_errors',
  title: 'NVLink down or with errors',
  layer: 'gpu',
  from: 'numbers',
  facts: ['new_errors', 'links_down', 'links_total', 'error_types'],
  quietMinutes: 1440,
  needsReading: true,
  newWhen: { more: ['links_down', 'error_types'], above: ['new_errors'] },
})
