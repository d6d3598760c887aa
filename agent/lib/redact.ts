// Takes secrets out of text that is kept or shown: tokens, keys, passwords, credentials in URLs. Names, paths and e-mail addresses stay.

export const REDACTED = '[redacted]'

type Rule = { readonly pattern: RegExp; readonly replace: string }

/** Words that name a secret, as they are before `=` or `:`; `tokens` and `tokenizer` are not among them. */
const SECRET_NAME = String.raw`(?:[a-z0-9]{1,40}[_.-]){0,6}(?:[a-z0-9]{0,24}(?:password|passwd|passphrase)|pwd|secret|token|(?:access|auth|api|bearer|bot|csrf|hub|id|refresh|security|session|user)token|(?:app|client|consumer|shared|webhook)secret|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|secret[_-]?(?:access[_-]?)?key|private[_-]?key|auth[_-]?key|account[_-]?key|client[_-]?secret|credentials?|(?:wandb|hf|openai|anthropic|aws|s3|azure|comet|neptune|ngc|encryption|signing|license|master|session|deploy|webhook)[_-]key|(?:db|redis|mysql|postgres|pg|smtp|admin|root|user)[_-]?pass)`

const WHOLE_NAME = new RegExp(`^${SECRET_NAME}$`, 'i')
/** Whether an option, variable or key of this name holds a secret. */
export const isSecretName = (name: string): boolean => name.length <= 200 && WHOLE_NAME.test(name)

// Every quantifier is bounded, or runs over a class that cannot match what follows it: no line can make these backtrack.
const RULES: readonly Rule[] = [
  // PEM blocks, also cut ones, on one line or several.
  {
    pattern: /-----BEGIN ([A-Z ]{0,30}PRIVATE KEY)-----(?! \[redacted\])[A-Za-z0-9+/=\s\\]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
    replace: `-----BEGIN $1----- ${REDACTED}`,
  },
  // scheme://user:password@host keeps the user's name; scheme://token@host has none to keep.
  { pattern: /\b([a-z][a-z0-9+.-]{1,20}:\/\/)([^\s/:@'"]{0,200}):([^\s/@'"]{1,500})@/gi, replace: `$1$2:${REDACTED}@` },
  { pattern: /\b((?:https?|git|ssh|redis|amqp):\/\/)([^\s/:@'"]{16,500})@/gi, replace: `$1${REDACTED}@` },
  // Signed URLs.
  { pattern: /([?&](?:sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-signature)=)([^\s&"'<>]{4,3000})/gi, replace: `$1${REDACTED}` },
  { pattern: /([?&]key=)([^\s&"'<>]{16,3000})/gi, replace: `$1${REDACTED}` },
  // Authorization headers, with and without the header's name.
  {
    pattern:
      /\b((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|digest|negotiate|ntlm|api-?key|key|ssws|bot)?\s{0,4})([^\s"',;]{4,4000})/gi,
    replace: `$1${REDACTED}`,
  },
  { pattern: /\b(bearer\s{1,4})([A-Za-z0-9._~+/-]{8,4000}=*)/gi, replace: `$1${REDACTED}` },
  { pattern: /\b((?:set-)?cookie["']?\s{0,4}:\s{0,4}["']?)([^\n"']{4,4000})/gi, replace: `$1${REDACTED}` },
  { pattern: /\b(x-(?:api-key|auth-token|access-token|amz-security-token)["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"',;]{4,4000})/gi, replace: `$1${REDACTED}` },
  // Tokens that say by their form what they are.
  { pattern: /\b(?:hf|api_org)_[A-Za-z0-9]{16,200}\b/g, replace: REDACTED },
  { pattern: /\bsk-(?:[a-z]{2,10}-){0,3}[A-Za-z0-9_-]{16,300}/g, replace: REDACTED },
  { pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,260}|github_pat_[A-Za-z0-9_]{20,260}|glpat-[A-Za-z0-9_-]{16,100})/g, replace: REDACTED },
  { pattern: /\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b/g, replace: REDACTED },
  { pattern: /\bxox[abeprs]-[A-Za-z0-9-]{10,300}/g, replace: REDACTED },
  { pattern: /\bAIza[A-Za-z0-9_-]{35}/g, replace: REDACTED },
  { pattern: /\bnvapi-[A-Za-z0-9_-]{20,200}/g, replace: REDACTED },
  { pattern: /\bpypi-[A-Za-z0-9_-]{20,400}/g, replace: REDACTED },
  { pattern: /\bdop_v1_[a-f0-9]{40,80}/g, replace: REDACTED },
  { pattern: /\b(?:npm|gsk|r8|tgp_v1)_[A-Za-z0-9_-]{24,200}/g, replace: REDACTED },
  { pattern: /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,200}/g, replace: REDACTED },
  { pattern: /\b(?:xai|pplx|tskey|dckr_pat|dckr_oat)-[A-Za-z0-9_-]{20,200}/g, replace: REDACTED },
  { pattern: /\b(?:dckr_[po]at_|dapi|lin_api_|hv[sb]\.|ya29\.)[A-Za-z0-9_.-]{24,400}/g, replace: REDACTED },
  { pattern: /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}/g, replace: REDACTED },
  // Webhooks whose path is the secret, and Telegram's, which begins with the bot's number.
  { pattern: /(https:\/\/(?:[\w-]{1,40}\.)?discord(?:app)?\.com\/api\/webhooks\/)[A-Za-z0-9/_-]{10,200}/gi, replace: `$1${REDACTED}` },
  { pattern: /(https:\/\/[\w.-]{1,100}office\.com\/webhook)[\w/@-]{10,400}/gi, replace: `$1/${REDACTED}` },
  { pattern: /\b(bot\d{5,16}:)[A-Za-z0-9_-]{20,80}/g, replace: `$1${REDACTED}` },
  // Command lines that take a secret without naming it.
  { pattern: /\b(wandb login (?:--?\w{1,30} ){0,4})([A-Za-z0-9-]{20,100})/g, replace: `$1${REDACTED}` },
  { pattern: /\b(curl [^\n]{0,300}?(?:-u|--user)[ =]{1,3}["']?[^\s:"']{1,100}:)([^\s"']{1,300})/g, replace: `$1${REDACTED}` },
  { pattern: /\b((?:sshpass|docker login|podman login)[^\n]{0,200}?\s-p ?)(?![\s[])([^\s"']{1,300})/g, replace: `$1${REDACTED}` },
  { pattern: /\b(redis-cli[^\n]{0,200}?\s-a ?)(?![\s[])([^\s"']{1,300})/g, replace: `$1${REDACTED}` },
  { pattern: /https:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/_-]{10,200}/g, replace: `https://hooks.slack.com/services/${REDACTED}` },
  { pattern: /\beyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{4,4000}(?:\.[A-Za-z0-9_-]{0,4000})?/g, replace: REDACTED },
  // name=value, "name": "value", --name value. A value in quotes may hold spaces; `<TOKEN>` means one that the reader fills in.
  { pattern: new RegExp(String.raw`((?<![a-z0-9])${SECRET_NAME}["']?\s{0,4}[:=]\s{0,4})"(?:[^"\\\n]|\\.){1,2000}"`, 'gi'), replace: `$1"${REDACTED}"` },
  { pattern: new RegExp(String.raw`((?<![a-z0-9])${SECRET_NAME}["']?\s{0,4}[:=]\s{0,4})'(?:[^'\\\n]|\\.){1,2000}'`, 'gi'), replace: `$1'${REDACTED}'` },
  {
    pattern: new RegExp(String.raw`((?<![a-z0-9])${SECRET_NAME}["']?\s{0,4}[:=]\s{0,4})(?!\[redacted\]|"|'|<[A-Z_]{1,40}>)([^\s"',;&)}\]]{1,2000})`, 'gi'),
    replace: `$1${REDACTED}`,
  },
  { pattern: new RegExp(String.raw`(--${SECRET_NAME}\s{1,4})(?!\[redacted\])(?!-)([^\s"']{1,2000})`, 'gi'), replace: `$1${REDACTED}` },
]

/** A text without any of these cannot hold what the rules look for; most log lines end here. */
const QUICK =
  /pass|pwd|secret|token|key|credential|sig|auth|bearer|cookie|BEGIN|:\/\/|hf_|api_org|sk-|gh[pousr]_|github_pat|glpat|AKIA|ASIA|AGPA|AIDA|AROA|xox|AIza|nvapi|pypi|dop_v1|eyJ|npm_|gsk_|r8_|tgp_|[srp]k_|xai-|pplx|dckr|dapi|lin_api|hv[sb]\.|ya29|SG\.|bot\d|wandb login|curl |sshpass|docker login|podman login|redis-cli/i

/** The same text with its secrets replaced by `[redacted]`; redacting twice changes nothing more. */
export function redact(text: string): string {
  if (!QUICK.test(text)) return text
  let clean = text
  for (const { pattern, replace } of RULES) clean = clean.replace(pattern, replace)
  return clean
}

/** Redacts every string inside a JSON-like value. */
export function redactDeep<T>(value: T): T
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item: unknown) => redactDeep(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redactDeep(item)]))
}

/** Variables that matter to a fault; everything else of an environment is private. */
const ENV_NAMES =
  /^(CUDA|PYTORCH|TORCH|NCCL|NVIDIA|NVTE|VLLM|TF|XLA|JAX|HIP|HSA|ROCR|OMP|MKL|GGML|OLLAMA|LLAMA|ORT|BNB|BITSANDBYTES|ACCELERATE|DEEPSPEED|TRITON|CUBLAS|CUDNN|TOKENIZERS|SLURM|FLASH|TRANSFORMERS)_|^(WORLD_SIZE|RANK|LOCAL_RANK|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LD_LIBRARY_PATH|HF_HOME|HF_HUB_OFFLINE|HF_HUB_CACHE|PYTHONFAULTHANDLER)$/
const SECRET_ENV = /TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH/
/** Set by every CUDA base image; long and without news. */
const DULL_ENV = /^NVIDIA_REQUIRE_CUDA$|^NVIDIA_PRODUCT_NAME$/

/** `NAME=value` entries of a container's environment, only the names that matter, values redacted and at most 300 characters. */
export function relevantEnv(entries: readonly string[]): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const entry of entries) {
    const at = entry.indexOf('=')
    const name = entry.slice(0, at)
    if (at <= 0 || !ENV_NAMES.test(name) || DULL_ENV.test(name)) continue
    kept[name] = SECRET_ENV.test(name) ? REDACTED : redact(entry.slice(at + 1)).slice(0, 300)
    if (Object.keys(kept).length >= 60) break
  }
  return kept
}
