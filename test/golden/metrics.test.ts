// The whole /metrics page of a fixed state, in each shape that it can have. UPDATE_GOLDEN=1 writes the pages again.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createExposition, type ExpositionFormat } from '../../agent/http/exposition.ts'
import type { DcgmMode } from '../../agent/http/exposition/dcgm.ts'
import type { HostnameLabel } from '../../agent/http/exposition/dcgm-labels.ts'
import { filledStore } from '../unit/http/fixture.ts'
import { parseExposition } from '../unit/http/parse-exposition.ts'

type Shape = { readonly file: string; readonly format: ExpositionFormat; readonly dcgm: DcgmMode; readonly hostnameLabel: HostnameLabel }
const SHAPES: readonly Shape[] = [
  { file: 'metrics.txt', format: 'text', dcgm: 'classic', hostnameLabel: 'Hostname' },
  { file: 'metrics-openmetrics.txt', format: 'openmetrics', dcgm: 'classic', hostnameLabel: 'Hostname' },
  { file: 'metrics-dcgm-both.txt', format: 'text', dcgm: 'both', hostnameLabel: 'both' },
  { file: 'metrics-dcgm-off.txt', format: 'openmetrics', dcgm: 'off', hostnameLabel: 'Hostname' },
]

describe('golden /metrics pages', () => {
  test.each(SHAPES)('$file', ({ file, format, dcgm, hostnameLabel }) => {
    const exposition = createExposition({ latest: filledStore(), dcgm, hostnameLabel, hostname: 'gpu-01' })
    const page = exposition.page(format).body.toString()
    const path = join(import.meta.dirname, file)
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, page)
    expect(page).toBe(readFileSync(path, 'utf8'))
    const names = [...parseExposition(page, format).values()].map(({ samples }) => samples[0]?.name ?? '')
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)))
  })
})
