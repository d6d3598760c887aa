// Writes the table of docs/fit.md from the footprints that the tests hold: `node scripts/fit-doc.ts`. A test fails when the committed page is not this one.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOOTPRINTS, SOURCES, type Footprint } from '../test/unit/fit/footprints.ts'
import { held } from '../test/unit/fit/held.ts'

export const PAGE = join(import.meta.dirname, '../docs/fit.md')
const [BEGIN, END] = ['<!-- made by node scripts/fit-doc.ts, do not edit -->', '<!-- end -->']

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

/** The page with its tables made anew. */
export function fitPage(page: string): string {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (before < 0 || after < before) throw new Error(`docs/fit.md: expected ${BEGIN} before ${END}, came neither or the other way round`)
  return `${page.slice(0, before + BEGIN.length)}\n\n${section()}\n\n${page.slice(after)}`
}

if (import.meta.main) writeFileSync(PAGE, fitPage(readFileSync(PAGE, 'utf8')))
