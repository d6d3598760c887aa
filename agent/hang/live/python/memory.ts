// Reads the memory of another process by /proc/PID/mem: the process is not stopped and nothing is written. Bounded in reads and time.
import { closeSync, openSync, readSync } from 'node:fs'
import { codeOf, messageOf } from '../../../text/error.ts'

/** One line: why the stacks of a process cannot be read. */
export class LookError extends Error {
  override readonly name = 'LookError'
}

export type Memory = {
  readonly bytes: (address: number, length: number) => Buffer
  readonly pointer: (address: number) => number
  readonly int32: (address: number) => number
  readonly [Symbol.dispose]: () => void
}

const MOST_READS = 50_000
/** Of this process's CPU time: on a host with many more programs than cores some milliseconds of work take seconds. */
const MOST_CPU_MS = 500
/** User addresses on x86-64 and arm64 have 47 or 48 bits; beyond, a pointer is none. */
const HIGHEST = 2 ** 48
const MOST_BYTES = 2 ** 20

export function openMemory(pid: number): Memory {
  let descriptor: number
  try {
    descriptor = openSync(`/proc/${pid}/mem`, 'r')
  } catch (error) {
    const code = codeOf(error)
    throw new LookError(
      code === 'EACCES' || code === 'EPERM'
        ? `the memory of process ${pid} cannot be read: run as root (or with CAP_SYS_PTRACE)`
        : `process ${pid}: ${messageOf(error)}`,
      { cause: error },
    )
  }
  const begun = process.cpuUsage()
  const spentMs = (): number => {
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1_000
  }
  let reads = 0
  const bytes = (address: number, length: number): Buffer => {
    reads += 1
    if (reads > MOST_READS || (reads % 64 === 0 && spentMs() > MOST_CPU_MS)) throw new LookError('its stacks take too long to read')
    if (!(address > 0 && address < HIGHEST && length >= 0 && length <= MOST_BYTES))
      throw new LookError('a pointer in its memory leads nowhere: it changed while it was read, or its Python is unknown')
    const buffer = Buffer.alloc(length)
    let count = 0
    try {
      count = readSync(descriptor, buffer, 0, length, address)
    } catch (error) {
      throw new LookError('a pointer in its memory leads nowhere: it changed while it was read, or its Python is unknown', { cause: error })
    }
    if (count !== length) throw new LookError('its memory ends where more was expected')
    return buffer
  }
  return {
    bytes,
    pointer: (address) => pointerIn(bytes(address, 8), 0),
    int32: (address) => bytes(address, 4).readInt32LE(),
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

/** Beyond what a user address can be it is infinite, and no read of it is tried. */
export function pointerIn(buffer: Buffer, offset: number): number {
  const value = buffer.readBigUInt64LE(offset)
  return value < BigInt(HIGHEST) ? Number(value) : Number.POSITIVE_INFINITY
}
