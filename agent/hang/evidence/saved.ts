// What was found out about a job on one host, as a file or as an agent's answer to another: by it the ranks of several hosts are judged together.
import * as z from 'zod/mini'
import { redactDeep } from '../../lib/redact.ts'
import type { Evidence, Op, RankEvidence } from '../model.ts'
import { EvidenceError, headText, jsonOf, type EvidenceReader } from './definition.ts'

const FORMAT = 1
/** Of one rank; the newest say where it is. */
const MOST_OPS = 128
const MOST_FRAMES = 24
const MOST_RANKS = 4_096
const MOST_STATEMENTS = 4_096
const MOST_PROBLEMS = 256
const MOST_TEXT = 4_000

const text = z.string().check(z.maxLength(MOST_TEXT))
const some = z.exactOptional
const rankNumber = z.int().check(z.minimum(0), z.maximum(1_000_000))
const list = <T extends z.core.SomeType>(item: T, most: number) => z.array(item).check(z.maxLength(most))
const frame = z.object({ file: text, line: z.int(), function: text })
const frames = list(frame, 256)
const thread = z.object({ id: text, name: some(text), frames, holdsGil: some(z.boolean()) })
const threads = list(thread, 1_024)

const opFields = {
  record: z.number(),
  group: text,
  seq: z.number(),
  name: text,
  p2p: z.boolean(),
  from: some(rankNumber),
  to: some(rankNumber),
  uncounted: some(z.literal(true)),
  inputs: text,
  elements: z.object({ inputs: text, outputs: text }),
  dtypes: text,
  state: z.enum(['waiting', 'started', 'done']),
  issued: some(z.number()),
  completed: some(z.number()),
  timeoutSeconds: some(z.number()),
  frames,
}
// The parts of a batch are no batches themselves.
const op = z.object({ ...opFields, batch: some(list(z.object(opFields), 1_024)) })

const timeout = z.object({
  group: some(text),
  desc: some(text),
  groupRank: some(z.int()),
  seq: some(z.number()),
  name: some(text),
  inputs: some(text),
  outputs: some(text),
  waitedSeconds: some(z.number()),
  since: some(z.number()),
  enqueued: some(z.number()),
  completed: some(z.number()),
  frames,
})

const rank = z.object({
  rank: rankNumber,
  host: some(text),
  pid: some(z.int()),
  gpu: some(z.int()),
  container: some(text),
  alive: some(z.boolean()),
  exit: some(text),
  ops: some(list(op, 65_536)),
  lostOldest: some(z.boolean()),
  issued: list(z.tuple([text, z.number()]), 4_096),
  timeouts: list(timeout, 1_024),
  exception: some(text),
  raisedAt: some(frame),
  threads,
  children: list(z.object({ pid: z.int(), threads }), 64),
  stalledSeconds: some(z.number()),
  still: some(z.boolean()),
  process: some(
    z.object({
      state: text,
      waitChannel: some(text),
      syscall: some(text),
      descriptor: some(z.int()),
      target: some(text),
      cpuShare: some(z.number()),
    }),
  ),
  work: some(z.object({ cpuSeconds: z.number(), bytes: z.number(), faults: z.number(), memory: z.number() })),
  runs: some(z.object({ stacks: list(frames, 4), moves: z.boolean(), wanted: some(z.number()) })),
  figures: some(z.object({ busy: z.number(), memory: z.number(), watts: some(z.number()), limitWatts: some(z.number()) })),
})

const poll = z.object({
  at: some(z.number()),
  comms: list(
    z.object({
      id: text,
      size: z.int(),
      ranks: list(z.object({ rank: z.int(), place: text, counts: z.record(text, z.number()) }), 65_536),
      dead: list(z.object({ rank: z.int(), place: text }), 65_536),
    }),
    4_096,
  ),
})
const statement = z.object({
  rank: some(rankNumber),
  statement: z.object({
    ranks: list(rankNumber, 65_536),
    text,
    what: z.enum(['missing', 'mismatch', 'waits', 'lost_peer', 'stalled']),
  }),
})
const saved = z.object({
  warpwatch_hang_evidence: z.literal(FORMAT),
  ranks: list(rank, MOST_RANKS),
  groups: list(z.object({ key: text, name: text, desc: text, members: list(rankNumber, 65_536), partial: some(z.literal(true)) }), 65_536),
  polls: list(poll, 16),
  statements: list(statement, MOST_STATEMENTS),
  problems: list(text, MOST_PROBLEMS),
  torch: some(text),
  nccl: some(text),
  silence: some(z.object({ seconds: z.number(), usualSeconds: some(z.number()), since: z.number(), by: z.enum(['log', 'gpu']), busyWith: some(text) })),
  sharedLog: some(z.literal(true)),
  worldSize: some(z.int()),
})
type Saved = z.infer<typeof saved>

const briefly = (one: Op): Op => ({ ...one, frames: one.frames.slice(0, MOST_FRAMES) })
function rankToSave({ issued, ops, timeouts, ...others }: RankEvidence): object {
  const saves = { ...others, issued: [...issued], timeouts: timeouts.map((one) => ({ ...one, frames: one.frames.slice(0, MOST_FRAMES) })) }
  if (ops === undefined) return saves
  const isCut = ops.length > MOST_OPS
  return { ...saves, ops: ops.slice(-MOST_OPS).map(briefly), ...(isCut ? { lostOldest: true } : {}) }
}
/** A longer text, such as the shapes of a hundred inputs, is cut the same for each rank. */
const cut = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MOST_TEXT) : value)

/** One JSON text within the bounds of the reader; secrets are removed. */
export function saveEvidence({ ranks, groups, statements, problems, sources: _sources, ...others }: Evidence): string {
  const clean = redactDeep({
    warpwatch_hang_evidence: FORMAT,
    ...others,
    statements: statements.slice(0, MOST_STATEMENTS),
    problems: problems.slice(0, MOST_PROBLEMS),
    ranks: [...ranks.values()].slice(0, MOST_RANKS).map(rankToSave),
    groups: [...groups.values()],
  })
  return JSON.stringify(clean, cut)
}

function add({ ranks, groups, polls, statements, problems, torch, nccl, silence, sharedLog, worldSize }: Saved, evidence: Evidence): void {
  for (const { issued, ...found } of ranks) {
    const before = evidence.ranks.get(found.rank)
    // What a host says of a rank that runs there is more than that another one does not see it.
    if (before?.pid !== undefined && found.pid !== undefined)
      evidence.problems.push(
        `rank ${found.rank} is on two hosts, ${before.host ?? 'one unnamed'} and ${found.host ?? 'one unnamed'}: the second one is left out`,
      )
    else if (before === undefined || found.pid !== undefined) evidence.ranks.set(found.rank, { ...found, issued: new Map(issued) })
  }
  for (const group of groups) {
    const before = evidence.groups.get(group.key)
    if (before === undefined || (before.partial === true && group.partial !== true)) evidence.groups.set(group.key, group)
  }
  evidence.polls.push(...polls)
  evidence.statements.push(...statements)
  evidence.problems.push(...problems)
  if (torch !== undefined) evidence.torch ??= torch
  if (nccl !== undefined) evidence.nccl ??= nccl
  if (silence !== undefined) evidence.silence ??= silence
  if (worldSize !== undefined) evidence.worldSize ??= worldSize
  if (sharedLog !== undefined) evidence.sharedLog = sharedLog
}

export const savedEvidence: EvidenceReader = {
  name: 'saved evidence',
  mostBytes: 64 * 2 ** 20,
  recognises: (file) => headText(file).startsWith('{"warpwatch_hang_evidence":'),
  read(file, evidence) {
    const parsed = saved.safeParse(jsonOf(file.text(), 'saved evidence'))
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new EvidenceError(`no saved evidence of this version: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.slice(0, 300))
    }
    add(parsed.data, evidence)
  },
}
