// The doctor's report as the page keeps it: asked for when the page is opened, and whenever the reader wants it again.
import { effect, signal } from '@preact/signals'
import type { DoctorReport } from '../../../../agent/model/doctor.ts'
import { ApiError, getJson, storedToken } from '../../parts/connection/api.ts'
import { connection } from '../../parts/live/state.ts'
import { parseReport } from '../../parts/doctor/report.ts'

/** Checks end by themselves after some seconds; a tunnel that hangs does not. */
const PATIENCE_MS = 60_000

export const report = signal<DoctorReport | undefined>(undefined)
/** Since when it looks (this page's clock); undefined: it does not. */
export const lookingSince = signal<number | undefined>(undefined)
/** Why the last run brought nothing. */
export const trouble = signal<string | undefined>(undefined)

export async function look(): Promise<void> {
  if (lookingSince.peek() !== undefined) return
  lookingSince.value = Date.now()
  try {
    report.value = parseReport(await getJson('api/v1/doctor', storedToken(), AbortSignal.timeout(PATIENCE_MS)))
    trouble.value = undefined
  } catch (error) {
    trouble.value = error instanceof ApiError ? error.failure.message : 'the agent does not answer'
  }
  lookingSince.value = undefined
}

/** Looks at once, and after an interruption only where nothing was found before: a report that someone reads stays. */
export function watchDoctor(): () => void {
  let opened = true
  return effect(() => {
    if (connection.value.state !== 'live' || !(opened || report.peek() === undefined || trouble.peek() !== undefined)) return
    opened = false
    void look()
  })
}
