// The command palette: type a few letters of a page, GPU, job, process, incident or command, and press Enter.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { entries } from './entries.ts'
import { type Entry, match } from './match.ts'
import { openDialog } from './opened.ts'

function go({ act }: Entry): void {
  openDialog.value = undefined
  if (typeof act === 'function') act()
  else location.hash = act.href
}

const idOf = (place: number): string => `palette-${place}`

export function Palette() {
  const all = useMemo(entries, [])
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const found = useMemo(() => match(all, query), [all, query])
  const place = Math.min(at, Math.max(0, found.length - 1))
  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }), [place, found])
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = place + step
      // One step beyond an end leads to the other.
      setAt(Math.abs(step) === 1 ? (next + found.length) % Math.max(1, found.length) : Math.max(0, Math.min(found.length - 1, next)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const chosen = found[place]
      if (chosen !== undefined) go(chosen)
    }
  }
  return (
    <>
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label="Go to a page, GPU, job, process or incident, or do something"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : idOf(place)}
        placeholder="GPU 3, job, user, incident, command …"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-list" class="palette-list" role="listbox" aria-label="Found" ref={list}>
        {found.map((entry, i) => (
          <li
            key={entry.id}
            id={idOf(i)}
            role="option"
            title={[entry.label, entry.hint].filter(Boolean).join(' · ')}
            aria-selected={i === place}
            onPointerMove={() => setAt(i)}
            onClick={() => go(entry)}
          >
            <span class="palette-group">{entry.group}</span>
            <span class="palette-label">{entry.label}</span>
            {entry.hint !== undefined && <span class="palette-hint">{entry.hint}</span>}
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="palette-nothing" role="status">
          Nothing is called that. Incidents of long ago: <a href={`#/incidents?text=${encodeURIComponent(query)}`}>search all incidents</a>
        </p>
      )}
    </>
  )
}
