// Makes the tables of docs/dcgm-exporter.md: the names from the catalogue, and the queries of public dashboards from dcgm-dashboards.ts.
import { catalogue } from '../../agent/catalogue.ts'
import { XID_NAMES } from '../../agent/http/exposition/dcgm.ts'
import { GPU_COUNT_NAMES } from '../../agent/http/exposition/gpu-count.ts'
import { gpuInfo } from '../../agent/metrics/gpu-identity.ts'
import type { DcgmName, MetricDef } from '../../agent/model/metric.ts'
import { DASHBOARDS, type Asked } from '../dcgm-dashboards.ts'
import { withPart, type Generator } from './generator.ts'

const PAGE = 'docs/dcgm-exporter.md'

/** The families that dcgm-exporter 3.x to 4.8 exports unless told otherwise: its etc/default-counters.csv. */
export const DEFAULTS: readonly string[] = [
  'DEV_SM_CLOCK DEV_MEM_CLOCK DEV_MEMORY_TEMP DEV_GPU_TEMP DEV_POWER_USAGE DEV_TOTAL_ENERGY_CONSUMPTION DEV_PCIE_REPLAY_COUNTER DEV_GPU_UTIL',
  'DEV_MEM_COPY_UTIL DEV_ENC_UTIL DEV_DEC_UTIL DEV_XID_ERRORS DEV_FB_FREE DEV_FB_USED DEV_FB_RESERVED DEV_NVLINK_BANDWIDTH_TOTAL',
  'DEV_VGPU_LICENSE_STATUS DEV_UNCORRECTABLE_REMAPPED_ROWS DEV_CORRECTABLE_REMAPPED_ROWS DEV_ROW_REMAP_FAILURE PROF_GR_ENGINE_ACTIVE',
  'PROF_PIPE_TENSOR_ACTIVE PROF_DRAM_ACTIVE PROF_PCIE_TX_BYTES PROF_PCIE_RX_BYTES',
].flatMap((line) => line.split(' ').map((name) => `DCGM_FI_${name}`))

type Row = { readonly def: MetricDef; readonly classic: DcgmName | undefined; readonly current: DcgmName | undefined }

const sameSeries = (one: DcgmName, other: DcgmName): boolean => JSON.stringify(one.when ?? {}) === JSON.stringify(other.when ?? {})

/** A line for each name of theirs, old and new names of the same thing beside each other. */
export function dcgmRows(): readonly Row[] {
  return catalogue.flatMap((def): readonly Row[] => {
    const [classic, current] = [def.dcgm?.classic ?? [], def.dcgm?.current ?? []]
    const alone = current.filter((name) => !classic.some((other) => sameSeries(name, other)))
    return [
      ...classic.map((name) => ({ def, classic: name, current: current.find((other) => sameSeries(name, other)) })),
      ...alone.map((name) => ({ def, classic: undefined, current: name })),
    ]
  })
}

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``)

/** What the name does not say. */
const SAID: Readonly<Record<string, string>> = {
  [XID_NAMES.classic]: '0 before the first',
  DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL: 'a rate in MB/s, there too, though its type is counter',
  DCGM_FI_DEV_THERMAL_VIOLATION: 'drivers from R590 on',
  DCGM_FI_DEV_POWER_MGMT_LIMIT: 'the limit in force, which another limit may have lowered',
  DCGM_FI_DEV_FB_USED_PERCENT: 'a share from 0 to 1, there too',
  DCGM_FI_PROF_NVLINK_TX_BYTES: 'payload; all cards with NVLink',
  DCGM_FI_PROF_NVLINK_RX_BYTES: 'payload; all cards with NVLink',
  DCGM_EXP_XID_ERRORS_COUNT: 'of the last five minutes; one series of 0 without `xid` where there were none',
  DCGM_EXP_XID_ERRORS_TOTAL: 'exporter 4.8.3 and newer',
}
/** Made of who the GPUs are, not of a metric. */
const COUNT = `| ${code(GPU_COUNT_NAMES.classic)} |  | \`count(${gpuInfo.name})\` | ${code(GPU_COUNT_NAMES.current)} | on each GPU's series |`

/** Ours, as the old name's unit has it. */
function ours({ def, classic, current }: Row): string {
  const name = classic ?? current
  const labels = Object.entries(name?.when ?? {}).map(([label, value]) => `${label}="${value}"`)
  const series = `${def.name}${labels.length === 0 ? '' : `{${labels.join(', ')}}`}`
  const scale = name?.scale ?? 1
  if (scale === 1) return code(series)
  return code(scale > 1 ? `${series} * ${scale}` : `${series} / ${Math.round(1 / scale)}`)
}

function table(): string {
  const rows = dcgmRows().toSorted((a, b) => (a.classic ?? a.current)?.name.localeCompare((b.classic ?? b.current)?.name ?? '') ?? 0)
  const lines = rows.map((row) => {
    const name = row.classic?.name ?? ''
    const usual = DEFAULTS.includes(name) ? 'yes' : ''
    const needs = row.def.name.startsWith('warpwatch_gpu_gpm_') ? 'Hopper or newer' : (SAID[name] ?? '')
    return `| ${code(row.classic?.name)} | ${usual} | ${ours(row)} | ${code(row.current?.name)} | ${needs} |`
  })
  return [
    '| name up to 4.8 (`classic`) | by default in dcgm-exporter | is this of ours | name from 4.9 on | |',
    '|---|---|---|---|---|',
    ...[...lines, COUNT].toSorted(),
  ].join('\n')
}

/** A cell of Markdown ends at a bar, also within code. */
const cell = (text: string): string => code(text.replaceAll('|', '\\|'))

function queriesOf({ by, url, scraped, queries, without = {} }: Asked): string {
  const missing = Object.entries(without).flatMap(([why, texts]) => texts.map((text) => `| ${cell(text)} | no: ${why} |`))
  const all = queries.length + missing.length
  return [
    `### [${by}](${url})`,
    '',
    `${queries.length} of ${all} have data (${scraped}).`,
    '',
    '| query | data |',
    '|---|---|',
    ...queries.map((text) => `| ${cell(text)} | yes |`),
    ...missing,
  ].join('\n')
}

export const dcgmPage: Generator = {
  files: () => new Map([[PAGE, withPart(PAGE, 'queries', DASHBOARDS.map(queriesOf).join('\n\n'), withPart(PAGE, 'names', table()))]]),
}
