// Names that stand in the text reach the commands, and memory that ran out before any work or beside a batch.
import { rows } from './advice-rows.ts'

rows('the node that the text names', [
  [
    'in the words of srun',
    'Accelerator Fatal Error: call to cuCtxCreate returned error 214 (CUDA_ERROR_ECC_UNCORRECTABLE): uncorrectable ECC error encountered\nsrun: error: gpu-r2-07: task 0: Exited with exit code 1',
    /scontrol update nodename=gpu-r2-07 state=drain/,
    /<NODE>/,
  ],
  [
    'in the events of a pod',
    '  Warning  Evicted  2m50s  kubelet, gpu-worker-3      The node was low on resource: ephemeral-storage. Container lab was using 968Ki, which exceeds its request of 0.\n  Normal   Killing  2m50s  kubelet, gpu-worker-3      Stopping container lab',
    /kubectl describe node gpu-worker-3/,
    /<NODE>/,
  ],
  [
    'in the head of a line of the kernel',
    'Mar  3 05:14:03 gpu07 slurmstepd[1871]: error: task 0 ended\nMar  3 05:14:03 gpu07 kernel: NVRM: GPU at PCI:0000:3b:00\nRuntimeError: CUDA error: uncorrectable ECC error encountered',
    /scontrol update nodename=gpu07 state=drain/,
    /<NODE>/,
  ],
  [
    'not one of several',
    'srun: error: gpu01: task 0: Exited with exit code 1\nsrun: error: gpu02: task 1: Exited with exit code 1\nCUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered',
    /nodename=<NODE> state=drain/,
  ],
])

rows('memory without figures, and beside a batch', [
  [
    'the first use of a card by a rank',
    '  File "/srv/seg/trainer_ddp.py", line 160, in initialize\n    distributed.barrier()\n  File "/opt/env/lib/python3.9/site-packages/torch/distributed/distributed_c10d.py", line 2420, in barrier\n    work = default_pg.barrier(opts=opts)\nRuntimeError: CUDA error: out of memory\nKilling subprocess 31867',
    /first use of that GPU[^]*nvidia-smi[^]*LOCAL_RANK/,
    /batch size|activation checkpointing/,
  ],
  [
    'not a call in the middle of a step',
    '  File "/srv/seg/train.py", line 160, in step\n    loss.backward()\n  File "/opt/env/lib/python3.9/site-packages/torch/autograd/graph.py", line 825, in _engine_run_backward\n    return Variable._execution_engine.run_backward(\nRuntimeError: CUDA error: out of memory',
    /batch/,
    /first use/,
  ],
  [
    "TensorFlow's tensor of a batch, however small",
    'OOM when allocating tensor with shape[64,2016,9,9] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n\t [[Node: Stage/cell_12/AvgPool_1 = AvgPool[T=DT_FLOAT, data_format="NCHW"](Stage/cell_12/slice)]]',
    /smaller batch[^]*See which processes/,
  ],
  [
    'a small weight fails only on a card that is full already',
    'OOM when allocating tensor with shape[3,3,256,512] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc',
    /See which processes[^]*smaller batch/,
  ],
  ['a search for a batch that ended at nothing', 'RuntimeError: No executable batch size found, reached zero.', /Not even a batch of 1 fits/],
  [
    "xinference's own command",
    "ValueError: To serve at least one request with the models's max seq len (262144), (36.0 GiB KV cache is needed, which is larger than the available KV cache memory (6.94 GiB). Based on the available memory, the estimated maximum model length is 50512. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n2026-02-03 00:55:15,994 xinference.core.worker 155 ERROR    Failed to load model lab-vl-0",
    /xinference launch --model-engine vllm --model-name <MODEL> --max_model_len 50512/,
  ],
  [
    'an assert of the allocator in a wheel for Windows',
    'RuntimeError: !handles_.at(i) INTERNAL ASSERT FAILED at "C:\\\\actions-runner\\\\_work\\\\pytorch\\\\pytorch\\\\pytorch\\\\c10\\\\cuda\\\\CUDACachingAllocator.cpp":487, please report a bug to PyTorch.',
    /internal check[^]*expandable_segments:False/,
  ],
])

rows('ranks, images and installers', [
  [
    'ranks that wait in different operations',
    '[rank7]:[E816 01:45:40.183 ProcessGroupNCCL.cpp:607] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=BROADCAST, NumelIn=5056, NumelOut=5056, Timeout(ms)=600000) ran for 600026 milliseconds before timing out.\n[rank3]:[E816 01:45:40.212 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=21068, NumelOut=21068, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.',
    /different operations[^]*collective 4711 rank 7 in BROADCAST, rank 3 in ALLREDUCE[^]*a branch on the rank/,
  ],
  [
    'numbers of two groups, which cannot be compared',
    '[PG 0 Rank 7] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=BROADCAST, NumelIn=5056, NumelOut=5056, Timeout(ms)=600000) ran for 600026 milliseconds before timing out.\n[PG 3 Rank 3] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=21068, NumelOut=21068, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.',
    /waited in/,
    /different operations/,
  ],
  [
    'the image whose layer did not fit',
    '[Warning] Failed to pull image "lab/train:latest": rpc error: code = Unknown desc = failed to extract layer sha256:1f2a: write /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/62/fs/opt/lib/libmkl_core.so.1: no space left on device: unknown',
    /An image layer of lab\/train:latest could not be unpacked/,
  ],
  [
    "what Ollama's installer did not find",
    '>>> Install complete. Run "ollama" from the command line.\nWARNING: No NVIDIA/AMD GPU detected. Ollama will run in CPU-only mode.',
    /installer found no NVIDIA or AMD GPU[^]*lspci[^]*install Ollama again/,
  ],
])

rows('what NCCL names, and programs without pip', [
  [
    'the host whose card could not reach its peer',
    "node-a1:5771:5783 [0] ibvwrap.c:160 NCCL WARN Call to ibv_modify_qp failed with error Network is unreachable\nnode-a1: Test NCCL failure common.cu:1005 'unhandled system error (run with NCCL_DEBUG=INFO for details) / '",
    /InfiniBand path on GPU 0 of node-a1/,
  ],
  [
    'a completion without the head of the warning',
    'NET/IBP:Got completion from peer 10.6.13.83<36315> with status=12 opcode=32698 len=32696 vendor err 129 (Send)\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.',
    /A transfer with 10\.6\.13\.83 ended with status 12[^]*ib_write_bw -d <DEVICE> 10\.6\.13\.83/,
  ],
  [
    'a program in Rust that lacks a library',
    'called `Result::unwrap()` on an `Err` value: Error { code: GenericFailure, message: "[ONNXRuntimeError] : 1 : FAIL : Failed to load library /home/ann/app/target/debug/libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file: No such file or directory\\n" }\n$ locate libcublasLt.so\n/usr/local/cuda-13.1/targets/x86_64-linux/lib/libcublasLt.so.13',
    /of CUDA 13: what loads libcublasLt\.so\.12 was built for CUDA 12/,
    /pip install/,
  ],
])
