// The runbook of the incident's kind, fetched when it is opened; whether it is open stands in the address.
import { useEffect, useState } from 'preact/hooks'
import type { IncidentKind } from '../../../../../agent/model/kinds.ts'
import { runbookOf } from './state.ts'
import { route, setParams } from '../../../parts/route.ts'
import { blocksOf, type Block } from '../../../text/markdown.ts'
import { Markdown } from './markdown.tsx'

export function Runbook({ kind }: { readonly kind: IncidentKind }) {
  const open = route.value.params.get('runbook') === 'open'
  const [page, setPage] = useState<readonly Block[] | 'failed' | undefined>(undefined)
  useEffect(() => {
    if (!open || (page !== undefined && page !== 'failed')) return
    runbookOf(kind).then(
      // Its own title is the summary's.
      (text) => setPage(blocksOf(text).filter((block) => block.kind !== 'heading' || block.level > 1)),
      () => setPage('failed'),
    )
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
        <Markdown blocks={page} />
      )}
    </details>
  )
}
