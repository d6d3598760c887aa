// The socket that probes connect to: in a directory that is mounted into containers, open to everybody who sees it.
import { chmodSync, lstatSync, renameSync, unlinkSync, type Stats } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { makeDirectory } from '../../lib/make-directory.ts'
import { codeOf, messageOf } from '../../text/error.ts'

export type Listener = {
  /** Looks after the socket: made again when it is gone. To be called each ten seconds. */
  readonly tend: () => Promise<void>
  /** A new second of connections. To be called once a second. */
  readonly tick: () => void
  /** Why no probe can connect; undefined when they can. */
  readonly trouble: () => Trouble | undefined
  readonly close: () => Promise<void>
}
export type Trouble = { readonly code: string | undefined; readonly detail: string }
export type ListenerOptions = {
  readonly path: string
  readonly onSocket: (socket: Socket) => void
  /** Too many connections within a second: the next is accepted only in the second after. */
  readonly onFlood: () => void
}

/** Making a connection costs the agent about 0.1 ms; more than this in a second are a mistake or an attack. */
const MAX_NEW_PER_SECOND = 300
const BACKLOG = 256

const statOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a process accepts connections there. */
async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path)
  socket.once('connect', () => resolve(true))
  // EAGAIN: its queue is full, so there is one.
  socket.once('error', (error) => resolve(codeOf(error) === 'EAGAIN'))
  const answered = await promise
  socket.destroy()
  return answered
}

export function createListener({ path, onSocket, onFlood }: ListenerOptions): Listener {
  let server: Server | undefined
  let inode: number | undefined
  let trouble: Trouble | undefined
  let fresh = 0
  let flooded = false
  let closed = false
  /** Ten seconds and the second after a flood may come together: of two at once, each would listen, and one forever. */
  let tending: Promise<void> | undefined

  const onConnection = (socket: Socket): void => {
    fresh++
    onSocket(socket)
    if (fresh <= MAX_NEW_PER_SECOND || flooded) return
    flooded = true
    onFlood()
    // Only by not listening does the kernel turn the others away without us; those that are connected stay.
    stopListening()
  }
  const stopListening = (): void => {
    server?.close()
    server = undefined
  }
  const listen = async (): Promise<void> => {
    const staged = `${path}.${process.pid}`
    const made = createServer({ highWaterMark: 1 }, onConnection)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    made.once('error', reject)
    made.listen({ path: staged, backlog: BACKLOG }, resolve)
    await promise
    made.on('error', () => {}) // a single accept that failed (EMFILE): the next one may not
    try {
      // Ready under another name first: whoever sees the path can connect, and an old socket there is never missed.
      chmodSync(staged, 0o666)
      renameSync(staged, path)
      inode = statOf(path)?.ino
    } catch (error) {
      made.close()
      throw error
    }
    server = made
  }
  const establish = async (): Promise<void> => {
    makeDirectory(dirname(path), 0o755)
    const directory = lstatSync(dirname(path))
    const uid = process.getuid?.()
    if (uid !== undefined && directory.uid !== uid && directory.uid !== 0)
      throw new Error(
        `${dirname(path)} belongs to uid ${directory.uid}, not to this user or root, so its owner could put another socket there. Set allocator.socket to a path elsewhere`,
      )
    // One that was there before, with other rights; a directory with a sticky bit such as /tmp must not be changed.
    if (directory.uid === uid && (directory.mode & 0o7777) !== 0o755 && (directory.mode & 0o1000) === 0) chmodSync(dirname(path), 0o755)
    const there = statOf(path)
    if (there !== undefined && !there.isSocket())
      throw new Error(`${path} is there already and is no socket; it is left alone. Remove it, or set allocator.socket to another path`)
    if (there !== undefined && (await isAnswered(path))) throw new Error(`${path}: another agent listens there; allocator.socket can name another path`)
    await listen()
  }
  const lookAfter = async (): Promise<void> => {
    try {
      if (server !== undefined && statOf(path)?.ino === inode) return
      stopListening()
      await establish()
      trouble = undefined
    } catch (error) {
      trouble = { code: codeOf(error), detail: messageOf(error) }
    }
  }
  const tend = async (): Promise<void> => {
    if (closed || flooded) return
    tending ??= lookAfter().finally(() => (tending = undefined))
    return tending
  }
  return {
    tend,
    tick() {
      fresh = 0
      if (!flooded) return
      flooded = false
      void tend()
    },
    trouble: () => trouble,
    async close() {
      closed = true
      await tending
      const ended = server
      server = undefined
      if (ended === undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      ended.close(() => resolve())
      try {
        if (statOf(path)?.ino === inode) unlinkSync(path)
      } catch {
        // Another process was faster, or the directory is gone: either way it is not there.
      }
      await promise
    },
  }
}
