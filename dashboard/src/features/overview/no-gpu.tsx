// In place of the cards on a host whose GPUs cannot be read: why, and what to do next, as the doctor found it on this host.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CheckGroup, DoctorReport } from '../../../../agent/model/doctor.ts'
import type { GapRow } from '../../../../agent/model/live.ts'
import { getJson, storedToken } from '../../parts/connection/api.ts'
import { complaints, parseReport } from '../../parts/doctor/report.ts'
import { RemedyList } from '../../parts/incident/account.tsx'
import { frame } from '../../parts/live/state.ts'
import { gapText } from '../../text/words.ts'

const MOST = 3
/** Checks whose findings say why a GPU is not seen. */
const OF_GPUS: ReadonlySet<CheckGroup> = new Set<CheckGroup>(['host', 'wsl2'])
/** What the doctor says of a configuration that switches GPUs off: then nothing else explains it. */
const SWITCHED_OFF = 'gpu.source'
const report = signal<DoctorReport | undefined>(undefined)
const failed = signal(false)

async function look(): Promise<void> {
  if (report.peek() !== undefined) return
  try {
    report.value = parseReport(await getJson('api/v1/doctor', storedToken()))
  } catch (error) {
    console.warn(error)
    failed.value = true
  }
}

/** What the doctor would do first about it. */
function NextSteps() {
  useEffect(() => void look(), [])
  if (report.value === undefined)
    return failed.value ? (
      <p class="bad" role="alert">
        The doctor’s report could not be fetched. In a terminal on this host: <code>warpwatch doctor</code>
      </p>
    ) : (
      <p role="status">The doctor looks at driver, kernel and devices …</p>
    )
  const all = complaints(report.value)
  const off = all.filter(({ subjects }) => subjects.includes(SWITCHED_OFF))
  const found = off.length > 0 ? off : all.filter(({ check }) => OF_GPUS.has(check.group))
  if (found.length === 0)
    return (
      <p>
        The doctor found nothing wrong with the driver. See which display and compute devices there are: <code>lspci -nn | grep -iE 'nvidia|vga|3d'</code>
      </p>
    )
  return (
    <>
      {found.slice(0, MOST).map(({ check, finding: { summary, remedies = [] } }) => (
        <section key={`${check.id} ${summary}`} class="next-steps" data-check={check.id}>
          <h3>{summary}</h3>
          {remedies.length > 0 && <RemedyList remedies={remedies} of={check.id} />}
        </section>
      ))}
    </>
  )
}

/** Why comes from the host’s gaps, and from nowhere else. */
export function NoGpu() {
  const gaps: readonly GapRow[] = (frame.value?.host.gaps ?? []).filter((gap) => /gpu|nvml|nvidia/i.test(`${gap.measure} ${gap.detail ?? ''}`))
  return (
    <div class="notice no-gpu">
      <h2>No GPU can be read on this host</h2>
      {gaps.length > 0 && (
        <ul class="tried">
          {gaps.map((gap) => (
            <li key={`${gap.measure} ${gap.reason} ${gap.detail ?? ''}`}>{gap.detail ?? `${gap.measure}: ${gapText(gap.reason)}`}</li>
          ))}
        </ul>
      )}
      <NextSteps />
      <p>
        <a href="#/doctor">All checks of the doctor</a>
      </p>
    </div>
  )
}
