// Dumps of tens of megabytes: an honest one is read whole, one made to take memory is refused with a word about it.
import { describe, expect, test } from 'vitest'
import { bytesOf, shortText, u32 } from '../allocator/snapshot/pickler.ts'
import { evidenceOf } from './job-folder.ts'

const PATH = 'dumps/comm_lib_trace_rank_0'
const WORDS = [
  'frames',
  'name',
  'filename',
  'line',
  'record_id',
  'process_group',
  '0',
  'default_pg',
  'collective_seq_id',
  'profiling_name',
  'nccl:all_reduce',
  'state',
]
const word = (text: string): Uint8Array => bytesOf('h', WORDS.indexOf(text))
const HEAD = bytesOf(0x80, 2, ...WORDS.map((text, i) => bytesOf(shortText(text), 'q', i, '0')))

/** One call stack of 100 frames in every entry, as in a loop. */
function honest(entries: number): Uint8Array {
  const frame = (line: number): Uint8Array => bytesOf('}(', word('name'), word('name'), word('filename'), word('filename'), word('line'), 'K', line, 'u')
  const frames = bytesOf(word('frames'), '](', ...Array.from({ length: 100 }, (_, line) => frame(line)), 'e')
  const [id, group, seq] = [word('record_id'), bytesOf(word('process_group'), word('0'), word('default_pg'), 0x86), word('collective_seq_id')]
  const rest = bytesOf(word('profiling_name'), word('nccl:all_reduce'), word('state'), shortText('completed'), 'u')
  const all = Array.from({ length: entries }, (_, i) => bytesOf('}(', frames, id, 'J', u32(i), group, seq, 'J', u32(i + 1), rest))
  return bytesOf(HEAD, '}(', shortText('entries'), '](', ...all, 'eu.')
}

describe('large dumps', () => {
  test('one that counts more values than may be kept, nearly all of them in equal call stacks, is read', () => {
    const dump = honest(20_000)
    const evidence = evidenceOf({ [PATH]: dump })
    expect(evidence.problems).toEqual([])
    expect(dump.length).toBeGreaterThan(24 * 2 ** 20)
    expect(evidence.ranks.get(0)?.ops?.at(-1)).toMatchObject({ seq: 20_000, name: 'all_reduce', state: 'done' })
  })

  test('one of very many dicts, each with a key of its own, is refused before it takes the memory', () => {
    const dicts = Array.from({ length: 300_000 }, (_, i) => bytesOf('}', shortText(`key ${i}`), 'Ns'))
    const dump = Buffer.concat([HEAD, bytesOf('}(', shortText('entries'), ']('), ...dicts, bytesOf('eu.')])
    expect(evidenceOf({ [PATH]: dump }).problems.join()).toMatch(
      /not a Flight Recorder dump that can be read: its values take more than 256 MiB of memory: too large to read/,
    )
  })
})
