// Makes docs/detectors.md from the registry of detectors.
import { DETECTOR_LIST } from '../../agent/cli/config/detector-settings.ts'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import type { Generator } from './generator.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function section({ id, kinds, title, severity, everyMs, options, expression }: DetectorDefinition): readonly string[] {
  const pages = kinds.map((kind) => `[\`${kind}\`](../alerts/runbooks/${kind}.md)`).join(', ')
  const rows = Object.entries(options).map(([name, { default: value, min, max, help }]) => `| \`${name}\` | ${value} | ${min} to ${max} | ${cell(help)} |`)
  return [
    `## ${id}`,
    '',
    `${title}. Kind ${pages}, ${severity} as a rule, judged every ${everyMs / 1_000} s.`,
    '',
    ...(rows.length === 0 ? [] : ['| option | default | from, to | meaning |', '|---|---|---|---|', ...rows, '']),
    ...('none' in expression
      ? [`No Prometheus expression: ${expression.none.replace(/\.$/, '')}.`]
      : ['```promql', expression.promql, '```', ...(expression.for === undefined ? [] : ['', `For ${expression.for}.`])]),
    '',
  ]
}

function page(): string {
  return [
    '# Detectors',
    '',
    'What the numbers are watched for; made from the declarations by `npm run generate`, do not edit. What is found in logs is in [alerts/runbooks](../alerts/runbooks).',
    'Each can be switched off (`enabled: false`) and set under `detectors` in the configuration. The expression is the same judgment for a Prometheus without the',
    "agent's incidents, with the defaults; where there is none, the reason is in its place. Data that is missing is neither a fault nor health.",
    '',
    ...DETECTOR_LIST.flatMap(section),
  ].join('\n')
}

export const detectorsPage: Generator = { files: () => new Map([['docs/detectors.md', page()]]) }
