// Bytes through InfiniBand and RoCE ports, which /proc/net/dev does not see: /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband).
import { readdirSync } from 'node:fs'
import { readSmallFile } from '../../attribution/small-file.ts'
import { hostInfinibandReceiveBytesTotal, hostInfinibandTransmitBytesTotal } from '../../metrics/host-io.ts'
import { codeOf } from '../../text/error.ts'
import type { Aspect } from './aspect.ts'
import { attempt, reasonOf, seriesBy, wholeNumber } from './aspect.ts'

const metrics = [hostInfinibandReceiveBytesTotal, hostInfinibandTransmitBytesTotal]

/** The counters count lanes: four bytes each. */
const LANE_BYTES = 4

export const infiniband: Aspect = {
  id: 'infiniband',
  rate: 'slow',
  metrics,
  create: ({ sys }) => {
    const root = `${sys}/class/infiniband`
    const labels = (key: string): { device: string; port: string } => {
      const [device = '', port = ''] = key.split('/')
      return { device, port }
    }
    const counters = [
      { metric: hostInfinibandReceiveBytesTotal, file: 'port_rcv_data', series: seriesBy(hostInfinibandReceiveBytesTotal, labels) },
      { metric: hostInfinibandTransmitBytesTotal, file: 'port_xmit_data', series: seriesBy(hostInfinibandTransmitBytesTotal, labels) },
    ]
    return (out) =>
      attempt(out, metrics, () => {
        let devices: readonly string[]
        try {
          devices = readdirSync(root)
        } catch (error) {
          if (codeOf(error) === 'ENOENT') return // a host without such an adapter lacks nothing
          throw error
        }
        for (const device of devices) {
          for (const port of readdirSync(`${root}/${device}/ports`)) {
            for (const { metric, file, series } of counters) {
              const path = `${root}/${device}/ports/${port}/counters/${file}`
              try {
                const value = wholeNumber(readSmallFile(path).trim())
                if (value === undefined) out.gap(metric, { device, port }, 'parse_error', undefined, `${path}: expected a number`)
                else out.reading(series(`${device}/${port}`), value * LANE_BYTES)
              } catch (error) {
                const { reason, code, detail } = reasonOf(error)
                out.gap(metric, { device, port }, reason, code, detail)
              }
            }
          }
        }
      })
  },
}
