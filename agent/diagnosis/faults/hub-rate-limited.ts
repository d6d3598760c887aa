// The model hub (Hugging Face, or a registry) refuses downloads for a while: HTTP 429.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'

const REMEDIES = [
  { text: 'Log in: known users may ask far more often than an address shared by many.', command: 'export HF_TOKEN=<TOKEN>   # or: hf auth login' },
  { text: 'Download once to a shared cache, then run without asking the hub.', command: 'export HF_HOME=/shared/hf HF_HUB_OFFLINE=1' },
  { text: 'Do not let every rank or worker download: let one do it, the others wait; retry with growing pauses.' },
]
const HUB = /huggingface|hf\.co|HfHub|hf-hub|HF_TOKEN|HF account|ollama|registry|modelscope|ghcr\.io|docker\.io|toomanyrequests/i
const near = ({ text, at }: Seen): string => `${text[at - 1] ?? ''} ${joinedFrom(text, at, 4)}`
const facts = (seen: Seen): Facts =>
  known({ http_status: 429, retry_after_s: whole(/[Rr]etry[- ][Aa]fter:? (\d{1,6})(?: ?s(?:ec(?:onds?)?)?)?\b/.exec(near(seen))?.[1]) })
const severity = 'warning'
const title = 'Model hub: too many requests'
const verdict = ({ text, at }: Seen): string => {
  const wait = /[Rr]etry[- ][Aa]fter:? (\d{1,6})/.exec(joinedFrom(text, at, 4))?.[1]
  return `The hub answered 429 (too many requests)${wait === undefined ? '' : `; it allows the next in ${wait} s`}: this address or token asked too often.`
}

export const hubRateLimited = ruleFamily({
  id: 'hub-rate-limited',
  kind: 'hub_rate_limited',
  literals: [
    '429 Client Error',
    '429 Too Many Requests',
    'We had to rate limit',
    'Rate limited. Waiting',
    "message='Too Many Requests'",
    'HTTP Error 429',
    'HfHubHTTPError: 429',
    'manifest: 429',
    'toomanyrequests: ',
    'status code 429',
    '429 for url',
  ],
  facts,
  rules: [
    { pattern: /We had to rate limit (?:your IP|you)\b/, severity, title, verdict, remedies: REMEDIES },
    {
      pattern:
        /429 Client Error|429 Too Many Requests|HTTP Error 429|HfHubHTTPError: 429|manifest: 429|status code 429|429 for url|message='Too Many Requests'|Rate limited\. Waiting|toomanyrequests: /,
      severity,
      title,
      verdict,
      remedies: REMEDIES,
      // Any service may answer 429; only a hub is meant.
      unless: (seen) => !HUB.test(near(seen)),
    },
  ],
})
