// What servers of models check at their start, and refuse: adapters, quantization, number types, templates, clusters.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { numberSet } from '../../situation/settings.ts'
import { only, type Known } from './message.ts'

const RANKS = [8, 16, 32, 64, 128, 256, 320, 512] as const

/** BuildKit's lines, or Docker's before it. */
const IN_BUILD = /^#\d{1,4} \d{1,6}\.\d{1,3} |failed to solve: process |^Step \d{1,3}\/\d{1,3} : /m
const WITH_CUDA = /^torch {1,20}\S{3,40}\+cu\d{2,3}\b|\btorch(?:\.__version__)? ?[=:]{1,2} ?'?[\d.]{3,12}\S{0,14}\+cu\d{2,3}\b/m
const unfitTorch = only(
  'See which: a build that says None needs another PyTorch (delete the folder venv, which is made again at the next start); else look at the driver. Skipping the check only moves the work to the CPU.',
  'python -c "import torch; print(torch.__version__, torch.version.cuda, torch.version.hip)"',
)
/** vLLM names the architecture among those that it supports, or says that its own code for it could not be imported. */
const LISTED = /\['(\w{3,80})'\] are not supported for now\. Supported architectures: [^\n]{0,8000}?'\1'/
const NOT_IMPORTED = /Error in inspecting model architecture|No module named 'vllm\._C'/
export const SERVING: readonly Known[] = [
  {
    pattern:
      /Model architectures \['(\w{3,80})'\] (?:failed to be inspected|are not supported for now(?:\. Supported architectures: [^\n]{0,8000}?'\1')?)|'-m', 'vllm\.model_executor\.models\.registry'\]' returned non-zero/,
    title: ([, model], { situation: { text } }) =>
      `vLLM could not load its own code for ${model ?? /inspecting model architecture '(\w{3,80})'/.exec(text)?.[1] ?? 'the model'}`,
    // Else the model is newer than the release.
    when: ({ error, situation: { text } }) =>
      !/are not supported for now/.test(error?.message ?? '') || LISTED.test(error?.message ?? '') || NOT_IMPORTED.test(text),
    says: 'The architecture is known, and importing vLLM\'s file for it failed: a package is missing, or vLLM\'s binary does not fit PyTorch or the driver. The reason is above, under "Error in inspecting model architecture".',
    remedies: (_, { situation }) => [
      situation.system === 'windows' && { text: 'vLLM has no release for Windows: run it in WSL 2, or in its Linux image with Docker.' },
      {
        text: 'See what fails; run it in the environment of the server.',
        command: 'python -c "import vllm._C, transformers; print(transformers.__version__)"',
      },
      {
        text: 'Install vLLM again in a clean environment: it brings the PyTorch and Transformers that it was built for.',
        command: 'pip install --upgrade --force-reinstall vllm',
      },
    ],
  },
  {
    title: ([, rank, most]) => `A LoRA adapter has rank ${rank}, and the server takes up to ${most}`,
    pattern: /LoRA rank (\d{1,5}) is greater than max_lora_rank (\d{1,5})/,
    remedies: ([, rank]) => {
      const next = RANKS.find((each) => each >= Number(rank))
      return [
        next === undefined
          ? { text: 'No server takes adapters of that rank: merge the adapter into its model.' }
          : { text: `Let the server take adapters up to rank ${next}; more ranks take more GPU memory.`, command: `--max-lora-rank ${next}` },
      ]
    },
  },
  {
    pattern: /(?:torch\.)?(\w{4,10}) is not supported for quantization method (\w{2,30})\. Supported dtypes: \[(?:torch\.)?(\w{4,10})/,
    // On the CPU vLLM has cast it away from that type by itself: asking for it changes nothing.
    remedies: ([, , method, dtype], { situation }) =>
      /is not supported on CPU, casting to/.test(situation.text)
        ? [
            {
              text: `This vLLM has no ${dtype} on the CPU, which models quantized with ${method} need: run it on a GPU, or take the model unquantized or in another quantization.`,
            },
          ]
        : [
            { text: `Compute in ${dtype}, as models quantized with ${method} need.`, command: `--dtype ${dtype}` },
            { text: 'Or use a quantization of the model that works in bfloat16.' },
          ],
  },
  {
    pattern:
      /Quantization method specified in the model config \((\S{2,40})\) does not match the quantization method specified in the `?quantization`? argument/,
    remedies: ([, method]) => [{ text: `Leave --quantization out: the model itself says ${method}, and the server reads that.` }],
  },
  {
    pattern: /must provide a chat template|default chat template is no longer allowed|chat_template is not set/,
    title: 'The model has no chat template',
    says: 'Mostly it is a base model, not one made for chats.',
    remedies: only(
      'Serve the variant made for chats (Instruct, Chat), or give a template that fits how the model was trained; without one only /v1/completions works.',
      '--chat-template <FILE>',
    ),
  },
  {
    title: 'Ray never had all the GPUs that the server asked for',
    pattern: /Cannot provide a placement group of [^\n]{0,40}?(\[[^\n]{0,2000}\])? ?within (\d{1,5}) seconds/,
    says: 'Ray never had all GPUs free that the server asked for, on the nodes that joined.',
    remedies: ([match]) => {
      const gpus = match.match(/'GPU': 1/g)?.length
      return [
        {
          text: `Compare what the cluster has with ${gpus === undefined ? 'what is asked for' : `the ${gpus} GPUs that are asked for`} (tensor times pipeline parallel size): every node must have joined, and no other job or older server may hold its GPUs.`,
          command: 'ray status; ray list nodes',
        },
        { text: 'Give each node the address by which Ray knows it.', command: 'export VLLM_HOST_IP=<ADDRESS>' },
      ]
    },
  },
  {
    // vllm/executor/ray_utils.py
    pattern: /Placement group bundle cannot have more than 1 GPU/,
    title: "A bundle of Ray's placement group has more than one GPU",
    says: 'vLLM puts one worker into each bundle, with one GPU.',
    remedies: () => [
      {
        text: 'Ask for a bundle for each GPU in place of one with all of them (Ray Serve: placement_group_bundles of the deployment, and no num_gpus in ray_actor_options).',
        command: 'placement_group_bundles=[{"CPU": 1}] + [{"GPU": 1}] * <GPUS>',
      },
    ],
  },
  {
    pattern: /Ray does not allocate any GPUs on the driver node/,
    title: 'Ray gave vLLM no GPU where it is started',
    says: 'The process that starts vLLM must be on a node of which Ray gave it a GPU.',
    remedies: () => [
      {
        text: 'Start it on a node with GPUs, and give the node the address by which Ray knows it.',
        command: 'ray status; ray list nodes; export VLLM_HOST_IP=<ADDRESS>',
      },
      {
        text: 'In Ray Serve or an actor: keep the bundles of the GPUs on the node of the actor.',
        command: 'placement_group_bundles=[{"CPU": 1}] + [{"GPU": 1}] * <GPUS>, placement_group_strategy="STRICT_PACK"',
      },
    ],
  },
  {
    title: 'The swap space of vLLM is larger than host memory allows',
    pattern: /Too large swap space\. ([\d.]{1,10}) GiB out of the ([\d.]{1,10}) GiB total CPU memory/,
    remedies: (_, { situation }) => [
      {
        text: `Ask for less swap space${numberSet(situation.settings, 'tensor_parallel_size') === undefined ? '' : '; each GPU takes as much'} (in GiB for each GPU; 4 is the default).`,
        command: '--swap-space 4',
      },
    ],
  },
  {
    pattern: /No compiled (\w{4,60}) for a compute capability less than CUDA device capability: (\d{2,3})/,
    remedies: ([, kernel, capability]) => [
      {
        text: `This build of vLLM holds no ${kernel} for compute capability ${capability?.slice(0, -1)}.${capability?.slice(-1)}: take a release (image or wheel) whose notes name that GPU, or a model that is quantized in another way.`,
      },
    ],
  },
  {
    pattern: /Selected backend (?:\w{1,40}\.)?(\w{3,40}) is not valid for this configuration\. Reason: \[([^\]\n]{3,200})/,
    remedies: ([, backend, reason]) => [
      {
        text: `Let vLLM choose the attention backend itself: take ${backend} out of VLLM_ATTENTION_BACKEND or --attention-backend.`,
        command: 'unset VLLM_ATTENTION_BACKEND',
      },
      /kv_cache_dtype/.test(reason ?? '') && { text: 'Or keep the KV cache in the number type of the model.', command: '--kv-cache-dtype auto' },
    ],
  },
  {
    title: 'The KV cache holds not even one sequence',
    pattern: /Impossible to fit any sequence in kvCache/,
    says: 'What was left for the KV cache is less than one sequence of the longest length needs.',
    remedies: () => [
      {
        text: 'Give the KV cache more: a larger kv_cache_config.free_gpu_memory_fraction (0.9 of what is free is the default), and no other process on the GPU.',
      },
      { text: 'Or allow shorter sequences: a smaller max_seq_len, or max_tokens of the KV cache configuration left out.' },
      { text: 'Or load the model quantized, or split it over more GPUs (tp_size).' },
    ],
  },
  {
    pattern: /instance group (\S{1,80}) of model (\S{1,80}) specifies invalid or unsupported gpu id (\d{1,3})/,
    remedies: ([, group, model, gpu]) => [
      {
        text: `In config.pbtxt of ${model} the instance group ${group} names GPU ${gpu}, which the server does not have: name GPUs that it sees (they count from 0 in its container), or give it that GPU.`,
        command: 'nvidia-smi -L',
      },
    ],
  },
  {
    pattern: /Every node should have a unique IP address\. Got (\d{1,4}) nodes .{0,400}? (\d{1,4}) unique IP/,
    says: 'Several nodes give the same address: VLLM_HOST_IP was set to one value for all, or they find no other by themselves.',
    remedies: only(
      'Give each node its own address before Ray starts there (in a script for all: taken from the node itself).',
      'export VLLM_HOST_IP=<ADDRESS_OF_THIS_NODE>',
    ),
  },
  {
    title: ([, name]) => `${name?.replace(/["']/g, '')} brings code of its own, which must be allowed`,
    pattern: /repository for (\S{3,120}) contains custom code which must be executed/,
    says: 'The model brings Python code of its own, which nothing runs unasked.',
    remedies: (_, { situation: { programs } }) => {
      const text = 'Read that code on the page of the model, and allow it only where you trust it; a newer release may support the model without it.'
      return [
        programs.has('vllm') || programs.has('sglang') || programs.has('tgi')
          ? { text, command: '--trust-remote-code' }
          : { text: `${text} In Python: trust_remote_code=True.` },
      ]
    },
  },
  {
    pattern: /(\d{2,6}) is not divisible by (?:min_thread_k|min_thread_n|weight quantization block_[nk]) = (\d{2,4})/,
    says: 'Split over so many GPUs, a part of the weights is smaller than, or no multiple of, what its quantization stores together.',
    remedies: only(
      'Split it over fewer GPUs (tensor parallel), with pipeline parallel or, for a model of experts, expert parallel for the rest; or use another quantization.',
    ),
  },
  {
    pattern: /mat1 and mat2 shapes cannot be multiplied/,
    when: ({ situation }) => situation.programs.has('comfyui'),
    says: 'Parts of different kinds of models are joined, mostly a text encoder (CLIP), LoRA or ControlNet that was made for another one.',
    remedies: only(
      'Load the text encoders that belong to the model, with the type that the loader offers for it, and take out LoRAs and ControlNets one by one.',
    ),
  },
  {
    pattern: /Torch is not able to use GPU|Your device does not support the current version of Torch\/CUDA/,
    title: 'The web UI finds no GPU by its PyTorch',
    says: (_, { situation: { text } }) =>
      IN_BUILD.test(text)
        ? 'It runs in the build of an image, where no container has a GPU.'
        : WITH_CUDA.test(text)
          ? 'The installed PyTorch is a build with CUDA, so it is the driver that does not answer here, or is older than that CUDA.'
          : 'The installed PyTorch sees no GPU: it was built without CUDA or ROCm, or the driver does not work.',
    remedies: (_, context) =>
      IN_BUILD.test(context.situation.text)
        ? [
            {
              text: 'Leave the check out in the build only (COMMANDLINE_ARGS=--skip-torch-cuda-test, and --exit to end after the installation), and start the container with the GPU and without that option.',
            },
          ]
        : WITH_CUDA.test(context.situation.text)
          ? [{ text: 'See what the driver says, and which CUDA it runs at most (head line).', command: 'nvidia-smi' }]
          : unfitTorch(),
  },
  {
    title: ([, type]) => `CTranslate2 cannot compute in ${type} on this device`,
    pattern: /Requested (\w{4,14}) compute type, but the target device or backend do not support efficient/,
    says: 'The GPU is too old for that number type, or the model runs on the CPU.',
    remedies: only('Load it with compute_type="int8" or "float32" (device="cuda" for a GPU), or compute_type="auto", which takes the fastest that works.'),
  },
  {
    // CTranslate2, src/ops/conv1d_gpu.cu: built without -DWITH_CUDNN.
    pattern: /Conv1D on GPU currently requires the cuDNN library/,
    title: 'This CTranslate2 was built without cuDNN',
    says: 'Whisper models need it on a GPU. It is a matter of the build: a cuDNN that is installed beside it changes nothing.',
    remedies: () => [
      { text: 'Build it again with cuDNN and its headers at hand.', command: 'cmake -DWITH_CUDA=ON -DWITH_CUDNN=ON .. && make -j install' },
      { text: "Or take a build that has it: PyPI's for x86, or an image made for this machine (arm64)." },
    ],
  },
  {
    pattern: /Exceeded max size of memory object allocation: requested (\d{6,15}) bytes, but max alloc size supported by device is (\d{6,15})/,
    remedies: ([, asked, most]) => [
      {
        text: `The driver gives at most ${gib(Number(most))} in one piece, and ${gib(Number(asked))} was asked for: use a smaller batch, shorter or smaller inputs, or weights of 8 or 4 bit.`,
      },
    ],
  },
  {
    pattern: /Device with "GPU" name is not registered in the OpenVINO Runtime/,
    says: "OpenVINO finds no Intel GPU: its compute runtime is not installed, or the user may not open the GPU's device files.",
    remedies: () => [
      { text: 'See who may open the device files, and join that group (render); a container needs --device /dev/dri.', command: 'ls -l /dev/dri; id' },
      {
        text: "Install Intel's compute runtime (in a container: in its image). On Debian and Ubuntu:",
        command: 'sudo apt-get install -y intel-opencl-icd clinfo && clinfo -l',
      },
    ],
  },
  {
    title: "Ollama's library has no such model",
    pattern: /pull model manifest: file does not exist/,
    says: "Ollama's library has no model of that name and tag.",
    remedies: only(
      'Check name and tag on the page of the model (ollama.com/library): not every size and quantization is there. Models of Hugging Face begin with hf.co/.',
    ),
  },
]
