// AMD and Intel GPUs that hang and are reset by their kernel driver (amdgpu, i915, xe).
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, pciBusId, whole } from './parts/window.ts'
import { REBOOT } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

const near = ({ text, at }: Seen): string => around(text, at, 2, 6)
const facts = (seen: Seen): Facts => {
  const lines = near(seen)
  const pci = /\b(?:amdgpu|i915|xe) ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/i.exec(lines)?.[1]
  const who = /Process (?:information: process )?(\S.{0,39}?) pid (\d{1,10})|\bin ([\w.-]{1,40}) \[(\d{1,10})\]/.exec(lines)
  return known({
    pci_bus_id: pci === undefined ? undefined : pciBusId(pci),
    process: who?.[1]?.trim() ?? who?.[3],
    pid: whole(who?.[2] ?? who?.[4]),
    status: /ring ([\w.]{2,30}) timeout/.exec(lines)?.[1],
  })
}

function remedies({ facts: { process, pid }, message }: Matched): readonly Piece[] {
  const failed = /reset(?:\(\d{1,6}\))? failed|wedged|GPU recovery failed/i.test(message)
  return [
    {
      text: `Restart ${process === undefined ? 'the programs that used the GPU' : `${process}${pid === undefined ? '' : ` (pid ${pid})`}`}: its work on the GPU is lost.`,
    },
    {
      text: 'See what led to it: a page fault or another time-out just before names the program.',
      command: "sudo dmesg -T | grep -iE 'amdgpu|i915|xe ' | tail -n 60",
    },
    { text: 'If it comes back, update kernel, firmware and ROCm (or the Intel driver) together, then report it with these lines.' },
    failed && REBOOT,
  ]
}
const rule = {
  severity: 'critical',
  title: 'GPU hung and was reset',
  verdict: ({ facts: { pci_bus_id: pci, status, process }, message }: Matched) =>
    `The ${pci === undefined ? 'GPU' : `GPU at ${pci}`} hung${status === undefined ? '' : ` (ring ${status} did not finish in time)`}${process === undefined ? '' : ` while ${process} used it`}; its driver ${/failed|wedged/i.test(message) ? 'could not reset it' : 'resets it'}. Likely cause: a program or the driver.`,
  remedies,
} as const

export const gpuReset = ruleFamily({
  id: 'gpu-reset',
  kind: 'gpu_reset',
  literals: ['*ERROR* ring ', ' timeout, signaled seq=', 'GPU reset begin', 'GPU HANG: ', 'amdgpu: GPU reset(', 'declared wedged', 'device is wedged'],
  facts,
  rules: [
    // Kernels from 6.16 on print it without *ERROR*. https://github.com/ROCm/legacy-rocm-build/issues/6127
    { ...rule, pattern: /\*ERROR\* ring [\w.]{2,30} timeout\b(?!, but soft recovered)|\bring [\w.]{2,30} timeout, signaled seq=/ },
    { ...rule, pattern: /\bamdgpu\b[^\n]{0,60}GPU reset begin|\bamdgpu\b[^\n]{0,40}GPU reset\(\d{1,6}\) failed/ },
    { ...rule, pattern: /\[drm\] GPU HANG: ecode|\b(?:i915|xe)\b[^\n]{0,80}(?:declared wedged|is wedged)/ },
  ],
})
