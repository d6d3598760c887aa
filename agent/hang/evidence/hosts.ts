// Which rank is which process on which GPU, and whether it lives: what the agent (or fr-sim) writes beside the rest.
import * as z from 'zod/mini'
import { rankOf } from '../model.ts'
import { EvidenceError, jsonOf, headText, type EvidenceReader } from './definition.ts'

const process = z.object({
  rank: z.int(),
  pid: z.optional(z.int()),
  gpu: z.optional(z.nullable(z.int())),
  container: z.optional(z.nullable(z.string())),
  alive: z.optional(z.boolean()),
  exit: z.optional(z.nullable(z.union([z.string(), z.number()]))),
})
const shape = z.object({ torch: z.optional(z.string()), nccl: z.optional(z.string()), hosts: z.record(z.string(), z.array(process)) })

export const hosts: EvidenceReader = {
  name: 'ranks and hosts',
  mostBytes: 16 * 2 ** 20,
  recognises: (file) => file.name.startsWith('hosts') && headText(file).includes('"hosts"'),
  read(file, evidence) {
    const parsed = shape.safeParse(jsonOf(file.text(), 'list of hosts'))
    if (!parsed.success) throw new EvidenceError('expected {"hosts": {NAME: [{"rank", "pid", "gpu", "alive", "exit"}]}}')
    if (parsed.data.torch !== undefined) evidence.torch = parsed.data.torch
    if (parsed.data.nccl !== undefined) evidence.nccl = parsed.data.nccl
    for (const [host, ranks] of Object.entries(parsed.data.hosts))
      for (const { rank, pid, gpu, container, alive, exit } of ranks.slice(0, 65_536)) {
        const me = rankOf(evidence, rank)
        me.host = host
        if (pid !== undefined) me.pid = pid
        if (typeof gpu === 'number') me.gpu = gpu
        if (typeof container === 'string') me.container = container
        if (alive !== undefined) me.alive = alive
        if (exit !== undefined && exit !== null) me.exit = String(exit)
      }
  },
}
