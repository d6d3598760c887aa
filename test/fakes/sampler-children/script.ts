// What a scripted sampler child does, and how a test writes it down for the child to read.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Script = {
  readonly gpus: number
  readonly uuids?: readonly string[]
  readonly lost?: readonly number[]
  /** GPUs that are lost by their answers, though still listed. */
  readonly gone?: readonly number[]
  /** GPUs whose call never returns; -1 is a call on no GPU. */
  readonly hang?: readonly number[]
  readonly hangOpening?: readonly number[]
  /** GPUs whose call ends the process with SIGSEGV. */
  readonly crash?: readonly number[]
  readonly exit?: number
  readonly failed?: { readonly reason: string; readonly code?: number; readonly detail: string }
  /** Never answers the start. */
  readonly silent?: boolean
  readonly flood?: boolean
  /** Messages sent before each sample, as they are. */
  readonly bad?: readonly unknown[]
  readonly watts?: number
  readonly xids?: readonly number[]
  readonly processes?: readonly unknown[]
  /** File that holds the number of the newest request whose answer has left the child whole. */
  readonly answered?: string
}

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- written by `createScript` below
export const readScript = (path: string): Script => JSON.parse(readFileSync(path, 'utf8')) as Script

export const scriptedChild = join(import.meta.dirname, 'scripted.ts')

export function createScript(first: Script): { readonly env: NodeJS.ProcessEnv; readonly set: (script: Script) => void; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-script-'))
  const path = join(folder, 'script.json')
  const set = (script: Script): void => {
    writeFileSync(`${path}.new`, JSON.stringify(script))
    renameSync(`${path}.new`, path) // whole or not at all: the child reads it at any moment
  }
  set(first)
  return { env: { ...process.env, SCRIPT: path }, set, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
