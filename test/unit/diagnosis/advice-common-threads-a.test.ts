// The most common messages of the field in the forms in which people paste them: memory, shared memory, cuDNN, NCCL, ports, devices. All texts are written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { answer } from './answer.ts'

const OOM = (figures: string): string => `RuntimeError: CUDA out of memory. Tried to allocate ${figures}`

test.each([
  [
    'a card that is smaller than the room that is left for other things: its size makes no request large',
    OOM('30.00 MiB (GPU 0; 1024.00 MiB total capacity; 420.10 MiB already allocated; 22.00 MiB free; 30.50 MiB cached)'),
    /8 MiB short; this process holds/,
    /nearly all of the card/,
  ],
  [
    'fragmentation, and a request that is a good part of the card',
    OOM('3.10 GiB (GPU 0; 14.76 GiB total capacity; 8.20 GiB already allocated; 21.75 MiB free; 13.60 GiB reserved in total by PyTorch)'),
    /fragmentation[^]*Make the work smaller/,
    /nvidia-smi/,
  ],
  [
    'free memory that would have been enough, on a host of which nothing is known',
    OOM('14.00 MiB (GPU 0; 10.92 GiB total capacity; 9.00 MiB already allocated; 9.10 GiB free; 5.10 MiB cached)'),
    /page file[^]*On Linux[^]*free -g; ulimit -a/,
    /Make the work smaller/,
  ],
  [
    'shared memory, of somebody who uses no container',
    "RuntimeError: DataLoader worker (pid 812) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\nThe machine has 64G of it, and I do not use docker.",
    /df -h \/dev\/shm[^]*mount -o remount[^]*a mapped file that is cut/,
    /docker run/,
  ],
  [
    'cuBLAS on an Ada card, which runs what was compiled for Ampere',
    'RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`\ncuda: 11.7\nGPU: RTX 4080',
    /Likely no memory is left/,
    /newer than CUDA/,
  ],
  [
    "a Last error that is empty: the next line is not NCCL's word",
    'NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\nLast error:\n\nException raised from checkForNCCLErrorsInternal at /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2400 (most recent call first):',
    /a peer died, the interface or port is wrong/,
    /Exception raised/,
  ],
  [
    'NCCL 2.18, which calls errors of the network internal',
    'torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1340, internal error - please report this issue to the NCCL developers, NCCL version 2.18.5\nncclInternalError: Internal check failed.',
    /NCCL 2\.18 calls errors of the network[^]*NCCL_SOCKET_IFNAME/,
    /pdb/,
  ],
  [
    'the heartbeat monitor, with a limit of its own',
    "[rank3]:[E512 10:11:12.345678901 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 3] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring enqueued collectives.",
    /heartbeat monitor ended the process[^]*10 min[^]*TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=1800/,
    /raise the timeout of init_process_group/,
  ],
  [
    'PyTorch without CUDA on a Mac',
    'File "/Users/kim/train.py", line 8, in <module>\nAssertionError: Torch not compiled with CUDA enabled',
    /on macOS there is none[^]*"mps"/,
    /download\.pytorch\.org/,
  ],
  [
    'a container that asks for an NVIDIA GPU on a laptop with another one',
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\nUbuntu 24.04, Core i5, Intel Iris Xe Graphics',
    /names no NVIDIA GPU in this machine/,
    /pdb/,
  ],
  [
    'cuDNN 8 by the message of cuDNN itself',
    'Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory\nAborted',
    /pip install 'nvidia-cudnn-cu12==8\.\*'[^]*LD_LIBRARY_PATH=\$\(python/,
    /from NVIDIA's CUDA or cuDNN packages/,
  ],
  [
    'cuDNN 8 where ldconfig shows 9',
    'Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: cannot open shared object file: No such file or directory\n$ ldconfig -p | grep cudnn\n\tlibcudnn_ops.so.9 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcudnn_ops.so.9\n\tlibcudnn.so.9 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcudnn.so.9',
    /cuDNN 9 is installed here, and what loads [^ ]* was built for cuDNN 8/,
    /ldconfig -p \|/,
  ],
  [
    'libcuda.so without a number, which cuDNN asks for',
    'Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory',
    /Under WSL it is in \/usr\/lib\/wsl\/lib[^]*make the link beside it/,
    /install it where it is missing/,
  ],
  [
    'two releases of cuDNN in one process',
    'Could not load library libcudnn_cnn_train.so.8. Error: /usr/local/cuda-11.2/lib64/libcudnn_ops_train.so.8: symbol _Z20cudnnGenericTensorOpNdILi3E, version libcudnn_ops_infer.so.8 not defined in file libcudnn_ops_infer.so.8 with link time reference',
    /built against another version[^]*Find the second cuDNN/,
    /was not found where the loader looks/,
  ],
  [
    'two releases of cuDNN on Windows, by the error code',
    'Could not load library cudnn_ops_infer64_8.dll. Error code 127',
    /built against another version[^]*where cudnn\*\.dll/,
    /was not found|ldconfig/,
  ],
  [
    'a port of the system for the rendezvous: its service must stay',
    '[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:22 (errno: 98 - Address already in use).\n[E socket.cpp:435] [c10d] The server socket has failed to listen on any local network address.',
    /above 1024[^]*SSH[^]*MASTER_PORT=29500/,
    /Stop it/,
  ],
  [
    'types that do not fit, in a program that only infers',
    'File "/app/chat.py", line 30, in <module>\n    ids = model.generate(**inputs)\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::Half',
    /To infer: load model, adapter and other parts with one torch_dtype/,
    /pdb/,
  ],
  [
    'ComfyUI as an application of the desktop, which git does not update',
    '  File "/Applications/ComfyUI.app/Contents/Resources/ComfyUI/comfy/samplers.py", line 970, in sample\n    output = executor.execute(noise)\nRuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half',
    /Update ComfyUI/,
    /git pull/,
  ],
  [
    'ComfyUI that cannot pin host memory',
    'Pin error.\nPin error.\nloaded partially; 5000.10 MB usable, 4300.20 MB loaded, 21000.30 MB offloaded, lowvram patches: 0\n!!! Exception during processing !!! CUDA error: out of memory\nTraceback (most recent call last):\n  File "/srv/ComfyUI/execution.py", line 516, in execute\n    output = await get_output_data(prompt_id)',
    /--disable-pinned-memory/,
    /--lowvram/,
  ],
  [
    'weights that stayed on the CPU, by the type of the tensors',
    'RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same',
    /the weights on the CPU: move the model[^]*nn\.ModuleList/,
    /batch\.items/,
  ],
  [
    'an input that stayed on the CPU, by the type of the tensors',
    'RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same',
    /bring each batch there, x = x\.to\(device\)/,
    /ModuleList/,
  ],
  [
    'a rank that the world does not have, in the words of an older store',
    'Traceback (most recent call last):\n  File "/data/kim/train.py", line 38, in main_worker\n    dist.init_process_group(backend=\'nccl\', init_method=opt.url, world_size=1, rank=1)\n  File "/opt/conda/lib/python3.7/site-packages/torch/distributed/rendezvous.py", line 120, in _tcp_rendezvous_handler\n    store = TCPStore(result.hostname, result.port, world_size, start_daemon)\nRuntimeError: connect() timed out.',
    /could not keep or make a connection[^]*with world_size=1 there is no rank 1/,
    /pip show torch/,
  ],
  [
    'one request of host memory that few hosts have',
    "RuntimeError: [enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 98784247808 bytes. Error code 12 (Cannot allocate memory)",
    /This one request is 92\.00 GiB: give the program smaller pieces/,
    /DataLoader workers/,
  ],
  [
    'weights that do not fit, told by the loader of Transformers',
    `${OOM('28.00 MiB (GPU 1; 15.71 GiB total capacity; 15.30 GiB already allocated; 22.31 MiB free; 15.40 GiB reserved in total by PyTorch)')}\nTraceback (most recent call last):\n  File "/opt/venv/lib/python3.10/site-packages/transformers/modeling_utils.py", line 3706, in from_pretrained\n    ) = cls._load_pretrained_model(`,
    /before any batch: load them in 16 bit/,
    /smaller batch/,
  ],
  [
    "weights that do not fit, in the words of vLLM's executor",
    '(VllmWorkerProcess pid=195) ERROR 05-06 11:12:13 [multiproc_worker_utils.py:242] Exception in worker VllmWorkerProcess while processing method load_model.\n(VllmWorkerProcess pid=195) ERROR 05-06 11:12:13 [multiproc_worker_utils.py:242] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 2 has a total capacity of 15.77 GiB of which 4.50 MiB is free. Including non-PyTorch memory, this process has 15.76 GiB memory in use. Of the allocated memory 15.50 GiB is allocated by PyTorch, and 20.10 MiB is reserved by PyTorch but unallocated.',
    /Split the model over more GPUs[^]*while the weights were loaded/,
    /--max-num-seqs/,
  ],
  [
    'ranks of one job that all have a context on the first GPU',
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 140.00 MiB. GPU 0 has a total capacty of 23.65 GiB of which 80.10 MiB is free. Process 701 has 400.00 MiB memory in use. Process 703 has 400.00 MiB memory in use. Process 704 has 400.00 MiB memory in use. Process 700 has 21.99 GiB memory in use. Process 702 has 400.00 MiB memory in use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 2.10 MiB is reserved by PyTorch but unallocated.\nTraceback (most recent call last):\n  File "train.py", line 9, in <module>\n    trainer = Trainer(model)\n  File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 481, in __init__\n    loss.backward()',
    /ranks of one job that all use this GPU: set the device from LOCAL_RANK/,
    /pdb/,
  ],
  [
    'CUDA that does not start, in the words of Torch 7 and early PyTorch',
    'THCudaCheck FAIL file=aten/src/THC/THCGeneral.cpp line=50 error=30 : unknown error',
    /CUDA cannot start[^]*modprobe nvidia_uvm/,
    /pdb/,
  ],
  [
    'the bar that tqdm draws once more, with the loss behind it: nothing went on',
    'OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 6.00 GiB total capacity; 5.20 GiB already\nallocated; 0 bytes free; 5.28 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting\nmax_split_size_mb to avoid fragmentation.\nsteps:   0%|            | 1/1800 [00:03<1:45:34,  3.59s/it, loss=0.41]',
    /nothing was free/,
    /fragmentation/,
  ],
  [
    'a crash below a launcher on Windows: Python in a folder with its version',
    "  File \"C:\\Python3_10_6\\lib\\runpy.py\", line 196, in _run_module_as_main\n    return _run_code(code, main_globals, None,\nsubprocess.CalledProcessError: Command '['C:\\\\Python3_10_6\\\\python.exe', 'train.py']' returned non-zero exit status 3221225477.",
    /Segmentation fault/,
    /runpy\.py:196/,
  ],
  [
    'a loss of NaN on a card whose half precision gives it',
    'NVIDIA GeForce GTX 1660 Ti, mixed_precision=fp16\nsteps:   1%|▏         | 10/900 [00:40<1:00:40,  4.04s/it, loss=nan]\nsteps:   2%|▏         | 20/900 [01:20<1:00:10,  4.04s/it, loss=nan]',
    /GTX 16 cards compute NaN in half precision[^]*--no_half_vae/,
    /bf16 instead/,
  ],
  [
    'parameters without a part in the loss, where DDP looks for them already',
    'model = DistributedDataParallel(model, device_ids=[rank], find_unused_parameters=True)\nRuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss.',
    /DDP looks for them already/,
    /Let DDP look for them/,
  ],
  [
    'no driver behind the prompt of a container',
    "[root@0a1b2c3d4e5f /]# nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
    /in this container[^]*docker run --gpus all/,
    /dkms/,
  ],
  [
    'a CUDA call inside NCCL that no line names',
    'RuntimeError: NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:825, unhandled cuda error, NCCL version 2.7.6\nncclUnhandledCudaError: Call to CUDA function failed.',
    /Let NCCL name the CUDA error\.[^]*NCCL_DEBUG=INFO/,
    /pdb/,
  ],
  [
    'weights to be quantized, and no GPU',
    'RuntimeError: No GPU found. A GPU is needed for quantization.',
    /PyTorch sees no GPU[^]*quantized weights[^]*torch\.version\.cuda/,
    /pdb/,
  ],
  [
    'a message without its exception: its kind is that of its words',
    'KSampler\nmat1 and mat2 shapes cannot be multiplied (77x2048 and 768x320)',
    /used tensors whose shapes do not fit/,
    /an exception that nothing caught/,
  ],
  [
    'a message between the marks of code: they are not part of it',
    'It fails with\n`RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!`',
    /in one operation: "RuntimeError: Expected/,
    /"`/,
  ],
  ['an exit code with a word for the container', 'Container exited with code 137', /A process was ended by SIGKILL/, /Container Container|docker inspect/],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

/** All faults of a text, as they are told one after the other. */
const titles = (text: string): readonly string[] => explainText(logScanner(), text).map(({ title }) => title)

test('how a timeout of a collective ended is not told again', () => {
  const timedOut =
    '[rank2]:[E203 08:10:20.111111111 ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600041 milliseconds before timing out.'
  const stuck =
    "[rank7]:[E203 08:18:21.222222222 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 7] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives."
  expect(titles(`${timedOut}\n${stuck}`)).toEqual(['A rank waited too long for another one'])
})

test('a shard whose own error stands above needs no search for another cause', () => {
  const text =
    'ValueError: `num_heads` must be divisible by `num_shards` (got `num_heads`: 25 and `num_shards`: 2\n rank=0\n2024-02-03T10:20:30.100000Z ERROR text_generation_launcher: Shard 0 failed to start\nError: ShardCannotStart'
  const shard = explainText(logScanner(), text).find(({ title }) => title.startsWith('Shard 0'))
  expect(shard?.remedies.map((one) => one.text)).toEqual(['Fix the error that the shard printed above: that is what ended it.'])
})
