// Makes the table of docs/fit.md from the footprints that the tests compare the estimates with.
import { FOOTPRINTS, SOURCES, type Footprint } from '../../test/unit/fit/footprints.ts'
import { held } from '../../test/unit/fit/held.ts'
import { withPart, type Generator } from './generator.ts'

const PAGE = 'docs/fit.md'

const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(2)
const SCOPES = { allocated: 'tensors', reserved: 'with cache', process: 'process' } as const

function row(footprint: Footprint): string {
  const { model, what, bytes, scope, source } = footprint
  const { low_bytes: low, likely_bytes: likely, high_bytes: high, off } = held(footprint)
  const percent = `${off >= 0 ? '+' : '−'}${Math.abs(off * 100).toFixed(1)} %`
  return `| ${model} | ${what} | ${gib(bytes)} | ${gib(likely)} (${gib(low)} to ${gib(high)}) | ${percent} | ${SCOPES[scope]} | [${source}](${SOURCES[source].url}) |`
}

function section(): string {
  const agree = FOOTPRINTS.filter(({ off }) => off === undefined)
  const differ = FOOTPRINTS.filter(({ off }) => off !== undefined)
  const head = ['| model | what | measured GiB | estimated GiB (low to high) | off | measured of | source |', '|---|---|---|---|---|---|---|']
  const titles = Object.entries(SOURCES).map(([name, { title, url }]) => `- ${name}: [${title}](${url})`)
  return [
    `${agree.length} of ${FOOTPRINTS.length} agree within 15 %. What was measured differs: *tensors* are what PyTorch had allocated at its peak, *with cache* what it had reserved, *process* all that the driver counts; each is held`,
    'against the same parts of the estimate. A figure of which its source does not say whether it is of 10^9 or 2^30 bytes is taken as it agrees with the weights, or else as 10^9.',
    '',
    ...head,
    ...agree.map(row),
    '',
    '### Further off, and why',
    '',
    ...head,
    ...differ.map(row),
    '',
    ...differ.map(({ model, what, off = '' }) => `- ${model}, ${what}: ${off}.`),
    '',
    '### Sources',
    '',
    ...titles,
  ].join('\n')
}

export const fitPage: Generator = { files: () => new Map([[PAGE, withPart(PAGE, 'measured and estimated', section())]]) }
