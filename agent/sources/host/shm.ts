// How full the host's /dev/shm is: data loaders and NCCL live there, and fail in odd ways when it is full.
import { defineMetric } from '../../model/metric.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { reasonOf } from './aspect.ts'
import { createStatfs } from './statfs.ts'

const total = defineMetric({
  name: 'warpwatch_host_shm_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: "Size of the host's /dev/shm; containers have their own.",
  labels: [],
})
const used = defineMetric({ name: 'warpwatch_host_shm_used_bytes', kind: 'gauge', unit: 'By', help: "Bytes in use in the host's /dev/shm.", labels: [] })

export const shm: Aspect = {
  id: 'shm',
  rate: 'slow',
  metrics: [total, used],
  create: ({ root }) => {
    const ask = createStatfs()
    const [totalSeries, usedSeries] = [makeSeries(total, {}), makeSeries(used, {})]
    return async (out) => {
      const path = `${root}/dev/shm`
      try {
        const answer = await ask(path)
        if (answer === 'hangs') {
          for (const each of [total, used]) out.gap(each, {}, 'timeout', undefined, `${path} does not answer statfs`)
        } else {
          out.reading(totalSeries, answer.totalBytes)
          out.reading(usedSeries, answer.totalBytes - answer.freeBytes)
        }
      } catch (error) {
        const { reason, code, detail } = reasonOf(error)
        for (const each of [total, used]) out.gap(each, {}, reason, code, detail)
      }
    }
  },
}
