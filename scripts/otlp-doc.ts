// Writes the tables of docs/otlp.md from the declarations: `node scripts/otlp-doc.ts`. A test fails when the committed page is not this one.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from '../agent/catalogue.ts'
import type { MetricDef } from '../agent/model/metric.ts'
import { BY_LABEL } from '../agent/sinks/otlp/attributes.ts'
import { otlpNames, type OtlpName } from '../agent/sinks/otlp/names.ts'

export const PAGE = join(import.meta.dirname, '../docs/otlp.md')
const [BEGIN, END] = ['<!-- made by node scripts/otlp-doc.ts, do not edit -->', '<!-- end -->']

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
    (label) => label !== 'uuid' && !(label in BY_LABEL) && !(label in (convention?.when ?? {})) && !(label in (convention?.labels ?? {})),
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
    ([label, { told }]) => `| ${code(label)} | ${told.includes('`') ? told : told.replaceAll(/[a-z]+(\.[a-z_]+)+/g, code)} |`,
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

/** The page with its tables made anew. */
export function otlpPage(page: string): string {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (before < 0 || after < before) throw new Error(`docs/otlp.md: expected ${BEGIN} before ${END}, came neither or the other way round`)
  return `${page.slice(0, before + BEGIN.length)}\n\n${tables()}\n${page.slice(after)}`
}

if (import.meta.main) writeFileSync(PAGE, otlpPage(readFileSync(PAGE, 'utf8')))
