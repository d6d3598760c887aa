// Which process, and over which span: both stand in the address.
import { since } from '../../../../../agent/text/time.ts'
import { span } from './span.ts'
import { chosenKey, probed } from './state.ts'
import { SPANS } from './lanes.ts'
import { nameOf, type Probed } from './processes.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { setParams } from '../../../parts/route.ts'

function Options({ of }: { readonly of: readonly Probed[] }) {
  return (
    <>
      {of.map((one) => (
        <option key={one.key} value={one.key}>
          {nameOf(one)}
          {one.endedAt === undefined ? '' : ` · until ${since(one.endedAt, agentNow.peek())}`}
        </option>
      ))}
    </>
  )
}

export function ProcessPicker() {
  const all = probed.value
  const [speaking, ended] = [all.filter(({ row }) => row !== undefined), all.filter(({ row }) => row === undefined)]
  const now = chosenKey.value ?? ''
  return (
    <form class="filters allocator-picker" onSubmit={(event) => event.preventDefault()}>
      <label class="choice process-choice">
        <span>Process</span>
        <select name="process" value={now} onChange={(event) => setParams({ process: event.currentTarget.value })}>
          {!all.some(({ key }) => key === now) && <option value={now}>{now === '' ? 'none' : `${now}: not known here`}</option>}
          <optgroup label="Connected">
            <Options of={speaking} />
          </optgroup>
          {ended.length > 0 && (
            <optgroup label="Ended">
              <Options of={ended} />
            </optgroup>
          )}
        </select>
      </label>
      <fieldset class="spans">
        <legend>Last</legend>
        {Object.entries(SPANS).map(([name, { label }]) => (
          <label key={name}>
            <input
              type="radio"
              name="range"
              value={name}
              checked={span.value.id === name}
              onChange={() => setParams({ range: name === '15m' ? undefined : name, from: undefined, to: undefined })}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
    </form>
  )
}
