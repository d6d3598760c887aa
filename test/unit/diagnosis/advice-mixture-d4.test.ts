// The same kinds once more, third part: trial runs, numbers of GPUs, cards that answer nothing, two packages of one library.
import { rows } from './advice-rows.ts'

const FULL =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.00 GiB. GPU 0 has a total capacity of 44.53 GiB of which 12.00 GiB is free. Process 4711 has 32.33 GiB memory in use. Of the allocated memory 31.79 GiB is allocated by PyTorch, and 42.51 MiB is reserved by PyTorch but unallocated.'

rows('vLLM', [
  [
    'its trial run with images',
    `INFO 01-02 03:04:05 enc_dec_model_runner.py:301] Starting profile run for multi-modal models.\n[rank0]:   File "/env/lib/python3.10/site-packages/vllm/executor/gpu_executor.py", line 114, in determine_num_available_blocks\n[rank0]: ${FULL}`,
    /--limit-mm-per-prompt[^]*--max-num-seqs 32[^]*trial run at its start[^]*--max-num-batched-tokens 2048/,
    /\$ --gpu-memory-utilization|--enforce-eager/,
  ],
  [
    'a quotient, which is no setting',
    `WARNING 01-02 03:04:05 [profiling.py:245] The sequence length used for profiling (max_num_batched_tokens / max_num_seqs = 20000) is too short to hold the multi-modal embeddings in the worst case (98304 tokens in total)\nERROR 01-02 03:04:06 [engine.py:448] ${FULL}`,
    /--limit-mm-per-prompt[^]*--max-num-seqs 32/,
    /20000|10000/,
  ],
])

rows('numbers of GPUs', [
  [
    'more ranks than the command shows GPUs',
    'CUDA_VISIBLE_DEVICES=1,2 python -m torch.distributed.launch --nproc_per_node=4 train.py\nRuntimeError: CUDA error: invalid device ordinal',
    /the command starts 4, and CUDA_VISIBLE_DEVICES shows 2/,
  ],
  [
    'tasks of Slurm with a GPU each',
    '#SBATCH --gres=gpu:4\n#SBATCH --ntasks-per-node=4\nsrun --accel-bind=gn python -u main.py\n  File "/work/main.py", line 110, in init_distributed_device\n    torch.cuda.set_device(device)\nRuntimeError: CUDA error: invalid device ordinal',
    /a task sees its GPU as number 0/,
    /sbatch --gpus=1/,
  ],
])

rows('machines', [
  [
    'a card that answers nothing',
    '$ nvidia-smi\nUnable to determine the device handle for GPU 0000:0B:00.0: Unknown Error\n$ lspci | grep -i nvidia\n0b:00.0 VGA compatible controller: NVIDIA Corporation Device 1e07 (rev ff)\n0c:00.0 VGA compatible controller: NVIDIA Corporation Device 1e07 (rev a1)',
    /"rev ff": the card answers nothing at all/,
  ],
  [
    'another card that does not',
    '$ nvidia-smi\nUnable to determine the device handle for GPU 0000:0C:00.0: Unknown Error\n$ lspci | grep -i nvidia\n0b:00.0 VGA compatible controller: NVIDIA Corporation Device 1e07 (rev ff)\n0c:00.0 VGA compatible controller: NVIDIA Corporation Device 1e07 (rev a1)',
    /no answer from it/,
    /rev ff/,
  ],
  [
    'Docker on Windows, by its prompt',
    'PS C:\\> docker run --gpus 1 ubuntu nvidia-smi\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\nPS C:\\> docker version\nServer: Docker Desktop',
    /WSL 2 engine/,
    /apt-get|Docker Desktop for Linux/,
  ],
  [
    'two packages of one library',
    'ImportError: /env/lib/python3.9/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister\n$ pip list | grep nccl\nnvidia-nccl-cu11          2.19.3\nnvidia-nccl-cu12          2.18.1',
    /nvidia-nccl-cu11 2\.19\.3 and nvidia-nccl-cu12 2\.18\.1, which install into one folder/,
    /built for another one|LD_LIBRARY_PATH/,
  ],
  [
    'a process that was killed while it read the weights',
    'Loading checkpoint shards:  57% 4/7 [00:37<00:28,  9.42s/it]ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 4711) of binary: /usr/bin/python3\nRoot Cause (first observed failure):\n  exitcode  : -9 (pid: 4711)\n  traceback : Signal 9 (SIGKILL) received by PID 4711',
    /It was reading the weights[^]*low_cpu_mem_usage=True/,
  ],
])
