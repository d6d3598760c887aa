// GPUs at work that is neither training nor serving: rendering, video, structures of proteins. Texts written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each<readonly [name: string, text: string, kind: string, says: RegExp, never: RegExp]>([
  [
    'a scene that does not fit Blender',
    'Out of memory in cuStreamCreate(&cuda_stream_, CU_STREAM_NON_BLOCKING) (intern/cycles/device/cuda/queue.cpp:21)\n',
    'cuda_oom',
    /Blender could not[^]*Simplify[^]*--cycles-device CPU/,
    /batch/,
  ],
  [
    'a data set that only has the name of Blender',
    'python train.py --data nerf/blender/lego\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.10 GiB is free.\n',
    'cuda_oom',
    /PyTorch/,
    /cycles/,
  ],
  [
    'a structure that AlphaFold predicts in too little memory',
    'XLA_PYTHON_CLIENT_MEM_FRACTION=.80\n  File "/app/alphafold/run_alphafold.py", line 199, in predict_structure\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6567780864 bytes.\n',
    'cuda_oom',
    /\.80, which is set, leaves only that part[^]*TF_FORCE_UNIFIED_MEMORY=1/,
    /batch/,
  ],
  [
    'the same with host memory in use',
    'TF_FORCE_UNIFIED_MEMORY=1 XLA_PYTHON_CLIENT_MEM_FRACTION=4.0\n  File "/app/alphafold/run_alphafold.py", line 199, in predict_structure\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6567780864 bytes.\n',
    'cuda_oom',
    /uses host memory already, up to 4\.0 times the card/,
    /MEM_FRACTION=/,
  ],
  [
    'an encoder without a free session',
    '[hevc_nvenc @ 0x55f45f5f5cc0] OpenEncodeSessionEx failed: out of memory (10): (no details)\n[hevc_nvenc @ 0x55f45f5f5cc0] No capable devices found\n',
    'gpu_busy',
    /encoder\.stats\.sessionCount/,
    /No GPU here/,
  ],
  ['a codec that no card here encodes', '[av1_nvenc @ 0000021627f791c0] No capable devices found\n', 'gpu_not_visible', /No GPU here can encode/, /--gpus/],
  ['an encoder without memory for its context', '[h264_nvenc @ 0x7f61] Failed creating CUDA context for NVENC: 0x2\n', 'cuda_oom', /fewer streams/, /batch/],
  ['libcuda that a program opens itself', 'RuntimeError: Failed to dlopen libcuda.so\n', 'cuda_library_missing', /part of the NVIDIA driver/, /pip install/],
])('%s', (_, text, kind, says, never) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(says)
  expect(said.all).not.toMatch(never)
})
