// Which hosts `top --hosts` means: names of the configuration, or addresses of agents.
import { hostname } from 'node:os'
import { isHostUrl, type HostConfig } from '../../../config/sections/hosts.ts'
import { near } from '../../../lib/nearest.ts'
import { UsageError } from '../../command.ts'

const DEFAULT_PORT = 9839
/** `gpu-07`, `gpu-07:9840`, `[::1]:9839`: as an address. */
const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|\w[\w.-]*)(?::\d{1,5})?$/

export function hostsNamed(text: string, known: readonly HostConfig[]): readonly HostConfig[] {
  if (text === 'all') {
    if (known.length === 0) throw new UsageError('top: --hosts all: no hosts are configured (hosts in the configuration)')
    return known
  }
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.map((name) => {
    const configured = known.find((host) => host.name === name)
    if (configured !== undefined) return configured
    const url = /^[a-z]+:\/\//.test(name) ? name : ADDRESS.test(name) ? `http://${name}${/:\d+$/.test(name) ? '' : `:${DEFAULT_PORT}`}` : ''
    // The name of a URL without what may be secret in it.
    if (isHostUrl(url)) return { name: /^[a-z]+:\/\//.test(name) ? new URL(url).host || hostname() : name, url, token: '' }
    const meant = near(
      name,
      known.map((host) => host.name),
    )
    throw new UsageError(
      `top: --hosts: must be names of hosts or addresses such as gpu-07:9839 or ssh://user@gpu-07, not ${JSON.stringify(name.slice(0, 100))}${meant === undefined ? '' : `. Did you mean ${meant}?`}`,
    )
  })
}
