// PyTorch's Flight Recorder: the dump of one rank, as the C++ pickler writes it or as JSON, of every version from torch 2.2 on.
import { isFields, isList, type Fields } from '../../allocator/snapshot/fields.ts'
import { createEqualLists } from '../../allocator/snapshot/equal-lists.ts'
import { LIMITS } from '../../allocator/snapshot/limits.ts'
import { readPickle } from '../../allocator/snapshot/pickle.ts'
import type { Item } from '../../allocator/snapshot/values.ts'
import { createRowReader, type RowReader } from '../../allocator/snapshot/rows.ts'
import { messageOf } from '../../text/error.ts'
import { rankOf, type Evidence, type Group, type Op } from '../model.ts'
import { withBatches, type Recorded } from './batches.ts'
import { EvidenceError, headText, type EvidenceReader } from './definition.ts'
import { createSharedParts, position, words, type SharedParts } from './shared-parts.ts'

/** 2000 entries with stacks are about 3 MB; larger buffers are asked for, and cost memory to read. */
const MOST_BYTES = 64 * 2 ** 20
const MOST_ENTRIES = 20_000
/** Of all ranks together, since all are judged at once: of 256 ranks the newest 1000 each. What decides is among the newest. */
const MOST_TOGETHER = 256_000
const LEAST_ENTRIES = 500
/** 50 MB of 187,000 entries count 15 million values, of which 80 MB are built. */
const DUMP_LIMITS = { ...LIMITS, containers: 2 ** 24, values: 2 ** 26, memory: 256 * 2 ** 20, stack: 2 ** 20, memo: 2 ** 21, textBytes: 2 ** 16 }

const nanoseconds = (value: unknown): number | undefined => {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) / 1e9 : 0
  return number > 0 ? number : undefined
}
/** `"[0, 1, 4]"`; groups of every eighth rank are listed in full. */
function members(text: unknown): readonly number[] {
  if (typeof text !== 'string' || text.length > 2 ** 20) return []
  return Array.from(text.matchAll(/\d{1,7}/g), ([number]) => Number(number))
}

/** Every group of the dump by its name. Gloo writes all of them under an empty name, so only that of everybody can be known. */
function groupsOf(top: Fields): ReadonlyMap<string, Group> {
  const config = isFields(top['pg_config']) ? top['pg_config'] : {}
  return new Map(
    Object.values(config)
      .slice(0, 4096)
      .flatMap((group): [string, Group][] => {
        if (!isFields(group)) return []
        const [name, ranks] = [words(group['name']), members(group['ranks'])]
        return [
          [
            name,
            {
              key: name === '' ? '0' : `${name}|${ranks.length > 64 ? `${ranks[0]}..${ranks.at(-1)}` : ranks.join(',')}`,
              name,
              desc: words(group['desc']),
              members: ranks,
            },
          ],
        ]
      }),
  )
}

/** What is read of an entry, under the names of all versions. */
const COLUMN = {
  frames: 0,
  record_id: 1,
  id: 2,
  process_group: 3,
  collective_seq_id: 4,
  seq_id: 5,
  p2p_seq_id: 6,
  profiling_name: 7,
  time_created_ns: 8,
  input_sizes: 9,
  input_dtypes: 10,
  output_sizes: 11,
  output_dtypes: 12,
  state: 13,
  time_discovered_completed_ns: 14,
  retired: 15,
  timeout_ms: 16,
  is_p2p: 17,
} as const
const COLUMNS = Object.keys(COLUMN)
type Entry = readonly unknown[]

/** The pickle's reader gives entries as rows; those of JSON, and of pickles that Python wrote, are dicts. */
const entryOf = (value: unknown): Entry | undefined =>
  isList(value) ? (value.length === COLUMNS.length ? value : undefined) : isFields(value) ? COLUMNS.map((name) => value[name]) : undefined

const collectivesOf = (entry: Entry): number => position(entry[COLUMN.collective_seq_id] ?? entry[COLUMN.seq_id]) ?? 0

function opOf(entry: Entry, group: Group, parts: SharedParts): Op {
  const { name, pair } = parts.called(entry[COLUMN.profiling_name])
  const p2p = entry[COLUMN.is_p2p] === true
  const sizes = entry[COLUMN.input_sizes]
  // One tensor on each side is all_to_all_single; the recorder names both kinds alike.
  const single = name === 'all_to_all' && isList(sizes) && sizes.length === 1
  const { inputs, elements, dtypes } = parts.shapes([sizes, entry[COLUMN.output_sizes], entry[COLUMN.input_dtypes], entry[COLUMN.output_dtypes]])
  const [issued, completed] = [nanoseconds(entry[COLUMN.time_created_ns]), nanoseconds(entry[COLUMN.time_discovered_completed_ns])]
  const timeout = position(entry[COLUMN.timeout_ms])
  const state = entry[COLUMN.state]
  // Filled field by field: a dump has thousands of entries, and objects that are spread into each other cost most of the time to read it.
  const op: Writable<Op> = {
    record: position(entry[COLUMN.record_id] ?? entry[COLUMN.id]) ?? 0,
    group: group.key,
    seq: p2p ? (position(entry[COLUMN.p2p_seq_id]) ?? 0) : collectivesOf(entry),
    name: single ? 'all_to_all_single' : name,
    p2p,
    inputs,
    elements,
    dtypes,
    // Gloo's entries stay `scheduled`; only `retired` says that they ended.
    state: state === 'completed' || entry[COLUMN.retired] === true ? 'done' : state === 'started' ? 'started' : 'waiting',
    frames: parts.frames(entry[COLUMN.frames]),
  }
  if (issued !== undefined) op.issued = issued
  if (completed !== undefined) op.completed = completed
  if (timeout !== undefined) op.timeoutSeconds = timeout / 1000
  const ends = pair === undefined ? undefined : endsOf(pair, group)
  if (ends !== undefined) [op.from, op.to] = ends
  return op
}

const rowOf = (): RowReader<Item> => createRowReader<Item>({ first: 'frames', columns: COLUMNS }, null)
const pickleOf = (bytes: Uint8Array): unknown => readPickle(bytes, { limits: DUMP_LIMITS, equalLists: createEqualLists(bytes), rowOf: rowOf() })

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] }

/** Of `0->1` or `1<-0`, which count within the group, the ranks that send and receive. */
function endsOf(pair: string, group: Group): readonly [from: number, to: number] | undefined {
  const [, left, way, right] = /^(\d+)(->|<-)(\d+)$/.exec(pair) ?? []
  if (left === undefined || right === undefined) return undefined
  const [me, other] = [group.members[Number(left)] ?? Number(left), group.members[Number(right)] ?? Number(right)]
  return way === '<-' ? [other, me] : [me, other]
}

export function readDump(top: Fields, rank: number, evidence: Evidence): void {
  const groups = groupsOf(top)
  const size = [...groups.values()].reduce((most, { members: all }) => Math.max(most, all.length), 1)
  const most = Math.min(MOST_ENTRIES, Math.max(LEAST_ENTRIES, Math.floor(MOST_TOGETHER / size)))
  const entries = isList(top['entries']) ? top['entries'].slice(-most) : []
  const me = rankOf(evidence, rank)
  const recorded: Recorded[] = []
  const parts = createSharedParts()
  const named = new Map<string, Group>()
  const groupOf = (name: string, desc: string): Group => {
    const key = `${name} ${desc}`
    const known = named.get(key)
    if (known !== undefined) return known
    const configured = groups.get(name) ?? (desc === 'default_pg' ? groups.get('') : undefined)
    const group = configured === undefined ? { key: name, name, desc, members: [] } : { ...configured, name, desc }
    if (!evidence.groups.has(group.key)) evidence.groups.set(group.key, group)
    named.set(key, group)
    return group
  }
  for (const one of entries) {
    const entry = entryOf(one)
    if (entry === undefined) continue
    const group = entry[COLUMN.process_group]
    const [name, desc] = isList(group) ? group : [group, '']
    recorded.push({
      op: opOf(entry, groupOf(words(name), words(desc)), parts),
      collectives: collectivesOf(entry),
      transfers: position(entry[COLUMN.p2p_seq_id]),
    })
  }
  recorded.sort((a, b) => a.op.record - b.op.record)
  me.lostOldest = (recorded[0]?.op.record ?? 0) > 0
  me.ops = withBatches(recorded, me.lostOldest)
  for (const { p2p, uncounted, group, seq } of me.ops) if (!p2p && uncounted !== true) me.issued.set(group, Math.max(seq, me.issued.get(group) ?? 0))
  for (const [name, group] of groups) if (name !== '' && !evidence.groups.has(group.key)) evidence.groups.set(group.key, group)
}

/** Whether JSON text begins as a dump does; the recorder writes its keys in any order. */
const JSON_DUMP = /"(?:pg_config|pg_status|comm_lib_version|nccl_comm_state|record_id|collective_seq_id)"\s*:/

export const flightRecorder: EvidenceReader = {
  name: 'Flight Recorder dump',
  mostBytes: MOST_BYTES,
  recognises: (file) => file.head[0] === 0x80 || (headText(file).trimStart().startsWith('{') && JSON_DUMP.test(headText(file))),
  read(file, evidence) {
    if (file.rank === undefined) throw new EvidenceError('the name of a Flight Recorder dump ends with its rank, as in nccl_trace_rank_3')
    let top: unknown
    try {
      top = file.head[0] === 0x80 ? pickleOf(file.bytes()) : JSON.parse(file.text())
    } catch (error) {
      throw new EvidenceError(`not a Flight Recorder dump that can be read: ${messageOf(error).replace(/ \(dump again[^)]*\)/, '')}`, { cause: error })
    }
    if (!isFields(top) || (top['pg_config'] === undefined && top['entries'] === undefined && top['version'] === undefined))
      throw new EvidenceError('no Flight Recorder dump: it has neither pg_config nor entries')
    // The pickle has call sites, the JSON of the same rank has none.
    const known = evidence.ranks.get(file.rank)?.ops
    if (known !== undefined && known.some(({ frames }) => frames.length > 0)) return
    readDump(top, file.rank, evidence)
  },
}
