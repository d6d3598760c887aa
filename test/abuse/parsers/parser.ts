// What a reader of outside bytes is to the abuse suite: where its inputs come from, how many it gets, what it may refuse them with.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MOST_BYTES } from './mutate.ts'

export type Parser = {
  /** Kebab-case; `npm run abuse -- mutated-inputs` names it where it fails. */
  readonly name: string
  /** What it reads, for the person who reads a failure. */
  readonly of: string
  /** Inputs of the long form: 10^6, fewer where one takes more than some 20 µs. */
  readonly inputs: number
  /** What the border in front of it admits, where that is less than 64 KiB. */
  readonly mostBytes: number
  /** CPU time that 64 KiB may take: 100 ms but for YAML, which only the operator writes. */
  readonly msPer64KiB: number
  /** Whole, ordinary inputs. Called in the child only. */
  readonly seeds: readonly Buffer[]
  /** Reads one input to the end, with whatever the agent itself does with the answer. */
  readonly read: (input: Buffer) => void | Promise<void>
  /** Whether an error is the parser's own refusal, which its callers expect. */
  readonly refuses: (error: Error) => boolean
}

type Options = Partial<Pick<Parser, 'inputs' | 'mostBytes' | 'msPer64KiB' | 'refuses'>>
const MILLION = 1_000_000

export function parserOf(name: string, of: string, seeds: readonly (string | Uint8Array)[], read: Parser['read'], options: Options = {}): Parser {
  return {
    name,
    of,
    inputs: MILLION,
    mostBytes: MOST_BYTES,
    msPer64KiB: 100,
    refuses: () => false,
    ...options,
    seeds: seeds.map((seed) => Buffer.from(seed)),
    read,
  }
}

/** A parser of text: bytes that are no UTF-8 become U+FFFD, as where the agent decodes them. */
export const textParser = (
  name: string,
  of: string,
  seeds: readonly (string | Uint8Array)[],
  read: (text: string) => void | Promise<void>,
  options?: Options,
): Parser => parserOf(name, of, seeds, (input) => read(input.toString('utf8')), options)

export const json = (value: unknown): string => JSON.stringify(value)

const SHARED = join(import.meta.dirname, '../../../../shared')
/** Real files beside the repository as further seeds, cut to what is admitted; none where they are not there. Nothing of them is in the repository. */
export const sharedSeeds = (...paths: readonly string[]): readonly Buffer[] =>
  paths.map((path) => join(SHARED, path)).flatMap((path) => (existsSync(path) ? [readFileSync(path).subarray(0, MOST_BYTES / 2)] : []))

let made: string | undefined
/** One folder for the whole run of a child; `abuse` removes what is in its own temporary folder. */
export const folder = (): string => (made ??= mkdtempSync(join(tmpdir(), 'warpwatch-abuse-')))

/** The YAML library takes up to 10 µs for a character that is wrong. Such files are the operator's, read once, by a command or at the start. */
export const YAML_MS = 1_000
