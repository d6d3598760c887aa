// What inference servers keep for their KV caches on a card, and by which setting: a part of what was missing when a request failed.
import { inferenceMemoryBytes, inferenceServerInfo } from '../../../metrics/inference.ts'
import type { Event } from '../../../model/event.ts'
import type { Labels } from '../../../model/series.ts'
import { gib, GIB } from '../../../text/bytes.ts'
import { andList } from '../../../text/grammar.ts'

type Reserve = { readonly name: string; readonly gpus: readonly string[]; share: number | undefined; flag: string | undefined; bytes: number | undefined }
export type ReservedCaches = {
  readonly ingest: (event: Event) => void
  /** One sentence with its figures; undefined where no server told what it keeps there. */
  readonly sentence: (gpu: number | undefined, total: number, requested: number) => string | undefined
}

const SOURCE = 'inference-servers'
/** A share of the whole card, that the server was given; that of other families is of what was free. */
const FLAGS: Readonly<Record<string, string>> = { vllm: 'gpu_memory_utilization', nim: 'gpu_memory_utilization' }
const MARGIN = GIB
const LEAST_SHARE = 0.1

const keyOf = ({ name = '', container = '', pid = '' }: Labels): string => `${name} ${container} ${pid}`

export function createReservedCaches(): ReservedCaches {
  let reserves = new Map<string, Reserve>()
  return {
    ingest(event) {
      if (event.type !== 'scrape' || event.source !== SOURCE) return
      const next = new Map<string, Reserve>()
      for (const { series } of event.readings) {
        if (series.metric.name !== inferenceServerInfo.name) continue
        const { name = '', gpu = '', server = '', memory_share: reported = '' } = series.labels
        const share = reported === '' ? undefined : Number(reported)
        next.set(keyOf(series.labels), { name, gpus: gpu.split(','), share, flag: FLAGS[server], bytes: undefined })
      }
      for (const { series, value } of event.readings) {
        const reserve = series.metric.name === inferenceMemoryBytes.name && series.labels['part'] === 'kv_cache' ? next.get(keyOf(series.labels)) : undefined
        if (reserve !== undefined) reserve.bytes = value / reserve.gpus.length
      }
      reserves = next
    },
    sentence(gpu, total, requested) {
      const here = [...reserves.values()].filter(({ gpus, bytes }) => gpu !== undefined && gpus.includes(String(gpu)) && bytes !== undefined)
      if (here.length === 0) return undefined
      const reported = here.map(({ name, share, flag, bytes = 0 }) => {
        const given = `the KV cache of ${name} was given ${gib(bytes)}`
        if (share === undefined || flag === undefined) return given
        const lower = Math.floor((share - (requested + MARGIN) / total) * 100) / 100
        const leaves = (share - lower) * total
        // A cache that is smaller than that cannot give it.
        return lower < LEAST_SHARE || leaves > bytes
          ? `${given} by ${flag} ${share}`
          : `${given} by ${flag} ${share}; ${lower} would leave ${gib(leaves)} to others`
      })
      const text = andList(reported)
      return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
    },
  }
}
