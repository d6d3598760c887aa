// A made /proc: processes with parents, command lines, sockets and network namespaces.
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessIdentity } from '../../../agent/model/identity.ts'

export type MadeProcess = {
  readonly pid: number
  readonly parent?: number
  readonly session?: number
  readonly comm?: string
  readonly argv: readonly string[]
  readonly cgroup?: string
  /** Ports that it listens on, with the address. */
  readonly listens?: readonly { readonly host: 'any' | 'loopback'; readonly port: number }[]
  readonly namespace?: string
  readonly container?: { readonly name: string; readonly image?: string }
}
export const OWN = 'net:[1]'

const rowsOf = ({ pid, listens = [] }: MadeProcess): readonly string[] =>
  listens.map(({ host, port }, at) => {
    const local = `${host === 'any' ? '00000000' : '0100007F'}:${port.toString(16).toUpperCase().padStart(4, '0')}`
    return `   ${at}: ${local} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 ${pid * 100 + at} 1 0 100 0 0 10 0\n`
  })

export function makeProc(processes: readonly MadeProcess[]) {
  const root = mkdtempSync(join(tmpdir(), 'made-proc-'))
  const living = new Map<number, MadeProcess>()
  const add = (made: MadeProcess): void => {
    const { pid, parent = 1, session = parent, comm = 'python3', argv, cgroup = '0::/user.slice', listens = [], namespace = OWN } = made
    const folder = join(root, String(pid))
    for (const part of ['fd', 'net', 'ns']) mkdirSync(join(folder, part), { recursive: true })
    writeFileSync(join(folder, 'stat'), `${pid} (${comm}) S ${parent} ${pid} ${session} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${pid * 10} 0 0\n`)
    writeFileSync(join(folder, 'cmdline'), argv.map((word) => `${word}\0`).join(''))
    writeFileSync(join(folder, 'cgroup'), `${cgroup}\n`)
    symlinkSync(namespace, join(folder, 'ns/net'))
    listens.forEach((_, at) => symlinkSync(`socket:[${pid * 100 + at}]`, join(folder, 'fd', String(3 + at))))
    writeFileSync(
      join(folder, 'net/fib_trie'),
      'Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 127.0.0.2\n        /32 host LOCAL\n',
    )
    living.set(pid, made)
    // The kernel shows each process the sockets of its whole namespace.
    const inside = [...living.values()].filter((one) => (one.namespace ?? OWN) === namespace)
    const table = `  sl  local_address rem_address   st\n${inside.flatMap(rowsOf).join('')}`
    for (const one of inside) writeFileSync(join(root, String(one.pid), 'net/tcp'), table)
  }
  processes.forEach(add)
  return {
    root,
    add,
    end: (pid: number): void => {
      rmSync(join(root, String(pid)), { recursive: true })
      living.delete(pid)
    },
    /** A process that has listened on nothing begins to. */
    listen: (pid: number, port: number): void => {
      const made = living.get(pid)
      if (made === undefined) return
      rmSync(join(root, String(pid)), { recursive: true })
      add({ ...made, listens: [{ host: 'any', port }] })
    },
    /** A container of a process that becomes known later than the process. */
    contain: (pid: number, container: NonNullable<MadeProcess['container']>): void => {
      const made = living.get(pid)
      if (made !== undefined) living.set(pid, { ...made, container })
    },
    identify: (pid: number): ProcessIdentity | undefined => {
      const made = living.get(pid)
      return made === undefined
        ? undefined
        : {
            pid,
            startTicks: pid * 10,
            name: made.comm ?? 'python3',
            ...(made.container === undefined ? {} : { container: { id: 'c'.repeat(64), ...made.container } }),
          }
    },
    remove: (): void => rmSync(root, { recursive: true }),
  }
}
