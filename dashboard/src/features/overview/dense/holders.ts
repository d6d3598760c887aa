// Who holds memory of a GPU now, in one line. Pure.
import type { FrameMessage } from '../../../../../agent/model/live.ts'
import { memory } from '../../../text/format.ts'
import { containerKey, holderName, outsideKey } from '../../../text/names.ts'

export type Holder = { readonly name: string; readonly bytes: number }

/** Containers, and outside of them Slurm jobs, units and processes, named as on the large cards; the largest first. */
export function holdersOf({ containers, processes, jobs }: Pick<FrameMessage, 'containers' | 'processes' | 'jobs'>, uuid: string): readonly Holder[] {
  const found = new Map<string, number>()
  const add = (name: string, bytes: number | undefined): void => {
    if (bytes !== undefined && bytes > 0) found.set(name, (found.get(name) ?? 0) + bytes)
  }
  for (const row of containers) add(containerKey(row), row.gpu_memory_bytes?.[uuid])
  for (const row of processes)
    if (row.uuid === uuid && row.container_id === undefined) add(holderName(outsideKey(row), jobs) || 'host process', row.gpu_memory_bytes)
  return [...found].map(([name, bytes]) => ({ name, bytes })).toSorted((a, b) => b.bytes - a.bytes)
}

/** The names and figures of the first two apart, so that a name that is cut does not take its figure with it. */
export function holderParts(holders: readonly Holder[]): readonly [string, string, string, string] {
  const [first, second, ...more] = holders
  if (first === undefined) return ['', '', '', '']
  if (second === undefined) return [first.name, ` ${memory(first.bytes)}`, '', '']
  return [first.name, ` ${memory(first.bytes)}, `, second.name, ` ${memory(second.bytes)}${more.length > 0 ? `, ${more.length} more` : ''}`]
}

export function holdersText(holders: readonly Holder[], most: number): string {
  const shown = holders.slice(0, most).map(({ name, bytes }) => `${name} ${memory(bytes)}`)
  return holders.length > most ? `${shown.join(', ')}, ${holders.length - most} more` : shown.join(', ')
}
