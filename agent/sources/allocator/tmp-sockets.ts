// Finds probes' own sockets in the /tmp of another process's file system, and connects. Everything there may be made to mislead: no link is
// followed, nothing but a socket is touched, and a file system that may answer late is left alone.
import { constants, type Stats } from 'node:fs'
import { open, opendir, statfs, type FileHandle } from 'node:fs/promises'
import { Socket } from 'node:net'

/** `name` says by which pid and start ticks the probe knows itself. */
export type FoundSocket = {
  readonly name: string
  readonly pid: number
  readonly startTicks: number
  /** Tells it from one of the same name that was there before. */
  readonly id: string
  readonly uid: number
  /** Connects to this very socket, whatever has taken its name meanwhile. Closes it for good. */
  readonly connect: () => Socket
  readonly release: () => Promise<void>
}
export type FoundSockets = { readonly sockets: readonly FoundSocket[]; readonly notSockets: number }

const NAME = /^\.warpwatch-(\d{1,10})-(\d{1,16})\.sock$/
/** open(2): the file is not opened, only held; a pipe or a device there does nothing. */
const O_PATH = 0o10000000
/** Passed on to the stream; a larger mark goes on reading while paused. */
const UNBUFFERED = { allowHalfOpen: false, highWaterMark: 1 } as const
const MAX_ENTRIES = 20_000
const MAX_FOUND = 64
/** Names of that form that are looked at, whatever they are. */
const MAX_HELD = 512

/** File systems that the kernel alone answers for (linux/magic.h); FUSE and network file systems may hang whoever looks. */
const LOCAL: ReadonlySet<number> = new Set([
  0x01021994, // tmpfs
  0x794c7630, // overlay
  0xef53, // ext
  0x58465342, // XFS
  0x9123683e, // btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0x858458f6, // ramfs
  0xca451a4e, // bcachefs
])

const through = (handle: FileHandle, name = ''): string => `/proc/self/fd/${handle.fd}${name === '' ? '' : `/${name}`}`

async function hold(directory: FileHandle, name: string): Promise<{ readonly handle: FileHandle; readonly stat: Stats }> {
  const handle = await open(through(directory, name), O_PATH | constants.O_NOFOLLOW)
  return { handle, stat: await handle.stat() }
}

/** `wanted` is asked before a socket is held; the caller lets go of each by `connect` or `release`. Throws as `open` does. */
export async function findSockets(root: string, wanted: (pid: number, startTicks: number) => boolean): Promise<FoundSockets> {
  // The last part may be a link to anywhere, as seen from here and not from inside: it must be a directory itself.
  const directory = await open(`${root}/tmp`, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const sockets: FoundSocket[] = []
  let notSockets = 0
  try {
    const { type } = await statfs(through(directory))
    if (!LOCAL.has(type)) return { sockets, notSockets }
    const entries = await opendir(through(directory), { bufferSize: 256 })
    let [seen, looked] = [0, 0]
    for await (const entry of entries) {
      if (++seen > MAX_ENTRIES || sockets.length >= MAX_FOUND) break
      const match = NAME.exec(entry.name)
      if (match === null) continue
      const [pid, startTicks] = [Number(match[1]), Number(match[2])]
      if (!wanted(pid, startTicks)) continue
      if (++looked > MAX_HELD) break
      const held = await hold(directory, entry.name).catch(() => undefined)
      if (held === undefined) continue // gone meanwhile
      const { handle, stat } = held
      if (!stat.isSocket()) {
        notSockets++
        await handle.close()
        continue
      }
      const release = (): Promise<void> => handle.close().catch(() => {})
      const connect = (): Socket => {
        const socket = new Socket(UNBUFFERED)
        socket.once('close', () => void release())
        // Through the held descriptor the kernel goes to the inode itself, not to the name.
        socket.connect(through(handle))
        return socket
      }
      sockets.push({ name: entry.name, pid, startTicks, id: `${stat.dev}:${stat.ino}:${stat.ctimeMs}`, uid: stat.uid, connect, release })
    }
    return { sockets, notSockets }
  } catch (error) {
    await Promise.all(sockets.map(({ release }) => release()))
    throw error
  } finally {
    await directory.close()
  }
}
