// vGPU without a licence.
import { defineKind } from './kind.ts'

export const vgpuLicense = defineKind({
  id: 'vgpu_license',
  title: 'vGPU without a licence',
  layer: 'platform',
  from: 'logs',
  facts: [],
  crash: { rank: 6 },
})
