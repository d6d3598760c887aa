// Where the crash test kills: between and within the steps from an incident to its delivery.

/** At these the child kills itself. */
export const CRASH_STAGES = [
  'saved',
  // What the kill before left untold.
  'recovering',
  'before-put',
  'within-put',
  'after-put',
  'before-form',
  'after-form',
  'answered',
  'delivered',
] as const
export type CrashStage = (typeof CRASH_STAGES)[number]
