// Splits a command's arguments into flags and positionals; refuses what the command does not know.
import { parseArgs } from 'node:util'
import { near } from '../lib/nearest.ts'
import { UsageError, type Arguments, type FlagSpec } from './command.ts'

export const COMMON_FLAGS: Readonly<Record<string, FlagSpec>> = {
  help: { kind: 'switch', help: 'print this' },
  version: { kind: 'switch', help: 'print the version' },
}

export function parseArguments(argv: readonly string[], known: Readonly<Record<string, FlagSpec>>, positionals: readonly string[]): Arguments {
  const specs = { ...known, ...COMMON_FLAGS }
  // An optional value is only ever written as --flag=VALUE, so to the parser it is a switch.
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { kind, short }]) => [
      name,
      { type: kind === 'value' || kind === 'values' ? ('string' as const) : ('boolean' as const), ...(short === undefined ? {} : { short }) },
    ]),
  )
  const { tokens } = parseArgs({
    args: [...argv],
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags = new Map<string, string | true>()
  const lists = new Map<string, string[]>()
  const found: string[] = []
  let last: string | undefined
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const list = last === undefined ? undefined : lists.get(last)
      if (list !== undefined) {
        list.push(token.value)
        continue
      }
      if (found.length >= positionals.length && positionals.at(-1)?.endsWith('…') !== true)
        throw new UsageError(unexpected(token.value, last, specs, positionals))
      found.push(token.value)
    } else if (token.kind === 'option') {
      const value = flagValue(token.rawName, token.value, token.inlineValue ?? false, specs, specs[token.name])
      flags.set(token.name, value)
      if (specs[token.name]?.kind === 'values' && value !== true) lists.set(token.name, [...(lists.get(token.name) ?? []), value])
      last = token.name
    }
  }
  return { flags, positionals: found, lists }
}

function flagValue(
  raw: string,
  value: string | undefined,
  inline: boolean,
  specs: Readonly<Record<string, FlagSpec>>,
  spec: FlagSpec | undefined,
): string | true {
  if (spec === undefined) {
    const meant = near(raw.replace(/^-+/, ''), Object.keys(specs))
    throw new UsageError(`unknown flag ${raw.slice(0, 60)}${meant === undefined ? '. List them: --help' : `; did you mean --${meant}?`}`)
  }
  if (spec.kind === 'switch') {
    if (value !== undefined) throw new UsageError(`${raw} takes no value, leave out ${JSON.stringify(value)}`)
    return true
  }
  if (spec.kind === 'optional-value' && value === undefined) return true
  if (value === undefined || value === '' || (!inline && value.startsWith('--'))) {
    throw new UsageError(
      `${raw}: its value is missing: give ${spec.value ?? 'a value'}${value === undefined || value === '' ? '' : ` before the flag ${value}`}`,
    )
  }
  return value
}

function unexpected(value: string, last: string | undefined, specs: Readonly<Record<string, FlagSpec>>, positionals: readonly string[]): string {
  const hint = last !== undefined && specs[last]?.kind === 'optional-value' ? `; a value for --${last} is written --${last}=${value}` : ''
  return `unexpected argument ${JSON.stringify(value)}: this command takes ${positionals.length === 0 ? 'flags only' : positionals.join(' ')}${hint}`
}
