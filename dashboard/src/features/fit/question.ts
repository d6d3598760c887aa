// From the address to the question that the API is asked, and from a suggestion back to the address. Pure.
import { FIELDS, fieldsFor, type Words } from './fields.ts'

/** A config.json up to this length is in the address; browsers take far more, mail and chat do not. */
export const MAX_LINKED = 4_000
/** As much as the agent takes (agent/http/api/fit.ts). */
export const MAX_CONFIG_BYTES = 1024 * 1024
/** In the address of a config that was too long for it. */
export const HELD = 'held'

export type Question = {
  readonly query: string
  /** The text of a config.json. */
  readonly config?: string
}

/** `held`: the config that this page keeps. undefined: nothing says how big the model is. */
export function questionOf(words: Words, held: string | undefined): Question | undefined {
  const config = words.get('config') === HELD ? held : words.get('config')
  const params = words.get('params')
  if (config === undefined && (params === undefined || words.has('config'))) return undefined
  const names = ['params', 'train', 'gpu', ...fieldsFor(words).map(({ name }) => name)]
  const query = new URLSearchParams(names.flatMap((name) => (words.has(name) ? [[name, words.get(name) ?? '']] : [])))
  return { query: query.toString(), ...(config === undefined ? {} : { config }) }
}

type Changes = Readonly<Record<string, string | undefined>>

/** Another kind of work; a dtype that it does not know goes. */
export function workChanges(train: string, words: Words): Changes {
  const after = new Map([...words, ['train', train]])
  if (train === '') after.delete('train')
  const dtype = FIELDS.find(({ name }) => name === 'dtype')
  const known = dtype?.kind === 'choice' && dtype.choices(after).some(({ value }) => value === words.get('dtype'))
  return { train: train === '' ? undefined : train, ...(known ? {} : { dtype: undefined }) }
}

/** What a suggestion's words (`--gpus 2 --shard zero3`) change in the address. */
export function suggestedChanges(changes: readonly string[], words: Words): Changes {
  const said = changes.flatMap((flags) => Array.from(flags.matchAll(/--([a-z-]+) (\S+)/g), (match) => [match[1] ?? '', match[2] ?? ''] as const))
  const train = said.find(([name]) => name === 'train')?.[1]
  return { ...(train === undefined ? {} : workChanges(train, words)), ...Object.fromEntries(said) }
}

const plain = (word: string): string => (/^[\w.%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)

/** The same for a terminal. */
export function commandOf({ query, config }: Question): string {
  const flags = Array.from(new URLSearchParams(query), ([name, value]) => `--${name} ${plain(value)}`)
  return ['warpwatch fit', ...(config === undefined ? [] : ['--config config.json']), ...flags].join(' ')
}
