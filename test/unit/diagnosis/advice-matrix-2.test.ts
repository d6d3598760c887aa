// One message in several situations, continued: who may change the driver there, what a container has, what a node's scheduler must know.
import { rows } from './advice-rows.ts'

const BOX = 'root@3f2b1c9d8e7a:/app# python run.py\n'
const WSL = 'ana@DESKTOP-8SK2LQ1:~$ python run.py\n'
const raised = (error: string): string => `Traceback (most recent call last):\n  File "/home/ana/run.py", line 3, in <module>\n${error}`
const OLD = 'RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver'
const MISMATCH = 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.183'
const NO_COMPILER = raised('RuntimeError: Failed to find C compiler. Please specify via CC environment variable.')
const ECC = 'RuntimeError: CUDA error: uncorrectable ECC error encountered'

rows('the driver', [
  ['too old on a host', OLD, /of the host, then reboot: the present one runs CUDA up to 11\.4/],
  ['too old under WSL', `${WSL}${OLD}`, /in Windows \(WSL takes it from there/, /then reboot/],
  ['too old under Windows', `C:\\Users\\ana\\run>python run.py\n${OLD}`, /then restart Windows/, /of the host/],
  ['too old in a job: its user cannot change it', `srun python run.py\n${OLD}`, /Ask the administrators/, /then reboot/],
  [
    'a mismatch under WSL is no missing reboot',
    `${WSL}${MISMATCH}`,
    /a Linux driver was installed beside[^]*Install no Linux NVIDIA driver/,
    /sudo reboot|modinfo/,
  ],
  ['a mismatch in a container that outlived an update', `${BOX}${MISMATCH}`, /docker restart 3f2b1c9d8e7a/],
  ['no nvidia-smi on a Jetson', 'ana@jetson:~$ nvidia-smi\nbash: nvidia-smi: command not found', /tegrastats/, /lsmod|container/],
  [
    'no nvidia-smi in Windows',
    "'nvidia-smi' is not recognized as an internal or external command,\noperable program or batch file.\nC:\\Users\\ana>",
    /nvidia\.com\/drivers/,
    /Python package/,
  ],
])

rows('packages of the system', [
  ['on a host', NO_COMPILER, /sudo apt-get install -y gcc/],
  ['in a container root has no sudo and no lists', `${BOX}${NO_COMPILER}`, /apt-get update && apt-get install -y gcc/, /sudo/],
  [
    'OpenCV asks for windows',
    `${BOX}import cv2\n${raised('ImportError: libGL.so.1: cannot open shared object file: No such file or directory')}`,
    /opencv-python-headless[^]*apt-get update && apt-get install -y libgl1/,
    /LD_LIBRARY_PATH/,
  ],
])

rows('work on a node', [
  ['a pod: no new ones', `[pod/ft-0/trainer] ${ECC}`, /kubectl cordon <NODE>/],
  ['a job: drain', `srun python run.py\n${ECC}`, /scontrol update nodename=<NODE> state=drain/],
  ['a host of its own', ECC, /--gpu-reset/, /cordon|drain/],
])

rows('what only follows', [
  ["DeepSpeed's optimizer for the CPU", raised("AttributeError: 'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'"), /ds_report/, /dir\)/],
  [
    'Numba and the driver',
    'numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: \nCUDA driver library cannot be found.',
    /driver's library libcuda\.so/,
    /liblibrary|Install library/,
  ],
])

const oom = (frames: string, held = '22.50 GiB', pytorch = '21.90 GiB'): string =>
  `Traceback (most recent call last):\n${frames}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.20 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.12 GiB is free. Including non-PyTorch memory, this process has ${held} memory in use. Of the allocated memory ${pytorch} is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.`

rows('where memory ran out', [
  [
    'text that is generated',
    oom('  File "/home/ana/gen.py", line 30, in <module>\n  File "/opt/py/site-packages/transformers/generation/utils.py", line 2215, in generate'),
    /max_new_tokens[^]*cache_implementation="offloaded"/,
    /Make the work smaller/,
  ],
  ["OpenAI's whisper has no batch", oom('  File "/opt/py/site-packages/whisper/transcribe.py", line 122, in transcribe'), /turbo or medium/, /batch/],
  [
    'a checkpoint that is read to where it was saved',
    oom('  File "/opt/py/site-packages/torch/serialization.py", line 1213, in restore_location'),
    /map_location='cpu'/,
  ],
  [
    'the optimizer of Megatron',
    oom('  File "/work/megatron/core/optimizer/distrib_optimizer.py", line 500, in __init__'),
    /--tensor-model-parallel-size[^]*--optimizer-cpu-offload/,
    /batch size|DeepSpeed/,
  ],
  [
    'a LoRA of sd-scripts on Windows: no sequences, and an adapter already',
    oom('  File "D:\\kohya_ss\\sd-scripts\\train_network.py", line 892, in train'),
    /smaller images[^]*--network_train_unet_only/,
    /sequences|instead of all weights/,
  ],
  [
    'reinforcement learning trains too',
    oom('  File "/app/verl/workers/fsdp_workers.py", line 700, in update_actor'),
    /Halve the batch size/,
    /Make the work smaller/,
  ],
  [
    'memory beside PyTorch in a training: less of the rest too',
    oom('  File "/home/ana/train.py", line 9, in step\n    loss.backward()', '22.50 GiB', '15.00 GiB'),
    /what else the process loads[^]*Halve the batch size/,
  ],
  [
    'llama.cpp in Python has arguments and no options',
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 3584.00 MiB on device 0: cudaMalloc failed: out of memory\n  File "/home/ana/a.py", line 3, in <module>\n    llm = Llama(model_path="m.gguf", n_gpu_layers=-1, n_ctx=32768)\nValueError: Failed to create llama_context',
    /type_k=8/,
    /--cache-type/,
  ],
  [
    'a card of 2 GiB is none',
    'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.',
    /0\.95/,
    /enough only/,
  ],
  [
    'a Python that is linked',
    'python: error while loading shared libraries: libpython3.10.so.1.0: cannot open shared object file: No such file or directory',
    /LIBDIR/,
    /apt-file/,
  ],
])

const NO_GPUS = 'RuntimeError: No CUDA GPUs are available'
const BUS = "RuntimeError: DataLoader worker (pid 2211) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory."
const NO_CUDA = 'AssertionError: Torch not compiled with CUDA enabled'

rows('who started it', [
  ['compose: the request first', `llm-1  | ${NO_GPUS}`, /hides it\.\nIn compose: give the service llm a GPU/],
  ['podman: the request first', `podman run -it img python a.py\n${NO_GPUS}`, /hides it\.\nWith podman/],
  ['apptainer: the request first', `apptainer exec img.sif python a.py\n${NO_GPUS}`, /hides it\.\nWith apptainer/],
  ['podman has a size of its own', `podman run --rm img python a.py\n${BUS}`, /podman run --shm-size=8g --rm img python a\.py/, /docker run/],
  ['a job shares what the node has', `srun apptainer exec --nv img.sif python a.py\n${BUS}`, /node's \/dev\/shm[^]*sbatch --mem/, /docker|emptyDir/],
  [
    'Colab cannot enlarge it',
    `/usr/local/lib/python3.10/dist-packages/torch/utils/data/dataloader.py in __next__(self)\n${BUS}`,
    /num_workers=0/,
    /docker|emptyDir/,
  ],
  [
    'containers of two hosts',
    `${BOX.replace('python run.py', 'torchrun --nnodes 2 --node_rank 1 t.py')}torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, remote process exited or there was a network error, NCCL version 2.20.5`,
    /--network host/,
  ],
  ['what podman inspect prints', 'podman inspect trainer\n"OOMKilled": true', /podman update --memory/, /docker/],
])

rows('builds for the CPU', [
  ['an AMD card', `amdgpu: Radeon RX 7900 XTX\n${NO_CUDA}`, /whl\/rocm[^]*torch\.version\.hip/, /whl\/cu/],
  ['an NVIDIA card', `NVIDIA GeForce RTX 4090\n${NO_CUDA}`, /whl\/cu/],
  [
    "conda-forge's",
    'pytorch                   2.5.1           cpu_generic_py310    conda-forge\n>>> torch.cuda.is_available()\nFalse',
    /^A build without CUDA[^]*conda install -y -c conda-forge pytorch-gpu/,
  ],
  ['a GPU number on AMD', "HIP failure 'invalid device ordinal'", /HIP_VISIBLE_DEVICES/, /CUDA_VISIBLE|MIG/],
])

rows('settings and checkpoints', [
  [
    'DeepSpeed and the Trainer',
    raised(
      'ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:\n- ds train_micro_batch_size_per_gpu=1 vs hf per_device_train_batch_size=8',
    ),
    /Write "auto"/,
  ],
  ['the blocks of another model', raised('ValueError: Could not find the transformer layer class LarkDecoderLayer in the model.'), /_no_split_modules/, /pdb/],
  [
    'a checkpoint of the second GPU',
    raised(
      'RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Please use torch.load with map_location to map your storages to an existing device.',
    ),
    /map_location='cpu'/,
    /register_buffer|in one operation/,
  ],
  ['safetensors that Ollama cannot convert', 'Error: unsupported architecture "LarkForCausalLM"', /convert_hf_to_gguf\.py/],
  [
    'no way to compute a convolution',
    'RuntimeError: GET was unable to find an engine to execute this computation',
    /^cuDNN cannot compute a convolution[^]*smaller batch/,
  ],
])

const NO_NVIDIA =
  'RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx'

rows('other systems and GPUs', [
  [
    'a PyTorch for NVIDIA and a card of AMD',
    `03:00.0 VGA: Navi 31 [Radeon RX 7900 XTX] amdgpu\n${NO_NVIDIA}`,
    /shows a GPU of AMD[^]*whl\/rocm/,
    /dkms|docker/,
  ],
  ['a card of NVIDIA beside AMD graphics', `Radeon Graphics amdgpu\nNVIDIA Corporation GA106M\n${NO_NVIDIA}`, /lsmod/, /whl\/rocm/],
  [
    'an operation that Metal lacks',
    raised("NotImplementedError: The operator 'aten::_linalg_svd.U' is not currently implemented for the MPS device."),
    /MPS_FALLBACK=1/,
    /pdb/,
  ],
  ['vLLM on Windows', `C:\\Users\\ana>python a.py\n${raised("ModuleNotFoundError: No module named 'vllm._C'")}`, /WSL 2/, /pip show/],
  [
    'flash-attn on Windows',
    `C:\\Users\\ana>python a.py\n${raised('ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package flash_attn seems to be not installed.')}`,
    /sdpa/,
    /pip install flash-attn/,
  ],
])

const CELL = 'Cell In[3], line 5\n----> 5 loss.backward()\n'

rows('cells', [
  [
    'variables in Windows',
    `${CELL}File c:\\Users\\ana\\py\\torch.py:5\nRuntimeError: CUDA error: device-side assert triggered`,
    /%env CUDA_LAUNCH_BLOCKING=1/,
    /^set /m,
  ],
  [
    'the path of the loader',
    `/content/talk\nCould not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory`,
    /%%bash\nexport LD_LIBRARY_PATH=[^]*python <SCRIPT>/,
  ],
  [
    'a neighbour is often another notebook',
    `${CELL}OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.02 GiB is free. Process 2211 has 9.00 GiB memory in use. Including non-PyTorch memory, this process has 13.52 GiB memory in use. Of the allocated memory 12.92 GiB is allocated by PyTorch, and 100.30 MiB is reserved by PyTorch but unallocated.`,
    /kernel of another notebook/,
  ],
])
