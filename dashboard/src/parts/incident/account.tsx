// How an incident, or a fault in a log, is shown wherever it stands: its state, the way to it, what to do, its figures.
import { momentText } from '../../../../agent/text/time.ts'
import type { ComponentChildren } from 'preact'
import type { Remedy } from '../../../../agent/model/fault.ts'
import type { Incident, IncidentLink, IncidentSummary } from '../../../../agent/model/incident.ts'
import { factRows } from '../../text/facts.ts'
import { Command, Sentence } from '../command.tsx'
import { CopyButton } from '../copy-button.tsx'
import { agentNow } from '../live/state.ts'
import { hrefOf } from '../route.ts'
import { incidents } from './known.ts'

const SHAPES: Readonly<Record<string, string>> = { critical: '▲', warning: '◆', info: '●' }

type MarkProps = { readonly incident: Pick<IncidentSummary, 'severity' | 'status' | 'silenced'>; readonly flapping?: boolean }

/** Its severity as a shape and a word while it fires, never by its colour alone. */
export function StateMark({ incident: { severity, status, silenced }, flapping = false }: MarkProps) {
  const state = flapping ? 'firing' : status
  return (
    <span class="state-mark" data-severity={severity} data-status={state}>
      <span aria-hidden="true">{state === 'resolved' ? '○' : (SHAPES[severity] ?? '●')}</span>
      {flapping ? 'flapping' : status === 'firing' ? severity : status}
      {silenced !== undefined && <span class="tag">silenced</span>}
    </span>
  )
}

type Props = {
  readonly remedies: readonly Remedy[]
  /** Behind "command 1" for those who cannot see where it is, where a page has several lists. */
  readonly of?: string
}

/** What to do, step by step, with the commands to copy: of an incident, a fault in a log, a snapshot, a check. */
export function RemedyList({ remedies, of }: Props) {
  return (
    <ol class="remedies">
      {remedies.map(({ text, command }, i) => (
        <li key={i}>
          <Sentence text={text} />
          {command !== undefined && (
            <span class="command">
              <Command text={command} />
              <CopyButton text={command} label="copy" of={`command ${i + 1}${of === undefined ? '' : ` of ${of}`}`} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}

type LinkProps = { readonly link: Pick<IncidentLink, 'id'> & Partial<IncidentLink>; readonly timed?: boolean }

/** By its title where the page knows it; `timed` where several of one title may be together. */
export function IncidentLinkTo({ link: { id, kind }, timed = false }: LinkProps) {
  const known = incidents.value.get(id)
  return (
    <>
      <a href={hrefOf('incidents', [id])}>
        <Sentence text={known?.title ?? kind ?? id} />
      </a>
      {timed && known !== undefined ? ` ${momentText(known.started_at, agentNow.peek())}` : ''}
    </>
  )
}

/** A part of a page below its own heading. */
export function Part({ id, title, children }: { readonly id: string; readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{title}</h3>
      {children}
    </section>
  )
}

/** Of an incident, or of a fault in a log. */
export function Remedies({ incident: { remedies } }: { readonly incident: Pick<Incident, 'remedies'> }) {
  if (remedies.length === 0) return null
  return (
    <Part id="remedies" title="What to do">
      <RemedyList remedies={remedies} />
    </Part>
  )
}

export function Facts({ incident: { facts, kind } }: { readonly incident: Pick<Incident, 'facts'> & Partial<Pick<Incident, 'kind'>> }) {
  const rows = factRows(facts, agentNow.peek(), kind)
  if (rows.length === 0) return null
  return (
    <Part id="facts" title="Figures">
      <dl class="fact-list">
        {rows.map(({ name, label, value }) => (
          <div key={name} data-fact={name} class={value.length > 32 ? 'long' : undefined}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Part>
  )
}
