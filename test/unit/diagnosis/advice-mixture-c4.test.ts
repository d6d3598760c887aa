// A fourth mixture of the common kinds, third part: optimizers' state, kernels and nodes, in the words of other programs.
import { rows } from './advice-rows.ts'

rows('PyTorch', [
  [
    "another optimizer's state, made in its first step",
    '  File "/opt/env/lib/python3.8/site-packages/colossalai/nn/optimizer/hybrid_adam.py", line 85, in step\n    state[\'exp_avg\'] = torch.zeros_like(p, device=target_device)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 500.00 MiB (GPU 0; 39.45 GiB total capacity; 36.98 GiB already allocated; 258.19 MiB free; 37.86 GiB reserved in total by PyTorch)',
    /failed in the step of the optimizer/,
    /Halve the batch/,
  ],
  [
    'FLUX.1 in sd-scripts',
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacty of 44.53 GiB of which 15.25 MiB is free.\n  File "/srv/sd-scripts/flux_train_network.py", line 519, in <module>\n    trainer.train(args)',
    /--blocks_to_swap 18/,
    /U-Net/,
  ],
  [
    'more free than the card has',
    'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total capacity of 15.49 GiB of which 84.98 GiB is free.',
    /84\.98 GiB was free, by a count that goes beyond the card/,
  ],
  [
    'CUDA graphs of torch.compile',
    '  File "/opt/env/lib/python3.10/site-packages/torch/_inductor/cudagraph_trees.py", line 1191, in _add_first_outputs\n    self.checkpointed_caching_state = torch._C._cuda_getCheckpointState(\nRuntimeError: head->prev == nullptr && head->pool != nullptr INTERNAL ASSERT FAILED at "/opt/work/c10/cuda/CUDACachingAllocator.cpp":747, please report a bug to PyTorch. ',
    /CUDA graphs that torch\.compile makes[^]*triton\.cudagraphs = False/,
    /--enforce-eager/,
  ],
  [
    "float16 by verl's own key",
    'ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla V100-SXM2-32GB GPU has compute capability 7.0. You can use float16 instead by explicitly setting the`dtype` flag in CLI, for example: --dtype=half.\n  File "/opt/verl/verl/trainer/main_ppo.py", line 64, in main',
    /actor_rollout_ref\.rollout\.dtype=float16/,
    /--dtype half/,
  ],
])

rows('hosts', [
  [
    'a module for another kernel, as find shows it',
    '$ nvidia-smi\nmodprobe: FATAL: Module nvidia not found.\n$ uname -a\nLinux box 3.13.0-116-generic #163-Ubuntu SMP Fri Mar 31 14:13:22 UTC 2017 x86_64 GNU/Linux\n$ find /lib/modules/ -name "*nvidia*"\n/lib/modules/3.13.0-88-generic/kernel/drivers/video/nvidia.ko',
    /built for kernel 3\.13\.0-88-generic, and kernel 3\.13\.0-116-generic runs[^]*linux-headers-3\.13\.0-116-generic/,
  ],
  [
    'a node that offers seven of its eight GPUs',
    'Capacity:\n  cpu:                        128\n  nvidia.com/gpu:             8\n  pods:                       110\nAllocatable:\n  cpu:                        128\n  nvidia.com/gpu:             7\n  pods:                       110',
    /has 8 GPUs and offers pods 7/,
  ],
])
