// Model hubs that answer 429; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['hub_rate_limited']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'requests',
    text: 'requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/org/model',
    kinds: one,
    facts: { http_status: 429 },
  },
  { name: 'in words', text: 'We had to rate limit your IP (198.51.100.7). To continue using our service, log in.', kinds: one },
  {
    name: 'when to come back',
    text: 'huggingface_hub.errors.HfHubHTTPError: 429 Too Many Requests for url: https://huggingface.co/org/m. Retry after 30 seconds',
    kinds: one,
    facts: { retry_after_s: 30 },
  },
  { name: 'quiet: another service', text: '429 Client Error: Too Many Requests for url: https://api.example.org/v1/jobs', kinds: [] },
]
