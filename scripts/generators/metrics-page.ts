// Makes docs/metrics.md from the catalogue.
import { catalogue } from '../../agent/catalogue.ts'
import type { DcgmName, MetricDef } from '../../agent/model/metric.ts'
import type { Generator } from './generator.ts'

const names = (list: readonly DcgmName[] | undefined): string => (list ?? []).map((entry) => `\`${entry.name}\``).join(', ')
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function row(def: MetricDef): string {
  const dcgm = [names(def.dcgm?.classic), names(def.dcgm?.current)].filter((text) => text !== '').join(' · ')
  return `| \`${def.name}\` | ${def.kind} | ${cell(def.unit)} | ${cell(def.help)} | ${def.labels.map((label) => `\`${label}\``).join(' ')} | ${dcgm} |`
}

function page(): string {
  return [
    '# Metrics',
    '',
    'Every metric that this version can emit; made from the declarations by `npm run generate`, do not edit.',
    'Units are UCUM codes. A series that cannot be read is absent, and `/api/v1/gaps` says why. A label without a value is left out.',
    "dcgm-exporter's names appear beside ours under `metrics.dcgm: classic` (names up to 4.8, before the dot), `4.9` (after it), `both`, or not at all with `off`.",
    '',
    '| metric | kind | unit | meaning | labels | dcgm-exporter |',
    '|---|---|---|---|---|---|',
    ...catalogue.map(row),
    '',
  ].join('\n')
}

export const metricsPage: Generator = { files: () => new Map([['docs/metrics.md', page()]]) }
