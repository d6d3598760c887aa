// What kind of host this is: name, kernel, distribution, WSL.
import { hostname as ownHostname } from 'node:os'
import { readSmallFile } from '../../attribution/small-file.ts'
import { detectWsl, readWslFacts } from '../../lib/wsl.ts'
import { hostInfo } from '../../metrics/host.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect, HostPaths } from './aspect.ts'

/** PRETTY_NAME of os-release(5), the quotes off. */
export function osName(text: string): string | undefined {
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.trim()
  if (value === undefined) return undefined
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}

function readOr<T>(path: string, read: (text: string) => T): T | undefined {
  try {
    return read(readSmallFile(path))
  } catch {
    return undefined
  }
}

/** Labels of what could not be read are left away. */
export function readHostInfo({ proc, root }: HostPaths, hostname: string): Readonly<Record<string, string>> {
  const kernel = readOr(`${proc}/sys/kernel/osrelease`, (text) => text.trim())
  const os = readOr(`${root}/etc/os-release`, osName) ?? readOr(`${root}/usr/lib/os-release`, osName)
  const { version } = detectWsl(readWslFacts(proc))
  return {
    hostname: hostname === '' ? ownHostname() : hostname,
    ...(kernel === undefined ? {} : { kernel }),
    ...(os === undefined ? {} : { os }),
    ...(version === 0 ? {} : { wsl: String(version) }),
    architecture: process.arch,
  }
}

/** `hostname` is the configured name; empty means the system's. */
export function createInfo(hostname: string): Aspect {
  return {
    id: 'info',
    rate: 'slow',
    metrics: [hostInfo],
    create: (paths) => {
      // None of it changes while the agent runs.
      const series = makeSeries(hostInfo, readHostInfo(paths, hostname))
      return (out) => out.reading(series, 1)
    },
  }
}
