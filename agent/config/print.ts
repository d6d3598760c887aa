// The effective configuration as YAML or plain data, secrets hidden.
import { KEYS, nest, readKey, type Config, type Key } from './schema.ts'

export const HIDDEN = '(hidden)'

function valueOf(config: Config, key: Key): unknown {
  const value = readKey(config, key)
  return key.field.secret && value !== '' ? HIDDEN : value
}

/** Plain data with the same keys as the file. */
export function printable(config: Config): Readonly<Record<string, unknown>> {
  return nest((key) => valueOf(config, key))
}

/** JSON is YAML, so that every value prints as something that the file may hold. Words that are plain in YAML stay without quotes. */
export function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(', ')}]`
  if (typeof value === 'string' && /^[A-Za-z/][A-Za-z0-9_./-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value)) return value
  return JSON.stringify(value)
}

/** YAML that can be read back, with a comment behind each value that is no default. */
export function printYaml(config: Config, origins: ReadonlyMap<string, string>): string {
  let text = ''
  let section: string | undefined
  for (const key of KEYS.values()) {
    const value = valueOf(config, key)
    if (value === undefined) continue
    if (key.section !== section) text += `${key.section}:\n`
    section = key.section
    const origin = origins.get(key.path)
    text += `${section === undefined ? '' : '  '}${key.key}: ${yamlValue(value)}${origin === undefined ? '' : ` # ${origin}`}\n`
  }
  return text
}
