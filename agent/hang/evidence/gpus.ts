// Utilisation and power of each rank's GPU at the moment of the look.
import * as z from 'zod/mini'
import { rankOf } from '../model.ts'
import { EvidenceError, jsonOf, headText, type EvidenceReader } from './definition.ts'

const shape = z.record(
  z.string(),
  z.object({ sm_util: z.number(), mem_util: z.number(), power_w: z.optional(z.nullable(z.number())), power_limit_w: z.optional(z.nullable(z.number())) }),
)

export const gpus: EvidenceReader = {
  name: 'GPU figures',
  mostBytes: 16 * 2 ** 20,
  recognises: (file) => file.name.startsWith('gpu') && headText(file).includes('"sm_util"'),
  read(file, evidence) {
    const parsed = shape.safeParse(jsonOf(file.text(), 'list of GPUs'))
    if (!parsed.success) throw new EvidenceError('expected {RANK: {"sm_util", "mem_util", "power_w", "power_limit_w"}}')
    for (const [rank, { sm_util: busy, mem_util: memory, power_w: watts, power_limit_w: limit }] of Object.entries(parsed.data))
      if (/^\d{1,6}$/.test(rank))
        rankOf(evidence, Number(rank)).figures = {
          busy,
          memory,
          ...(typeof watts === 'number' ? { watts } : {}),
          ...(typeof limit === 'number' ? { limitWatts: limit } : {}),
        }
  },
}
