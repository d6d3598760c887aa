// Attributes that a class of a library does not have: its package is of another release than the code that asks for it.
import { applicationOf } from '../applications.ts'
import { packageOfClass } from '../python-packages.ts'
import type { Known } from './message.ts'
import { caller, together } from './packages.ts'

const cache = 'the methods of the cache changed: get_seq_length() and get_max_cache_shape() are left'
/** `Class.attribute`, and what took its place. */
const NOW: readonly (readonly [name: RegExp, now: string])[] = [
  [/Cache\.(?:seen_tokens|get_max_length|get_usable_length)$/, cache],
  [/Cache\.(?:from|to)_legacy_cache$/, 'caches are no tuples any more: pass the cache object itself'],
  [/Tokenizer\w*\.(?:batch_)?encode_plus$/, 'call the tokenizer itself'],
  [/Config\.rope_theta$/, "config.rope_parameters['rope_theta'] (Transformers 5)"],
  [/Config\.(?:vocab_size|hidden_size|num_hidden_layers|num_attention_heads)$/, 'of the text part: config.get_text_config() or config.text_config'],
  [
    /(?:Llama|Qwen|Mistral)\w*Attention\.(?:num_heads|num_key_value_heads|rotary_emb|hidden_size)$/,
    'read from config, or passed from the model (Transformers 4.48)',
  ],
]

export const ATTRIBUTES: readonly Known[] = [
  {
    // Trust_remote_code of models written for version 4, which do not call post_init. https://github.com/huggingface/transformers/issues/43646
    pattern: /has no attribute 'all_tied_weights_keys'/,
    title: "The model's code was written for Transformers 4",
    says: 'Transformers 5 expects what the base class sets in post_init(), which this code does not call.',
    remedies: () => [
      { text: 'Install the last Transformers of version 4.', command: "python -m pip install 'transformers<5'" },
      {
        text: 'Or take a newer revision of the code (of the model or of the package that brings it); code of your own: call self.post_init() last in __init__.',
      },
    ],
  },
  {
    pattern: /'AutoModelForCausalLMWithValueHead' object has no attribute/,
    title: 'The trainer got a model with a value head',
    remedies: () => [{ text: 'Load the model by AutoModelForCausalLM: the value head of TRL is for its PPO trainer alone.' }],
  },
  {
    pattern: /'(\w{2,80})' object has no attribute '(\w{1,80})'/,
    title: ([, type = '', name], told) => {
      const owner = packageOfClass(type)
      return owner === undefined || applicationOf(told) !== undefined ? undefined : `${type} of the installed ${owner} has no ${name}`
    },
    remedies: ([, type = '', name = ''], told) => {
      const owner = packageOfClass(type)
      // What a pack of nodes or an application asks for is its own matter.
      if (owner === undefined || applicationOf(told) !== undefined) return []
      const now = NOW.find(([pattern]) => pattern.test(`${type}.${name}`))?.[1]
      const from = caller(told, owner)
      return [
        now !== undefined && { text: `In newer releases: ${now}. Change it where your own code asks for it.` },
        from === undefined
          ? {
              text: `Update ${owner}, or install the release that the program was written for.`,
              command: `python -m pip install --upgrade ${owner}`,
            }
          : together(from, owner, `${type}.${name}`),
        { text: 'See which releases are installed.', command: `python -m pip show ${from === undefined ? owner : `${owner} ${from}`}` },
      ]
    },
  },
]
