// Where the ranks of a job meet: the same for all of them, so containers and hosts with the same one are one job.
import { readlinkSync } from 'node:fs'
import { environmentOf, type ProcessTree } from './process.ts'

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/
const MOST_PROCESSES = 64

/** Containers with networks of their own have each another "localhost". */
function networkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    // Without the right to see it, or gone: nobody else is in it.
    return `of ${pid}`
  }
}

/** `key`: equal for processes of this host that are of one job. `shared`: what the ranks on other hosts say too; undefined where they meet on a host's own loopback. */
export type Master = { readonly key: string; readonly shared?: string }

export function masterOf(root: number, tree: ProcessTree): Master | undefined {
  for (const pid of [root, ...tree.below(root)].slice(0, MOST_PROCESSES)) {
    const environment = environmentOf(pid)
    const [address, port] = [environment.get('MASTER_ADDR'), environment.get('MASTER_PORT')]
    if (address === undefined || port === undefined) continue
    const shared = `${address}:${port}`
    return LOOPBACK.test(address) ? { key: `${networkOf(pid)} ${shared}` } : { key: shared, shared }
  }
  return undefined
}
