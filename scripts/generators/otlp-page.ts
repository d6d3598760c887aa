// Makes the tables of docs/otlp.md from the declarations of the metrics.
import { catalogue } from '../../agent/catalogue.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import { BY_LABEL, OF_GPUS } from '../../agent/sinks/otlp/attributes.ts'
import { otlpNames, type OtlpName } from '../../agent/sinks/otlp/names.ts'
import { withPart, type Generator } from './generator.ts'

const PAGE = 'docs/otlp.md'

const code = (text: string): string => `\`${text}\``

/** `threshold="slowdown"`, where only some series of a metric have the name. */
const condition = ({ convention }: OtlpName): string =>
  Object.entries(convention?.when ?? {})
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')
function attributes(metric: MetricDef, { convention }: OtlpName): string {
  const fixed = Object.entries(convention?.attributes ?? {}).map(([name, value]) => code(`${name}=${value}`))
  const renamed = Object.entries(convention?.labels ?? {}).map(([label, name]) => `${code(label)} as ${code(name)}`)
  const kept = metric.labels.filter(
    (label) => label !== 'uuid' && label !== 'le' && !(label in BY_LABEL) && !(label in (convention?.when ?? {})) && !(label in (convention?.labels ?? {})),
  )
  return [...fixed, ...renamed, ...kept.map(code)].join(', ')
}
const rows = catalogue.flatMap((metric) =>
  otlpNames(metric).map((name) => {
    const when = condition(name)
    const cells = [
      code(when === '' ? metric.name : `${metric.name}{${when}}`),
      code(name.name),
      name.unit === '' ? '' : code(name.unit),
      name.instrument,
      attributes(metric, name),
    ]
    return { convention: name.convention !== undefined, text: `| ${cells.join(' | ')} |` }
  }),
)

function tables(): string {
  const head = ['| metric | over OTLP | unit | instrument | attributes beside those below |', '|---|---|---|---|---|']
  const labels = Object.entries(BY_LABEL).map(
    ([label, { names }]) =>
      `| ${code(label)}${OF_GPUS.has(label) ? ' of a GPU' : ''} | ${names.includes('`') ? names : names.replaceAll(/[a-z]+(\.[a-z_]+)+/g, code)} |`,
  )
  return [
    '### Under names of the conventions',
    '',
    ...head,
    ...rows.filter(({ convention }) => convention).map(({ text }) => text),
    '',
    '### Under names of our own',
    '',
    ...head,
    ...rows.filter(({ convention }) => !convention).map(({ text }) => text),
    '',
    '### Attributes by label',
    '',
    '| label | attribute |',
    '|---|---|',
    '| `uuid` | `hw.id`; of a MIG instance its own, and `hw.parent` is the GPU |',
    ...labels,
    '',
  ].join('\n')
}

export const otlpPage: Generator = { files: () => new Map([[PAGE, withPart(PAGE, 'metrics over OTLP', tables())]]) }
