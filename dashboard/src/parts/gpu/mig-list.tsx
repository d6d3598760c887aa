// The MIG instances of a GPU, each with its memory.
import type { MigRow } from '../../../../agent/model/live.ts'
import { memory } from '../../text/format.ts'
import { Meter } from '../figure.tsx'

/** `3g.40gb`: the driver gives an instance the card's name with its profile behind. */
function profileOf({ name, profile }: MigRow): string {
  if (typeof profile === 'string') return profile
  return typeof name === 'string' ? (/\bMIG (.+)$/.exec(name)?.[1] ?? name) : ''
}

/** `7·1 · 3g.40gb`, as the tables call it. */
export const instanceName = (instance: MigRow, gpu: number): string =>
  [`${gpu}·${instance.gi}`, instance.ci === '' || instance.ci === '0' ? '' : `CI ${instance.ci}`, profileOf(instance)].filter((part) => part !== '').join(' · ')

export function MigList({ instances, gpu }: { readonly instances: readonly MigRow[]; readonly gpu: number }) {
  return (
    <ul class="mig" aria-label={`MIG instances of GPU ${gpu}`}>
      {instances.map((instance) => {
        const { memory_used_bytes: used, memory_total_bytes: total } = instance
        return (
          <li key={`${instance.gi}/${instance.ci}`}>
            <span class="mig-name">{instanceName(instance, gpu)}</span>
            <Meter value={used} limit={total} label={`memory of MIG instance ${instance.gi}`} />
            <span class="mig-bytes">{`${memory(used)} / ${memory(total)}`}</span>
          </li>
        )
      })}
    </ul>
  )
}
