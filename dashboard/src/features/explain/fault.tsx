// One fault of a log: the root whole, the others folded.
import { CONFIDENCE_TEXTS } from '../../../../agent/text/confidence.ts'
import type { Fault } from '../../../../agent/model/fault.ts'
import { Facts, Part, Remedies, StateMark } from '../../parts/incident/account.tsx'
import { lookedAt } from './state.ts'

type Props = { readonly fault: Fault }

function Lines({ fault: { evidence } }: Props) {
  if (evidence.length === 0) return null
  return (
    <p class="fault-lines">
      <span>{evidence.length === 1 ? 'Seen in line' : 'Seen in lines'}</span>
      {evidence.map(({ line, text }) => (
        <button key={line} type="button" class="line-link" title={text.trim().slice(0, 200)} onClick={() => (lookedAt.value = { line })}>
          {line}
        </button>
      ))}
    </p>
  )
}

export function Root({ fault }: Props) {
  const { kind, title, verdict, confidence, severity } = fault
  return (
    <>
      <header class="incident-top" data-severity={severity} data-status="firing">
        <p class="incident-line">
          <StateMark incident={{ severity, status: 'firing' }} />
          <code>{kind}</code>
        </p>
        <h2>{title}</h2>
        <p class="verdict">{verdict}</p>
        {confidence !== undefined && <p class="sub">{`Confidence: ${CONFIDENCE_TEXTS[confidence]}`}</p>}
        <Lines fault={fault} />
      </header>
      <Remedies incident={fault} />
      <Facts incident={fault} />
    </>
  )
}

export function AlsoFound({ faults }: { readonly faults: readonly Fault[] }) {
  return (
    <Part id="also" title="Also found">
      <ul class="consequences">
        {faults.map((fault, i) => (
          <li key={i} data-kind={fault.kind}>
            <details>
              <summary>
                <span>{fault.title}</span>
                <span class="sub">{`${fault.severity} · ${fault.kind}${fault.evidence[0] === undefined ? '' : ` · line ${fault.evidence[0].line}`}`}</span>
              </summary>
              <p>{fault.verdict}</p>
              <Lines fault={fault} />
              <Remedies incident={fault} />
              <Facts incident={fault} />
            </details>
          </li>
        ))}
      </ul>
    </Part>
  )
}
