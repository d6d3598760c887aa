// What people paste into threads about training and serving: half of a traceback, prefixes, boxes. The figures are read, and the remedy fits who speaks.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const said = (text: string): string =>
  explainText(logScanner(), text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} $ ${one.command ?? ''}`)].join('\n'))
    .join('\n\n')

describe('NCCL and Gloo', () => {
  const timeout = (ran: number): string =>
    `[E ProcessGroupNCCL.cpp:458] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for ${ran} milliseconds before timing out.\n`
  test.each([
    ['a watchdog that looks at once', timeout(1_802_000), /for 30 min until the timeout/, /past the timeout/],
    ['a watchdog that looks hours later', timeout(9_000_000), /for 2 h 30 min, past the timeout of 30 min/, /until the timeout/],
    [
      'the collective stands below the first line of the end',
      '[rank4]:[E602 11:18:52.5 ProcessGroupNCCL.cpp:684] [Rank 4] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n[rank4]:[E602 11:18:52.5 ProcessGroupNCCL.cpp:698] [Rank 4] To avoid data inconsistency, we are taking the entire process down.\n[rank4]:[E602 11:18:52.5 ProcessGroupNCCL.cpp:1896] [PG ID 1 PG GUID 1 Rank 4] Process group watchdog thread terminated with exception: [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=_ALLGATHER_BASE, NumelIn=8, NumelOut=64, Timeout(ms)=600000) ran for 600042 milliseconds before timing out.\n',
      /waited in _ALLGATHER_BASE \(collective 9/,
      /held the store/,
    ],
    [
      'an IPv6 address of one link',
      'node-1:25:40 [5] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to fe80::1234:ab:cd:ef%ib1<4321> failed : Software caused connection abort\n',
      /NCCL_SOCKET_FAMILY=AF_INET/,
      /log of the peer/,
    ],
    [
      'the line of source that raises it is not the message',
      'File "/srv/pynccl_wrapper.py", line 350, in NCCL_CHECK\nraise RuntimeError(f"NCCL error: {error_str}")\nRuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)\n[2025-08-08 09:09:09] Received sigquit from a child process. It usually means the child failed.\n',
      /nccl_error\nNCCL lost a peer or a system call failed/,
      /worker_died/,
    ],
    [
      'what a kernel did wrong is told once',
      "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 'an illegal instruction was encountered'\n",
      /illegal_memory_access/,
      /nccl_error/,
    ],
    [
      'a barrier of Gloo',
      '[rank3]: RuntimeError: Rank 3 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.\n',
      /network_error\nA rank did not come to the barrier[^]*log of rank 0/,
      /config_error/,
    ],
    ['a rank that did not come', 'RuntimeError: Rank 5 failed to pass monitoredBarrier in 1800000 ms\n', /log of rank 5 first/, /config_error/],
  ])('%s', (_, text, says, not) => {
    const answer = said(text)
    expect(answer).toMatch(says)
    expect(answer).not.toMatch(not)
  })
})

describe('who speaks', () => {
  const FRAMES = (file: string): string => `Traceback (most recent call last):\n  File "${file}", line 31, in run\n    kernel[grid](x)\n`
  const NO_ROOM =
    'triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 70000, Hardware limit: 65536. Reducing block sizes or `num_stages` may help.\n'
  test.each([
    [
      'a kernel of vLLM for FP8 is not one of attention',
      FRAMES('/env/site-packages/vllm/quantization/utils/fp8_utils.py') + NO_ROOM,
      /multiplies FP8 weights/,
      /attention/,
    ],
    ['a kernel of attention is', FRAMES('/env/site-packages/vllm/attention/ops/prefix_prefill.py') + NO_ROOM, /--attention-backend/, /FP8/],
    [
      "OpenRLHF's vLLM has options of its own",
      "(LLMRayActor pid=20) ERROR 06-28 06:11:45 worker_base.py:145] ValueError: The model's max seq len (8192) is larger than the maximum number of tokens that can be stored in KV cache (6048). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
      /--vllm_gpu_memory_utilization/,
      /--max-model-len|--gpu-memory-utilization/,
    ],
    [
      'ComfyUI, by its own last word',
      'torch.OutOfMemoryError: Allocation on device\n\nGot an OOM, unloading all loaded models.\n',
      /--lowvram/,
      /shorter or smaller inputs/,
    ],
    [
      'types in a node of ComfyUI, where nothing is trained',
      '!!! ERROR during execution: expected mat1 and mat2 to have the same dtype, but got: struct c10::Half != struct c10::BFloat16\nTraceback (most recent call last):\n  File "D:\\ComfyUI\\custom_nodes\\Painter\\paint.py", line 10, in paint\n    out = pipe(\n',
      /Half, found BFloat16[^]*in one precision/,
      /autocast/,
    ],
    [
      'accelerate keeps the output of each rank by its own options',
      'stderr: ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 3 (pid: 77) of binary: /env/bin/python\nstderr: Traceback (most recent call last):\nstderr:   File "/env/bin/accelerate-launch", line 8, in <module>\nstderr:     sys.exit(main())\n',
      /accelerate launch --log_dir logs --tee 3/,
      /torchrun --log-dir/,
    ],
    [
      'an arena of ONNX Runtime on the CPU',
      "2025-07-08 01:27:55.7 [E:onnxruntime:, sequential_executor.cc:339] Non-zero status code returned while running Conv node. Name:'12_nchwc' Status Message: bfc_arena.cc:330 onnxruntime::BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 285081600\n",
      /host_memory\nOut of host memory[^]*nchwc/,
      /nvidia-smi|CUDA provider/,
    ],
    [
      'a clone of a package is not called your own code',
      'Traceback (most recent call last):\n  File "/home/ada/repos/trl/trl/extras/profiling.py", line 98, in wrapper\n    return func(self, *args)\nTypeError: \'NoneType\' object is not iterable\n',
      /the deepest line in your clone of trl/,
      /your own code/,
    ],
  ])('%s', (_, text, says, not) => {
    const answer = said(text)
    expect(answer).toMatch(says)
    expect(answer).not.toMatch(not)
  })
})

describe('the end of a run', () => {
  test.each([
    [
      'a box of rich whose message wraps',
      "CalledProcessError: Command '['/usr/bin/python3', 'train_network.py', \n'--dataset_config=/w/a.toml']' returned non-zero\nexit status 1.\n",
      /train_network\.py ended with exit code 1[^]*further above/,
    ],
    [
      'a negative code is a signal',
      'Traceback (most recent call last):\n  File "/w/bench.py", line 6, in main\n    wait()\nException: Server process exited with code -9. Check server logs for errors.\n',
      /Server process was ended by SIGKILL[^]*host memory/,
    ],
    ['a check of Axolotl', 'ValueError: torch_compile should be set within your deepspeed config file\n', /"compile": \{"disable": false/],
    [
      'weights of two types under ZeRO-3',
      '  File "/env/site-packages/deepspeed/runtime/zero/stage3.py", line 435, in defragment\n    assert len(set(t.dtype for t in tensors)) == 1\nAssertionError\n',
      /several types[^]*model\.to\(torch\.bfloat16\)/,
    ],
    [
      'a kernel of bitsandbytes',
      'Error invalid configuration argument at line 119 in file /src/csrc/ops.cu\n',
      /kernel of bitsandbytes could not start[^]*adamw_torch/,
    ],
    [
      'bitsandbytes without its CUDA library, and what comes of it',
      '/env/lib/bitsandbytes/libbitsandbytes_cpu.so: undefined symbol: cadam32bit_grad_fp32\nValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.\n',
      /loaded its CPU library[^]*likely PyTorch sees no GPU/,
    ],
    [
      'the bar of a trainer tells the step, not its percentage',
      'Steps:   0%|▋   | 10/2000 [00:24<1:02:00,  1.87s/it, lr=0.0001, step_loss=nan]\nSteps:   1%|▋   | 11/2000 [00:26<1:01:23,  1.85s/it, lr=0.0001, step_loss=nan]\n',
      /since step 10/,
    ],
    [
      'nothing to go back to',
      'FloatingPointError: Loss became infinite or NaN at iteration=0!\n',
      /first step, before any weight was changed(?![^]*Go back to a checkpoint)/,
    ],
    [
      'seconds in a prefix are no rank',
      [
        '[err, 11:47, 928s, node3] Traceback (most recent call last):',
        '[err, 11:47, 928s, node3]   File "/w/a.py", line 8, in <module>',
        '[err, 11:47, 929s, node3]     main()',
        '[err, 11:48, 929s, node3] ValueError: no such thing',
      ].join('\n'),
      /^python_exception\n(?![^]*Rank \d)/,
    ],
  ])('%s', (_, text, says) => {
    expect(said(text)).toMatch(says)
  })
})

describe('figures and names of the text', () => {
  test.each([
    [
      'Ray says how full the node was, some lines below',
      '(raylet) [2026-01-20 08:13:25,391 E 21 21] (raylet) node_manager.cc:3099: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 87d7, IP: 10.0.0.9) over the last time period.\n(raylet) \nray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.9, ID: 87d7) where the lease (lease ID: 79, name=loop_4:Loop.__init__, pid=2285, memory used=10.13GB) was running was 891.06GB / 937.50GB (0.950459), which exceeds the memory usage threshold of 0.95.\n',
      /891\.06GB of 937\.50GB were in use\. One of them: loop_4:Loop\.__init__ \(pid 2285, 10\.13 GB\)/,
      /undefined/,
    ],
    [
      'a mismatch that the console wrapped',
      'RuntimeError: Error(s) in loading state_dict for PeftModelForCausalLM:\n        size mismatch for base.h.0.attn.lora_A.default.weight: copying a param with shape torch.Size([32, 1024]) from checkpoint, the shape in\ncurrent model is torch.Size([16, 1024]).\n',
      /The adapter has rank 32, the model was made with r=16/,
      /number of classes/,
    ],
    [
      'an adapter whose tensors are empty',
      'RuntimeError: Error(s) in loading state_dict for PeftModelForCausalLM:\n        size mismatch for base.h.4.lora_A.default.weight: copying a param with shape torch.Size([0]) from checkpoint, the shape in current model is torch.Size([16, 2560]).\n',
      /holds empty tensors[^]*zero_to_fp32\.py/,
      /rank 0/,
    ],
    [
      'the size of the model that Ollama pulled',
      'ada@host:~# ollama run giant\npulling 939fd971f038... 100% ▕████████▏ 228 GB\nsuccess\nError: llama runner process no longer running: -1\n',
      /has 228 GB: it must fit/,
      /undefined/,
    ],
    [
      'a pod whose last exit code stands beside the table',
      'NAME                        READY   STATUS             RESTARTS   AGE\nranker-a-75bcb4bbf-9gtp7      2/2     Running            0          35m\nranker-b-7d97bb994c-mvllp     0/2     CrashLoopBackOff   6          10m\n\n      lastFailureInfo:\n        exitCode: 137\n        message: |\n          I0730 13:42:15.1 1 tensorflow.cc:1889] Triton TRITONBACKEND API version: 1.0\n',
      /exit code 137 \(SIGKILL\)[^]*memory limit/,
      /does not say why/,
    ],
    [
      'ranks of Megatron',
      '[rank0]:   File "/opt/megatron-lm/megatron/core/parallel_state.py", line 5, in initialize_model_parallel\n[rank0]:     raise RuntimeError(f"world_size")\n[rank0]: RuntimeError: world_size (6) is not divisible by 4\n',
      /6 processes cannot hold whole copies[^]*4 ranks[^]*divides 6/,
      /Update Megatron/,
    ],
  ])('%s', (_, text, says, not) => {
    const answer = said(text)
    expect(answer).toMatch(says)
    expect(answer).not.toMatch(not)
  })
})

describe('servers and ports', () => {
  test.each([
    [
      'any port was asked for',
      'Traceback (most recent call last):\n  File "/env/site-packages/vllm/utils.py", line 572, in get_open_port\n    s.bind(("", 0))\nOSError: [Errno 98] Address already in use\n',
      /No free port is left[^]*ip_local_port_range/,
      /which process listens/,
    ],
    [
      "vLLM's inner port",
      'File "/env/vllm/lib/torch/distributed/rendezvous.py", line 186, in _create_c10d_store\n    return TCPStore(\nRuntimeError: The server socket has failed to listen on any local network address. useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use\n',
      /export VLLM_PORT=<PORT>/,
      /--master-port/,
    ],
    [
      'a port on a Mac',
      'File "/Users/ada/env/lib/torch/distributed/run.py", line 9, in main\nRuntimeError: The server socket has failed to listen on any local network address. useIpv6: 0, code: -48, name: EADDRINUSE, message: address already in use\n',
      /lsof -nP/,
      /ss -ltnp/,
    ],
    [
      'LMDeploy in a script, while it loads',
      'from lmdeploy import pipeline, TurbomindEngineConfig\npipe = pipeline(model, backend_config=TurbomindEngineConfig(session_len=8192))\nRuntimeError: [TM][ERROR] CUDA runtime error: out of memory /lmdeploy/src/turbomind/utils/memory_utils.cu:32\n',
      /before there was a KV cache[^]*TurbomindEngineConfig\(tp=2\)/,
      /--cache-max-entry-count|--session-len/,
    ],
    [
      'a rank that was gone while graphs were captured',
      'Traceback (most recent call last):\n  File "/env/site-packages/sglang/srt/cuda_graph_runner.py", line 239, in __init__\n    raise Exception(\nException: Capture cuda graph failed: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.3.12]:41213\n',
      /log of the rank behind 10\.0\.3\.12:41213/,
      /--disable-cuda-graph/,
    ],
    [
      'an architecture that is in the very list',
      "ValueError: Model architectures ['LlamaForCausalLM'] are not supported for now. Supported architectures: ['AquilaModel', 'LlamaForCausalLM', 'MambaForCausalLM']\n",
      /could not load its own code for LlamaForCausalLM/,
      /newer than the release/,
    ],
    [
      'TGI without a GPU',
      '2024-03-13T15:34:11.255262Z  WARN text_generation_launcher: Could not import Flash Attention enabled models: CUDA is not available\nTraceback (most recent call last):\n  File "/opt/conda/bin/text-generation-server", line 8, in <module>\n    sys.exit(app())\nNotImplementedError: Sharded Qwen2 requires Flash Attention enabled models.\n',
      /TGI finds no GPU[^]*--gpus all/,
      /compute capability/,
    ],
    [
      'a LoRA of another base model in ComfyUI',
      'ERROR lora diffusion_model.double_blocks.12.txt_mod.lin.weight The size of tensor a (1728) must match the size of tensor b (3072) at non-singleton dimension 1\nERROR lora diffusion_model.double_blocks.12.img_mod.lin.weight The size of tensor a (1728) must match the size of tensor b (3072) at non-singleton dimension 1\n',
      /The LoRA does not fit the model/,
      /drop_last/,
    ],
    [
      'an Ollama of old that guesses',
      'Error: llama runner exited, you may not have enough available memory to run this model?\n',
      /supposes that memory was too small/,
      /does not say more/,
    ],
    [
      'references to None',
      'Fatal Python error: none_dealloc: deallocating None: bug likely caused by a refcount error in a C extension\nPython runtime state: initialized\n',
      /Python 3\.12 or newer/,
      /core dump/,
    ],
  ])('%s', (_, text, says, not) => {
    const answer = said(text)
    expect(answer).toMatch(says)
    expect(answer).not.toMatch(not)
  })
})
