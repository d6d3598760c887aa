// The runbook of the incident's kind, fetched when it is opened, with what draws Markdown; whether it is open is in the address.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { IncidentKind } from '../../../../../agent/model/kinds.ts'
import { route, setParams } from '../../../parts/route.ts'
import { runbookOf } from './state.ts'

type Page = { readonly text: string; readonly Markdown: ComponentType<{ readonly text: string }> }

async function fetchPage(kind: IncidentKind): Promise<Page> {
  const [text, { Markdown }] = await Promise.all([runbookOf(kind), import('./markdown.tsx')])
  return { text, Markdown }
}

export function Runbook({ kind }: { readonly kind: IncidentKind }) {
  const open = route.value.params.get('runbook') === 'open'
  const [page, setPage] = useState<Page | 'failed' | undefined>(undefined)
  useEffect(() => {
    if (!open || (page !== undefined && page !== 'failed')) return
    fetchPage(kind).then(setPage, () => setPage('failed'))
  }, [open, kind])
  return (
    <details class="runbook" open={open} onToggle={(event) => setParams({ runbook: event.currentTarget.open ? 'open' : undefined })}>
      <summary>
        Runbook <code>{kind}</code>
      </summary>
      {page === undefined ? (
        <p class="faint">Asking the agent …</p>
      ) : page === 'failed' ? (
        <p role="alert">
          The runbook could not be fetched. <a href={`runbooks/${kind}`}>Open it as text</a>
        </p>
      ) : (
        // Its own title is the summary's.
        <page.Markdown text={page.text} />
      )}
    </details>
  )
}
