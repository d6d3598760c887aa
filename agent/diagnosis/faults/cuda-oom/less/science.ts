// Programs of the sciences, recognised by their words in the text: the memory there goes to something other than a batch of a model's inputs.
import type { Situation } from '../../../situation/situation.ts'
import type { Piece } from '../../remedies/plan.ts'

const PROGRAMS: readonly (readonly [tell: RegExp, pieces: readonly Piece[]])[] = [
  [
    // manual.gromacs.org, "Getting good performance from mdrun".
    /\bgmx(?:_mpi)?[ ,]{1,2}mdrun\b|src\/gromacs\/|\bGROMACS:/,
    [
      { text: 'Leave a part of the work to the CPU: first PME, then all of it (-nb cpu).', command: '-pme cpu' },
      { text: 'Or spread the system over more GPUs (-ntmpi and -gpu_id), and run fewer simulations on one.' },
    ],
  ],
  [
    // ks.uiuc.edu/Research/namd, "GPU Acceleration".
    /src\/(?:CudaUtils|ComputePmeCUDA\w{0,12}|CudaTileListKernel|DeviceCUDA)\.(?:C|cu)\b|\bNAMD \d\.\d/,
    [
      { text: 'Spread the system over more GPUs: name them.', command: '+devices 0,1' },
      { text: 'Or simulate fewer atoms, a smaller box of water above all, and run fewer simulations on one GPU.' },
    ],
  ],
  [
    // relion_refine --help: "--maxsig", "--pad", "--j".
    /\bCudaCustomAllocator\b|\brelion_(?:refine|run)|\/relion[\w.-]{0,20}\/src\//i,
    [
      { text: 'Let fewer MPI processes and threads (--j) share each GPU: each process takes its own part of the card.' },
      { text: 'Consider fewer orientations (--maxsig 2000), do not pad (--pad 1: "Skip padding"), or scale the particles to a smaller box.' },
    ],
  ],
  [
    /\bdorado(?:-\d|\b.{0,40}\b(?:basecaller|duplex)\b)|Caught Torch error '|\bCreating basecall pipeline\b/,
    [
      { text: 'Basecall in smaller batches: the size that Dorado chooses by itself is too large here.', command: '--batchsize 256' },
      { text: 'Or use a smaller model (hac or fast instead of sup), and call fewer modifications at once.' },
    ],
  ],
  [
    /\bguppy_basecall|\[guppy\/|\bchunks_per_runner\b/,
    [{ text: 'Keep less in flight on the GPU.', command: '--chunks_per_runner 256 --gpu_runners_per_device 2' }],
  ],
  [
    /\bnvidia[./]dali\b|\bdali::|\/dali\/dali\//,
    [
      { text: 'DALI keeps whole batches on the GPU: use a smaller batch_size, and prefetch_queue_depth=1 in the pipeline.' },
      { text: 'Or decode and crop on the CPU (device="cpu"), and move only the small images to the GPU.' },
    ],
  ],
]

export const lessInScience = ({ text }: Situation): readonly Piece[] | undefined => PROGRAMS.find(([tell]) => tell.test(text))?.[1]
