// The doctor's words: groups and verdicts of checks as a person reads them.
import type { CheckGroup, CheckStatus } from '../../../agent/model/doctor.ts'

export const GROUPS: Readonly<Record<CheckGroup, string>> = {
  host: 'Host and driver',
  toolkit: 'Container toolkit',
  container: 'Containers',
  wsl2: 'WSL2',
  compose: 'Compose files',
  warpwatch: 'Warpwatch itself',
}
/** A shape beside the word: never told by colour alone. */
export const STATUSES: Readonly<Record<CheckStatus, { readonly word: string; readonly shape: string }>> = {
  fail: { word: 'failed', shape: '▲' },
  warn: { word: 'warning', shape: '◆' },
  pass: { word: 'passed', shape: '✓' },
  skipped: { word: 'skipped', shape: '○' },
}

export const counted = (count: number, status: CheckStatus): string => `${count} ${STATUSES[status].word}${status === 'warn' && count !== 1 ? 's' : ''}`
