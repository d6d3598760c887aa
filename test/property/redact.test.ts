// Secrets do not survive, whatever is around them; everything else does.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { redact, redactDeep, REDACTED, relevantEnv } from '../../agent/lib/redact.ts'
import { isBounded } from '../setup/bounded.ts'

const alphabet = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'.split('')
const random = (min: number, max: number) => fc.array(fc.constantFrom(...alphabet), { minLength: min, maxLength: max }).map((chars) => chars.join(''))
const upper = random(16, 16).map((text) => text.toUpperCase().replace(/[^A-Z0-9]/g, 'X'))

type Form = readonly [name: string, secret: fc.Arbitrary<string>, text: (secret: string) => string]
const FORMS: readonly Form[] = [
  ['Hugging Face token', random(30, 40), (s) => `hf_${s}`],
  ['OpenAI key', random(24, 60), (s) => `sk-${s}`],
  ['project key', random(24, 60), (s) => `sk-proj-${s}`],
  ['GitHub token', random(36, 40), (s) => `ghp_${s}`],
  ['fine-grained GitHub token', random(40, 80), (s) => `github_pat_${s}`],
  ['GitLab token', random(20, 20), (s) => `glpat-${s}`],
  ['AWS key id', upper, (s) => `AKIA${s}`],
  ['Slack token', random(20, 40), (s) => `xoxb-${s}`],
  ['NGC key', random(40, 60), (s) => `nvapi-${s}`],
  ['JSON Web Token', random(40, 60), (s) => `eyJhbGciOi${s}.${s}.${s}`],
  ['bearer header', random(20, 60), (s) => `Authorization: Bearer ${s}`],
  ['basic header', random(20, 60), (s) => `"authorization": "Basic ${s}"`],
  ['bearer alone', random(20, 60), (s) => `curl -H bearer ${s}`],
  ['password in a URL', random(8, 30), (s) => `postgres://user:${s}@db.example.org:5432/x`],
  ['token in a URL', random(20, 40), (s) => `https://${s}@github.com/org/repo.git`],
  ['signed URL', random(20, 40), (s) => `https://x.blob.core.windows.net/c/f?sp=r&sig=${s}&se=1`],
  ['assignment', random(8, 40), (s) => `WANDB_API_KEY=${s}`],
  ['quoted assignment', random(8, 40), (s) => `"client_secret": "${s} with spaces"`],
  ['YAML', random(8, 40), (s) => `password: ${s}`],
  ['flag', random(8, 40), (s) => `--api-key ${s}`],
  ['header of an API', random(12, 40), (s) => `x-api-key: ${s}`],
  ['npm token', random(36, 36), (s) => `npm_${s}`],
  ['Groq key', random(40, 52), (s) => `gsk_${s}`],
  ['Stripe key', random(24, 60), (s) => `sk_live_${s}`],
  ['xAI key', random(40, 80), (s) => `xai-${s}`],
  ['Docker token', random(27, 40), (s) => `dckr_pat_${s}`],
  ['Vault token', random(24, 90), (s) => `hvs.${s}`],
  ['Google access token', random(40, 90), (s) => `ya29.${s}`],
  ['SendGrid key', random(22, 22), (s) => `SG.${s}.${s}`],
  ['webhook of Discord', random(60, 68), (s) => `POST https://discord.com/api/webhooks/123456/${s}`],
  ['webhook of Teams', random(36, 60), (s) => `https://acme.webhook.office.com/webhookb2/${s}@x/IncomingWebhook/${s}`],
  ['URL of a Telegram bot', random(35, 35), (s) => `https://api.telegram.org/bot123456789:${s}/sendMessage`],
  ['wandb login', random(40, 40), (s) => `+ wandb login --relogin ${s}`],
  ['curl -u', random(8, 40), (s) => `curl -sS -u ann:${s} https://x.example/`],
  ['docker login', random(8, 40), (s) => `docker login -u ann -p ${s} registry.example`],
  ['redis-cli', random(8, 40), (s) => `redis-cli -h db -a ${s} ping`],
  ['password without a gap in its name', random(8, 40), (s) => `PGPASSWORD=${s} psql`],
  ['camel case', random(8, 40), (s) => `{"accessToken":"${s}","SecretAccessKey": "${s}","clientSecret":'${s}'}`],
  ['key of a service', random(8, 40), (s) => `--wandb_key=${s}`],
  ['pass', random(8, 40), (s) => `DB_PASS=${s}`],
  ['header of Elastic', random(20, 60), (s) => `Authorization: ApiKey ${s}`],
  ['key in a query', random(24, 39), (s) => `https://maps.example/v1?x=1&key=${s}&y=2`],
  ['private key', random(60, 200), (s) => `-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----`],
]

describe('redact', () => {
  test.each(FORMS)('%s', (_, secret, text) => {
    fc.assert(
      fc.property(secret, random(0, 12), random(0, 12), (hidden, before, after) => {
        const clean = redact(`${before} ${text(hidden)} ${after}`)
        expect(clean).not.toContain(hidden)
        expect(clean).toContain(REDACTED)
        expect(clean.startsWith(before)).toBe(true)
        expect(redact(clean), 'redacting twice changes nothing').toBe(clean)
      }),
    )
  })

  test.each([
    'CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.20 GiB is free.',
    'NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.',
    'write to ops@example.org, see https://pytorch.org/docs/stable/notes/cuda.html#environment-variables',
    'File "/home/user/keys/token_dataset.py", line 3, in tokenize',
    'Generated 512 tokens in 3.2 s; tokenizer loaded; max_new_tokens 256',
    'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=7672,uid=0',
    'KeyError: "model.layers.0.weight"',
    'the author of this design basically signed it: key takeaways',
    'GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52 MIG-11111111-2222-3333-4444-555555555555',
  ])('leaves alone: %s', (text) => expect(redact(text)).toBe(text))

  test('any text keeps its lines and never grows much', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400, unit: 'binary' }), (text) => {
        const clean = redact(text)
        expect(clean.split('\n').length).toBe(text.split('\n').length)
        expect(redact(clean)).toBe(clean)
      }),
    )
  })

  test('hostile lines take no more than their length', () => {
    const seeds = [
      'password',
      'a_',
      'token=',
      'http://',
      'x:y@',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      'Authorization: ',
      'sk-a-',
      '"secret": "\\',
      '_-.',
      'pass.',
    ]
    // A quadratic pattern takes seconds for so long a line; the others take some 10 ms.
    const slow = seeds.filter((seed) => !isBounded(() => void redact(seed.repeat(Math.ceil(131_072 / seed.length)))))
    expect(slow).toEqual([])
  })
})

test('redactDeep reaches every string and keeps the form', () => {
  const given = { a: ['hf_abcdefghijklmnopqrstuvwxyz', 1, null], b: { c: 'password=hunter2', d: true } }
  expect(redactDeep(given)).toEqual({ a: [REDACTED, 1, null], b: { c: `password=${REDACTED}`, d: true } })
})

test('of an environment only what matters to a fault is kept', () => {
  const kept = relevantEnv([
    'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
    'CUDA_VISIBLE_DEVICES=0,1',
    'NCCL_DEBUG=INFO',
    'HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz',
    'WANDB_API_KEY=0123456789',
    'DATABASE_URL=postgres://u:p@h/x',
    'VLLM_API_KEY=abc',
    'NCCL_URL=http://me:hunter2@proxy/',
    '=x',
    'noequals',
  ])
  expect(kept).toEqual({
    PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True',
    CUDA_VISIBLE_DEVICES: '0,1',
    NCCL_DEBUG: 'INFO',
    VLLM_API_KEY: REDACTED,
    NCCL_URL: `http://me:${REDACTED}@proxy/`,
  })
})
