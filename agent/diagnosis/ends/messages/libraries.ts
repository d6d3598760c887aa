// Messages of training libraries with one reason each; those of which figures or names of the text are used are at the end.
import { COMPUTE_CAP } from '../../faults/remedies/gpu.ts'
import { pipInstall } from '../../faults/remedies/pip.ts'
import { FRAMEWORKS } from './frameworks.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const TOOLKIT = 'python -c "import torch; print(torch.version.cuda)"; nvcc --version'
const ROWS: readonly Row[] = [
  [
    /cuDNN version incompatibility: PyTorch was compiled {1,3}against \((\d{1,2}), (\d{1,2}), (\d{1,2})\) but found runtime version \(\d{1,2}, \d{1,2}, \d{1,2}\)/,
    'Take the other cuDNN out of the way: a folder in LD_LIBRARY_PATH, a module of the cluster, or a pip package that another program asked for. PyTorch brings its own.',
    'printenv LD_LIBRARY_PATH; ldconfig -p | grep libcudnn; pip list | grep -i cudnn',
    'Another cuDNN is found first than the one that PyTorch was built with.',
  ],
  [
    // PEP 683: from 3.12 on None is not counted.
    /none_dealloc: deallocating None/,
    'Update the packages with compiled parts that the job imports, or run it with Python 3.12 or newer, where None is not counted and this cannot happen.',
    'python --version; python -m pip list --outdated',
    'An extension module gave back references to None that it had never taken, until none was left: a bug of that extension, and the more calls, the sooner.',
  ],
  [
    /CUDA_HOME (?:environment variable is not set|does not exist)|MissingCUDAException/,
    'Install the CUDA toolkit of the version that PyTorch was built with (the driver does not bring it), and set CUDA_HOME to its folder, mostly /usr/local/cuda.',
    TOOLKIT,
    'The compiler of CUDA (nvcc) is not there: an operation is compiled on this host.',
  ],
  [
    /setup doesn't support bf16|bf16[^\n]{0,60}not support(?:ed)? (?:on|by) (?:this|your) (?:GPU|device)|[Bb]float16 is not supported on (?:this|your)/,
    'Use fp16 in place of bf16 (fp16=True, bf16=False): bf16 needs an Ampere GPU or newer (compute capability 8.0).',
    COMPUTE_CAP,
    'The GPU has no bf16, or PyTorch sees no GPU at all.',
  ],
  [
    /FlashAttention only supports? (?:fp16|bf16)/i,
    'Load the model in bf16 or fp16 (torch_dtype=torch.bfloat16), and run it under torch.autocast where parts of it are float32.',
  ],
  [
    /not currently (?:implemented|supported) (?:for|on) the MPS (?:device|backend)/,
    'Let operations that Metal lacks run on the CPU (slower): set this before Python starts.',
    'export PYTORCH_ENABLE_MPS_FALLBACK=1',
    "PyTorch for Apple's GPUs does not have this operation.",
    "An operation that Apple's GPU does not have",
  ],
  [
    /pair\.cc:\d{1,4}\] .{0,60}remote=\[127\./,
    'The name of this host resolves to a loopback address (127.x in /etc/hosts), where other hosts cannot reach it: name the interface to use.',
    'ip -brief address; export GLOO_SOCKET_IFNAME=<INTERFACE>',
  ],
  [
    /Must flatten tensors with uniform dtype/,
    'Bring all parameters to one type before FSDP wraps the model: model.to(torch.bfloat16). Adapters that PEFT makes are float32: cast them too, or wrap them on their own (fsdp_auto_wrap_policy of PEFT); for 4-bit weights set bnb_4bit_quant_storage to that type.',
  ],
  [
    /(?:Must flatten tensors with|`FlatParameter` requires) uniform `requires_grad`/,
    'Set use_orig_params=True for FSDP (Accelerate: fsdp_use_orig_params: true), or wrap frozen and trained layers on their own (fsdp_auto_wrap_policy of PEFT).',
  ],
  [
    /got mixed torch\.Tensor and DTensor/,
    'Shard every part that is trained: call fully_shard on the root module too, after adapters and heads are added, and make the optimizer after that. Tensors of your own that meet sharded ones: distribute_tensor(…), or full_tensor() of the others.',
    undefined,
    'Some parameters were sharded and others not.',
  ],
  [
    /require users to upgrade torch to at least v2\.6/,
    'Load the model from safetensors files, which need no new PyTorch (use_safetensors=True, if the repository has them); or update PyTorch to 2.6 or newer, with torchvision and torchaudio of the same release.',
  ],
  [
    /correct the following DeepSpeed config values that mismatch TrainingArguments values/,
    'Write "auto" for these values in the DeepSpeed configuration: the Trainer then fills in its own.',
    undefined,
    'The DeepSpeed configuration and the arguments of the Trainer give different values for the same setting.',
    'DeepSpeed and the Trainer are set differently',
  ],
  [
    /Could not find the transformer layer class \w{2,80} in the model/,
    "Name the class of this model's own blocks (print(model) shows it) in fsdp_transformer_layer_cls_to_wrap, or leave that out: newer releases take the model's own _no_split_modules.",
    undefined,
    'FSDP was set to wrap blocks of another model.',
    'FSDP looks for the blocks of another model',
  ],
  [
    /deserialize object on CUDA device [1-9]\d{0,2} but torch\.cuda\.device_count\(\) is/,
    "Name where its tensors go: torch.load(…, map_location='cpu'), then move the model; or map_location='cuda:0'.",
    undefined,
    'The file was saved from a GPU with a higher number than this program has.',
    'A checkpoint was saved from a GPU that is not here',
  ],
  [
    /^unsupported architecture "\w{4,80}"/,
    'Convert the model to GGUF by llama.cpp, which knows more architectures, and give Ollama that file (FROM <FILE>.gguf in the Modelfile); or update Ollama.',
    'python convert_hf_to_gguf.py <MODEL_FOLDER> --outfile <FILE>.gguf',
    'Ollama itself converts safetensors of a few architectures only.',
    'Ollama cannot convert this model',
  ],
  [/Unknown model \((\w[\w.-]{1,80})\)/, 'Update timm, which lists what it knows: timm.list_models("*NAME*").', 'python -m pip install --upgrade timm'],
]

const RUN = /\b(?:docker|podman) run /
export const LIBRARIES: readonly Known[] = [
  {
    pattern: /FlashAttention2? has been toggled on.{0,120}not installed/i,
    remedies: (_, { situation }) =>
      situation.system === 'windows'
        ? [
            {
              text: "Leave it out: attn_implementation='sdpa' needs no package and is about as fast. For Windows there is no wheel of flash-attn on PyPI, and compiling it takes hours.",
            },
          ]
        : [
            {
              text: "Install it, or leave it out: attn_implementation='sdpa' needs no package and is about as fast.",
              command: 'python -m pip install flash-attn --no-build-isolation',
            },
          ],
  },
  {
    pattern: /No module named 'vllm(?:\.\w{1,30})?'/,
    when: ({ situation }) => situation.system === 'windows',
    title: 'vLLM has no release for Windows',
    remedies: () => [{ text: 'Run it in WSL 2, or in its Linux image with Docker Desktop; on Windows itself use llama.cpp or Ollama.' }],
  },
  {
    pattern: /\blibpython(3\.\d{1,2})\.so\.1\.0: cannot open shared object file/,
    says: 'The program was linked with the library of that Python, which brings it only where it was built as a shared one.',
    remedies: ([, version], { situation }) => [
      RUN.test(situation.text) && {
        text: /\b(?:docker|podman) run [^\n]{0,200}?(?:--user|-u)[ =]/.test(situation.text)
          ? 'The file is in the image, likely in a folder that only root may read: see whether it starts without --user, and take a release of the image that runs as other users.'
          : 'The image should bring it: take another release of the image, or repair it where it is built.',
      },
      !RUN.test(situation.text) && {
        text: 'Name the library folder of that Python to the loader (conda: that of the environment; uv and pyenv: that of the Python itself).',
        command: `export LD_LIBRARY_PATH=$(python -c "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))"):$LD_LIBRARY_PATH`,
      },
      !/conda|\.pyenv|[\\/]uv[\\/]/.test(situation.text) &&
        !RUN.test(situation.text) && { text: 'Or install it from the system.', command: `sudo apt-get install -y libpython${version}` },
    ],
  },
  {
    pattern: /\b(libGL\.so\.1|libSM\.so\.6|libXext\.so\.6|libXrender\.so\.1): cannot open shared object file/,
    when: ({ situation }) => /\bcv2\b|opencv|ultralytics|albumentations/i.test(situation.text),
    says: 'OpenCV asks for it to draw windows, which a server or a container does not have.',
    remedies: ([, name = '']) => [
      {
        text: 'Install OpenCV without windows, which does not ask for it.',
        command: 'python -m pip uninstall -y opencv-python opencv-contrib-python && python -m pip install opencv-python-headless',
      },
      {
        text: 'Or install the package of the system that brings it.',
        command: `sudo apt-get install -y ${name.startsWith('libGL') ? 'libgl1' : name.toLowerCase().replace(/\.so\./, '')}`,
      },
    ],
  },
  ...ofRows(ROWS),
  ...FRAMEWORKS,
  {
    pattern: /Barrier timed out(?:\.\s{1,4}(?:Barrier_id|Id): (?<barrier>[\w:/-]{1,80}))?|Wait_for_all_tasks_to_register/,
    says: 'Not all processes of the job came to the barrier in time.',
    remedies: ({ groups }, { situation }) => {
      const own = groups?.['barrier'] !== undefined && !/^(?:PjRT_|\[Init\]|Shutdown)/i.test(groups['barrier'])
      const missing = /timed out task names:\s{1,4}(\/job:\S{3,80})/.exec(situation.text)?.[1]
      return [
        { text: `Look at the log of ${missing ?? 'the process that is missing'} first: it did not start, failed, or is still busy (compiling, loading).` },
        {
          text: 'All processes need the same coordinator address and number of processes, and must reach its port.',
          command: 'nc -zv <COORDINATOR_HOST> <PORT>',
        },
        {
          text: own
            ? `If it is only slow: give this barrier (${groups['barrier']}) more time where the program waits for it (timeout_in_ms of wait_at_barrier).`
            : 'If it is only slow: raise initialization_timeout of jax.distributed.initialize.',
        },
      ]
    },
  },
  {
    pattern: /No valid checkpoint found in output directory \(([\w./@+-]{1,200})\)/,
    remedies: ([, folder]) => [
      {
        text: `See what was saved: ${folder} has no folder checkpoint-<STEP>. Either output_dir was another, or the run ended before its first save (save_strategy, save_steps).`,
        command: `ls -ltr ${folder}`,
      },
      { text: 'Start without resume_from_checkpoint if there is none.' },
    ],
  },
  {
    // Code of a model that came with it, in the cache of Transformers.
    pattern: /^/,
    when: ({ error }) => /^(?:Attribute|Type|Key|Import|UnboundLocal)Error$/.test(error?.name ?? ''),
    title: "The model's own code does not fit the installed Transformers",
    says: "The model's own code (trust_remote_code) was written for another Transformers.",
    remedies: (_, { error }) =>
      error?.frames.slice(-3).some(({ file }) => /[\\/]transformers_modules[\\/]/.test(file)) === true
        ? [
            {
              text: 'Leave trust_remote_code out, if the installed Transformers has the model itself; or update the code of the model (a newer revision of its repository).',
            },
            {
              text: 'Else install the release that config.json of the model names (transformers_version).',
              command: "python -m pip install 'transformers==<VERSION>'",
            },
          ]
        : [],
  },
  {
    pattern: /unsupported GNU version! gcc versions later than (\d{1,2})/,
    remedies: ([, newest]) => [
      {
        text: `Let nvcc use gcc ${newest} or older: install it and name it. Or take a newer CUDA toolkit, which knows this gcc.`,
        command: `sudo apt-get install -y gcc-${newest} g++-${newest}; export CC=gcc-${newest} CXX=g++-${newest} NVCC_PREPEND_FLAGS='-ccbin g++-${newest}'`,
      },
    ],
  },
  {
    pattern: /You requested gpu: \[([\d, ]{1,60})\]\s{1,3}But your machine only has: \[([\d, ]{1,60})\]/,
    remedies: ([, , has = '']) => [
      { text: `Ask for the GPUs that are visible: devices=${has.split(',').length}.` },
      { text: 'If there are more: see what hides them.', command: 'nvidia-smi -L; echo "$CUDA_VISIBLE_DEVICES"' },
    ],
  },
  {
    pattern: /`(?:original_)?state_dict` should be empty at this point but has/,
    says: 'The LoRA has tensors that this release of Diffusers does not know for the model.',
    remedies: (_, { situation }) => [
      { text: 'Update Diffusers: each release knows more layouts of LoRAs.', command: pipInstall(situation, 'diffusers', '--upgrade') },
      { text: 'See on its page for which base model and which program (ComfyUI, kohya, AI Toolkit) it was made; one for another base model does not load.' },
    ],
  },
]
