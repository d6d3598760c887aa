// bitsandbytes checks each launch of its own kernels, prints one line and ends the process: csrc/common.cuh, CUDA_CHECK_RETURN.
import { ruleFamily } from './parts/rules.ts'
import { synchronous } from './remedies/debug.ts'
import { printTorch } from './remedies/environment.ts'

export const bitsandbytesKernel = ruleFamily({
  id: 'bitsandbytes-kernel',
  kind: 'cublas_cudnn_error',
  literals: ['/csrc/ops.cu', '/csrc/ops.hip'],
  rules: [
    {
      // What says that memory ran out or that an address was wrong has a family of its own.
      pattern: /^(?:\[\w{1,12}\]: ?)?Error (?!out of memory|an illegal)([a-z][\w -]{5,80}?) at line \d{1,5} in file \S{0,200}\/csrc\/ops\.(?:cu|hip)\b/,
      severity: 'critical',
      title: 'A kernel of bitsandbytes could not start',
      verdict: ({ match }) =>
        match[1] === 'invalid configuration argument'
          ? "bitsandbytes could not start a kernel ('invalid configuration argument') and ended the process: most often the tensor is empty or is on the CPU."
          : match[1]?.startsWith('no kernel image') === true
            ? 'The library of bitsandbytes has no code for this GPU, and ended the process.'
            : `bitsandbytes could not start a kernel ('${match[1]}') and ended the process.`,
      remedies: ({ match, situation }) =>
        match[1] === 'invalid configuration argument'
          ? [
              {
                text: 'With ZeRO-3 or FSDP a rank may hold an empty part of a weight: use an optimizer of PyTorch in place of the 8-bit one (Trainer: optim="adamw_torch"), or ZeRO-2.',
              },
              { text: 'With weights that were offloaded: keep the quantized layers on the GPU (device_map without cpu or disk).' },
              synchronous(situation()),
            ]
          : [
              { text: 'Install the newest release of bitsandbytes: wheels gain GPUs with releases.', command: 'python -m pip install --upgrade bitsandbytes' },
              { text: 'See which GPU and which CUDA it runs with.', command: printTorch('torch.version.cuda, torch.cuda.get_device_capability()') },
            ],
    },
  ],
})
