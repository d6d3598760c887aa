// The effective configuration as YAML or plain data, secrets hidden.
import { HIDDEN } from '../lib/shown-url.ts'
import { KEYS, nest, readKey, type Config, type Key } from './schema.ts'

export { HIDDEN }

function valueOf(config: Config, key: Key): unknown {
  const value = readKey(config, key)
  if (key.field.shown !== undefined) return key.field.shown(value)
  return key.field.secret && value !== '' ? HIDDEN : value
}

/** Plain data with the same keys as the file. */
export function printable(config: Config): Readonly<Record<string, unknown>> {
  return nest((key) => valueOf(config, key))
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)
const parts = (group: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(group).flatMap(([key, value]) => (value === undefined ? [] : [`${yamlValue(key)}: ${yamlValue(value)}`]))

/** JSON is YAML, so that every value prints as something that the file may hold. Words that are plain in YAML stay without quotes. */
export function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(', ')}]`
  if (isGroup(value)) return `{${parts(value).join(', ')}}`
  if (typeof value === 'string' && /^(?:[A-Za-z/][A-Za-z0-9_./-]*|\d+(?:ms|[smhd]))$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value))
    return value
  return JSON.stringify(value)
}

/** A value with parts: a group in lines of its own, down to a group's own values; an entry of a list in one line. */
function partLines(path: string, value: unknown, comment: (path: string) => string, indent: string): string {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const head = `${indent}${yamlValue(name)}:`
  if (isGroup(value) && Object.keys(value).length > 0) {
    const lines = Object.entries(value).map(([key, part]) => partLines(`${path}.${key}`, part, comment, `${indent}  `))
    return `${head}${comment(path)}\n${lines.join('')}`
  }
  if (!Array.isArray(value) || value.length === 0) return `${head} ${yamlValue(value)}${comment(path)}\n`
  return `${head}${comment(path)}\n${value.map((entry) => `${indent}  - ${yamlValue(entry)}\n`).join('')}`
}

/** YAML that can be read back, with a comment behind each value that is no default. */
export function printYaml(config: Config, origins: ReadonlyMap<string, string>): string {
  let text = ''
  let section: string | undefined
  const comment = (path: string): string => (origins.has(path) ? ` # ${origins.get(path)}` : '')
  for (const key of KEYS.values()) {
    const value = valueOf(config, key)
    if (value === undefined) continue
    if (key.section !== undefined && key.section !== section) text += `${key.section}:\n`
    section = key.section
    if (key.field.kind === 'parts') text += partLines(key.path, value, comment, section === undefined ? '' : '  ')
    else text += `${section === undefined ? '' : '  '}${key.key}: ${yamlValue(value)}${comment(key.path)}\n`
  }
  return text
}
