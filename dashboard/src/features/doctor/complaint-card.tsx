// One thing to be mended: what was found, of whom, and the exact steps.
import type { Complaint } from './report.ts'
import { GROUPS } from '../../text/doctor.ts'
import { RemedyList } from '../../parts/incident/remedy-list.tsx'
import { CheckMark } from './check-mark.tsx'

export function ComplaintCard({ complaint: { check, finding, subjects } }: { readonly complaint: Complaint }) {
  const { status, summary, detail, remedies = [] } = finding
  return (
    <li class="complaint" data-status={status} data-check={check.id}>
      <p class="complaint-line">
        <CheckMark status={status} />
        <span>{GROUPS[check.group]}</span>
        <code title={`checks that ${check.title}`}>{check.id}</code>
      </p>
      <h4>{summary}</h4>
      {subjects.length > 0 && (
        <ul class="subjects">
          {subjects.map((subject) => (
            <li key={subject}>{subject}</li>
          ))}
        </ul>
      )}
      {detail !== undefined && <p class="complaint-detail">{detail}</p>}
      {remedies.length > 0 && <RemedyList remedies={remedies} of={check.id} />}
    </li>
  )
}
