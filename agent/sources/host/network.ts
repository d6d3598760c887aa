// Bytes through the host's network interfaces, from /proc/net/dev.
import { readSmallFile } from '../../attribution/small-file.ts'
import { hostNetworkReceiveBytesTotal, hostNetworkTransmitBytesTotal } from '../../metrics/host-io.ts'
import type { Aspect, HostPaths } from './aspect.ts'
import { attempt, seriesBy, wholeNumber } from './aspect.ts'

/** Loopback, and what engines, Kubernetes networks, hypervisors and tunnels make: their bytes pass a real interface too, or none. */
const INNER =
  /^(lo|veth.*|br-.*|docker\d+|podman\d+|cni\d+|cni-.*|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns|ifb\d+|dummy\d+|virbr\d+|vnet\d+|tap.*|tunl\d+|sit\d+|gre\d+|gretap\d+|erspan\d+|ip6\w+\d+|ip_vti\d+)$/

export type InterfaceBytes = { readonly name: string; readonly received: number; readonly transmitted: number }

/** Two header lines, then `name: bytes packets …8 columns… bytes packets …`. */
export function parseNetDev(text: string): readonly InterfaceBytes[] {
  const found: InterfaceBytes[] = []
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const name = line.slice(0, colon).trim()
    const columns = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
    const [inward, outward] = [wholeNumber(columns[0]), wholeNumber(columns[8])]
    if (name !== '' && !name.includes('|') && inward !== undefined && outward !== undefined) found.push({ name, received: inward, transmitted: outward })
  }
  return found
}

/** Those of PID 1 are the host's, also for an agent in a container with the host's processes; without the right to see them, only our own /proc tells the truth. */
function readNetDev({ proc, root }: HostPaths): string {
  try {
    return readSmallFile(`${proc}/1/net/dev`)
  } catch (error) {
    if (root !== '') throw error
    return readSmallFile(`${proc}/net/dev`)
  }
}

const metrics = [hostNetworkReceiveBytesTotal, hostNetworkTransmitBytesTotal]

export const network: Aspect = {
  id: 'network',
  rate: 'slow',
  metrics,
  create: (paths) => {
    const [inward, outward] = [
      seriesBy(hostNetworkReceiveBytesTotal, (name) => ({ interface: name })),
      seriesBy(hostNetworkTransmitBytesTotal, (name) => ({ interface: name })),
    ]
    return (out) =>
      attempt(out, metrics, () => {
        for (const each of parseNetDev(readNetDev(paths))) {
          if (INNER.test(each.name)) continue
          out.reading(inward(each.name), each.received)
          out.reading(outward(each.name), each.transmitted)
        }
      })
  },
}
