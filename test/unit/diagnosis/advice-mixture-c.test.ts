// A third mixture of kinds: simulators, hashcat, encoders, programs in Rust, PTX by its number.
import { rows } from './advice-rows.ts'

rows('out of GPU memory', [
  [
    'PhysX',
    'PxgCudaDeviceMemoryAllocator fail to allocate memory 67108864 bytes!! Result = 2',
    /PhysX could not allocate 64 MiB[^]*--num_envs 1024/,
    /PyTorch|batch/,
  ],
  ['hashcat', 'cuMemAlloc(): out of memory\n* Device #1: Not enough allocatable device memory for this attack.', /hashcat could not allocate[^]*-w 1/, /batch/],
  [
    'a buffer of PhysX, in its later words',
    'PhysX error: The application needs to increase PxGpuDynamicsMemoryConfig::foundLostPairsCapacity to 3000000, otherwise, the simulation will miss interactions',
    /gpu_found_lost_pairs_capacity is full: it needs 3000000[^]*gpu_found_lost_pairs_capacity=2\*\*22/,
    /GiB|MiB/,
  ],
  [
    'a buffer of PhysX, in its earlier words',
    'PhysX error: Patch buffer overflow detected, please increase its size to at least 200000 in the scene desc!',
    /PhysxCfg\(gpu_max_rigid_patch_count=2\*\*18\)/,
  ],
  [
    'a buffer of PhysX of which it says no size',
    'PhysX error: PxGpuDynamicsMemoryConfig::collisionStackSize buffer overflow detected; Contacts have been dropped.',
    /gpu_collision_stack_size is full\. /,
    /2\*\*/,
  ],
  [
    'mistral.rs',
    'INFO mistralrs_core::pipeline::normal: Loading model\nError: DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")',
    /mistral\.rs quantize[^]*--isq 4/,
  ],
])

rows('encoders', [
  [
    'a codec that the card does not encode',
    '[av1_nvenc @ 0x55] Codec not supported\n[av1_nvenc @ 0x55] No capable devices found',
    /does not encode AV1[^]*hevc_nvenc/,
    /pix_fmt/,
  ],
  ['HEVC', '[hevc_nvenc @ 0x55] Codec not supported\n[hevc_nvenc @ 0x55] No capable devices found', /does not encode HEVC[^]*libx265/],
  ['H.264', '[h264_nvenc @ 0x55] Codec not supported\n[h264_nvenc @ 0x55] No capable devices found', /does not encode H\.264[^]*libx264/],
  [
    "another reason of FFmpeg's",
    '[hevc_nvenc @ 0x55] 10 bit encode not supported\n[hevc_nvenc @ 0x55] No capable devices found',
    /reason: 10 bit encode not supported\.[^]*pix_fmt yuv420p/,
    /-v verbose/,
  ],
])

rows('versions', [
  [
    'PTX by its number',
    "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'",
    /brings PTX 8\.7 \(CUDA 12\.8\); the driver translates up to 8\.4 \(CUDA 12\.4\)/,
  ],
  [
    'PTX of a number that is not known',
    "ptxas application ptx input, line 9; fatal   : Unsupported .version 9.7; current version is '9.0'",
    /PTX 9\.7; [^]*9\.0 \(CUDA 13\.0\)/,
  ],
  [
    'a kernel that keeps a symbol, by its name',
    "ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol '__rcu_read_lock'\nError! Bad return status for module build on kernel: 6.1.0-99-amd64 (x86_64)",
    /kernel 6\.1\.0-99-amd64 keeps __rcu_read_lock/,
  ],
])
