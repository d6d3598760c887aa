// A second mixture of kinds: programs that are no server and no training of a language model, system containers, Triton, pods as kubectl describes them.
import { answer } from './answer.ts'
import { kindRows, rows } from './advice-rows.ts'
import { expect, test } from 'vitest'

const SMALL =
  'RuntimeError: CUDA out of memory. Tried to allocate 120.00 MiB (GPU 0; 4.00 GiB total capacity; 3.40 GiB already allocated; 60.00 MiB free; 20.00 MiB cached)'
const NO_DRIVER =
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
const PINNED =
  'W0102 03:04:05.678901 70 pinned_memory_manager.cc:271] Unable to allocate pinned system memory, pinned memory pool will not be available: CUDA driver version is insufficient for CUDA runtime version'

rows('out of GPU memory', [
  [
    'CatBoost, in words of its own',
    '(NCudaLib::TOutOfMemoryError) /src/catboost/cuda/cuda_lib/memory_pool/stack_like_memory_pool.h:303: Error: Out of memory. Requested 4096 MB; Free 1024.5 MB',
    /CatBoost could not allocate 4\.00 GiB on the GPU; 1\.00 GiB was free[^]*max_ctr_complexity=1/,
    /PyTorch|batch/,
  ],
  ['Demucs', `$ python -m demucs.separate a.mp3\n${SMALL}`, /--segment 7[^]*-d cpu/, /smaller batch/],
  [
    'a model of Whisper that does not fit',
    `    model = whisper.load_model("large")\n  File "/e/site-packages/whisper/__init__.py", line 122, in load_model\n    return model.to(device)\n  File "/e/site-packages/torch/nn/modules/module.py", line 987, in convert\n    return t.to(device, dtype)\n${SMALL}`,
    /turbo or medium/,
    /device_map/,
  ],
  [
    'OpenMM',
    'openmm.OpenMMException: Error creating array posq: CUDA_ERROR_OUT_OF_MEMORY (2)',
    /OpenMM could not allocate[^]*ewaldErrorTolerance/,
    /smaller batch/,
  ],
  [
    'a processor whose firmware sets most of the memory aside',
    'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 12.00 GiB. GPU 0 has a total capacity of 14.80 GiB of which 9.00 GiB is free. Of the allocated memory 5.00 GiB is allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated.\n[    3.1] amdgpu 0000:c4:00.0: amdgpu: VRAM: 98304M 0x0000008000000000 - 0x00000097FFFFFFFF (98304M used)',
    /sets 96\.00 GiB aside as VRAM[^]*little in the BIOS/,
  ],
])

rows('GPU libraries', [
  ['a number of cuFFT', "terminate called after throwing an instance of 'OpenMM::OpenMMException'\n  what():  Error initializing FFT: 2", /CUFFT_ALLOC_FAILED/],
  [
    'CatBoost on Windows',
    '(class TCatBoostException) C:/build/catboost/cuda/cuda_lib/cuda_base.h:281: CUDA error 700: an illegal memory access was encountered',
    /update CatBoost/,
  ],
  [
    'bitsandbytes of the time before Windows',
    "CUDA SETUP: Loading binary D:\\k\\venv\\lib\\site-packages\\bitsandbytes\\libbitsandbytes_cuda118.so...\nCould not find module 'D:\\k\\venv\\lib\\site-packages\\bitsandbytes\\libbitsandbytes_cuda118.so' (or one of its dependencies). Try using the full path with constructor syntax.",
    /no compiled library for CUDA 11\.8[^]*before 0\.43/,
  ],
  ['ColabFold on the CPU', '2024-01-02 03:04:05,678 Running colabfold 1.5.5\nWARNING: no GPU detected, will be using CPU', /jax\[cuda12\]/],
])

rows('containers and pods', [
  [
    'nvidia-smi in LXD, with the device',
    `$ lxc exec lab -- nvidia-smi\n${NO_DRIVER}\n$ lxc config show --expanded lab\ndevices:\n  gpu:\n    type: gpu\n`,
    /The container has no GPU[^]*has the device[^]*lxc config set lab nvidia\.runtime true/,
    /dkms|docker/,
  ],
  [
    'nvidia-smi in Incus, without it',
    `$ incus exec lab -- nvidia-smi\n${NO_DRIVER}`,
    /incus config device add lab gpu gpu[^]*incus config set lab nvidia\.runtime/,
    /dkms|docker/,
  ],
  [
    'nvidia-smi in a container of Proxmox',
    `root@pve:~# pct enter 105\nroot@media:~# nvidia-smi\n${NO_DRIVER}`,
    /release of the host, without its kernel module/,
    /dkms/,
  ],
  [
    'a pod with a limit in powers of ten',
    'Name:         chat-0\nNamespace:    ai\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          8G\n',
    /The container of pod chat-0 was killed[^]*limit of 7\.45 GiB/,
  ],
  [
    "llama.cpp's cache of prompts",
    "srv  get_availabl: updating prompt cache\nsrv   prompt_save:  - saving prompt with length 20000, total state size = 2048.000 MiB\nllama.service: Failed with result 'oom-kill'.\nConsumed 2min 45.760s CPU time, 11.4G memory peak.",
    /used 11\.4 GiB[^]*last prompt took 2 GiB\. \$ --cache-ram 512/,
  ],
])

rows('a driver that a container may not reach', [
  [
    'by the name of its host',
    'CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=32553 ; hostname=0123456789ab ; expr=cudaSetDevice(info_.device_id);',
    /no driver in it, and CUDA says the same[^]*docker run --gpus all/,
  ],
])

kindRows('Triton and Ray', [
  [
    'a backend that is not there',
    `E0102 03:04:05.678901 70 model_lifecycle.cc:638] failed to load 'dense' version 1: Invalid argument: unable to find backend library for backend 'onnxruntime', try specifying runtime on the model configuration.`,
    'config_error',
    /no backend onnxruntime for dense[^]*ls \/opt\/tritonserver\/backends/,
  ],
  [
    'a backend that lacks a library',
    "E0102 03:04:05.678901 70 model_lifecycle.cc:597] failed to load 'enc' version 1: Not found: unable to load shared library: libc10.so: cannot open shared object file: No such file or directory",
    'missing_dependency',
    /lacks libc10\.so[^]*libtriton_pytorch\.so/,
  ],
  ['a server without a GPU', PINNED, 'gpu_not_visible', /Triton runs without a GPU[^]*--gpus all/],
  [
    'a disk of Ray that fills up',
    '(raylet) [2025-01-02 03:04:05,280 E 100 119] (raylet) file_system_monitor.cc:116: /scratch/ray/session_2025-01-02_1 is over 95% full, available space: 1.5 GB; capacity: 40 GB. Object creation will fail if spilling is required.',
    'disk_full',
    /over 95 % full: 1\.5 GB of 40 GB[^]*du -sh \/scratch\/ray\/\*/,
  ],
  [
    'the same, in bytes',
    '(raylet) [2024-01-02 03:04:05,682 E 1256 1290] (raylet) file_system_monitor.cc:111: /tmp/ray/session_2024-01-02_9 is over 95% full, available space: 133932761088; capacity: 3998267736064. Object creation will fail if spilling is required.',
    'disk_full',
    /133\.9 GB of 3998\.3 GB/,
  ],
])

test('a checkpoint of Ray on a full disk names the setting of Ray', () => {
  const { all } = answer(
    'ERROR trial_runner.py:1319 -- Trial T_1: Error handling checkpoint /home/ray/ray_results/T/checkpoint_000045\n  File "/e/site-packages/ray/tune/syncer.py", line 245, in wait\nOSError: [Errno 28] No space left on device',
  )
  expect(all).toMatch(/num_to_keep/)
  expect(all).not.toMatch(/save_total_limit/)
})
