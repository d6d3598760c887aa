// The doctor: what is wrong with driver, toolkit, engines and containers of this host, with the steps that mend it, and all that was looked at.
import { useEffect } from 'preact/hooks'
import { ComplaintCard } from './complaint-card.tsx'
import { DoctorHead } from './head.tsx'
import { GroupList } from './groups.tsx'
import { complaints } from './report.ts'
import { lookingSince, report, trouble, watchDoctor } from './state.ts'

function Complaints() {
  if (report.value === undefined) return null
  const found = complaints(report.value)
  if (found.length === 0) return null
  return (
    <section class="part" aria-labelledby="complaints-title">
      <h3 id="complaints-title">What to mend</h3>
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
      <p class="doctor-foot">
        The same in a terminal: <code>warpwatch doctor</code>. Compose files are read there: <code>warpwatch doctor --compose FILE</code>; and{' '}
        <code>--bundle FILE</code> writes all of it for support, without secrets, names and addresses. Nothing is changed on the host.
      </p>
    </div>
  )
}
