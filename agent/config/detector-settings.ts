// Settings under `detectors`, one for each option, however they were written: in the file, or as one value in a variable.
import type { Setting } from './setting.ts'

export const DETECTORS = 'detectors'
/** The list of the user's own thresholds; all other keys are detectors. */
export const CUSTOM = 'custom'

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes the groups of detectors apart; what is in a group's place and is none stays as it is. */
export function asOptions(setting: Setting): readonly Setting[] {
  const { path, value, where } = setting
  const [section, ...keys] = path.split('.')
  if (section !== DETECTORS) return [setting]
  // Below an option there are no keys; the thresholds are a list with its own.
  if (keys.length > 1 || !isGroup(value) || path === `${DETECTORS}.${CUSTOM}`) return [setting]
  return Object.entries(value).flatMap(([key, part]) => asOptions({ path: `${path}.${key}`, value: part, where }))
}
