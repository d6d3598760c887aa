// Reads every file of a folder that a reader knows, within bounds: what cannot be read is said, and nothing else stops for it.
import { closeSync, fstatSync, openSync, readSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bytesText } from '../../text/bytes.ts'
import { messageOf } from '../../text/error.ts'
import type { Evidence } from '../model.ts'
import { rankOfName, type EvidenceFile, type EvidenceReader } from './definition.ts'
import * as readers from './index.ts'

const all: readonly EvidenceReader[] = Object.values(readers)
const READERS = [...all.filter(({ fallback }) => fallback !== true), ...all.filter(({ fallback }) => fallback === true)]
const HEAD_BYTES = 4096
const OUTPUT = /\.(?:log|out|err|txt)(?:\.|$)/i
const MOST_FILES = 20_000
const MOST_DEPTH = 4
const MOST_TOTAL_BYTES = 512 * 2 ** 20
const MOST_PROBLEMS = 50

function filesBelow(folder: string): string[] {
  const found: string[] = []
  const visit = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MOST_FILES) return
      const path = join(below, entry.name)
      if (entry.isDirectory() && depth < MOST_DEPTH) visit(path, depth + 1)
      // Links may lead anywhere, pipes and devices may never answer.
      else if (entry.isFile()) found.push(path)
    }
  }
  visit('', 0)
  return found
}

/** Bytes of an open file: all, or the last `most` of it. */
function bytesOf(descriptor: number, size: number, most: number): Uint8Array {
  const length = Math.min(size, most)
  const bytes = Buffer.alloc(length)
  let at = 0
  while (at < length) {
    const read = readSync(descriptor, bytes, at, length - at, size - length + at)
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}

/** Adds what a file holds that was read already, where a reader knows it. */
export function readFileInto({ path, name, bytes }: { readonly path: string; readonly name: string; readonly bytes: Uint8Array }, evidence: Evidence): void {
  const file: EvidenceFile = {
    path,
    name,
    rank: rankOfName(name),
    head: bytes.subarray(0, HEAD_BYTES),
    bytes: () => bytes,
    text: () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'),
  }
  const known = READERS.find((reader) => reader.recognises(file))
  if (known === undefined) return
  known.read(file, evidence)
  evidence.sources.add(known.name)
}

/** Adds what is below the folder to the evidence. Throws where the folder itself cannot be read. */
export function readFolder(folder: string, evidence: Evidence): void {
  const complain = (text: string): void => {
    if (evidence.problems.length < MOST_PROBLEMS) evidence.problems.push(text)
  }
  let left = MOST_TOTAL_BYTES
  for (const path of filesBelow(folder)) {
    let descriptor: number | undefined
    try {
      descriptor = openSync(join(folder, path), 'r')
      const opened = descriptor
      const { size } = fstatSync(opened)
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (size === 0) {
        // Output may be empty; a dump is so only where its writer was ended, or the disk was full.
        if (rankOfName(name) !== undefined && !OUTPUT.test(name)) complain(`${path}: empty, so nothing is known from it`)
        continue
      }
      const head = bytesOf(opened, Math.min(size, HEAD_BYTES), HEAD_BYTES)
      const file = { path, name, rank: rankOfName(name), head }
      const known = READERS.find((reader) => reader.recognises({ ...file, bytes: () => head, text: () => '' }))
      if (known === undefined) continue
      if (size > known.mostBytes && known.fallback !== true) {
        complain(`${path}: ${bytesText(size)}, more than the ${bytesText(known.mostBytes)} that are read of a ${known.name}: not read`)
        continue
      }
      if (left < Math.min(size, known.mostBytes)) {
        complain(`${path}: not read, since ${bytesText(MOST_TOTAL_BYTES)} were read before it`)
        continue
      }
      const bytes = bytesOf(opened, size, known.mostBytes)
      left -= bytes.length
      const whole: EvidenceFile = { ...file, bytes: () => bytes, text: () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8') }
      known.read(whole, evidence)
      evidence.sources.add(known.name)
    } catch (error) {
      complain(`${path}: ${messageOf(error).split('\n')[0] ?? ''}`)
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
}
