// A Unix socket in the file system of another process, by its path as that process sees it. No link is followed: one could lead to a socket of the host.
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { demandLocal } from '../../lib/local-directory.ts'

/** open(2): the entry is held and not opened. */
const O_PATH = 0o10000000

/** Throws as `open` does: ELOOP where a part of the path is a link, EREMOTE where it is on a file system that may hang. */
export function holdSocket(process: string, path: string): { readonly connect: () => Socket } {
  let held = openSync(`${process}/root`, O_PATH | constants.O_DIRECTORY)
  try {
    for (const part of path.split('/').filter((name) => name !== '' && name !== '.')) {
      if (part === '..') throw new Error(`${path} leads upwards`)
      demandLocal(process, held, path)
      const next = openSync(`/proc/self/fd/${held}/${part}`, O_PATH | constants.O_NOFOLLOW)
      closeSync(held)
      held = next
    }
    if (!fstatSync(held).isSocket()) throw new Error(`${path} is no socket, or a link to one`)
  } catch (error) {
    closeSync(held)
    throw error
  }
  const fd = held
  return {
    connect() {
      const socket = new Socket()
      // Through the held descriptor the kernel goes to the inode itself, however long its path is.
      socket.once('close', () => closeSync(fd))
      socket.connect(`/proc/self/fd/${fd}`)
      return socket
    },
  }
}
