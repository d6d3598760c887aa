// The text of warpwatch.example.yaml from the declarations; `npm run generate` writes it.
import { yamlValue } from './print.ts'
import { CUSTOM, DETECTORS } from './detector-settings.ts'
import { GENERAL, LISTS, SECTIONS, type Key } from './schema.ts'
import type { Fields, Section } from './field.ts'

function keyLines(fields: Fields, indent: string): string {
  let text = ''
  for (const [key, field] of Object.entries(fields)) {
    const expected = field.kind === 'text' && field.expected === 'text' ? '' : ` Expected: ${field.expected}.`
    text += `${indent}# ${field.description}${expected}\n${indent}#${key}: ${exampleOf(field)}\n`
  }
  return text
}

function exampleOf(field: Key['field']): string {
  if (field.default === undefined) return field.kind === 'number' ? '8' : '""'
  return yamlValue(field.shown === undefined ? field.default : field.shown(field.default))
}

/** What the example shows of a detector. */
export type ExampleDetector = {
  readonly id: string
  readonly title: string
  readonly options: Readonly<Record<string, { readonly default: number; readonly min: number; readonly max: number; readonly help: string }>>
}

const CUSTOM_LINES = `  # Thresholds of your own: each series of the metric that passes the value for long enough is an incident of kind "custom". name, metric, comparison
  # (> >= < <=), value (in the metric's unit, see docs/metrics.md), for and severity (info, warning, critical) must be set; labels narrow it down;
  # clear_for says for how long it must be well again (as long as "for" unless set); summary says what it means.
  # - {name: hot, metric: gpu_temperature_celsius, labels: {gpu: "0"}, comparison: ">", value: 85, for: 5m, clear_for: 1m, severity: warning, summary: Look after the fans}
  #${CUSTOM}: []
`

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.?$/, '.')}`

function detectorLines(detectors: readonly ExampleDetector[]): string {
  const groups = detectors.map(({ id, title, options }) => {
    const lines = Object.entries(options).map(
      ([name, { default: value, min, max, help }]) => `    # ${sentence(help)} Expected: a number from ${min} to ${max}.\n    #${name}: ${value}\n`,
    )
    return `  # ${title}.\n  ${id}:\n    #enabled: true\n${lines.join('')}`
  })
  return `\n# ${LISTS.detectors.description}\n# In a variable: WARPWATCH_DETECTORS__THROTTLING__LOAD_RATIO.\n${DETECTORS}:\n${groups.join('')}${CUSTOM_LINES}`
}

/** A list whose entries have keys of their own. */
function listLines(name: 'notifiers' | 'routes' | 'actions' | 'targets' | 'hosts'): string {
  const { description, example = [], default: value } = LISTS[name]
  return `\n# ${description}\n${example.map((line) => `# ${line}\n`).join('')}#${name}: ${yamlValue(value)}\n`
}

/** `detectors`: those that there are, which this room does not know. */
export function exampleYaml(detectors: readonly ExampleDetector[]): string {
  let text = `# Warpwatch's configuration: every key with its default. Take away the "#" before a key to set it.
# Read from --config FILE, else ./warpwatch.yaml, else /etc/warpwatch/warpwatch.yaml.
# A variable goes before the file: WARPWATCH_<SECTION>__<KEY>, such as WARPWATCH_HTTP__LISTEN; flags go before both.
# "warpwatch config" prints what is in effect, "warpwatch config --check" says what is wrong.

${keyLines(GENERAL, '')}`
  for (const [name, section] of Object.entries<Section>(SECTIONS)) text += `\n# ${section.description}\n${name}:\n${keyLines(section.fields, '  ')}`
  return `${text}${listLines('notifiers')}${listLines('routes')}${listLines('actions')}${listLines('targets')}${listLines('hosts')}${detectorLines(detectors)}`
}
