// Inference servers: what they serve, how many requests run and wait, tokens per second.
import type { FrameMessage, ServerRow } from '../../../model/live.ts'
import { percent } from '../../../text/figures.ts'
import { orUnknown, UNKNOWN, type Row, type Section } from './section.ts'

const whole = (value: number): string => String(Math.round(value))

function rowOf(row: ServerRow): Row {
  const { name, server, version, model, state, gpu, requests_running: running, requests_waiting: waiting, kv_cache_usage_ratio: kv } = row
  const tokens = row.tokens_rate?.['generation']
  const first = row.time_to_first_token_seconds?.['0.95']
  return {
    key: `${name} ${row.pid ?? ''}`,
    text: `${name} ${server} ${model ?? ''}`,
    values: [name, server, model, state, gpu, running, waiting, kv, tokens, first],
    cells: [
      name,
      version === undefined ? server : `${server} ${version}`,
      model ?? UNKNOWN,
      state ?? UNKNOWN,
      gpu ?? UNKNOWN,
      orUnknown(running, whole),
      orUnknown(waiting, whole),
      orUnknown(kv, percent),
      orUnknown(tokens, whole),
      orUnknown(first, (seconds) => `${Math.round(seconds * 1_000)} ms`),
    ],
  }
}

export const serverSection = ({ servers }: FrameMessage): Section => ({
  id: 'servers',
  title: 'servers',
  least: 2,
  columns: [
    { title: 'NAME', width: 14, grow: 2, most: 30 },
    { title: 'SERVER', width: 10, grow: 1, most: 18, drop: 3 },
    { title: 'MODEL', width: 12, grow: 3, most: 50, drop: 2 },
    { title: 'STATE', width: 8, drop: 4 },
    { title: 'GPU', width: 4, grow: 1, most: 16 },
    { title: 'RUN', width: 4, right: true },
    { title: 'WAIT', width: 4, right: true },
    { title: 'KV', width: 5, right: true },
    { title: 'TOK/S', width: 7, right: true },
    { title: 'TTFT P95', width: 8, right: true, drop: 1 },
  ],
  rows: servers.map(rowOf),
})
