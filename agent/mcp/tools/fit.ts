// Does a model fit the GPUs of this host, now, at the peak of the last days, and on an empty card.
import * as z from 'zod'
import { memoryText } from '../../text/bytes.ts'
import { inLine } from '../answer.ts'
import { tool } from '../tool.ts'

const range = z.object({ low_bytes: z.number(), likely_bytes: z.number(), high_bytes: z.number() })
const report = z.looseObject({
  estimate: z.looseObject({ total: range, parts: z.array(range.extend({ part: z.string() })), unknown: z.array(z.string()), notes: z.array(z.string()) }),
  gpus: z.array(
    z.looseObject({
      gpu: z.looseObject({ name: z.string(), index: z.number().optional() }),
      headroom: z.object({ now_bytes: z.number().optional(), at_peak_bytes: z.number().optional(), empty_bytes: z.number() }),
      verdict: z.string(),
    }),
  ),
})
const signed = (bytes: number | undefined): string =>
  bytes === undefined ? 'not known' : bytes < 0 ? `${memoryText(-bytes)} short` : `${memoryText(bytes)} to spare`

export const fit = tool({
  name: 'fit',
  title: 'Does a model fit',
  description:
    'How much GPU memory a model needs and whether it fits each GPU of this host, or cards by name. By its size; more exact with the command warpwatch fit --config config.json.',
  input: {
    params: z.string().max(20).describe('number of parameters: 8b, 350m'),
    gpu: z.string().max(200).optional().describe('cards by name, such as "A100 80GB", instead of those of this host'),
    train: z.enum(['full', 'lora', 'qlora']).optional().describe('training; without it inference'),
    dtype: z.string().max(10).optional().describe('bf16 (default), fp16, fp32, fp8, int8, nf4'),
    context: z.int().min(1).optional().describe('tokens of a sequence (default 2048)'),
    batch: z.int().min(1).optional().describe('sequences at once (default 1)'),
    gpus: z.int().min(1).optional().describe('GPUs that share the work (default 1)'),
    shard: z.string().max(20).optional().describe('how they share it: zero3, tensor, …'),
  },
  hint: 'Name a card with gpu.',
  async run(input, ask) {
    const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]))
    const parsed = report.safeParse(await ask(`/api/v1/fit?${query.toString()}`))
    if (!parsed.success) throw new Error('the agent answered in a form that this version does not know')
    const { estimate, gpus } = parsed.data
    const { total } = estimate
    return [
      `Needs about ${memoryText(total.likely_bytes)} on each GPU (${memoryText(total.low_bytes)} to ${memoryText(total.high_bytes)}): ${estimate.parts.map(({ part, likely_bytes: bytes }) => `${part} ${memoryText(bytes)}`).join(', ')}`,
      ...gpus.map(
        ({ gpu, headroom, verdict }) =>
          `${gpu.index === undefined ? '' : `GPU ${gpu.index} `}${inLine(gpu.name, 60)}: ${verdict}; now ${signed(headroom.now_bytes)}, at the peak of the last days ${signed(headroom.at_peak_bytes)}, empty ${signed(headroom.empty_bytes)}`,
      ),
      ...[...estimate.unknown, ...estimate.notes].map((note) => `Note: ${inLine(note, 300)}`),
    ]
  },
})
