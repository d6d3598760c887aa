// Inference servers: found without any of this; here is what cannot be found.
import { HIDDEN, shownUrl } from '../../lib/shown-url.ts'
import { list, onOff, texts } from '../field.ts'

type Texts = Readonly<Record<string, string>>
const ADDED = /^([a-z][a-z0-9.-]{1,30}) (https?:\/\/\S{1,500})$/
const isAdded = (name: string, value: string): boolean => /^[\w.:/-]{1,63}$/.test(name) && URL.canParse(ADDED.exec(value)?.[2] ?? '')
const shownEach = (found: Texts, shown: (value: string) => string): Texts =>
  Object.fromEntries(Object.entries(found).map(([name, value]) => [name, shown(value)]))

export const servers = {
  description:
    'Inference servers (vLLM, SGLang, Ollama, llama.cpp, …): found by the GPU memory they hold (Ollama also by its process name), read with GET requests only.',
  fields: {
    enabled: onOff({ default: true, description: 'Find inference servers and read their metrics every five seconds.' }),
    add: {
      ...texts({
        default: {},
        secret: true,
        expected: 'names with a family and a URL each, such as chat: "vllm http://10.0.0.5:8000"',
        valid: isAdded,
        description: 'Servers that are not found, or that need a name: each with its family and its URL.',
      }),
      shown: (found: Texts) => shownEach(found, (value) => value.replace(ADDED, (_, family: string, url: string) => `${family} ${shownUrl(url)}`)),
    },
    histograms: onOff({
      default: false,
      description: "Also send the servers' own latency histograms, some 100 series for each server: to /metrics, and over OTLP as gen_ai.server.*.",
    }),
    forbid: list({ default: [], description: 'Names of servers, containers or families that are never contacted.' }),
    keys: {
      ...texts({
        default: {},
        secret: true,
        expected: 'names of servers or containers with the key of each',
        valid: (_, key) => /^[\x21-\x7e]{1,500}$/.test(key),
        description: 'Keys for servers that require one, sent as "Authorization: Bearer"; keys are never guessed.',
      }),
      shown: (found: Texts) => shownEach(found, () => HIDDEN),
    },
  },
}
