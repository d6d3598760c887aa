// Variables in compose files, as Compose puts them in: $NAME, ${NAME:-default}, ${NAME:?message}, ${NAME:+instead}, $$ for a dollar.
import { parseEnv } from 'node:util'
import type { Part, Place, Problem, Scalar } from './part.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type Variables = Readonly<Record<string, string | undefined>>
export type Filled = {
  readonly text: string
  /** Without a value and a default. */
  readonly unset: readonly string[]
  /** Those of ${NAME:?message}, without which Compose refuses to go on. */
  readonly required: readonly { readonly name: string; readonly message: string }[]
  /** A dollar that begins no variable; from there. */
  readonly invalid?: string
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/
const OPERATOR = /^:?[-?+]/
const MAX_DEPTH = 16

/** Where the brace that is open before `from` is closed; -1: nowhere. */
function closing(text: string, from: number): number {
  let open = 1
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) open++
    if (text[at] === '}' && --open === 0) return at
  }
  return -1
}

export function fill(text: string, variables: Variables, depth = 0): Filled {
  const unset: string[] = []
  const required: { name: string; message: string }[] = []
  let out = ''
  let at = 0
  const inner = (part: string): string | undefined => {
    const filled = depth >= MAX_DEPTH ? undefined : fill(part, variables, depth + 1)
    unset.push(...(filled?.unset ?? []))
    required.push(...(filled?.required ?? []))
    return filled?.invalid === undefined ? filled?.text : undefined
  }
  const plain = (name: string): void => {
    const value = variables[name]
    if (value === undefined) unset.push(name)
    out += value ?? ''
  }
  while (at < text.length) {
    const dollar = text.indexOf('$', at)
    if (dollar < 0) break
    out += text.slice(at, dollar)
    const rest = text.slice(dollar + 1)
    const invalid: Filled = { text, unset, required, invalid: text.slice(dollar, dollar + 20) }
    if (rest.startsWith('$')) {
      out += '$'
      at = dollar + 2
      continue
    }
    const braced = rest.startsWith('{')
    const name = NAME.exec(braced ? rest.slice(1) : rest)?.[0]
    if (name === undefined) return invalid
    if (!braced) {
      plain(name)
      at = dollar + 1 + name.length
      continue
    }
    const begin = dollar + 2 + name.length
    const end = closing(text, begin)
    if (end < 0) return invalid
    at = end + 1
    const body = text.slice(begin, end)
    if (body === '') {
      plain(name)
      continue
    }
    const operator = OPERATOR.exec(body)?.[0]
    if (operator === undefined) return invalid
    const value = variables[name]
    const missing = value === undefined || (operator.length === 2 && value === '')
    const operand = body.slice(operator.length)
    if (operator.endsWith('?')) {
      if (missing) required.push({ name, message: depth < MAX_DEPTH ? fill(operand, variables, depth + 1).text : '' })
      out += value ?? ''
    } else if (operator.endsWith('-') === missing) {
      const inserted = inner(operand)
      if (inserted === undefined) return invalid
      out += inserted
    } else if (operator.endsWith('-')) out += value ?? ''
  }
  return { text: out + text.slice(at), unset, required }
}

/** Texts that were numbers or flags as YAML stay what they are; what a variable brought is text, and checks read it as such. */
function fillScalar(
  value: Scalar,
  place: Place,
  variables: Variables,
  report: (problem: Problem) => void,
): Pick<Part & { kind: 'scalar' }, 'value' | 'literal' | 'known'> {
  if (typeof value !== 'string' || !value.includes('$')) return { value, literal: value, known: true }
  const { text, unset, required, invalid } = fill(value, variables)
  if (invalid !== undefined) {
    report({
      ...place,
      status: 'fail',
      message: 'a dollar must be followed by a variable such as ${NAME}: Compose refuses the file',
      remedy: 'Write $$ for a dollar that is meant as such, ${NAME} or ${NAME:-default} for a variable.',
    })
    return { value, literal: value, known: false }
  }
  for (const { name, message } of required) {
    report({
      ...place,
      status: 'warn',
      message: `${name} is set neither in this environment nor in the .env file: Compose refuses to start without it${message === '' ? '' : ` ("${message}")`}`,
      remedy: `Give ${name} a value in the file .env beside the first compose file, or export it in the shell that runs Compose.`,
    })
  }
  return { value: text, literal: fill(value, {}).text, known: unset.length === 0 && required.length === 0 }
}

export function fillPart(part: Part, variables: Variables, report: (problem: Problem) => void): Part {
  if (part.kind === 'map') return { ...part, entries: new Map([...part.entries].map(([key, own]) => [key, fillPart(own, variables, report)])) }
  if (part.kind === 'list') return { ...part, items: part.items.map((item) => fillPart(item, variables, report)) }
  return { ...part, ...fillScalar(part.value, part, variables, report) }
}

const MAX_BYTES = 256 * 1024

/** `NAME=value` lines. Never throws: what is no such line is left out. */
export const parseEnvFile = (text: string): Variables => parseEnv(text)

/** Of `.env` files, later ones before earlier; what is not there, or cannot be read, says nothing. */
export async function dotenv(files: HostFiles, paths: readonly string[]): Promise<Variables> {
  const texts = await Promise.all(paths.map(async (path) => await files.readText(path, MAX_BYTES).catch(() => undefined)))
  return Object.fromEntries(texts.flatMap((text) => Object.entries(text === undefined ? {} : parseEnvFile(text))))
}
