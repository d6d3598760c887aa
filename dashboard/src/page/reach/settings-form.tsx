// The settings, kept in this browser: they hold at once, there is nothing to save.
import { change, CHOICES, type Settings, settings } from '../../parts/settings.ts'
import { chooseTheme, chosenTheme } from '../../parts/theme.ts'

type GroupProps = {
  readonly name: string
  readonly legend: string
  readonly now: string
  readonly choices: readonly (readonly [value: string, label: string])[]
  readonly choose: (value: string) => void
}

function Group({ name, legend, now, choices, choose }: GroupProps) {
  return (
    <fieldset class="setting">
      <legend>{legend}</legend>
      {choices.map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={name} value={value} checked={now === value} onChange={() => choose(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

type Labels = { readonly legend: string; readonly of: Readonly<Record<string, string>> }
const LABELS: Readonly<Record<keyof Settings, Labels>> = {
  memory: { legend: 'Memory in', of: { GiB: 'GiB (1024³ bytes, as nvidia-smi)', GB: 'GB (1000³ bytes)' } },
  temperature: { legend: 'Temperature in', of: { '°C': '°C', '°F': '°F' } },
  zone: { legend: 'Times in', of: { local: 'this browser’s zone', UTC: 'UTC' } },
  layout: { legend: 'GPUs on the overview', of: { auto: 'as fits the screen', cards: 'cards with charts', compact: 'compact', table: 'table' } },
}

function Choice({ name }: { readonly name: keyof Settings }) {
  const { legend, of } = LABELS[name]
  const choices = CHOICES[name].map((value): readonly [string, string] => [value, of[value] ?? value])
  const choose = (value: string): void => {
    const found = CHOICES[name].find((choice) => choice === value)
    if (found !== undefined) change({ [name]: found })
  }
  return <Group name={name} legend={legend} now={settings.value[name]} choices={choices} choose={choose} />
}

export function SettingsForm() {
  return (
    <>
      <h2>Settings</h2>
      <form onSubmit={(event) => event.preventDefault()}>
        <Group
          name="theme"
          legend="Theme"
          now={chosenTheme.value ?? 'system'}
          choices={[
            ['system', 'as the system'],
            ['dark', 'dark'],
            ['light', 'light'],
          ]}
          choose={(value) => chooseTheme(value === 'dark' || value === 'light' ? value : undefined)}
        />
        <Choice name="layout" />
        <Choice name="zone" />
        <Choice name="memory" />
        <Choice name="temperature" />
      </form>
      <p class="of">Kept in this browser. Texts of incidents keep the units in which the agent wrote them.</p>
    </>
  )
}
