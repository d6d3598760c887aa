// Reads /dev/kmsg without ever blocking: a blocked read would keep a thread of Node's pool, and the process from ending.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { codeOf } from '../../text/error.ts'

export type KernelDevice = {
  /** The next record; undefined when all are read. Records that were overwritten before they were read show as a gap in the numbers. */
  readonly next: () => string | undefined
  readonly close: () => void
}

/** The kernel's own limit is 8 KiB with all escapes (PRINTKRB_RECORD_MAX). */
const BUFFER_BYTES = 16 * 1024

/** Throws as `openSync` does: EPERM where the kernel restricts it (dmesg_restrict) and CAP_SYSLOG is missing. */
export function openKernelDevice(path: string): KernelDevice {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  return {
    next() {
      // Nothing new is told by an exception, several times a second: without its stack it costs a tenth.
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      try {
        return read()
      } finally {
        Error.stackTraceLimit = stackTraceLimit
      }
    },
    close: () => closeSync(fd),
  }
  function read(): string | undefined {
    for (;;) {
      try {
        const length = readSync(fd, buffer, 0, buffer.length, null)
        return length === 0 ? undefined : buffer.toString('latin1', 0, length)
      } catch (error) {
        const name = codeOf(error)
        if (name === 'EAGAIN' || name === 'EWOULDBLOCK') return undefined
        // EPIPE: overwritten before it was read; EINVAL: a record larger than the buffer. Both pass over it, so the next read goes on.
        if (name !== 'EPIPE' && name !== 'EINVAL') throw error
      }
    }
  }
}
