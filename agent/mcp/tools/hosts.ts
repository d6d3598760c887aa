// This host, and the others that it shows: who is full, what fires, which does not answer.
import * as z from 'zod'
import { memoryText } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { inLine } from '../answer.ts'
import { tool } from '../tool.ts'

const summary = z.looseObject({
  name: z.string(),
  problem: z.string().optional(),
  summary: z
    .looseObject({
      host: z.string(),
      gpus: z.number(),
      memory_used_bytes: z.number(),
      memory_total_bytes: z.number(),
      utilization_ratio: z.number().optional(),
      silent: z.array(z.number()),
      jobs_running: z.number(),
      firing: z.record(z.string(), z.number()),
      worst: z.looseObject({ id: z.string(), kind: z.string(), title: z.string() }).optional(),
    })
    .optional(),
})

export const hosts = tool({
  name: 'hosts',
  title: 'Hosts',
  description: 'This host and the others that its agent is configured to show: GPUs, memory, what fires, which does not answer.',
  input: {},
  hint: '',
  async run(_input, ask) {
    const parsed = z.array(summary).safeParse(await ask('/api/v1/hosts'))
    if (!parsed.success) throw new Error('the agent answered in a form that this version does not know')
    return parsed.data.map(({ name, problem, summary: found }) => {
      if (found === undefined) return `${inLine(name, 80)}: DOES NOT ANSWER: ${inLine(problem ?? 'not asked yet', 200)}`
      const firing = Object.entries(found.firing).flatMap(([severity, count]) => (count > 0 ? [`${count} ${severity}`] : []))
      return [
        `${inLine(name, 80)}: ${found.gpus} GPUs`,
        `${memoryText(found.memory_used_bytes)} of ${memoryText(found.memory_total_bytes)} used`,
        ...(found.utilization_ratio === undefined ? [] : [`${percent(found.utilization_ratio)} busy`]),
        `${found.jobs_running} jobs`,
        ...(found.silent.length === 0 ? [] : [`not responding: GPU ${found.silent.join(', ')}`]),
        firing.length === 0 ? 'nothing fires' : `firing: ${firing.join(', ')}`,
        ...(found.worst === undefined ? [] : [`worst: ${found.worst.id} ${inLine(found.worst.title, 200)}`]),
        ...(problem === undefined ? [] : [`last answer is old: ${inLine(problem, 200)}`]),
      ].join(', ')
    })
  },
})
