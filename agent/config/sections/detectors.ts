// What is judged from the numbers. Which detectors there are is not known here: who loads the configuration says so.
import * as z from 'zod/mini'
import { durationText } from '../../text/duration.ts'
import type { DetectorsConfig } from '../../model/detector-settings.ts'
import type { Field } from '../field.ts'

const NONE: DetectorsConfig = { settings: {}, custom: [] }

/** As it is in the file. */
function shown({ settings, custom }: DetectorsConfig): unknown {
  const thresholds = custom.map(({ name, metric, labels, comparison, value, forMs, clearMs, severity, summary }) => ({
    name,
    metric,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    comparison,
    value,
    for: durationText(forMs),
    clear_for: durationText(clearMs),
    severity,
    ...(summary === undefined ? {} : { summary }),
  }))
  const groups = Object.entries(settings).map(([id, { enabled, options }]) => [id, { enabled: enabled ?? true, ...options }])
  return { ...Object.fromEntries(groups), custom: thresholds }
}

export const detectors: Field<DetectorsConfig> = {
  kind: 'parts',
  schema: z.custom<DetectorsConfig>((value) => typeof value === 'object' && value !== null),
  expected: 'detectors with their options, and custom: a list of thresholds',
  default: NONE,
  description: 'Detectors that evaluate the numbers: each can be switched off, and its thresholds changed.',
  secret: false,
  shown,
}
