// The allocators: one process now and before, or a snapshot file.
import './style.css'
import './snapshot/style.css'
import './snapshot/map/style.css'
import { useEffect } from 'preact/hooks'
import { stale } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import type { ViewProps } from '../feature.ts'
import { ProcessPart } from './process/view.tsx'
import { DropTarget } from './snapshot/drop.tsx'
import { file, reopenFile } from './snapshot/state.ts'
import { SnapshotPart } from './snapshot/view.tsx'

function Tab({ rest, here, label }: { readonly rest: readonly string[]; readonly here: boolean; readonly label: string }) {
  return (
    <a href={hrefOf('allocator', rest)} aria-current={here ? 'page' : undefined}>
      {label}
    </a>
  )
}

export function Allocator({ rest }: ViewProps) {
  const [part] = rest
  useEffect(() => void reopenFile(), [])
  const snapshot = part === 'snapshot'
  return (
    <DropTarget>
      <div class={stale.value && !snapshot ? 'content stale allocator' : 'content allocator'}>
        <h2 class="spoken">Allocator</h2>
        <nav class="parts" aria-label="Allocator">
          <Tab rest={[]} here={part === undefined} label="Processes" />
          <Tab rest={['snapshot']} here={snapshot} label={file.value.state === 'there' ? `Snapshot: ${file.value.name.slice(0, 40)}` : 'Snapshot file'} />
        </nav>
        {snapshot ? (
          <SnapshotPart />
        ) : part === undefined ? (
          <ProcessPart />
        ) : (
          <p class="lost">
            There is no page {JSON.stringify(part)} here. <a href={hrefOf('allocator')}>Processes</a>
          </p>
        )}
      </div>
    </DropTarget>
  )
}
