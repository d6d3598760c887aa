// Programs that run out of GPU memory in words of their own: CatBoost, PhysX, hashcat, RELION, NAMD, Theano.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { bytesOf } from '../quantity.ts'
import { known } from '../parts/window.ts'
import { whoHolds } from '../remedies/gpu.ts'
import { memoryFamily } from './rules.ts'

/** Isaac Lab's names of PhysX's buffers: gpu_found_lost_pairs_capacity. */
const CONTACTS: Readonly<Record<string, string>> = { Contact: 'maxRigidContactCount', Patch: 'maxRigidPatchCount' }
const setting = (name: string): string => `gpu_${(CONTACTS[name] ?? name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
const FULL_BUFFER =
  /(?:increase (?:the )?Px\w{1,30}Config::(\w{4,40})(?: parameter)? to (\d{1,12})|(?:Px\w{1,30}Config::(?=\w)|\b(?=Contact|Patch))(\w{4,40}) buffer overflow detected(?:[,;] please increase its size to at least (\d{1,12}))?)/

export const cudaOomOwnWords = memoryFamily(
  'cuda-oom-own-words',
  [
    'NCudaLib::TOutOfMemoryError',
    'Error: Out of memory. Requested ',
    'PxgCudaDeviceMemoryAllocator fail to allocate memory',
    'MemoryConfig::',
    'buffer overflow detected, please increase its size',
    'CudaCustomAllocator out of memory',
    'bytes of device memory (',
    'FATAL ERROR: CUDA error ',
    'cuMemAlloc(): out of memory',
    'Not enough allocatable device memory for this attack',
    'CL_MEM_OBJECT_ALLOCATION_FAILURE',
    'MemoryError: AutoBatch: ',
  ],
  [
    {
      // catboost/cuda/cuda_lib/memory_pool: sizes in MiB. The same words follow in "what() ->".
      pattern:
        /(?:NCudaLib::TOutOfMemoryError|stack_like_memory_pool\.h:\d{1,5})[^\n]{0,200}?Error: Out of memory\. Requested ([\d.]{1,16}) MB; Free ([\d.]{1,16}) ?MB/,
      who: 'CatBoost',
      facts: ([, asked, free]) => known({ requested_bytes: bytesOf(asked, 'MB'), free_bytes: bytesOf(free, 'MB') }),
      // catboost.ai/docs/concepts/faq, "overcome out of memory".
      remedies: (situation) => [
        { text: 'Combine fewer categorical features, and keep their values in host memory: max_ctr_complexity=1, gpu_cat_features_storage="CpuPinnedMemory".' },
        { text: 'Use fewer borders (border_count=32), a smaller depth, or the boosting_type "Plain"; or train on a part of the rows.' },
        { text: 'If nothing else runs on the GPU, let CatBoost use more of it: gpu_ram_part (0.95 where nothing is set).' },
        whoHolds(situation),
      ],
    },
    {
      // PxgMemoryManager.cpp and PxgCudaMemoryAllocator.cpp; 2 is the driver's "out of memory".
      pattern: /PxgCudaDeviceMemoryAllocator fail to allocate memory (\d{1,15}) bytes!! {1,2}Result = 2\b/,
      who: 'PhysX',
      facts: ([, asked]) => known({ requested_bytes: bytesOf(asked, 'B') }),
      remedies: (situation) => [
        { text: 'Simulate fewer environments at once.', command: /isaacgym/i.test(situation.text) ? 'num_envs=1024' : '--num_envs 1024' },
        { text: 'Run without a window and cameras (--headless), and keep the GPU buffers of PhysX no larger than the scene needs.' },
        whoHolds(situation),
      ],
    },
    {
      // The buffers do not grow by themselves (isaaclab.sim.PhysxCfg).
      pattern: FULL_BUFFER,
      title: 'A buffer of PhysX on the GPU is too small',
      severity: () => 'warning',
      verdict: ({ requested_bytes: least }, { text }) => {
        const [, asked, , full = ''] = FULL_BUFFER.exec(text) ?? []
        return `PhysX's buffer ${setting(asked ?? full)} is full${least === undefined ? '' : `: it needs ${least}`}. PhysX drops contacts or pairs then, so objects can fall through each other, or it reads past the buffer.`
      },
      facts: ([, , asked, , full]) => known({ requested_bytes: bytesOf(asked ?? full, 'B') }),
      remedies: ({ text }, { requested_bytes: least = 1 }) => {
        const [, asked, , full = ''] = FULL_BUFFER.exec(text) ?? []
        return [
          {
            text: `Make it larger where the scene is configured; in Isaac Lab: PhysxCfg(${setting(asked ?? full)}=${least === 1 ? '…' : `2**${Math.ceil(Math.log2(1.1 * least))}`}).`,
          },
          { text: 'Or simulate fewer environments at once, or let fewer objects collide: their number grows with both.', command: '--num_envs 1024' },
        ]
      },
    },
    {
      // acc/cuda/custom_allocator.cuh: RELION divides its own share of the card.
      pattern:
        /CudaCustomAllocator out of memory(?:\s{1,4}\[requestedSpace: {1,20}(\d{1,15}) B\])?(?:\s{1,4}\[largestContinuousFreeSpace: {1,20}\d{1,15} B\]\s{1,4}\[totalFreeSpace: {1,20}(\d{1,15}) B\])?/,
      who: 'RELION',
      verdict: ({ requested_bytes: asked, free_bytes: free }) =>
        `RELION got no ${asked === undefined ? 'further piece' : `piece of ${gib(asked)}`} of the GPU memory that it set aside for itself${free === undefined ? '' : `: ${gib(free)} of it is free, in smaller pieces`}.`,
      facts: ([, asked, free]) => known({ requested_bytes: bytesOf(asked, 'B'), free_bytes: bytesOf(free, 'B') }),
    },
    {
      // CudaUtils.C, cudaDie.
      pattern: /FATAL ERROR: CUDA error [^\n]{3,160}?\s{1,3}on Pe \d{1,6} \(\S{1,80} device (\d{1,3})[^)\n]{0,40}\): out of memory/,
      who: 'NAMD',
      facts: ([, gpu]) => known({ gpu_index: Number(gpu) }),
    },
    {
      // ultralytics/utils/autobatch.py: a MemoryError of Python that speaks of the GPU.
      pattern: /MemoryError: AutoBatch: every candidate batch size failed to profile[^]{0,240}?With ([\d.]{1,8})G free CUDA:(\d{1,3})/,
      who: 'AutoBatch',
      verdict: ({ free_bytes: free }) =>
        `No batch size that AutoBatch tried ran on the GPU, not even 1, with ${gib(free ?? 0)} free: mostly too little memory; the lines above give the error of each size.`,
      facts: ([, free, gpu]) => known({ free_bytes: bytesOf(free, 'GiB'), gpu_index: Number(gpu) }),
      remedies: (situation) => [
        whoHolds(situation),
        { text: 'Use smaller images (imgsz=) or a smaller model of the family (n or s).' },
        { text: 'Or name the batch in place of batch=-1, if the errors above are not about memory.', command: 'batch=1' },
      ],
    },
    {
      // theano/sandbox/cuda/cuda_ndarray.cu: a MemoryError of Python that speaks of the GPU.
      pattern: /Error allocating (\d{1,15}) bytes of device memory \((?:CNMEM_STATUS_OUT_OF_MEMORY|out of memory)\)/,
      who: 'Theano',
      facts: ([, asked]) => known({ requested_bytes: bytesOf(asked, 'B') }),
    },
    {
      pattern:
        /cuMemAlloc\(\): out of memory|Not enough allocatable device memory for this attack|clEnqueueNDRangeKernel\(\): CL_MEM_OBJECT_ALLOCATION_FAILURE|clCreateBuffer\(\): CL_MEM_OBJECT_ALLOCATION_FAILURE/,
      who: 'hashcat',
      remedies: (situation) => [
        { text: 'Let it keep less in flight: a lower workload profile.', command: '-w 1' },
        { text: 'Split the list of hashes or the rules into parts, and run one after another; hashes and bitmaps are kept in GPU memory as a whole.' },
        whoHolds(situation),
      ],
    },
  ],
)
