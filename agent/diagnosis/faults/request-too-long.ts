// A request is longer than the context that the server was started with: who refuses it, by how much, and what would fit.
import { numberSet } from '../situation/settings.ts'
import type { Situation } from '../situation/situation.ts'
import { ended, outcome } from './parts/refused.ts'
import { ruleFamily, type Matched, type Rule } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

/** `prompt` and `answer` in tokens, where the message tells them apart. */
type Asked = {
  readonly limit?: number | undefined
  readonly prompt?: number | undefined
  readonly answer?: number | undefined
  readonly total?: number | undefined
}
const count = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits.replaceAll(',', '')))

/** In each the groups are named by what they count. */
const FORMS = [
  /[Pp]rompt \((?:total )?length (?<prompt>\d{1,8})\) is (?:longer than the maximum model length of|too long to fit into the model \(context length) (?<limit>\d{1,8})/,
  /Prompt length of (?<prompt>\d{1,8}) is longer than the maximum model length of (?<limit>\d{1,8})/,
  /maximum context length is (?<limit>\d{1,8}) tokens\. However, you requested (?<total>\d{1,8}) tokens(?: \((?<prompt>\d{1,8}) in (?:the|your) (?:messages|prompt)[,;] (?<answer>\d{1,8}) (?:in|for) the completion)?/,
  /maximum context length is (?<limit>\d{1,8}) tokens\. However, you requested (?<answer>\d{1,8}) output tokens and your prompt contains (?:at least )?(?<prompt>\d{1,8}) input tokens/,
  /maximum context length is (?<limit>\d{1,8}) tokens\. However, (?:your request has|your messages resulted in|your prompt contains) (?:at least )?(?<prompt>\d{1,8}) (?:input )?tokens(?: plus (?<answer>\d{1,8}) 'max_tokens')?/,
  /is too large: (?<answer>\d{1,8})\. ?This model's maximum context length is (?<limit>\d{1,8}) tokens and your request has (?<prompt>\d{1,8}) input tokens/,
  /[Tt]he input \((?<prompt>\d{1,8}) tokens\) is longer than the model's context length \((?<limit>\d{1,8})/,
  /exceeds the model's maximum context length of (?<limit>\d{1,8}) tokens\. You requested a total of (?<total>\d{1,8}) tokens: (?<prompt>\d{1,8}) tokens from the input messages and (?<answer>\d{1,8}) tokens for the completion/,
  /[Ii]nput length \(?(?<prompt>\d{1,8})(?: tokens)?\)? exceeds (?:the )?(?:model's )?maximum (?:allowed |context )?(?:input )?length (?:of )?\(?(?<limit>\d{1,8})/,
  /`inputs` must have less than (?<limit>\d{1,8}) tokens\. Given: (?<prompt>\d{1,8})/,
  /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d{1,8})\. Given: (?<prompt>\d{1,8}) `inputs` tokens and (?<answer>\d{1,8})/,
  /request \((?<prompt>\d{1,8}) tokens\) exceeds the available context size \((?<limit>\d{1,8}) tokens/,
  /Requested tokens \((?<total>\d{1,8})\) exceed context window of (?<limit>\d{1,8})/,
  /Prompt length \((?<prompt>\d{1,8})\) exceeds maximum input length \((?<limit>\d{1,8})\)/,
  /[Ss]um of prompt length \((?<prompt>\d{1,8})(?:\.0)?\),? (?:query length|max_tokens) \((?<answer>\d{1,8})\)[^\n]{0,40}should not exceed (?:max_num_tokens|max_seq_len) \((?<limit>\d{1,8})\)/,
  /[Pp]rompt is too long: (?<prompt>[\d,]{1,10}) tokens > (?<limit>[\d,]{1,10}) maximum/,
  /the request exceeds the available context size/,
  /the input length exceeds (?:the )?(?:maximum )?context length/,
] as const

function asked(message: string): Asked {
  for (const form of FORMS) {
    const groups = form.exec(message)?.groups
    if (groups !== undefined)
      return { limit: count(groups['limit']), prompt: count(groups['prompt']), answer: count(groups['answer']), total: count(groups['total']) }
  }
  return {}
}
const totalOf = ({ total, prompt, answer }: Asked): number | undefined => total ?? (prompt === undefined ? undefined : prompt + (answer ?? 0))

/** How much the server must take at once, rounded up to what people set. */
const enough = (tokens: number): number => Math.ceil(tokens / 1024) * 1024
const MORE: readonly (readonly [
  program: Parameters<Situation['programs']['has']>[0],
  text: (tokens: string) => string,
  command: (tokens: string) => string,
])[] = [
  ['sglang', () => 'Or start the server with a longer context, if the model and the KV cache have space.', (n) => `--context-length ${n}`],
  ['tgi', () => 'Or let TGI take more: the total is input and answer together.', (n) => `--max-total-tokens ${n} --max-input-tokens <LESS>`],
  ['tei', () => 'Or let the server cut what is too long; the rest is then not embedded.', () => '--auto-truncate'],
  [
    'ollama',
    () => 'Or give Ollama a longer context (num_ctx of the request, or for all models); the KV cache grows with it.',
    (n) => `export OLLAMA_CONTEXT_LENGTH=${n}`,
  ],
  ['tensorrt_llm', () => 'Or serve with larger limits (an engine must be built again with them).', (n) => `--max_seq_len ${n} --max_num_tokens ${n}`],
  ['llamacpp', () => 'Or start it with a longer context; parallel slots share it.', (n) => `--ctx-size ${n}`],
  ['vllm', () => 'Or start the server with a longer context, if the model and the KV cache have space.', (n) => `--max-model-len ${n}`],
]

function remedies(seen: Matched): readonly Piece[] {
  const { limit, prompt, answer } = asked(seen.message)
  const total = totalOf(asked(seen.message))
  const situation = seen.situation()
  const left = limit !== undefined && prompt !== undefined && answer !== undefined && prompt < limit ? limit - prompt : undefined
  const images = /multimodal|image tokens/.test(seen.message)
  const program = /`inputs`/.test(seen.message)
    ? situation.programs.has('tei') && !/max_new_tokens/.test(seen.message)
      ? 'tei'
      : 'tgi'
    : /decoder prompt|maximum model length|max_model_len/.test(seen.message)
      ? 'vllm'
      : undefined
  const more = MORE.find(([one]) => (program === undefined ? situation.programs.has(one) : one === program))
  const tokens = total === undefined ? '<TOKENS>' : String(enough(total + (answer === undefined ? 512 : 0)))
  return [
    left !== undefined && { text: `Ask for an answer of at most ${left} tokens (max_tokens): the prompt alone takes ${prompt}.` },
    images && { text: 'Send fewer or smaller images and videos: each takes tokens by its size (max_pixels of the processor, frames of a video).' },
    {
      text:
        limit !== undefined && prompt !== undefined && prompt >= limit
          ? `Shorten the prompt by at least ${prompt - limit + 1} tokens, plus what the answer needs: a part of the history, fewer documents, or filter such inputs out.`
          : 'Or shorten the prompt: a part of the history, fewer documents.',
    },
    /max_seq_length|unsloth/i.test(situation.text)
      ? { text: `Or load the model with a longer max_seq_length (Unsloth passes it on to vLLM)${total === undefined ? '' : `: here ${tokens}`}.` }
      : more !== undefined && { text: more[1](tokens), command: more[2](tokens) },
    more === undefined && { text: 'Or serve the model with a longer context, if the model and the KV cache have space.' },
  ]
}

function verdict(seen: Matched): string {
  const one = asked(seen.message)
  const total = totalOf(one)
  const parts = one.prompt === undefined || one.answer === undefined ? '' : ` (${one.prompt} of the prompt and ${one.answer} for the answer)`
  const what =
    total === undefined
      ? 'A request is longer than the context that the server was started with.'
      : `A request needs ${total} tokens${parts}, and ${one.limit === undefined ? 'the context is shorter' : `the context holds ${one.limit}`}.`
  return `${what} ${outcome(seen)}`
}

const tooLong: Rule = {
  pattern: new RegExp(FORMS.map((form) => form.source.replaceAll(/\?<\w+>/g, '?:')).join('|')),
  severity: (seen) => (ended(seen) ? 'critical' : 'warning'),
  title: ({ message }) => {
    const one = asked(message)
    const total = totalOf(one)
    return `A request is too long for the context${total === undefined || one.limit === undefined ? '' : `: ${total} of ${one.limit} tokens`}`
  },
  verdict,
  remedies,
}

export const requestTooLong = ruleFamily({
  id: 'request-too-long',
  kind: 'config_error',
  literals: [
    'rompt (length ',
    'rompt (total length ',
    'is longer than the maximum model length',
    'maximum context length',
    "is longer than the model's context length",
    'exceeds the maximum allowed',
    "exceeds model's maximum context",
    "exceeds the model's maximum context",
    '`inputs` must have less than ',
    '`max_new_tokens` must be <= ',
    'exceeds the available context size',
    'exceed context window of',
    'exceeds maximum input length',
    'um of prompt length ',
    'rompt is too long: ',
    'max_tokens must be at least 1, got -',
    'truncating input prompt',
    'Context size has been exceeded',
  ],
  rules: [
    tooLong,
    {
      // llama.cpp, tools/server: the slots of all requests share one KV cache.
      pattern: /Context size has been exceeded/,
      severity: 'warning',
      title: 'llama-server had no space in its context for a request',
      verdict: 'The context that its requests share is full, so one of them was ended with an error. The server goes on.',
      remedies: [
        { text: 'Start it with a longer context; it is divided among the slots (--parallel), and the KV cache grows with it.', command: '--ctx-size <TOKENS>' },
        { text: 'Or serve fewer requests at once, so that each has more of it.', command: '--parallel 1' },
        { text: 'Or limit what a request may write (max_tokens), and shorten prompts.' },
      ],
    },
    {
      pattern: /max_tokens must be at least 1, got -(\d{1,8})/,
      severity: (seen) => (ended(seen) ? 'critical' : 'warning'),
      title: ({ match }) => `A request is too long for the context, by ${match[1]} tokens`,
      verdict: (seen) => `The prompt alone is ${seen.match[1]} tokens longer than the server's context, so nothing is left for an answer. ${outcome(seen)}`,
      remedies: ({ match, situation }) => [
        { text: `Shorten the prompt by more than ${match[1]} tokens: a part of the history, fewer documents.` },
        situation().programs.has('vllm')
          ? { text: 'Or start the server with a longer context, if the model and the KV cache have space.', command: '--max-model-len <TOKENS>' }
          : { text: 'Or serve the model with a longer context (vLLM: --max-model-len).' },
      ],
    },
    {
      pattern: /truncating input prompt" limit=(\d{1,8}) prompt=(\d{1,8})/,
      severity: 'warning',
      title: ({ match }) => `Ollama cut a prompt: ${match[2]} tokens, and the context holds ${match[1]}`,
      verdict: ({ match }) =>
        `A prompt of ${match[2]} tokens came, and the model was loaded with a context of ${match[1]}. Ollama left out the rest, so the answer does not know it.`,
      remedies: ({ match, situation }) => {
        const set = numberSet(situation().settings, 'OLLAMA_CONTEXT_LENGTH')
        const tokens = enough(Number(match[2]) + 1024)
        return [
          {
            text: `Load the model with a longer context (num_ctx of the request, or for all models)${set === undefined || set === 0 ? '' : `; ${set} is set`}: the KV cache grows with it.`,
            command: `export OLLAMA_CONTEXT_LENGTH=${tokens}`,
          },
          { text: 'Or send shorter prompts.' },
        ]
      },
    },
  ],
})
