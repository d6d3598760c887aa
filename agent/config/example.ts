// Writes warpwatch.example.yaml from the declarations: `node agent/config/example.ts > warpwatch.example.yaml`. A test holds the two equal.
import { yamlValue } from './print.ts'
import { GENERAL, SECTIONS, type Key } from './schema.ts'
import type { Fields, Section } from './field.ts'

function keyLines(fields: Fields, indent: string): string {
  let text = ''
  for (const [key, field] of Object.entries(fields)) {
    const expected = field.kind === 'text' && field.expected === 'text' ? '' : ` Expected: ${field.expected}.`
    text += `${indent}# ${field.description}${expected}\n${indent}#${key}: ${field.default === undefined ? exampleOf(field) : yamlValue(field.default)}\n`
  }
  return text
}

function exampleOf(field: Key['field']): string {
  return field.kind === 'number' ? '8' : '""'
}

export function exampleYaml(): string {
  let text = `# Warpwatch's configuration: every key with its default. Take away the "#" before a key to set it.
# Read from --config FILE, else ./warpwatch.yaml, else /etc/warpwatch/warpwatch.yaml.
# A variable goes before the file: WARPWATCH_<SECTION>__<KEY>, such as WARPWATCH_HTTP__LISTEN; flags go before both.
# "warpwatch config" prints what is in effect, "warpwatch config --check" tells what is wrong.

${keyLines(GENERAL, '')}`
  for (const [name, section] of Object.entries<Section>(SECTIONS)) text += `\n# ${section.description}\n${name}:\n${keyLines(section.fields, '  ')}`
  return text
}

if (import.meta.main) process.stdout.write(exampleYaml())
