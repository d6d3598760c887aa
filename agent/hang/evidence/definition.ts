// What a reader of evidence is: it knows its files by name and first bytes, and adds what it read.
import { messageOf } from '../../text/error.ts'
import type { Evidence } from '../model.ts'

export type EvidenceFile = {
  /** For people: the path below the folder that was given. */
  readonly path: string
  readonly name: string
  /** The rank that the name says, as in `rank_3.log` or `trace.3.log`. */
  readonly rank: number | undefined
  readonly head: Uint8Array
  readonly bytes: () => Uint8Array
  readonly text: () => string
}

export type EvidenceReader = {
  readonly name: string
  /** More than so many bytes are not read. */
  readonly mostBytes: number
  /** Asked after the others; larger files are read from their end. */
  readonly fallback?: true
  readonly recognises: (file: EvidenceFile) => boolean
  /** Throws an EvidenceError for what is damaged or is no such file after all. */
  readonly read: (file: EvidenceFile, evidence: Evidence) => void
}

/** One line: what is wrong with a file. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError'
}

export function jsonOf(text: string, what: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch (error) {
    throw new EvidenceError(`no ${what} that can be read: ${messageOf(error)}`, { cause: error })
  }
}

export const headText = (file: EvidenceFile): string => Buffer.from(file.head.buffer, file.head.byteOffset, file.head.length).toString('latin1')

/** `rank_3`, `rank3`, `trace.3.log`, `fr_KIND_3.json`, `3.txt`: the last number before the ending, unless it is a pid. */
export function rankOfName(name: string): number | undefined {
  const named = /rank[_-]?(\d{1,6})(?!\d)/i.exec(name)?.[1] ?? /(?:^|[._-])(\d{1,6})(?:\.[a-z]{2,8})*$/i.exec(name)?.[1]
  return named === undefined ? undefined : Number(named)
}
