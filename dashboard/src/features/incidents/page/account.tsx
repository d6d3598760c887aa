// What is shown of an incident on its page alone: related incidents, the results of configured actions, what followed, the settings of its container.
import { actionText } from '../../../../../agent/text/action.ts'
import { momentText } from '../../../../../agent/text/time.ts'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { IncidentLinkTo, Part } from '../../../parts/incident/account.tsx'
import { agentNow, views } from '../../../parts/live/state.ts'
import { factLabel } from '../../../../../agent/text/facts.ts'
import { memory } from '../../../text/format.ts'
import { containerKey } from '../../../text/names.ts'

type Props = { readonly incident: Incident }

export function Story({ incident: { id, story, part_of: partOf, led_to: ledTo = [] } }: Props) {
  if (partOf === undefined && ledTo.length === 0) return null
  const beginning = story !== undefined && story !== id && story !== partOf?.id ? story : undefined
  return (
    <Part id="story" title="Related incidents">
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

/** Of the actions that are configured for such incidents. */
export function ActionResults({ incident: { actions = [] } }: Props) {
  if (actions.length === 0) return null
  return (
    <Part id="action-results" title="Actions">
      <ul class="consequences">
        {actions.map((done) => {
          const what = (
            <>
              <span>{`${done.action} ${actionText(done)}`}</span>
              <span class="sub">{momentText(done.at, agentNow.peek())}</span>
            </>
          )
          return (
            <li key={done.action}>
              {done.output === undefined ? (
                <p>{what}</p>
              ) : (
                <details>
                  <summary>{what}</summary>
                  <pre>{done.output}</pre>
                </details>
              )}
            </li>
          )
        })}
      </ul>
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
    <Part
      id="settings"
      title={
        subject.container === undefined ? 'Container settings' : `Settings of ${containerKey({ ...subject.container, container: subject.container.name })}`
      }
    >
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
