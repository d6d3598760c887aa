// Finds probes' own sockets in the /tmp of another process's file system, and connects. Everything there may be made to mislead: no link is
// followed, nothing but a socket is touched, and a file system that may answer late is left alone.
import { closeSync, fstatSync, statSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { Socket } from 'node:net'
import { openLocalDirectory, type LocalDirectory } from '../../lib/local-directory.ts'

/** `name` says by which pid and start ticks the probe knows itself. */
export type FoundSocket = {
  readonly name: string
  readonly pid: number
  readonly startTicks: number
  /** Distinguishes it from an earlier one of the same name. */
  readonly id: string
  readonly uid: number
  /** Connects to this very socket, whatever has taken its name meanwhile. Closes it for good. */
  readonly connect: () => Socket
  readonly release: () => void
}
export type FoundSockets = {
  readonly sockets: readonly FoundSocket[]
  readonly notSockets: number
  /** The directory as it was read whole, where no name was a probe's: nothing can be found there until it changes. */
  readonly emptyAs: string | undefined
}

const NAME = /^\.warpwatch-(\d{1,10})-(\d{1,16})\.sock$/
/** Passed on to the stream; a larger mark goes on reading while paused. */
const UNBUFFERED = { allowHalfOpen: false, highWaterMark: 1 } as const
const MAX_ENTRIES = 20_000
const MAX_FOUND = 64
/** A directory that was changed so shortly before may change again without its time telling: the kernel's clock for files goes in steps. */
const SETTLED_MS = 2_000
/** Names of that form that are looked at, whatever they are. */
const MAX_HELD = 512

function hold(directory: LocalDirectory, name: string): number | undefined {
  try {
    return directory.holdOwn(name)
  } catch {
    return undefined // gone meanwhile, or something that was mounted under that name
  }
}

/** Which directory, and its state; undefined while it may change unseen. */
function stateOf(directory: LocalDirectory): string | undefined {
  const { dev, ino, mtimeMs, ctimeMs } = statSync(directory.path)
  return Math.abs(Date.now() - Math.max(mtimeMs, ctimeMs)) < SETTLED_MS ? undefined : `${dev}:${ino}:${mtimeMs}:${ctimeMs}`
}

/**
 * In the /tmp of a process by its folder in procfs. `wanted` is asked before a socket is held; the caller lets go of each by `connect` or `release`. Throws as `open` does.
 * With `knownEmpty`, the `emptyAs` of an earlier look, a directory that has not changed is not read: each piece of it would wake two threads.
 */
export async function findSockets(process: string, wanted: (pid: number, startTicks: number) => boolean, knownEmpty?: string): Promise<FoundSockets> {
  // The last part may be a link to anywhere, as seen from here and not from inside: it must be a directory itself.
  const directory = openLocalDirectory(process, 'tmp')
  const sockets: FoundSocket[] = []
  let notSockets = 0
  try {
    const state = stateOf(directory)
    if (state !== undefined && state === knownEmpty) return { sockets, notSockets, emptyAs: state }
    let emptyAs = state
    const entries = await opendir(directory.path, { bufferSize: 256 })
    let [seen, looked] = [0, 0]
    for await (const entry of entries) {
      if (++seen > MAX_ENTRIES || sockets.length >= MAX_FOUND) {
        emptyAs = undefined
        break
      }
      const match = NAME.exec(entry.name)
      if (match === null) continue
      emptyAs = undefined
      const [pid, startTicks] = [Number(match[1]), Number(match[2])]
      if (!wanted(pid, startTicks)) continue
      if (++looked > MAX_HELD) break
      const held = hold(directory, entry.name)
      if (held === undefined) continue
      const stat = fstatSync(held)
      if (!stat.isSocket()) {
        notSockets++
        closeSync(held)
        continue
      }
      const release = (): void => closeSync(held)
      const connect = (): Socket => {
        const socket = new Socket(UNBUFFERED)
        socket.once('close', release)
        // Through the held descriptor the kernel goes to the inode itself, not to the name.
        socket.connect(`/proc/self/fd/${held}`)
        return socket
      }
      sockets.push({ name: entry.name, pid, startTicks, id: `${stat.dev}:${stat.ino}:${stat.ctimeMs}`, uid: stat.uid, connect, release })
    }
    return { sockets, notSockets, emptyAs }
  } catch (error) {
    for (const { release } of sockets) release()
    throw error
  } finally {
    directory.close()
  }
}
