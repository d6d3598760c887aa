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

rows('a fifth look', [
  [
    'text-generation-webui, as it generates',
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 166.00 MiB (GPU 0; 8.00 GiB total capacity; 6.93 GiB already allocated; 0 bytes free; 7.22 GiB reserved in total by PyTorch)\nOutput generated in 9.32 seconds (0.00 tokens/s, 0 tokens, context 1475, seed 737525561)\nTraceback (most recent call last):\n  File "C:\\web\\text-generation-webui\\modules\\callbacks.py", line 66, in gentask\n    ret = self.mfunc(callback=_callback, **self.kwargs)',
    /context of 1475 tokens[^]*--load-in-4bit/,
    /smaller batch/,
  ],
  [
    'a VAE that encodes, with the attention of PyTorch 2 already',
    '  File "D:\\FramePack\\demo_gradio.py", line 156, in worker\n    start_latent = vae_encode(input_image_pt, vae)\n  File "D:\\env\\lib\\site-packages\\diffusers\\models\\attention_processor.py", line 3281, in __call__\n    hidden_states = F.scaled_dot_product_attention(\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 28.87 GiB. GPU 0 has a total capacity of 8.00 GiB of which 3.68 GiB is free. Of the allocated memory 3.18 GiB is allocated by PyTorch, and 163.40 MiB is reserved by PyTorch but unallocated.',
    /and let the VAE encode in tiles[^]*only where none of its faster kernels/,
    /PyTorch 2: scaled/,
  ],
  [
    "a kernel of FlashAttention's, in cuda-gdb",
    'CUDA Exception: Warp Illegal Address\nThread 137 "pt_autograd_0" received signal CUDA_EXCEPTION_14, Warp Illegal Address.\n[Switching focus to CUDA kernel 0, grid 2749, block (0,8156,0), thread (96,0,0), device 0, sm 0, warp 10, lane 0]\n0x00007ff9ac5f8fa0 in void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128, 64> >(Flash_bwd_params)\n   <<<(1,12288,16),(256,1,1)>>> ()\nRuntimeError: CUDA error: an illegal memory access was encountered',
    /cuda-gdb names the kernel: flash_bwd_dot_do_o_kernel \(Warp Illegal Address\)[^]*one of FlashAttention/,
    /compute-sanitizer/,
  ],
  [
    'a build in Docker Desktop names the shell, which is not what is full',
    '#11 402.1 ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\nfailed to solve: process "/bin/sh -c pip3 install -r requirements.txt" did not complete successfully: exit code: 1',
    /docker system df/,
    /with \/bin\/sh/,
  ],
  [
    'CUDA that runs out of memory as it starts, under WSL 2',
    '/opt/env/lib/python3.12/site-packages/torch/cuda/__init__.py:129: UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 2: out of memory (Triggered internally at /pytorch/c10/cuda/CUDAFunctions.cpp:109.)\nPython platform: Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.39',
    /Under WSL 2 that happens with several GPUs[^]*CUDA_VISIBLE_DEVICES=0[^]*wsl --update/,
    /batch/,
  ],
  [
    'no bfloat16, in the words of torchtune',
    '  File "/opt/env/lib/python3.10/site-packages/torchtune/training/precision.py", line 101, in get_dtype\n    raise RuntimeError(\nRuntimeError: bf16 precision was requested but not available on this hardware. Please use fp32 precision instead.',
    /older than Ampere[^]*dtype=fp32/,
  ],
])

rows('a sixth look', [
  [
    "DeepSpeed's ZeRO, as the optimizer makes its state",
    '  File "/opt/env/lib/python3.10/site-packages/deepspeed/runtime/zero/stage3.py", line 1973, in step\n    self._prepare_sub_group(sub_group_id, timer_names)\n  File "/opt/env/lib/python3.10/site-packages/deepspeed/ops/adam/fused_adam.py", line 132, in step\n    state[\'exp_avg\'] = torch.zeros_like(p.data)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.73 GiB (GPU 2; 31.75 GiB total capacity; 28.12 GiB already allocated; 1.11 GiB free; 29.36 GiB reserved in total by PyTorch)',
    /offload_optimizer, device cpu/,
  ],
  [
    'bitsandbytes with a library of Windows',
    'CUDA SETUP: Loading binary /opt/env/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda116.dll...\n/opt/env/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda116.dll: invalid ELF header',
    /a library of Windows \(\.dll\)[^]*pip install[^\n]*bitsandbytes/,
  ],
  [
    'Podman without root, and the group of the device files',
    '$ podman run --rm --device nvidia.com/gpu=all docker.io/nvidia/cuda:11.4.0-base-ubuntu20.04 nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\n$ ls -la /dev/nvidia*\ncrw-rw---- 1 root video 195,   0 Feb 15 16:02 /dev/nvidia0\ncrw-rw---- 1 root video 195, 255 Feb 15 16:02 /dev/nvidiactl',
    /usermod -aG video[^]*--group-add keep-groups/,
  ],
  [
    'a multiplication that fails inside cuBLAS',
    "CUBLAS failure 14: CUBLAS_STATUS_INTERNAL_ERROR ; GPU=1 ; hostname=box ; expr=cublas_gemm(cuHandle, transA, transB, m, n, k, &alpha, a.Data(), (int) a.m_numRows)'",
    /failed inside it/,
    /could not be set up/,
  ],
  [
    "the container toolkit's reason ends at the prompt",
    'nvidia-container-cli: initialization error: driver rpc error: failed to process request\n$ uname -r\n6.8.0-45-generic',
    /driver rpc error: failed to process request\)/,
    /uname/,
  ],
])

rows('a seventh look', [
  [
    'YOLOX, which fills the card beforehand',
    'python tools/train.py -f exps/example/custom/yolox_s.py -d 1 -b 1 --fp16 -o -c yolox_s.pth\nRuntimeError: CUDA out of memory. Tried to allocate 4.53 GiB (GPU 0; 6.00 GiB total capacity; 39.04 MiB already allocated; 4.45 GiB free; 64.00 MiB reserved in total by PyTorch)',
    /Leave out -o/,
  ],
  [
    'a page fault on a Jetson',
    'nvgpu: 17000000.gpu      gv11b_fb_mmu_fault_info_dump:294  [ERR]  [MMU FAULT] mmu engine id:  18, ch id:  479, fault addr: 0x0, fault addr aperture: 0, fault type: invalid pde, access type: virt read,\nnvgpu: 17000000.gpu     nvgpu_set_err_notifier_locked:143  [ERR]  error notifier set to 31 for ch 479 owned by consumer_thread',
    /GPU of the Jetson \(17000000\.gpu\) accessed an invalid address, 0: a null pointer, for consumer_thread/,
    /NVRM/,
  ],
])
