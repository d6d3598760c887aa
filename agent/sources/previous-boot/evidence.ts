// A file that holds the host's memory of the newest minutes, written through to disk each second: when the host stalls and is switched off, it is what is left.
import { closeSync, fdatasyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

export type Moment = { readonly t: number; readonly availableBytes: number; readonly totalBytes: number }
export type LastBoot = {
  readonly boot: string
  /** It was the agent that ended, not the host. */
  readonly stopped: boolean
  readonly moments: readonly Moment[]
}

/** Half an hour at a line a second; with the file before it at least as much. */
const MAX_BYTES = 64 * 1024
const LINE = /^(\S{1,64}) (\d{13}) (\d{1,16}) (\d{1,16})$/

export type Evidence = { readonly note: (moment: Moment) => void; readonly stop: () => void }

/** The newest boot that the files tell of. A line cut off by the end of the host is left out. */
export function readEvidence(path: string): LastBoot | undefined {
  const text = [`${path}.1`, path]
    .map((file) => {
      try {
        return readFileSync(file, 'latin1')
      } catch {
        return ''
      }
    })
    .join('')
  const lines = text.slice(-4 * MAX_BYTES).split('\n')
  let found: { boot: string; stopped: boolean; moments: Moment[] } | undefined
  for (const line of lines) {
    const [, boot, t, available, total] = LINE.exec(line) ?? []
    if (boot !== undefined && t !== undefined) {
      if (found?.boot !== boot) found = { boot, stopped: false, moments: [] }
      found.stopped = false
      found.moments.push({ t: Number(t), availableBytes: Number(available), totalBytes: Number(total) })
    } else if (found !== undefined && line === `${found.boot} stopped`) found.stopped = true
  }
  return found
}

/** Throws when the file cannot be written. */
export function writeEvidence(path: string, boot: string): Evidence {
  let fd = openSync(path, 'a', 0o640)
  let bytes = readFileSync(path).length
  const write = (text: string): void => {
    if (bytes > MAX_BYTES) {
      closeSync(fd)
      renameSync(path, `${path}.1`)
      fd = openSync(path, 'a', 0o640)
      bytes = 0
    }
    bytes += writeSync(fd, text)
    fdatasyncSync(fd)
  }
  return {
    note: ({ t, availableBytes, totalBytes }) => write(`${boot} ${t} ${availableBytes} ${totalBytes}\n`),
    stop() {
      write(`${boot} stopped\n`)
      closeSync(fd)
    },
  }
}
