// The model hub (Hugging Face, or a registry) refuses downloads for a while: HTTP 429.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { setVariables } from './remedies/environment.ts'
import type { Situation } from '../situation/situation.ts'
import type { Piece } from './remedies/plan.ts'

/** The repository that was asked for, from the address. The oldest ones (glue, gpt2) have no owner before their name: what is asked of them follows at once. */
const REPOSITORY =
  /(?:huggingface\.co|hf-mirror\.com)\/(?:api\/)?(?:resolve-cache\/)?(datasets\/|models\/|spaces\/)?((?!docs\/|pricing|settings\/|join)[\w.-]{1,96}(?:\/(?!(?:paths-info|tree|revision|resolve|resolve-cache|commits?|refs|parquet|blob|raw|xet-read-token)\/)[\w.-]{1,96}|(?=\/(?:paths-info|tree|revision|resolve|commits?|refs|parquet|blob|raw|xet-read-token)\/)))(?:[/?\s.]|$)/
function download(message: string, situation: Situation): Piece {
  const match = REPOSITORY.exec(message)
  const name = match?.[2]?.replace(/\.$/, '')
  if (situation.programs.has('llamacpp'))
    return { text: 'Or download the model once, and start with its file (-m) or from the cache alone (--offline, in newer builds): then the hub is not asked.' }
  if (name === undefined || name.startsWith('api/'))
    return {
      text: 'Download once to a shared cache, and start the jobs from there without asking the hub.',
      command: setVariables(situation, { HF_HUB_OFFLINE: '1' }),
    }
  if (situation.programs.has('tei'))
    return {
      text: `Keep the cache (/data in the image) on a volume, or download ${name} once and start with --model-id <FOLDER>: each start then asks the hub for nothing.`,
      command: `hf download ${name} --local-dir <FOLDER>`,
    }
  const type = match?.[1] === 'datasets/' ? ", repo_type='dataset'" : match?.[1] === 'spaces/' ? ", repo_type='space'" : ''
  return {
    text: `Download ${name} once to a shared cache, then start the jobs with HF_HUB_OFFLINE=1.`,
    command: `python -c "from huggingface_hub import snapshot_download; snapshot_download('${name}'${type})"`,
  }
}

/** What was asked too often decides. Limits: huggingface.co/docs/hub/rate-limits, counted in windows of five minutes. */
function remedies(matched: Matched): readonly Piece[] {
  const { text, at, situation } = matched
  const message = `${near(matched)} ${text.slice(at, at + 4).join(' ')}`
  const wait = matched.facts.retry_after_s
  const pause: Piece = wait !== undefined && { text: `Wait ${wait} s, then ask less often: fewer requests in parallel, and growing pauses between tries.` }
  const login: Piece = {
    text: /your IP|HF account/.test(message)
      ? 'Log in, as the hub asks: an account has its own, higher limit.'
      : 'Log in: the limit of an account is higher than that of an address without one.',
    command: setVariables(situation(), { HF_TOKEN: '<TOKEN>' }),
  }
  if (REGISTRY.test(message))
    return [
      pause,
      situation().programs.has('kubernetes')
        ? {
            text: 'Let the pods pull with an account (imagePullSecrets): known users may pull more often.',
            command: 'kubectl create secret docker-registry <NAME> --docker-username=<USER> --docker-password=<TOKEN>',
          }
        : { text: 'Log in to the registry: known users may pull more often.', command: 'docker login' },
      { text: 'Pull once into a registry or mirror of your own.' },
    ]
  if (/pull model manifest|\bollama\b/i.test(message))
    return [
      pause,
      { text: 'Ollama proves who it is by its SSH key: add the key to the settings of your Hugging Face account.', command: 'cat ~/.ollama/id_ed25519.pub' },
    ]
  if (/whoami/.test(message))
    return [
      pause,
      {
        text: `${wait === undefined ? 'Wait a few minutes, then c' : 'C'}all whoami once, not in every process or loop: its answer does not change.`,
      },
    ]
  const commits = COMMITS.exec(message)
  if (commits !== null)
    return [{ text: 'Wait for the hour to end, and put many files into one commit (upload_folder or upload_large_folder, not a file at a time).' }, LESS_OFTEN]
  if (/\/(?:branch|commit|preupload|upload)\b|Branch creation|create_commit/.test(message)) return [pause, LESS_OFTEN]
  if (/api-inference\.huggingface|router\.huggingface|InferenceClient/.test(`${message} ${situation().text}`))
    return [
      pause,
      login,
      {
        text: 'Ask the inference service less often, or run the model yourself.',
      },
    ]
  // An application's own downloader: it knows no token.
  const file = /(https:\/\/huggingface\.co\/[\w.-]{1,96}\/whisper\.cpp\/\S{3,200}?\.bin)\b/.exec(message)?.[1]
  if (file !== undefined)
    return [
      pause,
      wait === undefined && {
        text: 'Wait some minutes and try again: the hub counts in windows of five minutes, and for all who share an address (VPN, office) together.',
      },
      { text: 'Or fetch the file yourself and put it where the program keeps its models.', command: `curl -LO ${file}` },
    ]
  const spent = /\b0\/(\d{3,6}) requests remaining/.exec(message)?.[1] ?? QUOTA.exec(message)?.[1]
  const anonymous = spent === undefined || Number(spent) <= 500
  return [
    pause,
    !anonymous &&
      wait === undefined && {
        text: 'Wait five minutes, then ask less often: fewer requests in parallel, one commit or archive for many files. Paid accounts may ask more.',
      },
    anonymous && login,
    // Git LFS sends or fetches a working copy: no cache replaces that.
    !/batch response/.test(message) && download(message, situation()),
    situation().training && { text: 'Let one rank or worker download, while the others wait.' },
  ]
}
const HUB = /huggingface|hf\.co|HfHub|hf-hub|HF_TOKEN|HF account|ollama|registry|modelscope|ghcr\.io|docker\.io|toomanyrequests/i
const near = ({ text, at }: Seen): string => `${text[at - 1] ?? ''} ${joinedFrom(text, at, 4)}`
const facts = (seen: Seen): Facts =>
  known({ http_status: 429, retry_after_s: whole(/[Rr]etry[- ][Aa]fter:? (\d{1,6})(?: ?s(?:ec(?:onds?)?)?)?\b/.exec(near(seen))?.[1]) })
const severity = 'warning'
const title = ({ message }: Seen): string => (REGISTRY.test(message) ? 'The registry refuses: too many pulls' : 'Model hub: too many requests')
const REGISTRY = /toomanyrequests|docker\.io|pull rate limit/
const LESS_OFTEN = { text: 'Upload less often: one commit with many files (Trainer: hub_strategy="end", a larger save_steps).' }
/** The hub counts commits by the hour, apart from requests. */
const COMMITS = /rate limit for repository commits(?: \((\d{1,5}) per hour\))?|hourly quotas for action: commit/
const QUOTA = /quota of (\d{2,6}) (\w{2,12}) requests per/
const verdict = ({ text, at }: Seen): string => {
  const said = joinedFrom(text, at, 5)
  const commits = COMMITS.exec(said)
  if (commits !== null)
    return `The hub answered 429: too many commits to one repository in an hour${commits[1] === undefined ? '' : ` (it takes ${commits[1]})`}.`
  const quota = QUOTA.exec(said)
  if (quota !== null) return `The hub answered 429 (too many requests): the account used up its ${quota[1]} ${quota[2]} requests per 5 min.`
  const wait = /[Rr]etry[- ][Aa]fter:? (\d{1,6})/.exec(joinedFrom(text, at, 4))?.[1]
  const image = /[Ff]ailed to pull image \\?"([\w./:@-]{3,160}?)\\?"/.exec(text.slice(Math.max(0, at - 3), at + 2).join('\n'))?.[1]
  return `The ${REGISTRY.test(joinedFrom(text, at, 4)) ? 'registry' : 'hub'} answered 429 (too many requests)${image === undefined ? '' : ` for image ${image}`}${wait === undefined ? '' : `; the next request is allowed in ${wait} s`}: this address or token asked too often.`
}

export const hubRateLimited = ruleFamily({
  id: 'hub-rate-limited',
  kind: 'hub_rate_limited',
  literals: [
    '429 Client Error',
    'GET failed (429)',
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
    'Failed to request /api/',
  ],
  facts,
  rules: [
    // AutoTrain asks whose the token is, and takes any other answer for a wrong token.
    { pattern: /Failed to request \/api\/[\w-]{3,40} - 429\b/, severity, title, verdict, remedies },
    { pattern: /We had to rate limit (?:your IP|you)\b/, severity, title, verdict, remedies },
    {
      pattern:
        /429 Client Error|GET failed \(429\)|429 Too Many Requests|HTTP Error 429|HfHubHTTPError: 429|manifest: 429|status code 429|429 for url|message='Too Many Requests'|Rate limited\. Waiting|toomanyrequests: /,
      severity,
      title,
      verdict,
      remedies,
      // Any service may answer 429; only a hub is meant.
      unless: (seen) => !HUB.test(near(seen)),
    },
  ],
})
