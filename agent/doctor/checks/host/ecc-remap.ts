// The memory of each GPU is sound: no errors beyond repair, nothing that waits for a reset, no repair that failed.
import { gpuEccEnabled, gpuEccErrorsTotal, gpuRetiredPagesPending, gpuRowRemapFailure, gpuRowRemapPending } from '../../../metrics/gpu-errors.ts'
import type { Remedy } from '../../../model/fault.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import type { NvmlGpu } from '../../parts/nvml-facts.ts'

const reset = (index: number): Remedy => ({
  text: 'Let the present work end, then reset the GPU (or reboot): only then does the repair take hold.',
  command: `sudo nvidia-smi --gpu-reset -i ${index}`,
})

function judge(gpu: NvmlGpu): Finding {
  const subject = `GPU ${gpu.index}`
  const { value } = gpu
  const uncorrected = value(gpuEccErrorsTotal, { type: 'uncorrected', scope: 'volatile' })
  const [pending, failure, pages] = [value(gpuRowRemapPending), value(gpuRowRemapFailure), value(gpuRetiredPagesPending)]
  if (failure === 1)
    return {
      status: 'fail',
      subject,
      summary: 'bad memory rows could not be replaced: this is the condition for exchanging the board',
      remedies: [{ text: 'Take the GPU out of service, test it, and have it replaced.', command: 'dcgmi diag -r 3; sudo nvidia-bug-report.sh' }],
    }
  if (uncorrected !== undefined && uncorrected > 0)
    return {
      status: 'fail',
      subject,
      summary: `${uncorrected} memory errors that could not be corrected since the driver was loaded`,
      remedies: [
        { text: 'Give the GPU no new work; programs that were stopped go on from a checkpoint that is older than the error.' },
        reset(gpu.index),
        { text: 'If errors come again after the reset, test the board.', command: 'dcgmi diag -r 3' },
      ],
    }
  if (pending === 1 || pages === 1)
    return {
      status: 'warn',
      subject,
      summary: `a bad ${pending === 1 ? 'memory row' : 'memory page'} needs a GPU reset to be replaced`,
      remedies: [reset(gpu.index)],
    }
  if (value(gpuEccEnabled) === undefined && pending === undefined && pages === undefined)
    return { status: 'skipped', subject, summary: `${gpu.name} does not report memory errors (no ECC)` }
  return {
    status: 'pass',
    subject,
    summary: value(gpuEccEnabled) === 0 ? 'no bad memory waits; ECC is off, so errors are not seen' : 'no uncorrected memory errors, no reset pending',
  }
}

export const eccRemap = defineCheck({
  id: 'ecc-remap',
  group: 'host',
  title: "the GPUs' memory has no uncorrected errors and no repair that waits or failed",
  covers: ['ecc_uncorrected', 'ecc_error', 'row_remap_failure'],
  async run({ nvml }) {
    const facts = await nvml()
    if (facts === undefined || facts.gpus.length === 0) return skipped('no GPU answers')
    return facts.gpus.map(judge)
  },
})
