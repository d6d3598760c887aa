// How full the host's own file systems are; network mounts are never asked.
import { readSmallFile } from '../../attribution/small-file.ts'
import { hostDiskAvailableBytes, hostDiskFreeBytes, hostDiskTotalBytes } from '../../metrics/host-io.ts'
import { makeSeries } from '../../model/series.ts'
import type { Series } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { reasonOf } from './aspect.ts'
import { parseMounts } from './mounts.ts'
import type { Mount } from './mounts.ts'
import { createStatfs } from './statfs.ts'

const metrics = [hostDiskTotalBytes, hostDiskFreeBytes, hostDiskAvailableBytes]

type Seen = { readonly total: Series; readonly free: Series; readonly available: Series }

export const disk: Aspect = {
  id: 'disk',
  rate: 'slow',
  metrics,
  create: ({ proc, root }) => {
    const ask = createStatfs()
    let seen = new Map<string, Seen>()
    /** Mounts come and go rarely, and a host with containers has hundreds of lines of them. */
    let known: { readonly text: string; readonly mounts: readonly Mount[] } | undefined
    const seriesOf = (mount: Mount): Seen => {
      const labels = { ...mount }
      return {
        total: makeSeries(hostDiskTotalBytes, labels),
        free: makeSeries(hostDiskFreeBytes, labels),
        available: makeSeries(hostDiskAvailableBytes, labels),
      }
    }
    return async (out) => {
      const table = root === '' ? `${proc}/self/mountinfo` : `${proc}/1/mountinfo`
      let mounts: readonly Mount[]
      try {
        const text = readSmallFile(table)
        if (known?.text !== text) known = { text, mounts: parseMounts(text) }
        mounts = known.mounts
      } catch (error) {
        const { reason, code, detail } = reasonOf(error)
        for (const each of metrics) out.gap(each, {}, reason, code, detail)
        return
      }
      const now = new Map<string, Seen>()
      for (const mount of mounts) {
        const key = `${mount.mountpoint}\n${mount.device}\n${mount.fstype}`
        const series = seen.get(key) ?? seriesOf(mount)
        now.set(key, series)
        try {
          const answer = await ask(`${root}${mount.mountpoint}`)
          if (answer === 'hangs') {
            for (const each of metrics) out.gap(each, series.total.labels, 'timeout', undefined, `${mount.mountpoint} (${mount.device}) does not answer statfs`)
            continue
          }
          out.reading(series.total, answer.totalBytes)
          out.reading(series.free, answer.freeBytes)
          out.reading(series.available, answer.availableBytes)
        } catch (error) {
          const { reason, code, detail } = reasonOf(error)
          for (const each of metrics) out.gap(each, series.total.labels, reason, code, detail)
        }
      }
      seen = now
    }
  },
}
