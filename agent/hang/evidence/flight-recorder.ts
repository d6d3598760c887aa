// PyTorch's Flight Recorder: the dump of one rank, as the C++ pickler writes it or as JSON, of every version from torch 2.2 on.
import { isFields, isList, optionalCount, type Fields } from '../../allocator/snapshot/fields.ts'
import { LIMITS } from '../../allocator/snapshot/limits.ts'
import { readPickle } from '../../allocator/snapshot/pickle.ts'
import { messageOf } from '../../text/error.ts'
import { rankOf, type Evidence, type Group, type Op } from '../model.ts'
import { withBatches, type Recorded } from './batches.ts'
import { EvidenceError, headText, type EvidenceReader } from './definition.ts'
import { opName } from './ops.ts'
import { createSharedParts, position, words, type SharedParts } from './shared-parts.ts'

/** 2000 entries with stacks are about 3 MB; larger buffers are asked for, and cost memory to read. */
const MOST_BYTES = 64 * 2 ** 20
const MOST_ENTRIES = 20_000
/** Of all ranks together, since all are judged at once: of 256 ranks the newest 1000 each. What decides is among the newest. */
const MOST_TOGETHER = 256_000
const LEAST_ENTRIES = 500
const DUMP_LIMITS = { ...LIMITS, containers: 2 ** 21, values: 2 ** 23, stack: 2 ** 22, memo: 2 ** 21, textBytes: 2 ** 16 }

const nanoseconds = (value: unknown): number | undefined => {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) / 1e9 : 0
  return number > 0 ? number : undefined
}
/** `"[0, 1, 4]"`; groups of every eighth rank are listed in full. */
function members(text: unknown): readonly number[] {
  if (typeof text !== 'string' || text.length > 2 ** 20) return []
  return Array.from(text.matchAll(/\d{1,7}/g), ([number]) => Number(number))
}

/** Every group of the dump by its name. Gloo writes all of them under an empty name, so only that of everybody can be told. */
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

function opOf(entry: Fields, group: Group, parts: SharedParts): Op {
  const called = words(entry['profiling_name'])
  const space = called.indexOf(' ')
  const p2p = entry['is_p2p'] === true
  const base = opName(space < 0 ? called : called.slice(0, space))
  // One tensor on each side is all_to_all_single; the recorder names both kinds alike.
  const single = base === 'all_to_all' && isList(entry['input_sizes']) && entry['input_sizes'].length === 1
  const { inputs, elements, dtypes } = parts.shapes(entry)
  const [issued, completed] = [nanoseconds(entry['time_created_ns']), nanoseconds(entry['time_discovered_completed_ns'])]
  const timeout = optionalCount(entry, 'timeout_ms')
  // Filled field by field: a dump has thousands of entries, and objects that are spread into each other cost most of the time to read it.
  const op: Writable<Op> = {
    record: position(entry['record_id'] ?? entry['id']) ?? 0,
    group: group.key,
    seq: position(p2p ? entry['p2p_seq_id'] : (entry['collective_seq_id'] ?? entry['seq_id'])) ?? 0,
    name: single ? 'all_to_all_single' : base,
    p2p,
    inputs,
    elements,
    dtypes,
    // Gloo's entries stay `scheduled`; only `retired` says that they ended.
    state: entry['state'] === 'completed' || entry['retired'] === true ? 'done' : entry['state'] === 'started' ? 'started' : 'waiting',
    frames: parts.frames(entry['frames']),
  }
  if (issued !== undefined) op.issued = issued
  if (completed !== undefined) op.completed = completed
  if (timeout !== undefined) op.timeoutSeconds = timeout / 1000
  const ends = space < 0 ? undefined : endsOf(called.slice(space + 1).split(' ', 1)[0] ?? '', group)
  if (ends !== undefined) [op.from, op.to] = ends
  return op
}

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
  for (const entry of entries) {
    if (!isFields(entry)) continue
    const [name = '', desc = ''] = isList(entry['process_group']) ? entry['process_group'].map(words) : [words(entry['process_group'])]
    const configured = groups.get(name) ?? (desc === 'default_pg' ? groups.get('') : undefined)
    const group = configured === undefined ? { key: name, name, desc, members: [] } : { ...configured, name, desc }
    if (!evidence.groups.has(group.key)) evidence.groups.set(group.key, group)
    recorded.push({
      op: opOf(entry, group, parts),
      collectives: position(entry['collective_seq_id'] ?? entry['seq_id']) ?? 0,
      transfers: position(entry['p2p_seq_id']),
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
      top = file.head[0] === 0x80 ? readPickle(file.bytes(), { limits: DUMP_LIMITS }) : JSON.parse(file.text())
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
