// Brings back what was still in memory when the agent ended, from the journal.
import type { Log } from '../../model/source.ts'
import type { Disk } from './disk.ts'
import { RECORD } from './disk.ts'
import { createJournalReader, decodeMarker } from './journal.ts'
import type { Marker } from './journal.ts'
import type { Column, Windows } from './window.ts'

/** Puts the samples that no block holds yet into the windows. `at` gets each record's number before its samples. */
export function replayJournal(disk: Disk, windows: Windows, at: (seq: number) => void, log: Log): void {
  const markers = new Map<number, Marker[]>()
  for (const data of disk.markers()) {
    const marker = decodeMarker(data)
    for (const id of marker.ids) {
      const known = markers.get(id)
      if (known === undefined) markers.set(id, [marker])
      else known.push(marker)
    }
  }
  const columns = new Map<number, Column | undefined>()
  const columnOf = (id: number): Column | undefined => {
    if (columns.has(id)) return columns.get(id)
    const series = disk.seriesById(id)
    const column = series && windows.restore(series.metric, series.key, series.labels, id)
    columns.set(id, column)
    return column
  }
  const reader = createJournalReader()
  let torn = 0
  for (const row of disk.journal()) {
    at(row.seq)
    if (row.kind !== RECORD) continue
    const whole = reader.read(row.data, (id, second, value) => {
      if (markers.get(id)?.some((marker) => row.seq < marker.before && second < marker.until) === true) return
      let column = columnOf(id)
      if (column?.alive === false) {
        columns.delete(id)
        column = columnOf(id)
      }
      if (column !== undefined) windows.put(column, second, value, row.seq)
    })
    if (!whole) torn++
  }
  if (torn > 0) log.warn(`history: ${torn} seconds of the journal could not be read and are missing`)
}
