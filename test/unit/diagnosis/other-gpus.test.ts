// Real fault logs of hosts with AMD, Intel and unified-memory GPUs, where they are beside the repository: what each is, and advice for its own maker's GPU.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'

const folder = join(import.meta.dirname, '../../../../shared/fixtures/other-gpus')
const logs = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.log')) : []

/** The first fault of each; undefined: nothing failed, the line is in healthy hosts too. */
const EXPECTED: Readonly<Record<string, LogKind | undefined>> = {
  'amd__gfx1030-page-fault-kern.log': 'gpu_page_fault',
  'amd__gfx1151-wsl2-scratch-overflow.log': 'compile_error',
  'amd__gfx9-no-retry-page-fault-kern.log': 'gpu_page_fault',
  'amd__mi250x-hsa-out-of-resources-0x1008.log': 'cuda_oom',
  'amd__mi300-page-fault-gfxhub-kern.log': 'gpu_page_fault',
  'amd__mi300x-athub-ue-aca-kern.log': 'ecc_error',
  'amd__mi300x-memory-access-fault.log': 'illegal_memory_access',
  'amd__mi50-athub-ue-kern.log': 'ecc_error',
  'amd__navi31-smu-not-done-kern.log': 'gpu_reset',
  'amd__navi4x-mes1-timeout-kern.log': 'gpu_reset',
  'amd__phoenix-mes-remove-queue-kern.log': 'gpu_reset',
  'amd__polaris-gfx-timeout-powerplay-kern.log': 'gpu_reset',
  'amd__renoir-smu-timeout-5.4-kern.log': 'gpu_reset',
  'amd__rx6800-gfx-timeout-5.18-kern.log': 'gpu_reset',
  'amd__rx7600s-smu-no-response-7.x-kern.log': 'gpu_reset',
  'amd__rx7900xtx-hip-oom.log': 'cuda_oom',
  'amd__strixhalo-hip-oom-carveout-ignored.log': 'cuda_oom',
  'amd__strixhalo-hip-oom-gtt-half.log': 'cuda_oom',
  'amd__vangogh-gfx-timeout-mode2-kern.log': 'gpu_reset',
  'intel__a770-xpu-oom.log': 'cuda_oom',
  'intel__cfl-i915-recovery-timed-out-5.4-kern.log': 'gpu_reset',
  'intel__gen9-i915-gpu-hang-kern.log': 'gpu_reset',
  'intel__ur-backend-failed-old-form.log': 'cuda_oom',
  'intel__ur-out-of-device-memory.log': 'cuda_oom',
  'intel__xe-igpu-wedged-kern.log': 'gpu_reset',
  'nv__gb10-nverr-no-memory-6.17-wrapped.log': undefined,
  'nv__gb10-nverr-no-memory-7.0.0-1019.log': undefined,
}
/** What only another maker's GPU has. `HIP_VISIBLE_DEVICES` and `PYTORCH_CUDA_ALLOC_CONF` are read on AMD too. */
const FOREIGN: Readonly<Record<string, RegExp>> = {
  amd: /nvidia|\bNVRM\b|\bXids?\b|compute-sanitizer|xpu-smi|\bi915\b|CUDA_LAUNCH_BLOCKING|\bMIG\b|\bMPS\b/i,
  intel: /nvidia|\bNVRM\b|\bXids?\b|compute-sanitizer|rocm|amd-smi|amdgpu|CUDA_|\bHIP_|\bMIG\b|\bMPS\b/i,
  nv: /rocm|amd-smi|amdgpu|xpu-smi|\bi915\b/i,
}

describe.skipIf(logs.length === 0)('fault logs of other GPUs (need ../shared)', () => {
  test.each(Object.entries(EXPECTED))('%s', (file, kind) => {
    const faults = explainText(logScanner(), readFileSync(join(folder, file), 'utf8'))
    expect(faults[0]?.kind).toBe(kind)
    const said = faults.flatMap(({ verdict, remedies }) => [verdict, ...remedies.flatMap(({ text, command = '' }) => [text, command])])
    expect(said.filter((text) => FOREIGN[file.split('__')[0] ?? '']?.test(text))).toEqual([])
  })
  test('every log is scored', () => expect(logs.filter((name) => !(name in EXPECTED))).toEqual([]))
  test("on a processor's own GPU the limit of the driver is what to raise first", () => {
    for (const file of ['amd__strixhalo-hip-oom-carveout-ignored.log', 'amd__strixhalo-hip-oom-gtt-half.log'])
      expect(explainText(logScanner(), readFileSync(join(folder, file), 'utf8'))[0]?.remedies[0]?.command).toContain('ttm pages_limit')
    const [card] = explainText(logScanner(), readFileSync(join(folder, 'amd__rx7900xtx-hip-oom.log'), 'utf8'))
    expect(card?.remedies.filter(({ command = '' }) => command.includes('pages_limit'))).toEqual([])
  })
})
