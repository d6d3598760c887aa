// Servers as the API and `warpwatch servers` tell them.
import * as z from 'zod'
import { expect, test } from 'vitest'
import { serversText } from '../../../agent/cli/servers.ts'
import * as schemas from '../../../agent/http/api/schemas.ts'
import { inferenceRequestsRunning } from '../../../agent/metrics/inference.ts'
import type { ServerRow } from '../../../agent/model/live.ts'
import { readingsOf } from '../../../agent/sources/inference-servers/readings.ts'
import { get, runServer } from '../http/running.ts'
import { T } from '../http/fixture.ts'

const labels = { name: 'chat', container: 'chat', pid: '100', gpu: '0,1' }
const readings = readingsOf({
  labels,
  server: 'vllm',
  url: 'http://127.0.0.1:8000',
  figures: {
    version: '0.23.1',
    models: ['org/m'],
    state: 'ready',
    context: 4_096,
    running: 2,
    waiting: 0,
    kvUsage: 0.25,
    kvCapacityTokens: 1_600,
    promptTokens: 10,
    outcomes: { completed: 3, failed: 1 },
    memory: { weights: { bytes: 2 ** 30, source: 'log' }, kv_cache: { bytes: 2 ** 31, source: 'gauge' } },
  },
  recent: { generationRate: 12.4, timeToFirstToken: [[0.95, 0.25]], interTokenLatency: [] },
})
const unreachable = { name: 'far', container: '', pid: '7', gpu: '2' }
const gap = { metric: inferenceRequestsRunning.name, labels: unreachable, reason: 'driver_error', detail: 'far: it listens on 127.0.0.1' } as const

async function rows(): Promise<readonly ServerRow[]> {
  await using running = await runServer()
  const more = readingsOf({ labels: unreachable, server: 'ollama', url: '', figures: {}, recent: { timeToFirstToken: [], interTokenLatency: [] } })
  running.latest.apply({
    type: 'scrape',
    t: T,
    source: 'inference-servers',
    group: '',
    ttlMs: 30_000,
    durationMs: 1,
    readings: [...readings, ...more],
    gaps: [gap],
  })
  const answer = await get(`${running.url}/api/v1/servers`)
  const value: unknown = JSON.parse(answer.text)
  // Equal: nothing that the schema does not know.
  expect(z.array(schemas.server).parse(value)).toEqual(value)
  return JSON.parse(answer.text)
}

test('a row for each server, with what it tells and why something is missing', async () => {
  expect(await rows()).toEqual([
    {
      name: 'chat',
      server: 'vllm',
      container: 'chat',
      pid: 100,
      gpu: '0,1',
      version: '0.23.1',
      model: 'org/m',
      context: '4096',
      context_tokens: 4_096,
      state: 'ready',
      url: 'http://127.0.0.1:8000',
      requests_running: 2,
      requests_waiting: 0,
      kv_cache_usage_ratio: 0.25,
      kv_cache_capacity_tokens: 1_600,
      tokens_total: { prompt: 10 },
      tokens_rate: { generation: 12.4 },
      requests_total: { completed: 3, failed: 1 },
      time_to_first_token_seconds: { '0.95': 0.25 },
      memory_bytes: { weights: 2 ** 30, kv_cache: 2 ** 31 },
    },
    {
      name: 'far',
      server: 'ollama',
      pid: 7,
      gpu: '2',
      gaps: [{ measure: 'requests_running', reason: 'driver_error', detail: 'far: it listens on 127.0.0.1' }],
    },
  ])
})

test('the table of the command; what is not known is empty, not zero', async () => {
  const [head = '', chat = '', far = '', why] = serversText(await rows()).split('\n')
  expect(chat).toMatch(/^chat +vllm 0\.23\.1 +org\/m +ready +0,1 +2 +0 +25 % of 1600 tokens +12 +250 ms +weights 1 GiB, KV cache 2 GiB$/)
  expect(far).toMatch(/^far +ollama +not known +2$/)
  expect(head).toContain('KV CACHE')
  expect(why).toBe('far: it listens on 127.0.0.1')
  expect(serversText([])).toContain('No inference servers found')
})
