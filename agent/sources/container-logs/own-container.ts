// Which container the agent itself runs in: its log tells of the faults of others, and must not be judged.
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** Whether this is the id of the agent's own container. */
export function isOwnContainer(procRoot = '/proc'): (id: string) => boolean {
  const own = new Set<string>()
  for (const file of ['self/cgroup', 'self/mountinfo']) {
    try {
      const text = readFileSync(`${procRoot}/${file}`, 'utf8')
      // mountinfo: engines mount a container's own hostname and resolv.conf from a folder named after it; other ids there are a host's overlays.
      const pattern = file === 'self/cgroup' ? /\b([0-9a-f]{64})\b/g : /\/containers\/([0-9a-f]{64})\/(?:hostname|resolv\.conf|hosts)\b/g
      for (const match of text.matchAll(pattern)) if (match[1] !== undefined) own.add(match[1])
    } catch {
      // Not Linux, or hidden: the host name may still tell.
    }
  }
  const name = hostname()
  const short = /^[0-9a-f]{12}$/.test(name) ? name : undefined
  return (id) => own.has(id) || (short !== undefined && id.startsWith(short))
}
