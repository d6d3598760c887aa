// Does a model fit: the question on the left, the answer beside it; what the GPUs have while nothing is asked.
import './style.css'
import './gpus.css'
import './answer.css'
import { useEffect } from 'preact/hooks'
import { AsOf, FitAnswer } from './answer.tsx'
import { FitForm } from './form.tsx'
import { RoomTable } from './gpu-table.tsx'
import { stale } from '../../parts/live/state.ts'
import { busy, problem, question, rooms, watchFit } from './state.ts'
import { hrefOf } from '../../parts/route.ts'

const EXAMPLES: readonly (readonly [label: string, params: Readonly<Record<string, string>>])[] = [
  ['Chat with an 8B model in bf16', { params: '8b', context: '8192' }],
  ['A 70B model in 4 bits under vLLM', { params: '70b', dtype: 'int4', engine: 'vllm' }],
  ['QLoRA of a 32B model', { params: '32b', train: 'qlora', checkpointing: 'on' }],
  ['Full training of a 7B model on 8 GPUs with FSDP', { params: '7b', train: 'full', gpus: '8', shard: 'zero3', checkpointing: 'on' }],
]

function Invitation() {
  const now = rooms.value
  return (
    <div class="fit-answer">
      <header class="fit-top">
        <div>
          <h2 id="fit-title">Does it fit?</h2>
          <p class="fit-line">Say how big the model is, or paste its config.json. Or begin with one of these:</p>
          <ul class="examples">
            {EXAMPLES.map(([label, params]) => (
              <li key={label}>
                <a href={hrefOf('fit', [], params)}>{label}</a>
              </li>
            ))}
          </ul>
          {now !== undefined && now.list.length > 0 && <AsOf at={now.at} />}
        </div>
      </header>
      {now !== undefined && now.list.length > 0 && <RoomTable list={now.list} />}
      {now?.list.length === 0 && <p class="nothing">No GPU on this host. Name the cards to check under “Cards”.</p>}
    </div>
  )
}

function Answer() {
  if (problem.value !== undefined)
    return (
      <p class="nothing fit-problem" role="alert">
        {problem.value}
      </p>
    )
  return question.value === undefined ? <Invitation /> : <FitAnswer />
}

export function Fit() {
  useEffect(watchFit, [])
  return (
    <section class={stale.value ? 'content fit stale' : 'content fit'} aria-label="Does it fit" aria-busy={busy.value}>
      <FitForm />
      <Answer />
    </section>
  )
}
