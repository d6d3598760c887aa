// One setting of the form: its value is in the address, and what it means while it is empty is in it faintly.
import { usualOf, type Field } from './fields.ts'
import { answered, problem, words } from './state.ts'
import { setParams } from '../../parts/route.ts'

export function FitField({ field }: { readonly field: Field }) {
  const { name, label, hint } = field
  const now = words.value.get(name) ?? ''
  const usual = usualOf(field, words.value, answered.value?.report)
  const set = (value: string): void => setParams({ [name]: value === '' ? undefined : value })
  const wrong = problem.value?.startsWith(`${name}:`) === true
  return (
    <label class="choice" data-set={now !== ''}>
      <span>
        {label}
        {hint !== undefined && <span class="hint"> {hint}</span>}
      </span>
      {field.kind === 'number' ? (
        <input
          type="number"
          name={name}
          min={field.step}
          max={field.most}
          step={field.step}
          placeholder={usual}
          value={now}
          aria-invalid={wrong}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <Choices field={field} now={now} usual={usual} wrong={wrong} set={set} />
      )}
    </label>
  )
}

type ChoicesProps = {
  readonly field: Extract<Field, { readonly kind: 'choice' }>
  readonly now: string
  readonly usual: string
  readonly wrong: boolean
  readonly set: (value: string) => void
}

function Choices({ field, now, usual, wrong, set }: ChoicesProps) {
  const choices = field.choices(words.value)
  const usualLabel = choices.find(({ value }) => value === usual)?.label ?? usual
  // A value that someone typed into the address is shown as it is; the agent says what is wrong with it.
  const all = now === '' || choices.some(({ value }) => value === now) ? choices : [...choices, { value: now, label: now }]
  return (
    <select name={field.name} value={now} aria-invalid={wrong} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">{usualLabel === '' ? 'as usual' : `${usualLabel} (usual)`}</option>
      {all.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
