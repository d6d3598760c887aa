// The head of a server's log, however old: what it wrote from its start on, through the container's engine, its file, or the journal. At most 1 MiB.
import { spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { createHttpClient } from '../../lib/http-client.ts'
import type { ProcessIdentity } from '../../model/identity.ts'
import { createFrameReader } from '../container-logs/frames.ts'

export type LogHeadOptions = {
  readonly procRoot: string
  /** The engine's socket of a running container, by its full id. */
  readonly engineOf: (containerId: string) => string | undefined
}
/** `untilTicks`: what was written later belongs to another process. undefined: there is no log that can be read. */
export type ReadLogHead = (of: ProcessIdentity, untilTicks?: number) => Promise<string | undefined>

const MAX_BYTES = 2 ** 20
const TIMEOUT_MS = 5_000
/** USER_HZ: the kernel gives times to programs in hundredths of a second, whatever its own clock. */
const TICKS = 100
/** What the parent writes of a process that it is about to start. */
const BEFORE_S = 2

const tryOr = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** With times asked for, which tell frames from a terminal's bare lines. */
function textOf(body: Buffer): string {
  const lines: string[] = []
  const reader = createFrameReader({
    onBatch({ bytes, starts, ends, count }) {
      for (let at = 0; at < count; at++) lines.push(bytes.toString('utf8', starts[at], ends[at]))
    },
    onCut: () => undefined,
  })
  tryOr(() => reader.push(body))
  return lines.join('\n')
}

async function ofContainer(socketPath: string, id: string, since: number, until: number | undefined): Promise<string | undefined> {
  const client = createHttpClient({ socketPath })
  const times = `since=${since.toFixed(3)}${until === undefined ? '' : `&until=${until.toFixed(3)}`}`
  const url = new URL(`http://engine/containers/${id}/logs?stdout=1&stderr=1&timestamps=1&${times}`)
  const result = await client.exchange({ url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  client.close()
  return 'answer' in result && result.answer.status === 200 ? textOf(result.answer.body) : undefined
}

const PIECE_BYTES = 64 * 2 ** 10
/** By pieces: most logs are far shorter than what is read of them at most. */
function headOf(fd: number): string {
  const [piece, decoder] = [Buffer.allocUnsafe(PIECE_BYTES), new StringDecoder('utf8')]
  let text = ''
  for (let at = 0; at < MAX_BYTES;) {
    const length = readSync(fd, piece, 0, PIECE_BYTES, at)
    if (length === 0) break
    text += decoder.write(piece.subarray(0, length))
    at += length
  }
  return text
}

/** Where its output goes, if that is a file. Opened without waiting: a pipe under that name has no other end for us. */
function ofFile(process: string): string | undefined {
  for (const output of ['1', '2']) {
    const fd = tryOr(() => openSync(`${process}/fd/${output}`, constants.O_RDONLY | constants.O_NONBLOCK))
    if (fd === undefined) continue
    try {
      if (!fstatSync(fd).isFile()) continue
      return headOf(fd)
    } catch {
      continue
    } finally {
      closeSync(fd)
    }
  }
  return undefined
}

async function ofUnit(unit: string, since: number, until: number | undefined): Promise<string | undefined> {
  const times = [`--since=@${Math.floor(since)}`, ...(until === undefined ? [] : [`--until=@${Math.ceil(until)}`])]
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = spawn('journalctl', ['--no-pager', '--output=cat', `--unit=${unit}`, ...times], { stdio: ['ignore', 'pipe', 'ignore'], timeout: TIMEOUT_MS })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    // One that says more than is read is ended, and what it said counts.
    if (said.length > MAX_BYTES) child.kill()
  })
  child.on('error', () => resolve(undefined))
  child.on('close', () => resolve(said === '' ? undefined : said))
  return promise
}

export function createLogHead({ procRoot, engineOf }: LogHeadOptions): ReadLogHead {
  return async ({ pid, startTicks, container, unit }, untilTicks) => {
    const boot = Number(/^btime (\d+)/m.exec(tryOr(() => readFileSync(`${procRoot}/stat`, 'utf8')) ?? '')?.[1] ?? Number.NaN)
    const timeOf = (ticks: number): number => boot + ticks / TICKS
    const [since, until] = [timeOf(startTicks) - BEFORE_S, untilTicks === undefined ? undefined : timeOf(untilTicks) - BEFORE_S]
    if (container !== undefined && Number.isFinite(boot)) {
      const socketPath = engineOf(container.id)
      return socketPath === undefined ? undefined : ofContainer(socketPath, container.id, since, until)
    }
    const filed = ofFile(`${procRoot}/${pid}`)
    if (filed !== undefined || unit === undefined || !unit.endsWith('.service') || !Number.isFinite(boot)) return filed
    return ofUnit(unit, since, until)
  }
}
