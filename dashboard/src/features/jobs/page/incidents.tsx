// The incidents of a job within the range, the newest first.
import { IncidentLines } from '../../../parts/incident/lines.tsx'
import { range, spanWords } from '../range.tsx'
import type { JobRow } from '../table/rows.ts'

export function JobIncidents({ row: { job, incidents } }: { readonly row: JobRow }) {
  return (
    <section class="job-incidents" aria-labelledby="job-incidents-title">
      <h3 id="job-incidents-title">
        Incidents <span class="count">{incidents.length}</span>
      </h3>
      {incidents.length === 0 ? (
        <p class="nothing">{`No incident in ${spanWords(range.value)}.`}</p>
      ) : (
        <IncidentLines incidents={incidents} titleOf={({ title }) => title} text={job.name} />
      )}
    </section>
  )
}
