// What is asked: model, kind of work, settings, cards. All of it is in the address; it is asked as it is typed.
import { useState } from 'preact/hooks'
import { fieldsFor, WORK } from './fields.ts'
import { workChanges } from './question.ts'
import { problem, words } from './state.ts'
import { hrefOf, setParams } from '../../parts/route.ts'
import { FitField } from './field.tsx'
import { FitModel } from './model.tsx'

function Work() {
  const now = words.value.get('train') ?? ''
  return (
    <fieldset class="fit-set">
      <legend>What is done with it</legend>
      <div class="segments">
        {WORK.map(({ value, label }) => (
          <label key={value} class="segment">
            <input type="radio" name="train" value={value} checked={now === value} onChange={() => setParams(workChanges(value, words.peek()))} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

export function FitForm() {
  const fields = fieldsFor(words.value)
  // On a phone the answer should not be far away.
  const [unfolded] = useState(() => matchMedia('(min-width: 901px)').matches)
  const rare = fields.filter((field) => field.rare === true)
  return (
    <form class="fit-form" aria-label="What should fit" onSubmit={(event) => event.preventDefault()}>
      <FitModel />
      <Work />
      <details class="fit-settings" open={unfolded || fields.some(({ name }) => words.peek().has(name))}>
        <summary>Settings</summary>
        <div class="fit-fields">
          {fields
            .filter((field) => field.rare !== true)
            .map((field) => (
              <FitField key={field.name} field={field} />
            ))}
        </div>
        <details open={rare.some(({ name }) => words.peek().has(name))}>
          <summary>More settings</summary>
          <div class="fit-fields">
            {rare.map((field) => (
              <FitField key={field.name} field={field} />
            ))}
          </div>
        </details>
      </details>
      <fieldset class="fit-set">
        <legend>Cards</legend>
        <label class="choice" data-set={words.value.has('gpu')}>
          <span>
            By name or memory <span class="hint">instead of this host’s</span>
          </span>
          <input
            type="text"
            name="gpu"
            placeholder="RTX 4090, A100 80GB, 24GiB"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem.value?.startsWith('gpu:') === true}
            value={words.value.get('gpu') ?? ''}
            onInput={(event) => setParams({ gpu: event.currentTarget.value || undefined })}
          />
        </label>
      </fieldset>
      {words.value.size > 0 && (
        <p class="start-over">
          <a href={hrefOf('fit')}>Start over</a>
        </p>
      )}
    </form>
  )
}
