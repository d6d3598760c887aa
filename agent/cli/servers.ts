// `warpwatch servers`: the inference servers of this host, as the running agent found and asked them.
import type { ServerRow } from '../model/live.ts'
import { bytesText } from '../text/bytes.ts'
import { percent } from '../text/figures.ts'
import { callAgent } from './change.ts'
import { UsageError, type Command } from './command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from './config/settings.ts'
import { plain } from './plain.ts'

const isServer = (value: unknown): value is ServerRow =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string' && 'server' in value

const whole = (value: number | undefined): string => (value === undefined ? '' : String(Math.round(value)))
const millis = (seconds: number | undefined): string => (seconds === undefined ? '' : `${Math.round(seconds * 1_000)} ms`)
const cut = (text: string, chars: number): string => (text.length > chars ? `${text.slice(0, chars - 1)}…` : text)
const gapsOf = ({ gaps }: ServerRow): readonly string[] => (gaps ?? []).flatMap(({ detail }) => detail ?? [])

function memoryText({ memory_bytes: memory = {} }: ServerRow): string {
  const parts = Object.entries({ weights: 'weights', kv_cache: 'KV cache', graphs: 'graphs', other: 'other' })
  return parts.flatMap(([part, name]) => (memory[part] === undefined ? [] : [`${name} ${bytesText(memory[part])}`])).join(', ')
}

export function serversText(rows: readonly ServerRow[]): string {
  if (rows.length === 0)
    return 'No inference servers found: none of the processes that hold GPU memory belongs to one. Others: servers.add in the configuration\n'
  const head = ['NAME', 'SERVER', 'MODEL', 'STATE', 'GPU', 'RUNNING', 'WAITING', 'KV CACHE', 'TOKENS/S', 'TTFT P95', 'MEMORY']
  const cells = rows.map((row) => [
    cut(row.name, 30),
    [row.server, row.version].filter((text) => text !== undefined).join(' '),
    cut(row.model ?? '', 40),
    row.state ?? 'not known',
    row.gpu ?? '',
    whole(row.requests_running),
    whole(row.requests_waiting),
    [
      row.kv_cache_usage_ratio === undefined ? [] : [percent(row.kv_cache_usage_ratio)],
      row.kv_cache_capacity_tokens === undefined ? [] : [`of ${whole(row.kv_cache_capacity_tokens)} tokens`],
    ]
      .flat()
      .join(' '),
    whole(row.tokens_rate?.['generation']),
    millis(row.time_to_first_token_seconds?.['0.95']),
    memoryText(row),
  ])
  const table = [head, ...cells]
  const widths = head.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)))
  const lines = table.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return plain(`${[...lines, ...new Set(rows.flatMap(gapsOf))].join('\n')}\n`)
}

export const servers: Command = {
  name: 'servers',
  summary: 'lists inference servers: model, memory, KV cache, queue, tokens per second',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io) {
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const rows = await callAgent(loaded.config, 'servers', 'GET', '/api/v1/servers')
    if (!Array.isArray(rows) || !rows.every(isServer))
      throw new UsageError('servers: the agent did not answer with a list of servers; is it of another version? See: warpwatch version')
    io.out(args.flags.has('json') ? `${JSON.stringify(rows)}\n` : serversText(rows))
    return 0
  },
}
