// The doctor: what is wrong with driver, toolkit, engines and containers of this host, with the steps that mend it, and all that was looked at.
import './style.css'
import './checks.css'
import { useEffect } from 'preact/hooks'
import { RemedyList } from '../../parts/incident/account.tsx'
import { GROUPS } from '../../text/doctor.ts'
import { CheckMark, GroupList } from './groups.tsx'
import { DoctorHead } from './head.tsx'
import { type Complaint, complaints } from '../../parts/doctor/report.ts'
import { lookingSince, report, trouble, watchDoctor } from './state.ts'

/** One thing to be mended: what was found, of whom, and the exact steps. */
function ComplaintCard({ complaint: { check, finding, subjects } }: { readonly complaint: Complaint }) {
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

function Complaints() {
  if (report.value === undefined) return null
  const found = complaints(report.value)
  if (found.length === 0) return null
  return (
    <section class="part" aria-labelledby="complaints-title">
      <h3 id="complaints-title">What to fix</h3>
      <ul class="complaints">
        {found.map((complaint, i) => (
          <ComplaintCard key={i} complaint={complaint} />
        ))}
      </ul>
    </section>
  )
}

export function Doctor() {
  useEffect(watchDoctor, [])
  const looking = lookingSince.value !== undefined
  const awaited = report.value === undefined && trouble.value === undefined
  return (
    <div class={looking ? 'content doctor busy' : 'content doctor'} aria-busy={looking || awaited}>
      <DoctorHead />
      <Complaints />
      <GroupList />
      {/* The first answer would push it down the page. */}
      {!awaited && (
        <p class="doctor-foot">
          The same in a terminal: <code>warpwatch doctor</code>. Compose files are read there: <code>warpwatch doctor --compose FILE</code>; and{' '}
          <code>--bundle FILE</code> writes all of it for support, without secrets, names and addresses. Nothing is changed on the host.
        </p>
      )}
    </div>
  )
}
