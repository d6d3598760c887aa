// Programs of the sciences: what takes GPU memory there, and COLMAP without one.
import { rows } from './advice-rows.ts'

rows('out of GPU memory', [
  [
    'GROMACS',
    'Program:     gmx mdrun, version 2022.1\nFatal error:\ncudaMalloc failure: CUDA error #2 (cudaErrorMemoryAllocation): out of memory.',
    /-pme cpu/,
    /batch/,
  ],
  [
    'NAMD',
    'FATAL ERROR: CUDA error cudaMalloc(pp, n) in file src/CudaUtils.C, function allocate_device_T, line 70\n on Pe 2 (node3 device 1 pci 0:3b:0): out of memory',
    /NAMD could not allocate memory on GPU 1[^]*\+devices 0,1/,
    /batch|LAUNCH_BLOCKING/,
  ],
  [
    'RELION',
    'ERROR: CudaCustomAllocator out of memory\n [requestedSpace:             1073741824 B]\n [largestContinuousFreeSpace: 536870912 B]\n [totalFreeSpace:             1610612736 B]',
    /no piece of 1\.00 GiB of the GPU memory[^]*1\.50 GiB of it is free, in smaller pieces[^]*--maxsig 2000/,
    /batch/,
  ],
  ['RELION, cut short', 'ERROR: CudaCustomAllocator out of memory', /no further piece of the GPU memory that it set aside for itself\./],
  [
    'Dorado',
    "[warning] Caught Torch error 'CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 7.50 GiB of which 5.00 GiB is free.', clearing CUDA cache and retrying.",
    /--batchsize 256/,
    /Look at the line/,
  ],
  ['Guppy', '[guppy/error] gpu: CUDA out of memory\n[guppy/info] chunks_per_runner 512', /--chunks_per_runner 256/],
  [
    'DALI',
    'RuntimeError: Critical error in pipeline:\nError in GPU operator `nvidia.dali.fn.decoders.image`,\nCUDA runtime API error cudaErrorMemoryAllocation (2):\nout of memory',
    /prefetch_queue_depth=1/,
    /quantized/,
  ],
  [
    'Theano, in a MemoryError of Python',
    'MemoryError: Error allocating 419430400 bytes of device memory (CNMEM_STATUS_OUT_OF_MEMORY).',
    /Theano could not allocate 400 MiB on the GPU/,
    /RAM|host memory/,
  ],
])

rows('no GPU', [
  ['COLMAP without CUDA', 'ERROR: Dense stereo reconstruction requires CUDA, which is not available on your system.', /built without CUDA[^]*colmap -h/],
  ['COLMAP without OpenGL', 'ERROR: SiftGPU not fully supported.', /--SiftExtraction\.use_gpu 0/, /import torch/],
])
