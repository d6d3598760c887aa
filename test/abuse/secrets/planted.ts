// Secrets of made-up people and services, each in the form in which it is in logs, environments and command lines; none works anywhere.

/** Of letters that are in no other text in this order, so that one search finds each, wherever it went. */
export type Planted = { readonly name: string; readonly value: string; readonly line: string }

const LETTERS = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789'
/** The same in each run: a multiplier of 32 bits walks through the letters. */
const valueOf = (nth: number, length: number): string => {
  let state = Math.imul(nth + 1, 0x9e3779b1) >>> 0
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return LETTERS[(state >>> 8) % LETTERS.length]
  }).join('')
}

const FORMS: readonly (readonly [name: string, length: number, text: (secret: string) => string])[] = [
  ['password in a URL', 24, (s) => `connecting to postgres://ann:${s}@db.example:5432/runs`],
  ['token in a URL', 24, (s) => `GET https://data.example/set.tar?token=${s}&part=1`],
  ['signed URL', 40, (s) => `upload to https://bucket.example/x?X-Amz-Signature=${s}`],
  ['bearer header', 32, (s) => `> Authorization: Bearer ${s}`],
  ['basic header', 32, (s) => `headers={'Authorization': 'Basic ${s}'}`],
  ['key in a header', 32, (s) => `x-api-key: ${s}`],
  ['Hugging Face token', 34, (s) => `login with hf_${s}`],
  ['OpenAI key', 48, (s) => `openai client sk-proj-${s}`],
  ['wandb key', 40, (s) => `wandb: WANDB_API_KEY=${s}`],
  ['wandb login', 40, (s) => `+ wandb login --relogin ${s}`],
  ['S3 secret', 40, (s) => `aws_secret_access_key = ${s}`],
  ['S3 secret of the SDK', 40, (s) => `"SecretAccessKey": "${s}"`],
  ['GitHub token', 36, (s) => `cloning https://ghp_${s}@github.example/lab/model.git`],
  ['NGC key', 64, (s) => `export NGC=nvapi-${s}`],
  ['flag', 24, (s) => `python train.py --api-key ${s} --lr 0.1`],
  ['quoted password', 24, (s) => `"password": "${s} and more"`],
  ['webhook', 40, (s) => `notify https://hooks.slack.com/services/T000/B000/${s}`],
  ['JSON Web Token', 60, (s) => `session eyJhbGciOiJIUzI1NiJ9.${s}.${s}`],
  ['password of psql', 24, (s) => `PGPASSWORD=${s} psql -h db`],
  ['curl', 24, (s) => `curl -u ann:${s} https://x.example`],
  // A line that is a fault itself, so that it is shown as evidence.
  [
    'line of a fault',
    32,
    (s) => `huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/a?token=${s}`,
  ],
  ['docker login', 24, (s) => `docker login -u ann -p ${s} registry.example`],
]

/** `from` sets a place's values apart from those of the others. */
export const plant = (place: string, from: number): readonly Planted[] =>
  FORMS.map(([name, length, text], nth) => {
    const value = valueOf(from * 1_000 + nth, length)
    return { name: `${name} (${place})`, value, line: text(value) }
  })
export const plantOne = (name: string, nth: number, length = 32): Planted => {
  const value = valueOf(900_000 + nth, length)
  return { name, value, line: value }
}

/** Those of which a part of 12 characters is in the text: half a secret is one too. */
export function foundIn(text: string, planted: readonly Planted[]): readonly string[] {
  return planted.filter(({ value }) => text.includes(value.slice(0, 12)) || text.includes(value.slice(-12))).map(({ name }) => name)
}
