// The commonest messages of installs, containers, drivers and hubs, in the forms in which people paste them. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const NOT_LOADED =
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
const NO_CUDNN = 'Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory'
const NO_HOME = 'OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.'
const NOT_LISTED = "is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'"
const NO_TORCH_GPU = 'AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check'

test.each([
  [
    'a miner that knows no PyTorch, behind clock times',
    '09:12:44 Driver: 572.16\n09:12:44 GPU0: NVIDIA GeForce RTX 5080 [0000:21:00.0]: no kernel image is available for execution on the device\n09:12:44 No devices',
    /compile the program for it[^]*release or build/,
    /import torch|\[9\]|\[09\]/,
  ],
  [
    'an instruction of one architecture only',
    "ptxas /tmp/tmpxft_0000.ptx, line 77; error   : Instruction 'wgmma.fence' not supported on .target 'sm_120'",
    /^A kernel is written for another GPU architecture[^]*architectures only/,
    /pdb/,
  ],
  [
    'cuDNN 9 beside a program for cuDNN 8',
    `${NO_CUDNN}\n\n$ ldconfig -p | grep cudnn\n\tlibcudnn.so.9 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcudnn.so.9`,
    /cuDNN 9 is installed here[^]*nvidia-cudnn-cu12==8/,
    /ldconfig -p \| grep/,
  ],
  [
    'cuDNN where only Paddle speaks',
    `Running verify PaddlePaddle program ...\nW0102 03:04:05.678901 77 gpu_resources.cc:61] device: 0, Runtime API Version: 11.2\n${NO_CUDNN}`,
    /pip install 'nvidia-cudnn-cu11==8\.\*'/,
    /from NVIDIA's CUDA or cuDNN/,
  ],
  [
    'mmcv of another CUDA',
    '  File "/opt/conda/lib/python3.9/site-packages/mmcv/utils/ext_loader.py", line 13, in load_ext\n    ext = importlib.import_module(\'mmcv.\' + name)\nImportError: libcudart.so.10.2: cannot open shared object file: No such file or directory',
    /mmcv was built for CUDA 10\.2[^]*mim install/,
    /What loads it/,
  ],
  [
    'all that TensorFlow does not find',
    "2024-01-02 03:04:05.678901: W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/lib/python3.8\n2024-01-02 03:04:05.678911: W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory",
    /libcusolver\.so\.11 \(version 11\) and libcudnn\.so\.8/,
    /pdb/,
  ],
  [
    'nvidia-smi at the prompt of a container',
    `[root@0123456789ab work]# nvidia-smi\n${NOT_LOADED}`,
    /^The container has no GPU[^]*docker run --gpus all/,
    /dkms/,
  ],
  [
    'a module that lsmod does not list',
    `# lsmod | grep nvidia\n# nvidia-smi\n${NOT_LOADED}\n# lspci | grep -i nvidia\n3b:00.0 3D controller: NVIDIA Corporation Device 20b5 (rev a1)`,
    /is not loaded, as lsmod shows[^]*nvidia\.ko/,
    /lsmod \||--gpus all/,
  ],
  [
    'a Mac',
    '  File "/Users/kim/gpt/train.py", line 94, in <module>\n    model.to(device)\nAssertionError: Torch not compiled with CUDA enabled',
    /^No CUDA on a Mac[^]*mps/,
    /whl\/cu/,
  ],
  [
    'a driver that nvidia-smi shows',
    'RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n$ nvidia-smi\n| NVIDIA-SMI 535.54.03   Driver Version: 535.54.03   CUDA Version: 12.2     |',
    /shows the driver 535\.54\.03[^]*libcuda\.so/,
    /dkms|is not loaded/,
  ],
  [
    'nvidia-smi that crashes under WSL',
    '| NVIDIA-SMI 555.52.01              Driver Version: 555.99         CUDA Version: 12.5     |\n[1]    77 segmentation fault  nvidia-smi',
    /driver in Windows to 565\.90/,
    /Python/,
  ],
  ['gpu_burn', "terminate called after throwing an instance of 'std::string'\nNo CUDA devices", /^CUDA finds no GPU/, /pip check/],
  [
    'a module that was not rebuilt',
    "[    9.1] NVRM: API mismatch: the client 'kwin' (pid 7)\n               NVRM: has the version 570.86, but this kernel module has\n               NVRM: the version 570.80.\n$ modinfo nvidia\nfilename:       /lib/modules/6.9.1/updates/dkms/nvidia.ko\nversion:        570.80",
    /not built for 570\.86[^]*dkms install nvidia\/570\.86/,
    /Reboot the host/,
  ],
  ['a GPU without an address', '[  77.1] NVRM: RmInitAdapter failed! (0x26:0xffff:1375)', /could not start a GPU\./, /start A/],
  [
    'nvcc that PyTorch does not look for',
    `C:\\src\\ext>python setup.py install\nCuda compilation tools, release 12.1, V12.1.66\n${NO_HOME}`,
    /nvcc is here \(CUDA 12\.1\)[^]*a PyTorch for the CPU only[^]*set CUDA_HOME=<FOLDER>/,
    /there is no CUDA toolkit/,
  ],
  ['no toolkit at all', NO_HOME, /Install the toolkit[^]*None: install one with CUDA first/, /nvcc is here/],
  [
    'PTX of a program of its own',
    'ERROR: CUDA error: the provided PTX was compiled with an unsupported toolchain., line 48, file /src/memcheck/memcheck.cu',
    /compile the program again/,
    /torch/,
  ],
  [
    'gfx of the GPU, not of a list',
    'RuntimeError: HIP error: invalid device function\n$ rocm-sdk targets\ngfx1100;gfx1101;gfx1102\nName: amdgcn-amd-amdhsa--gfx1103',
    /let gfx1103 run/,
    /let gfx1101/,
  ],
  [
    'an override that does not fit',
    'export HSA_OVERRIDE_GFX_VERSION=10.3.0\n:0:rocdevice.cpp            :3018: 128688649210d us:  Callback: Queue 0x7f7f4d000000 aborting with error : HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f',
    /HSA_OVERRIDE_GFX_VERSION is 10\.3\.0/,
    /pdb/,
  ],
  [
    'compose that asks by runtime',
    '$ docker compose up -d\n ✘ Container web  Error response from daemon: unknown or invalid runtime name: nvidia',
    /deploy\.resources\.reservations\.devices/,
    /pdb/,
  ],
  [
    'an old compose',
    "ERROR: The Compose file './docker-compose.yml' is invalid because:\nUnsupported config option for services.trainer: 'runtime'",
    /^This Compose is too old to give GPUs[^]*service trainer/,
    /pdb/,
  ],
  [
    'a machine with graphics of Intel only',
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\nCPU: i5-1135G7\nGPU: Mesa Intel Xe Graphics',
    /names no NVIDIA GPU/,
    /pdb/,
  ],
  [
    'a pod that the kubelet refused',
    'NAMESPACE   NAME          READY   STATUS                     RESTARTS   AGE\nml          train-0       0/1     UnexpectedAdmissionError   0          9m',
    /^The node refused the pod train-0[^]*describe pod train-0 -n ml/,
    /pdb/,
  ],
  [
    'a gated model without a token',
    'huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-aa;bb)\n\nCannot access gated repo for url https://huggingface.co/acme/big-7b/resolve/main/config.json.\nAccess to model acme/big-7b is restricted. You must have access to it and be authenticated to access it. Please log in.',
    /gated, and the request came without a valid token/,
    /private or not there/,
  ],
  [
    'an account that was not granted access',
    'HTTPError: 403 Client Error: Forbidden for url: https://huggingface.co/acme/big-7b/resolve/main/config.json\n\nThe above exception was the direct cause of the following exception:\n\nGatedRepoError                            Traceback (most recent call last)\nGatedRepoError: 403 Client Error. (Request ID: Root=1-aa;bb)\n\nCannot access gated repo for url https://huggingface.co/acme/big-7b/resolve/main/config.json.\nAccess to model acme/big-7b is restricted and you are not in the authorized list.',
    /its account was not granted access/,
    /HF_TOKEN/,
  ],
  [
    'a name that the hub does not show, over two lines',
    `OSError: acme/big-7b ${NOT_LISTED}`.replace('valid model', 'valid\nmodel'),
    /^The hub does not show acme\/big-7b[^]*api\/models\/acme\/big-7b/,
    /pdb/,
  ],
  ['no name', `OSError: None ${NOT_LISTED}`, /^No model was named/, /terms/],
  [
    'a folder of Windows taken for a name',
    "huggingface_hub.errors.HFValidationError: Repo id must use alphanumeric chars or '-', '_', '.', '--' and '..' are forbidden, '-' and '.' cannot start or end the name, max length is 96: 'D:\\models\\big'.",
    /^The folder of the model is not there/,
    /terms/,
  ],
  [
    'the downloader of an application',
    'Error: HTTP status client error (429 Too Many Requests) for url (https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-small.bin)',
    /curl -LO https:\/\/huggingface\.co\/ggerganov\/whisper\.cpp\/resolve\/main\/ggml-small\.bin/,
    /HF_TOKEN|--offline/,
  ],
  [
    'the second file of a copy',
    "OSError: [Errno 28] No space left on device: '/mnt/models/big.bin' -> '/scratch/run7/big.bin'",
    /file system with \/scratch\/run7\/big\.bin/,
    /df -h \/mnt/,
  ],
  [
    'a small file that came, and a large one that does not fit',
    '/v/huggingface_hub/file_download.py:651: UserWarning: Not enough free disk space to download the file. The expected file size is: 3900.00 MB. The target location /data/hub/blobs only has 3400.00 MB free disk space.\nLICENSE: 100%|####| 11.3k/11.3k [00:00<00:00, 28.6MB/s]',
    /needs 3900\.00 MB/,
    /pdb/,
  ],
  [
    'Ollama without its libraries',
    'time=2025-01-02T03:04:05.000Z level=INFO source=types.go:130 msg="inference compute" id=GPU-1 library=cuda variant=v12\ntime=2025-01-02T03:04:06.000Z level=DEBUG source=server.go:409 msg="compatible gpu libraries" compatible=[]',
    /installation is incomplete/,
    /pdb/,
  ],
  [
    'a check for a GPU in the build of an image',
    `#9 120.5 Traceback (most recent call last):\n#9 120.5   File "<string>", line 1, in <module>\n#9 120.5 ${NO_TORCH_GPU}\n------\nfailed to solve: process "/bin/sh -c ./webui.sh" did not complete successfully: exit code: 1`,
    /build of an image, where no container has a GPU/,
    /does not say more/,
  ],
  [
    'a PyTorch with CUDA that sees none',
    `$ pip list | grep torch\ntorch              2.4.0+cu121\n$ python launch.py\n${NO_TORCH_GPU.replace('AssertionError', 'RuntimeError')}`,
    /is a build with CUDA, so it is the driver/,
    /delete the folder venv/,
  ],
  [
    'a service of an old compose',
    'ml_worker_1  | AssertionError:\nml_worker_1  | Found no NVIDIA driver on your system. Please check that you\nml_worker_1  | have an NVIDIA GPU',
    /In compose: give the service/,
    /dkms|modprobe/,
  ],
  [
    'PyTorch at the prompt of a container',
    'root@0123456789ab:/work# python\n>>> import torch\n>>> torch.cuda.is_available()\nFalse',
    /docker run --gpus all[^]*nvidia-smi -L/,
    /pdb/,
  ],
  [
    'a wheel that is not there',
    '      Guessing wheel URL:  https://example.com/flash_attn-2.6.3+cu118torch2.0cxx11abiFALSE-cp310-cp310-win_amd64.whl\n      Precompiled wheel not found. Building from source...\n      UserWarning: Attempted to use ninja as the BuildExtension backend but we could not find ninja.\nERROR: Could not build wheels for flash-attn, which is required to install pyproject.toml-based projects',
    /^There is no ready wheel[^]*wheels for Linux only[^]*install ninja/,
    /does not say more/,
  ],
  [
    'an old toolkit under a new driver of Windows',
    'UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 500: named symbol not found (Triggered internally at /w/c10/cuda/CUDAFunctions.cpp:108.)',
    /WSL 2: update Docker Desktop to 4\.31/,
    /pdb/,
  ],
])('%s', (_, text, has, hasNot) => {
  const { all } = answer(text)
  expect(all).toMatch(has)
  expect(all).not.toMatch(hasNot)
})

test.each([
  [
    'a large file that came after the warning',
    '/v/huggingface_hub/file_download.py:651: UserWarning: Not enough free disk space to download the file. The expected file size is: 3900.00 MB. The target location /data/hub/blobs only has 0.00 MB free disk space.\nmodel.safetensors: 100%|####| 3.90G/3.90G [01:00<00:00, 65MB/s]',
  ],
  ['Ollama on a host without a GPU', 'time=2025-01-02T03:04:06.000Z level=DEBUG source=server.go:409 msg="compatible gpu libraries" compatible=[]'],
])('nothing of %s', (_, text) => {
  expect(answer(text).kind).toBeUndefined()
})
