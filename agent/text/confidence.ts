// How sure a verdict is, for a person.
import type { Confidence } from '../model/confidence.ts'

export const CONFIDENCE_TEXTS: Readonly<Record<Confidence, string>> = {
  read: 'read in the log',
  computed: 'computed from the figures',
  likely: 'likely, not proven',
}
