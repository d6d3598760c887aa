// All checks by group, folded, each with how it ended as a shape and a word; which groups are open is in the address.
import type { CheckReport, CheckStatus } from '../../../../agent/model/doctor.ts'
import { route, setParams } from '../../parts/route.ts'
import { counted, GROUPS, STATUSES } from '../../text/doctor.ts'
import { groupsOf, type GroupView } from '../../parts/doctor/report.ts'
import { report } from './state.ts'

/** How a check ended. */
export function CheckMark({ status }: { readonly status: CheckStatus }) {
  const { word, shape } = STATUSES[status]
  return (
    <span class="check-mark" data-status={status}>
      <span aria-hidden="true">{shape}</span>
      {word}
    </span>
  )
}

const ORDER = ['fail', 'warn', 'pass', 'skipped'] as const

const openGroups = (): readonly string[] => (route.value.params.get('open') ?? '').split(',').filter(Boolean)

function Check({ check: { id, title, status, findings } }: { readonly check: CheckReport }) {
  return (
    <li class="check" data-check={id} data-status={status}>
      <CheckMark status={status} />
      <div>
        <p class="check-title">
          {title} <code>{id}</code>
        </p>
        <ul class="check-findings">
          {findings.map(({ status: own, subject, summary }, i) => (
            <li key={i} data-status={own}>
              {subject !== undefined && <b>{subject}: </b>}
              {summary}
            </li>
          ))}
        </ul>
      </div>
    </li>
  )
}

function becauseText(because: GroupView['skippedBecause']): string {
  if (because === undefined) return ''
  if ('reasons' in because) return `, for ${because.reasons} reasons`
  return `${because.all ? '' : ', most of them'}: ${because.reason}`
}

function Group({ view: { group, checks, counts, skippedBecause } }: { readonly view: GroupView }) {
  const open = openGroups()
  const toggle = (isOpen: boolean): void => {
    const others = openGroups().filter((one) => one !== group)
    setParams({ open: [...others, ...(isOpen ? [group] : [])].join(',') })
  }
  const isOpen = open.includes(group)
  return (
    <details class="check-group" data-group={group} open={isOpen} onToggle={(event) => event.currentTarget.open !== isOpen && toggle(event.currentTarget.open)}>
      <summary>
        <span class="check-group-name">{GROUPS[group]}</span>
        <span class="check-group-counts">
          {ORDER.filter((status) => counts[status] > 0).map((status) => (
            <span key={status} data-status={status}>
              {counted(counts[status], status)}
              {status === 'skipped' && becauseText(skippedBecause)}
            </span>
          ))}
        </span>
      </summary>
      <ul class="checks">
        {checks.map((check) => (
          <Check key={check.id} check={check} />
        ))}
      </ul>
    </details>
  )
}

export function GroupList() {
  if (report.value === undefined) return null
  return (
    <section class="part" aria-labelledby="checks-title">
      <h3 id="checks-title">
        All checks <span class="count">{report.value.checks.length}</span>
      </h3>
      <div class="check-groups">
        {groupsOf(report.value).map((view) => (
          <Group key={view.group} view={view} />
        ))}
      </div>
    </section>
  )
}
