// Writes what the ranks of an invented job leave behind: dumps of the recorder, logs, stacks, GPU figures.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEvidence, type Answer, type Evidence } from '../../../agent/hang/model.ts'
import { readFolder } from '../../../agent/hang/evidence/folder.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { jitPickle } from '../allocator/snapshot/pickler.ts'

export type Step = {
  readonly group?: string
  readonly op?: string
  readonly size?: number
  readonly dtype?: string
  readonly state?: 'scheduled' | 'started' | 'completed'
  /** Seconds after the start. */
  readonly at?: number
  /** The same for its end; without it, a moment after it was issued. */
  readonly end?: number
  readonly line?: number
}
export type Groups = Readonly<Record<string, { readonly desc: string; readonly ranks: readonly number[] }>>

/** By path. */
export type Files = Readonly<Record<string, string | Uint8Array>>

const START = 1_790_000_000

/** A dump as the C++ pickler writes it: each step one entry, counted by group. `lost`: so many of the oldest were overwritten. */
export function dumpOf(groups: Groups, steps: readonly Step[], lost = 0): Uint8Array {
  const seqs = new Map<string, number>()
  const entries = steps.map(
    ({ group = '0', op = 'all_reduce', size = 64, dtype = 'Float', state = 'completed', at = 0, end = at + 0.001, line = 10 }, record) => {
      const seq = (seqs.get(group) ?? 0) + 1
      seqs.set(group, seq)
      const time = BigInt(Math.round((START + at) * 1e6)) * 1000n
      return {
        frames: [
          { name: op, filename: '/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py', line: 2900 },
          { name: 'reduce', filename: '/job/loop.py', line },
        ],
        record_id: record,
        pg_id: 0,
        process_group: [group, groups[group]?.desc ?? ''],
        collective_seq_id: seq,
        p2p_seq_id: 0,
        op_id: record,
        profiling_name: `nccl:${op}`,
        time_created_ns: time,
        input_sizes: [[size]],
        input_dtypes: [dtype],
        output_sizes: [[size]],
        output_dtypes: [dtype],
        state,
        time_discovered_started_ns: null,
        time_discovered_completed_ns: state === 'completed' ? BigInt(Math.round((START + end) * 1e6)) * 1000n : null,
        retired: state === 'completed',
        timeout_ms: 600_000,
        is_p2p: false,
      }
    },
  )
  const config = Object.fromEntries(Object.entries(groups).map(([name, { desc, ranks }]) => [name, { name, desc, ranks: `[${ranks.join(', ')}]` }]))
  return jitPickle({ version: '2.10', pg_config: config, pg_status: {}, entries: entries.slice(lost) })
}

export const stackOf = (...frames: readonly (readonly [file: string, line: number, called: string])[]): string =>
  `Thread 0x00007f0000001000 (most recent call first):\n${frames.map(([file, line, called]) => `  File "${file}", line ${line} in ${called}\n`).join('')}`
export const WAITS = stackOf(['/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py', 2936, 'all_reduce'], ['/job/loop.py', 10, 'reduce'])
export const timedOut = (text: string): string => `Timeout (0:00:30)!\n${text}`

export function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'job-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

export function evidenceOf(files: Files): Evidence {
  const evidence = createEvidence()
  readFolder(folderOf(files), evidence)
  return evidence
}
export const judged = (files: Files): Answer => judge(evidenceOf(files))

/** Four ranks in one group. */
export const WORLD: Groups = { '0': { desc: 'default_pg', ranks: [0, 1, 2, 3] } }
/** So many steps that are done, and the last. */
export const steps = (count: number, last: Step = {}): Step[] => [...Array.from({ length: count }, (_, i) => ({ at: i })), { at: count, ...last }]
export const dumps = (groups: Groups, ranks: readonly (readonly Step[])[]): Files =>
  Object.fromEntries(ranks.map((one, rank) => [`dumps/nccl_trace_rank_${rank}`, dumpOf(groups, one)]))
export const standing = (ranks: readonly string[]): Files => Object.fromEntries(ranks.map((text, rank) => [`stacks/rank_${rank}.txt`, timedOut(text)]))
/** The steps of a rank that waits in its ninth. */
export const waiting = steps(8, { state: 'scheduled' })
