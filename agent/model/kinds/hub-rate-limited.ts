// Rate limit of a model hub.
import { defineKind } from './kind.ts'

export const hubRateLimited = defineKind({
  id: 'hub_rate_limited',
  title: 'Rate limit of a model hub',
  layer: 'network',
  from: 'logs',
  facts: ['http_status', 'retry_after_s'],
  quietMinutes: 10,
  crash: { rank: 17, alone: true, fatal: false },
})
