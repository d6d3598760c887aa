// Classes of messages as people paste them into threads for help: halves of tracebacks, prompts, what they tried. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const NOT_LOADED =
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
const LIBS = '/opt/venv/lib/python3.11/site-packages'

test.each([
  ['a message copied with typographic quotes', NOT_LOADED.replace("'", '‘'), /NVIDIA driver is not loaded/, /pdb/],
  [
    'a module that is built for the running kernel and not loaded',
    `$ nvidia-smi\n${NOT_LOADED}\n$ modinfo -F version nvidia\n565.57.01`,
    /modinfo finds it \(565\.57\.01\)[^]*sudo modprobe nvidia/,
    /dkms autoinstall/,
  ],
  [
    'an automatic upgrade in the history of apt',
    `${NOT_LOADED}\n\nStart-Date: 2024-03-02  06:12:44\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: libnvidia-common-535:amd64 (535.154.05-0ubuntu1, 535.161.07-0ubuntu1)`,
    /changed packages of the driver on 2024-03-02[^]*apt-mark hold/,
    /reinstall/,
  ],
  [
    'a build of the module that failed: the build is the fault',
    `${NOT_LOADED}\n$ sudo dkms install -m nvidia -v 470.256.02\nenv NV_VERBOSE=1 'make' -j8 KERNEL_UNAME=6.8.0-40-generic modules.....(bad exit status: 2)\nError! Bad return status for module build on kernel: 6.8.0-40-generic (x86_64)`,
    /^NVIDIA kernel module cannot be built[^]*driver 470\.256\.02 is too old for kernel 6\.8\.0-40-generic/,
    /nvidia-installer\.log; uname/,
  ],
  [
    'the device plugin that finds no NVML',
    'I0301 10:00:00.000001       1 factory.go:107] Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file: No such file or directory\nE0301 10:00:00.000002       1 factory.go:115] Incompatible platform detected',
    /^The device plugin finds no GPU/,
    /resources\.limits/,
  ],
  [
    'the toolkit without the name of the library',
    "docker: Error response from daemon: OCI runtime create failed: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: cannot open shared object file: no such file or directory: unknown.",
    /finds no driver[^]*Docker from a snap/,
    /toolkit refused/,
  ],
  [
    'cuSPARSE that JAX does not find',
    'RuntimeError: jaxlib/cuda/versions_helpers.cc:81: operation cusparseGetProperty(MAJOR_VERSION, &major) failed: The cuSPARSE library was not found.',
    /cuSPARSE was not found by JAX[^]*jax\[cuda12\]/,
    /pdb/,
  ],
  [
    'nvJitLink from the folder that ldd shows',
    `ImportError: ${LIBS}/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12\n$ ldd ${LIBS}/nvidia/cusparse/lib/libcusparse.so.12\n\tlibnvJitLink.so.12 => /usr/local/cuda-12.2/lib64/libnvJitLink.so.12 (0x00007f0000000000)`,
    /takes nvJitLink from \/usr\/local\/cuda-12\.2\/lib64/,
    /LD_DEBUG/,
  ],
  [
    "conda's own nvJitLink",
    'ImportError: /opt/conda/lib/python3.10/site-packages/torch/lib/../../../../libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12',
    /conda's \(\/opt\/conda\/lib\)[^]*conda install -c nvidia 'libnvjitlink>=12\.4'/,
    /pip install --upgrade nvidia-nvjitlink/,
  ],
  [
    'an extension that is named by the line that imports it',
    '  File "/src/seg/layers/ops.py", line 4, in <module>\n    from detectron2 import _C\nImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory',
    /detectron2 was built for CUDA 11/,
    /What loads it/,
  ],
  [
    'cuDNN for a worker of gunicorn',
    'Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}\nInvalid handle. Cannot load symbol cudnnCreateTensorDescriptor\n[2025-01-02 03:04:05 +0000] [1] [ERROR] Worker (pid:31) was sent code 134!',
    /pip install 'nvidia-cudnn-cu12==9\.\*'/,
    /from NVIDIA's CUDA or cuDNN packages/,
  ],
  [
    'an extension of Transformer Engine',
    `  File "${LIBS}/transformer_engine/pytorch/cpp_extensions/__init__.py", line 6, in <module>\n    from transformer_engine_extensions import *\nImportError: ${LIBS}/transformer_engine_extensions.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi`,
    /transformer-engine was built against another PyTorch[^]*TransformerEngine\.git/,
    /<PACKAGE>/,
  ],
  [
    'an extension that only the frame above it names',
    `  File "${LIBS}/fastkern/ops.py", line 3, in <module>\n    import fastkern_ext\nImportError: ${LIBS}/fastkern_ext.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi`,
    /fastkern was built against another PyTorch/,
    /<PACKAGE>/,
  ],
  ['a library of L4T', 'ImportError: libnvcudla.so: cannot open shared object file: No such file or directory', /part of L4T[^]*--runtime nvidia/, /apt-file/],
  [
    'operators of torchvision that are not registered',
    '    i = torch.ops.torchvision.nms(boxes, scores, 0.5)\nRuntimeError: No such operator torchvision::nms',
    /torchvision does not fit the installed PyTorch[^]*without "import torchvision"/,
    /print\(boxes/,
  ],
  [
    'ONNX Runtime without code for the GPU',
    "[E:onnxruntime:, sequential_executor.cc:368 Execute] Non-zero status code returned while running Add node. Name:'Add_1' Status Message: CUDA error cudaErrorNoKernelImageForDevice:no kernel image is available for execution on the device",
    /CMAKE_CUDA_ARCHITECTURES/,
    /this PyTorch/,
  ],
  [
    'a header that no safetensors file has',
    '    with safe_open(path, framework="pt") as f:\nsafetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge',
    /does not begin as a safetensors file does[^]*git lfs pull/,
    /cut while it was saved/,
  ],
  [
    'a fine-grained token that was logged in with',
    'Token is valid (permission: fineGrained).\nLogin successful\nrequests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/meta-llama/Llama-2-7b-hf/resolve/main/config.json',
    /switch on "Read access to contents of all public gated repos/,
    /export HF_TOKEN/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

test.each([
  [
    'GPUs that the select plugin does not know',
    'sbatch: error: Batch job submission failed: Requested GRES option unsupported by configured SelectType plugin',
    /Slurm did not accept the job[^]*--gres=gpu:<GPUS>/,
    /PYTHONUNBUFFERED/,
  ],
  [
    'a plugin of the site that says why',
    'sbatch: error: Jobs in the partition gpu must ask for GPUs\nsbatch: error: Batch job submission failed: Unspecified error',
    /The rules of the cluster refused the job[^]*"Jobs in the partition gpu must ask for GPUs"/,
    /PYTHONUNBUFFERED/,
  ],
  [
    'memory of the outer job',
    'srun: fatal: SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.',
    /unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE/,
    /validate it/,
  ],
  [
    'an interactive job is asked for with srun',
    '[kim@login1 ~]$ srun --gpus-per-node=1 --pty bash\nsrun: error: Unable to allocate resources: Requested node configuration is not available',
    /srun --partition=<PARTITION> --gres=gpu:<GPUS> <COMMAND>/,
    /sbatch --partition/,
  ],
  [
    'a MIG instance that the DRA driver cannot make',
    `E0102 03:04:05.000001       1 nonblockinggrpcserver.go:127] "dra: handling request failed" err="error preparing devices for claim 1: MIG device allocation failed: error creating MIG device: error creating GPU instance for '2g.20gb': Insufficient Resources"`,
    /The instance 2g\.20gb was not created[^]*mig -lgip/,
    /pdb/,
  ],
  [
    'MIG refused to root',
    '[root@node7 ~]# nvidia-smi mig -lgi\nFailed to display GPU instances: Insufficient Permissions',
    /root already[^]*NVIDIA_MIG_CONFIG_DEVICES=all/,
    /sudo nvidia-smi mig/,
  ],
  [
    'the Fabric Manager beside a GeForce',
    'Job for nvidia-fabricmanager.service failed because the control process exited with error code.\n|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0 Off |                  N/A |',
    /GeForce RTX 4090 has none[^]*disable --now nvidia-fabricmanager/,
    /journalctl/,
  ],
  [
    'the Fabric Manager beside unknown GPUs',
    '# systemctl start nvidia-fabricmanager\nJob for nvidia-fabricmanager.service failed because the control process exited with error code.',
    /did not start[^]*journalctl -u nvidia-fabricmanager/,
    /disable --now/,
  ],
  [
    'a GPU that bbswitch has switched off',
    '[   12.000001] bbswitch: disabling discrete graphics\n[   49.000001] NVRM: GPU at 0000:01:00.0 has fallen off the bus.',
    /GPU is switched off[^]*\/proc\/acpi\/bbswitch/,
    /reseat/,
  ],
  [
    'the memory driver of a Jetson, of which no container is known',
    'NvRmMemInitNvmap failed with No such file or directory',
    /^The Jetson's memory driver cannot be opened/,
    /The container cannot/,
  ],
  [
    "Ollama's build for AMD",
    'time=2024-02-03T04:05:06.007-07:00 level=INFO source=payload.go:44 msg="Dynamic LLM libraries [cpu rocm_v5.7]"\nCUDA error: invalid device function\nGGML_ASSERT: C:/a/ollama/ollama/llm/llama.cpp/ggml-cuda.cu:60: !"CUDA error"',
    /Update Ollama[^]*Vulkan/,
    /nvidia-smi/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})
