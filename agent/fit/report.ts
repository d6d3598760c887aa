// The whole answer: the estimate, and what each GPU says to it.
import type { FitReport, FitSettings, FitSuggestion, GpuRoom } from '../model/fit.ts'
import { estimate } from './estimate.ts'
import type { FitModel } from './model.ts'
import { suggest, type Tried } from './suggest.ts'
import { fitsNow, judge } from './verdict.ts'

export function fitReport(model: FitModel, settings: FitSettings, rooms: readonly GpuRoom[]): FitReport {
  const estimated = estimate(model, settings)
  const host = rooms.filter(({ uuid, gi }) => uuid !== undefined && gi === undefined)
  const searched = new Map<string, readonly FitSuggestion[]>()
  const tried: Tried = new Map()
  const suggestions = (room: GpuRoom): readonly FitSuggestion[] => {
    // Whole MiB: what changes by a page between two samples changes no advice.
    const key = [room.capacity_bytes, room.free_bytes ?? room.capacity_bytes].map((bytes) => Math.floor(bytes / 2 ** 20)).join(' ')
    let found = searched.get(key)
    if (found === undefined) searched.set(key, (found = suggest(model, settings, room, host.includes(room) ? host : [], tried)))
    return found
  }
  const gpus = rooms.map((room) => {
    const judged = judge(estimated, room)
    return { ...judged, suggestions: fitsNow(judged) || judged.verdict === 'unknown' ? [] : suggestions(room) }
  })
  return { version: 1, estimate: estimated, gpus, fits: { needed: settings.gpus, now: gpus.filter(fitsNow).length } }
}
