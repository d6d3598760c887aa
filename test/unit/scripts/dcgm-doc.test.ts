// docs/dcgm-exporter.md is what the declarations say, and its promise holds: every default of dcgm-exporter but the vGPU licence has a name here.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dcgmPage, dcgmRows, DEFAULTS, PAGE } from '../../../scripts/dcgm-doc.ts'

test('the committed page is the generated one; else: node scripts/dcgm-doc.ts', () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(dcgmPage(page)).toBe(page)
})
test('a page without a place for the table is refused', () => {
  expect(() => dcgmPage('# Nothing\n')).toThrow(/expected <!-- made by/)
})
test('every default of dcgm-exporter is there but the vGPU licence', () => {
  const names = new Set(dcgmRows().map(({ classic }) => classic?.name))
  expect(DEFAULTS.length).toBe(25)
  expect(DEFAULTS.filter((name) => !names.has(name))).toEqual(['DCGM_FI_DEV_VGPU_LICENSE_STATUS'])
})
