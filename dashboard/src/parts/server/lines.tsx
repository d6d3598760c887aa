// Inference servers as lines of something else: a GPU's card, a job's page. The whole of each is in the Servers view.
import { useMemo } from 'preact/hooks'
import type { ServerRow } from '../../../../agent/model/live.ts'
import { frame } from '../live/state.ts'
import { steadyList } from '../live/steady.ts'
import { nowText, splitText } from './text.ts'

type Line = { readonly name: string; readonly about: string; readonly now: string; readonly split: string; readonly state: string }

function lineOf(row: ServerRow): Line {
  const about = [row.version === undefined ? row.server : `${row.server} ${row.version}`, row.model].filter((text) => text !== undefined).join(' · ')
  return { name: row.name, about, now: nowText(row), split: splitText(row), state: row.state ?? 'unknown' }
}

/** Drawn again when a word of it changes: servers say something new every five seconds. */
export function ServerLines({ of, label }: { readonly of: (row: ServerRow) => boolean; readonly label: string }) {
  const lines = useMemo(() => steadyList(() => (frame.value?.servers ?? []).filter(of).map(lineOf), JSON.stringify), [of])
  if (lines.value.length === 0) return null
  return (
    <ul class="server-lines" aria-label={label}>
      {lines.value.map(({ name, about, now, split, state }) => (
        <li key={name} data-state={state}>
          <a href="#/servers" title={about}>
            {name}
          </a>{' '}
          <span>{now}</span>
          {split !== '' && <small>{split}</small>}
        </li>
      ))}
    </ul>
  )
}
