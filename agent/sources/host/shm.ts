// How full the host's /dev/shm is: data loaders and NCCL live there, and fail in odd ways when it is full.
import { hostShmTotalBytes, hostShmUsedBytes } from '../../metrics/host.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { reasonOf } from './aspect.ts'
import { createStatfs } from './statfs.ts'

export const shm: Aspect = {
  id: 'shm',
  rate: 'slow',
  metrics: [hostShmTotalBytes, hostShmUsedBytes],
  create: ({ root }) => {
    const ask = createStatfs()
    const [totalSeries, usedSeries] = [makeSeries(hostShmTotalBytes, {}), makeSeries(hostShmUsedBytes, {})]
    return async (out) => {
      const path = `${root}/dev/shm`
      try {
        const answer = await ask(path)
        if (answer === 'hangs') {
          for (const each of [hostShmTotalBytes, hostShmUsedBytes]) out.gap(each, {}, 'timeout', undefined, `${path} does not answer statfs`)
        } else {
          out.reading(totalSeries, answer.totalBytes)
          out.reading(usedSeries, answer.totalBytes - answer.freeBytes)
        }
      } catch (error) {
        const { reason, code, detail } = reasonOf(error)
        for (const each of [hostShmTotalBytes, hostShmUsedBytes]) out.gap(each, {}, reason, code, detail)
      }
    }
  },
}
