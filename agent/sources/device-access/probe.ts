// Whether a container can reach a GPU that it was given: the device node in its /dev, and the rules of its device cgroup.
import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { parseCgroupLines } from '../../attribution/cgroup-path.ts'
import { readSmallFile } from '../../attribution/small-file.ts'
import { openLocalDirectory } from '../../lib/local-directory.ts'
import type { Gap } from '../../model/reading.ts'
import { codeOf } from '../../text/error.ts'

export type Unknown = Pick<Gap, 'reason' | 'detail'>
/** The rules of a device cgroup by `major:minor`; `unknown` says why they cannot be read. */
export type Rules = { readonly allows: (major: number, minor: number) => boolean } | { readonly unknown: Unknown }
/** `process`: its folder in procfs. */
export type Box = { readonly rules: Rules; readonly process: string }

/** NVIDIA's devices have major 195 (Documentation/admin-guide/devices.txt); minor 255 is nvidiactl, which every program opens first. */
const MAJOR = 195
export const CONTROL = { name: 'nvidiactl', minor: 255 } as const

/** devices.list: `c 195:0 rw`, `c 195:* rwm`, `a *:* rwm` (Documentation/admin-guide/cgroup-v1/devices.rst). Reading and writing are both needed. */
export function parseRules(text: string): Rules {
  const allowed: (readonly [major: string, minor: string])[] = []
  for (const line of text.split('\n')) {
    const match = /^([ac]) (\d+|\*):(\d+|\*) ([rwm]+)$/.exec(line)
    if (match?.[2] === undefined || match[3] === undefined || match[4] === undefined) continue
    if (match[4].includes('r') && match[4].includes('w')) allowed.push([match[2], match[3]])
  }
  return {
    allows: (major, minor) => allowed.some(([a, b]) => (a === '*' || a === String(major)) && (b === '*' || b === String(minor))),
  }
}

const V2 = 'cgroup v2 keeps device rules in a program of the kernel that cannot be read back'

/** Of a process of the container; undefined when the pid is not (or no longer) of that container. */
export function openBox(procRoot: string, devicesMount: string | undefined, pid: string, containerId: string): Box | undefined {
  const root = join(procRoot, pid)
  let lines
  try {
    lines = parseCgroupLines(readSmallFile(join(root, 'cgroup')))
  } catch {
    return undefined
  }
  // Numbers are given again, and seen from another pid namespace they belong to others.
  if (!lines.some(({ path }) => path.includes(containerId))) return undefined
  return { rules: rulesOf(lines.find(({ controllers }) => controllers.includes('devices'))?.path, devicesMount), process: root }
}

function rulesOf(path: string | undefined, mount: string | undefined): Rules {
  if (path === undefined || mount === undefined) return { unknown: { reason: 'not_supported', detail: V2 } }
  // A path from a private cgroup namespace begins with `/..` and must never be joined to a mount.
  if (path.split('/').includes('..')) return { unknown: { reason: 'no_permission', detail: 'start the agent with --cgroupns=host to read device rules' } }
  try {
    return parseRules(readSmallFile(join(mount, path, 'devices.list')))
  } catch (error) {
    return { unknown: { reason: 'no_permission', detail: `${join(mount, path, 'devices.list')}: ${codeOf(error) ?? 'cannot be read'}` } }
  }
}

export type Node = 'there' | 'missing' | Unknown

/** A node of that name, as a device; whatever else is there opens no GPU. */
export function nodeOf({ process }: Box, name: string): Node {
  try {
    const dev = openLocalDirectory(process, 'dev')
    try {
      const node = dev.hold(name)
      const stat = fstatSync(node)
      closeSync(node)
      return stat.isCharacterDevice() ? 'there' : 'missing'
    } finally {
      dev.close()
    }
  } catch (error) {
    const errno = codeOf(error)
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return 'missing'
    return {
      reason: 'no_permission',
      detail:
        errno === 'EREMOTE' && error instanceof Error
          ? error.message
          : `${join(process, 'root/dev')}: ${errno ?? 'cannot be read'}; looking into a container needs root`,
    }
  }
}

/** `unknown` where nobody can tell; undefined = as far as rules go nothing is known. */
export function allowedBy({ rules }: Pick<Box, 'rules'>, minor: number): boolean | Unknown {
  return 'unknown' in rules ? rules.unknown : rules.allows(MAJOR, minor)
}
