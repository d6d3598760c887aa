// Answers of NCCL's RAS in JSON (NCCL >= 2.28.7): how many collectives of each kind every rank has launched, and who does not answer.
import * as z from 'zod/mini'
import type { RasComm } from '../model.ts'
import { EvidenceError, jsonOf, headText, type EvidenceReader } from './definition.ts'

const rank = z.object({ rank: z.int(), host: z.string(), pid: z.int() })
const shape = z.object({
  nccl_version: z.optional(z.string()),
  timestamp: z.optional(z.string()),
  communicators: z.array(
    z.object({
      hash: z.string(),
      secondary_hash: z.optional(z.string()),
      size: z.int(),
      ranks: z.array(z.extend(rank, { collective_counts: z.record(z.string(), z.number()) })),
      missing_ranks: z.optional(z.array(z.extend(rank, { status: z.object({ unresponsive: z.boolean(), considered_dead: z.boolean() }) }))),
    }),
  ),
})

/** 2.28.7 and 2.28.9 leave the comma out after `nvml_dev` of a missing rank. */
const repaired = (text: string): string => text.replace(/("nvml_dev"\s*:\s*-?\d+)(\s+"status")/g, '$1,$2')
/** `%F %T` in the zone of that process: good for the time between two answers. */
const seconds = (text: string | undefined): number | undefined => {
  const ms = text === undefined || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? Number.NaN : Date.parse(`${text.replace(' ', 'T')}Z`)
  return Number.isNaN(ms) ? undefined : ms / 1000
}

export function readRas(text: string): { readonly at?: number; readonly nccl?: string; readonly comms: readonly RasComm[] } {
  const parsed = shape.safeParse(jsonOf(repaired(text), 'RAS answer'))
  if (!parsed.success) throw new EvidenceError('no RAS answer: expected communicators with ranks and collective_counts')
  const at = seconds(parsed.data.timestamp)
  return {
    ...(at === undefined ? {} : { at }),
    ...(parsed.data.nccl_version === undefined ? {} : { nccl: parsed.data.nccl_version }),
    // A communicator that initialises while it is asked about comes as zeros (nccl#2346).
    comms: parsed.data.communicators
      .filter(({ size }) => size > 0)
      .map(({ hash, secondary_hash: second = '', size, ranks, missing_ranks: missing = [] }) => ({
        id: `${hash}/${second}/${size}`,
        size,
        ranks: ranks.map(({ rank: index, host, pid, collective_counts: counts }) => ({ rank: index, place: `${host}:${pid}`, counts })),
        dead: missing.filter(({ status }) => status.unresponsive).map(({ rank: index, host, pid }) => ({ rank: index, place: `${host}:${pid}` })),
      })),
  }
}

export const ras: EvidenceReader = {
  name: 'RAS answer',
  mostBytes: 64 * 2 ** 20,
  recognises: (file) => headText(file).trimStart().startsWith('{') && headText(file).includes('"nccl_version"'),
  read(file, evidence) {
    const { at, nccl, comms } = readRas(file.text())
    evidence.polls.push({ ...(at === undefined ? {} : { at }), comms })
    if (nccl !== undefined) evidence.nccl ??= nccl
  },
}
