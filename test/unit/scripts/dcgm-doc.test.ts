// What docs/dcgm-exporter.md promises: every default of dcgm-exporter but the vGPU licence has a name here.
import { expect, test } from 'vitest'
import { dcgmRows, DEFAULTS } from '../../../scripts/generators/dcgm-page.ts'

test('every default of dcgm-exporter is there but the vGPU licence', () => {
  const names = new Set(dcgmRows().map(({ classic }) => classic?.name))
  expect(DEFAULTS.length).toBe(25)
  expect(DEFAULTS.filter((name) => !names.has(name))).toEqual(['DCGM_FI_DEV_VGPU_LICENSE_STATUS'])
})
