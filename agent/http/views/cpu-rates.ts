// CPU cores in use per container: the rise of its CPU seconds between the two newest scrapes that a reader asked for.
import type { MutableRow } from './builder.ts'

/** Readings further apart than this say nothing about the present. */
const MAX_SPAN_MS = 60_000

type Known = { readonly seconds: number; readonly t: number; readonly cores: number | undefined }

export function createCpuRates(): { readonly apply: (rows: readonly MutableRow[], times: ReadonlyMap<string, number>) => void } {
  let known = new Map<string, Known>()
  return {
    apply(rows, times) {
      const next = new Map<string, Known>()
      for (const row of rows) {
        const { container_id: id, cpu_seconds_total: seconds } = row
        if (typeof id !== 'string' || typeof seconds !== 'number') continue
        const t = times.get(id) ?? 0
        const before = known.get(id)
        let cores: number | undefined
        if (before !== undefined && before.t === t) cores = before.cores
        else if (before !== undefined && t - before.t <= MAX_SPAN_MS && t > before.t && seconds >= before.seconds)
          cores = ((seconds - before.seconds) * 1_000) / (t - before.t)
        if (cores !== undefined) row['cpu_cores'] = Math.round(cores * 1e4) / 1e4
        next.set(id, { seconds, t, cores })
      }
      known = next
    },
  }
}
