// What earlier runs of a container had on a GPU: the measure for a run that fails before it has a past of its own.
import type { Track } from '../../detectors/parts/tracks.ts'

/** The most that a run had in use, without its last minutes, and over how long that was seen. */
type Usual = { readonly bytes: number; readonly overMs: number }
type Run = { readonly usual: Usual | undefined; readonly grew: boolean }
export type EarlierRuns = { readonly count: number; readonly grew: number; readonly usual: Usual | undefined }

const MAX_JOBS = 1_000

/** A restart may give the container another id, its name stays. Without a container nothing says that two processes are one job. */
const keyOf = ({ uuid, container }: Track): string | undefined => (container === undefined ? undefined : `${uuid} ${container}`)

export function createEarlierRuns() {
  const jobs = new Map<string, EarlierRuns>()
  return {
    add(track: Track, { usual, grew }: Run): void {
      const key = keyOf(track)
      if (key === undefined) return
      const known = jobs.get(key)
      const most = known?.usual === undefined || (usual !== undefined && usual.bytes > known.usual.bytes) ? usual : known.usual
      jobs.delete(key)
      jobs.set(key, { count: (known?.count ?? 0) + 1, grew: (known?.grew ?? 0) + (grew ? 1 : 0), usual: most })
      const oldest = jobs.size > MAX_JOBS ? jobs.keys().next().value : undefined
      if (oldest !== undefined) jobs.delete(oldest)
    },
    of(track: Track): EarlierRuns | undefined {
      const key = keyOf(track)
      return key === undefined ? undefined : jobs.get(key)
    },
  }
}
