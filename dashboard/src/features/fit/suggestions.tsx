// The least changes that would make it fit, each a link to the same question with that change.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import type { FitReport } from '../../../../agent/model/fit.ts'
import { suggestionGroups } from './report.ts'
import { suggestedChanges } from './question.ts'
import { words } from './state.ts'
import { hrefOf } from '../../parts/route.ts'
import { memory } from '../../text/format.ts'
import { gpuName } from '../../text/fit.ts'

function namesOf(gpus: FitReport['gpus']): string {
  const indices = gpus.map(({ gpu: { index, gi } }) => (gi === undefined ? index : undefined)).filter((index) => index !== undefined)
  if (indices.length < gpus.length) return gpus.map(({ gpu }) => gpuName(gpu)).join('; ')
  return `${indices.length === 1 ? 'GPU' : 'GPUs'} ${indexRanges(indices)}`
}

export function FitSuggestions({ report: { gpus } }: { readonly report: FitReport }) {
  const groups = suggestionGroups(gpus)
  if (groups.length === 0) return null
  return (
    <section class="part" aria-labelledby="suggestions-title">
      <h3 id="suggestions-title">What would make it fit now</h3>
      {groups.map(({ gpus: same, suggestions }) => (
        <div key={namesOf(same)} class="suggestion-group">
          <h4>on {namesOf(same)}</h4>
          <ul class="suggestions">
            {suggestions.map(({ changes, why, total }) => (
              <li key={changes.join(' ')}>
                <a class="suggestion" href={hrefOf('fit', [], { ...Object.fromEntries(words.value), ...suggestedChanges(changes, words.value) })}>
                  <span class="changes">
                    {changes.map((change) => (
                      <code key={change}>{change.replaceAll('--', '')}</code>
                    ))}
                  </span>
                  <span class="sub">{why.join('; ')}</span>
                  <b>{memory(total.likely_bytes)}</b>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}
