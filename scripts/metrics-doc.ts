// Writes docs/metrics.md from the catalogue: `node scripts/metrics-doc.ts`. A test fails when the committed page is not this one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from '../agent/catalogue.ts'
import type { DcgmName, MetricDef } from '../agent/model/metric.ts'

const names = (list: readonly DcgmName[] | undefined): string => (list ?? []).map((entry) => `\`${entry.name}\``).join(', ')
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function row(def: MetricDef): string {
  const dcgm = [names(def.dcgm?.classic), names(def.dcgm?.current)].filter((text) => text !== '').join(' · ')
  return `| \`${def.name}\` | ${def.kind} | ${cell(def.unit)} | ${cell(def.help)} | ${def.labels.map((label) => `\`${label}\``).join(' ')} | ${dcgm} |`
}

/** The whole page. */
export function metricsPage(): string {
  return [
    '# Metrics',
    '',
    'Every metric that this version can emit; made from the declarations by `node scripts/metrics-doc.ts`, do not edit.',
    'Units are UCUM codes. A series that cannot be read is absent, and `/api/v1/gaps` says why. A label without a value is left out.',
    "dcgm-exporter's names stand beside ours under `metrics.dcgm: classic` (names up to 4.8, before the dot), `4.9` (after it), `both`, or not at all with `off`.",
    '',
    '| metric | kind | unit | meaning | labels | dcgm-exporter |',
    '|---|---|---|---|---|---|',
    ...catalogue.map(row),
    '',
  ].join('\n')
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../docs/metrics.md'), metricsPage())
