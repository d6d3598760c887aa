// Containers that print what the soak writes: each runs `cat` on a named pipe, so that writing costs little and all that was written is known.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestDocker } from '../setup/docker.ts'
import { FAULTS, ordinaryBlock } from './log-text.ts'

export type Written = {
  lines: number
  bytes: number
  /** `KIND CONTAINER` to how many. */
  readonly faults: Map<string, number>
  /** Milliseconds that the slowest write waited for its reader. */
  slowestMs: number
}
export type Writers = { readonly written: Written; readonly stop: () => Promise<void> }

/** 5 × 10 MB each at most: 20 containers fill 1 GB of disk, and the oldest text is three minutes old when it goes. */
const LOG_CONFIG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } } as const
const TICK_MS = 200
/** Half of the containers fail again and again, the others so rarely that an incident resolves before the next. */
const OFTEN_S = 15
const RARELY_S = 1_080

export async function startWriters(docker: TestDocker, folder: string, containers: number, bytesPerSecond: number): Promise<Writers> {
  const pipes = join(folder, 'pipes')
  mkdirSync(pipes, { recursive: true })
  const block = ordinaryBlock()
  const kinds = Object.keys(FAULTS)
  const written: Written = { lines: 0, bytes: 0, faults: new Map(), slowestMs: 0 }
  const stopping = new AbortController()
  const running: Promise<void>[] = []

  const write = async (file: FileHandle, text: Buffer): Promise<void> => {
    const began = performance.now()
    for (let at = 0; at < text.length;) at += (await file.write(text, at)).bytesWritten
    written.bytes += text.length
    written.slowestMs = Math.max(written.slowestMs, performance.now() - began)
  }
  const keepWriting = async (n: number, file: FileHandle): Promise<void> => {
    const name = `job-${n}`
    // From a tenth to nearly twice of the mean, as jobs differ.
    const perTick = ((bytesPerSecond / containers) * (0.1 + (1.8 * n) / (containers - 1)) * TICK_MS) / 1_000
    const everyMs = (n < containers / 2 ? OFTEN_S : RARELY_S) * 1_000
    const startedAt = performance.now()
    let line = Math.floor((block.ends.length / containers) * n)
    let [owed, faults] = [0, 0]
    for (let tick = 0; !stopping.signal.aborted; tick++) {
      const due = startedAt + tick * TICK_MS
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      const first = line === 0 ? 0 : (block.ends[line - 1] ?? 0)
      owed += perTick
      let end = first
      while (line < block.ends.length && end - first < owed) {
        end = block.ends[line] ?? end
        line++
        written.lines++
      }
      owed -= end - first
      await write(file, block.bytes.subarray(first, end))
      if (line >= block.ends.length) line = 0
      // The first ones soon, the containers one after the other.
      const faultDue = due - startedAt - n * 700 - 5_000
      if (faultDue >= faults * everyMs) {
        const kind = kinds[(n + faults) % kinds.length] ?? ''
        faults++
        const text = `${FAULTS[kind]?.(faults) ?? ''}\nsoak: fault ${faults} of ${name} was ${kind}\n`
        const key = `${kind} ${name}`
        written.faults.set(key, (written.faults.get(key) ?? 0) + 1)
        written.lines += text.split('\n').length - 1
        await write(file, Buffer.from(text))
      }
    }
  }

  const writeAndClose = async (n: number, file: FileHandle): Promise<void> => {
    try {
      await keepWriting(n, file)
    } finally {
      await file.close()
    }
  }

  for (let n = 0; n < containers; n++) {
    const path = join(pipes, `job-${n}`)
    execFileSync('mkfifo', [path])
    await docker.run({ name: `job-${n}`, command: ['cat', '/pipe'], host: { Binds: [`${path}:/pipe`], LogConfig: LOG_CONFIG } })
    // For reading too, so that opening does not wait.
    const file = await open(path, 'r+')
    running.push(writeAndClose(n, file))
  }
  return {
    written,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
