// Which model: its size alone, or its config.json, pasted or chosen as a file.
import { useState } from 'preact/hooks'
import { configHeld, configMissing, problem, shownConfig, takeConfig, words } from './state.ts'
import { setParams } from '../../parts/route.ts'

const SIZES = ['0.5b', '1b', '3b', '4b', '7b', '8b', '13b', '14b', '32b', '70b']

function SizeField({ label }: { readonly label: string }) {
  return (
    <label class="choice" data-set={words.value.has('params')}>
      <span>{label}</span>
      <input
        type="text"
        name="params"
        list="fit-sizes"
        placeholder="8b, 350m, 8030261248"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem.value?.startsWith('params:') === true}
        value={words.value.get('params') ?? ''}
        onInput={(event) => setParams({ params: event.currentTarget.value.trim() || undefined })}
      />
      <datalist id="fit-sizes">
        {SIZES.map((size) => (
          <option key={size} value={size} />
        ))}
      </datalist>
    </label>
  )
}

function ConfigField() {
  const [text, setText] = useState(shownConfig)
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const take = (next: string): void => {
    setText(next)
    if (next.trim() === '') {
      setWrong(undefined)
      setParams({ config: undefined })
    } else setWrong(takeConfig(next))
  }
  const nobodyKnows = problem.value?.startsWith('config.json: nothing is known') === true
  return (
    <>
      <label class="choice" data-set={text !== ''}>
        <span>
          config.json <span class="hint">of a Hugging Face model</span>
        </span>
        <textarea
          name="config"
          rows={7}
          spellcheck={false}
          placeholder={'{ "model_type": "llama", … }'}
          aria-invalid={wrong !== undefined}
          value={text}
          onInput={(event) => take(event.currentTarget.value)}
        />
      </label>
      <label class="file">
        <span class="spoken">config.json as a file</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0]
            if (file !== undefined) void file.text().then(take)
          }}
        />
      </label>
      {wrong !== undefined && (
        <p class="bad" role="alert">
          {wrong}
        </p>
      )}
      {configMissing.value && <p class="warned">It was too long for the address: paste it again.</p>}
      {configHeld.value && <p class="hint">Too long for the address: a link to this page holds the settings alone.</p>}
      {(nobodyKnows || (words.value.has('config') && words.value.has('params'))) && <SizeField label="Parameters, as its type is not known" />}
    </>
  )
}

export function FitModel() {
  const [pasting, setPasting] = useState(false)
  const byConfig = pasting || words.value.has('config')
  const tab = (label: string, config: boolean) => (
    <label class="segment">
      <input
        type="radio"
        name="known"
        checked={byConfig === config}
        onChange={() => {
          setPasting(config)
          if (!config) setParams({ config: undefined })
        }}
      />
      <span>{label}</span>
    </label>
  )
  return (
    <fieldset class="fit-set">
      <legend>Model</legend>
      <div class="segments">
        {tab('By its size', false)}
        {tab('By its config.json', true)}
      </div>
      {byConfig ? <ConfigField /> : <SizeField label="Parameters" />}
    </fieldset>
  )
}
