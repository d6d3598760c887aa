// Models that the hub refuses; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['model_access']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'gated',
    text: 'huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-abc)\n\nCannot access gated repo for url https://huggingface.co/org/model-7b/resolve/main/config.json.\nAccess to model org/model-7b is restricted.',
    kinds: one,
    facts: { http_status: 401, path: 'org/model-7b' },
  },
  {
    name: 'forbidden',
    text: 'huggingface_hub.errors.HfHubHTTPError: 403 Client Error: Forbidden for url: https://huggingface.co/api/models/org/private-model',
    kinds: one,
    facts: { http_status: 403 },
  },
  {
    name: 'waits for a review',
    text: 'huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-abc)\n\nCannot access gated repo for url https://huggingface.co/org/model-9b/resolve/main/config.json.\nYour request to access model org/model-9b is awaiting a review from the repo authors.',
    kinds: one,
    facts: { http_status: 403, path: 'org/model-9b' },
  },
  {
    name: 'in words',
    text: 'OSError: You are trying to access a gated repo.\nMake sure to have access to it at https://huggingface.co/org/model-8b.',
    kinds: one,
  },
  {
    name: 'another kind: another service',
    text: 'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.org/v1/jobs',
    kinds: ['python_exception'],
  },
  { name: 'quiet: an ordinary line', text: '2026-03-02 10:00:00,000 INFO hub: 401 files of the model are cached', kinds: [] },
]
