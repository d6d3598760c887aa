// What is told of an incident in words: what to do, its figures, its story, what followed, the container's settings.
import type { ComponentChildren } from 'preact'
import { momentText } from '../../../../agent/text/time.ts'
import type { Incident } from '../../../../agent/model/incident.ts'
import { agentNow, views } from '../../state/app.ts'
import { memory } from '../../text/format.ts'
import { factLabel, factRows } from '../../text/facts.ts'
import { RemedyList } from '../remedy-list.tsx'
import { IncidentLinkTo } from './incident-table.tsx'

type Props = { readonly incident: Incident }

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

export function Story({ incident: { id, story, part_of: partOf, led_to: ledTo = [] } }: Props) {
  if (partOf === undefined && ledTo.length === 0) return null
  const beginning = story !== undefined && story !== id && story !== partOf?.id ? story : undefined
  return (
    <Part id="story" title="Story">
      <ol class="story-steps">
        {beginning !== undefined && (
          <li>
            began with <IncidentLinkTo link={{ id: beginning }} />
          </li>
        )}
        {partOf !== undefined && (
          <li>
            came from <IncidentLinkTo link={partOf} />
          </li>
        )}
        <li class="this">this incident</li>
        {ledTo.map((link) => (
          <li key={link.id}>
            led to <IncidentLinkTo link={link} timed />
          </li>
        ))}
      </ol>
    </Part>
  )
}

export function Consequences({ incident: { consequences } }: Props) {
  if (consequences.length === 0) return null
  return (
    <Part id="consequences" title="What followed from it">
      <ul class="consequences">
        {consequences.map(({ kind, title, verdict, container, first_seen_at: first, count }, i) => (
          <li key={i}>
            <details>
              <summary>
                <span>{title}</span>
                <span class="sub">
                  {momentText(first, agentNow.peek())}
                  {container === undefined ? '' : ` · ${container}`}
                  {count > 1 ? ` · ${count} times` : ''} · {kind}
                </span>
              </summary>
              <p>{verdict}</p>
            </details>
          </li>
        ))}
      </ul>
    </Part>
  )
}

const settingText = (name: string, value: unknown): string =>
  typeof value === 'number' && name.endsWith('_bytes')
    ? memory(value)
    : Array.isArray(value)
      ? value.join(', ')
      : typeof value === 'string'
        ? value
        : value === true
          ? 'yes'
          : value === false
            ? 'no'
            : JSON.stringify(value)

/** GPUs by the numbers that the page calls them by, where it knows them. */
function gpusText(uuids: readonly string[]): string {
  const known = views.peek() ?? []
  return uuids
    .map((uuid) => {
      const index = known.find((view) => view.uuid === uuid)?.index
      return index === undefined ? uuid : `GPU ${index}`
    })
    .join(', ')
}

export function Settings({ incident: { evidence, subject } }: Props) {
  const { container } = evidence
  if (container === undefined) return null
  const { env = {}, gpus = [], ...settings } = container
  return (
    <Part id="settings" title={subject.container === undefined ? 'Container settings' : `Settings of ${subject.container.name}`}>
      <dl class="fact-list">
        {Object.entries(settings).map(([name, value]) => (
          <div key={name} class={settingText(name, value).length > 28 ? 'long' : undefined}>
            <dt>{factLabel(name)}</dt>
            <dd>{settingText(name, value)}</dd>
          </div>
        ))}
        {gpus.length > 0 && (
          <div>
            <dt>{factLabel('gpus')}</dt>
            <dd title={gpus.join(', ')}>{gpusText(gpus)}</dd>
          </div>
        )}
        {Object.entries(env).map(([name, value]) => (
          <div key={name} class="long env">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Part>
  )
}
