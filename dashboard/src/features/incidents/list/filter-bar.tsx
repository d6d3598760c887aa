// The filters of the list: all of them are in the address.
import { asked, filter, filtered, filters, kinds, known, rows } from './state.ts'
import { FILTER_NAMES, SEVERITIES, SPANS, STATES } from '../../../parts/incident/filter.ts'

type ChoiceProps = {
  readonly name: 'state' | 'severity' | 'kind' | 'since'
  readonly label: string
  readonly every: string
  readonly choices: readonly (readonly [value: string, label: string])[]
}

function Choice({ name, label, every, choices }: ChoiceProps) {
  const now = filters.value[name] ?? ''
  // A value that someone typed, or a kind that is no longer known, is shown as it is.
  const all = now === '' || choices.some(([value]) => value === now) ? choices : [...choices, [now, now] as const]
  return (
    <label class="choice" data-set={now !== ''}>
      <span>{label}</span>
      <select name={name} value={now} onChange={(event) => filter({ [name]: event.currentTarget.value || undefined })}>
        <option value="">{every}</option>
        {all.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const same = (values: readonly string[]): ChoiceProps['choices'] => values.map((value) => [value, value])
const NONE = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined]))

export function FilterBar() {
  const { rows: shown, waiting } = rows.value
  // Before the first answer, and without one, how many there are is not known: none is no answer.
  const unknown = asked.value.state !== 'there' && shown.length === 0
  return (
    <form class="filters" role="search" aria-label="incidents" onSubmit={(event) => event.preventDefault()}>
      <label class="choice find" data-set={filters.value.text !== undefined}>
        <span>Find</span>
        <input
          type="search"
          name="text"
          placeholder="container, message, id …"
          autocomplete="off"
          spellcheck={false}
          value={filters.value.text ?? ''}
          onInput={(event) => filter({ text: event.currentTarget.value || undefined })}
        />
      </label>
      <Choice name="state" label="State" every="any" choices={same(STATES)} />
      <Choice name="severity" label="Severity" every="any" choices={same(SEVERITIES)} />
      <Choice name="kind" label="Kind" every="any" choices={kinds.value.map(([kind, count]) => [kind, `${kind} (${count})`])} />
      <Choice name="since" label="Seen in the" every="whole record" choices={Object.entries(SPANS).map(([value, { label }]) => [value, label])} />
      <p class="tally" role="status">
        {/* The table is held still: it changes as soon as the pointer or the keyboard leaves it. */}
        {waiting > 0 && <span class="waits">{waiting === 1 ? '1 change waits' : `${waiting} changes wait`}</span>}
        {!unknown && (filtered.value ? `${shown.length} of ${known.value}` : shown.length === 1 ? '1 incident' : `${shown.length} incidents`)}
        {filtered.value && (
          <button type="button" class="word" onClick={() => filter(NONE)}>
            show all
          </button>
        )}
      </p>
    </form>
  )
}
