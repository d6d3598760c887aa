// Errors by which servers of models end that have one reason each: TGI, LMDeploy, TensorRT-LLM, Triton, Xinference, Ollama.
import { dockerRun } from '../../faults/remedies/docker-run.ts'
import { pipInstall } from '../../faults/remedies/pip.ts'
import type { Situation } from '../../situation/situation.ts'
import { COMPUTE_CAP, WHICH_GPU } from '../../faults/remedies/gpu.ts'
import type { Known } from './message.ts'

const issues = (who: string): { readonly text: string } => ({ text: `Update ${who}, and search its issues for this message with the name of the model.` })

const gemmOf = ({ programs }: Situation): string => (programs.has('sglang') || programs.has('vllm') ? 'FlashInfer' : 'TensorRT-LLM')

const FLASH =
  /Sharded (\w{2,30}) requires Flash Attention (?:enabled models|CUDA kernels to be installed)|(\w{2,30}) model requires flash attn v2|You have to install Flash Attention|flash[-_]attn is not supported/i

export const SERVERS: readonly Known[] = [
  {
    // What the runner says of the file is in the server's log only.
    pattern: /unable to load model: \S{0,200}sha256-[\da-f]{12}/,
    when: ({ situation }) => situation.programs.has('ollama'),
    title: 'Ollama could not load the file of a model',
    says: 'Mostly the model is of an architecture that this release does not know; else its file is cut or not complete. The log of the server says which.',
    remedies: (_, { situation }) => [
      {
        text: 'Look there for "unknown model architecture" or "error loading model".',
        ...(situation.system === 'windows'
          ? {}
          : { command: 'journalctl -u ollama --no-pager | grep -iE "error loading|unknown model|missing tensor" | tail' }),
      },
      { text: 'Update Ollama, and pull the model again; one from its own library (ollama.com/library) is made for its releases.' },
    ],
  },
  {
    pattern: FLASH,
    when: ({ situation: { text, programs } }) => programs.has('tgi') && /Flash Attention enabled models: CUDA is not available/.test(text),
    title: 'TGI finds no GPU',
    says: 'It could not load its code with Flash Attention, because CUDA is not available to the container: it was started without GPUs, or the driver of the host is too old for the image.',
    remedies: (_, { situation }) => [
      { text: 'Start the container with the GPUs.', command: dockerRun('--gpus all', situation) },
      {
        text: 'See whether a container sees them at all.',
        command: 'docker run --rm --gpus all --entrypoint nvidia-smi ghcr.io/huggingface/text-generation-inference:latest',
      },
      { text: 'If it does: the driver is older than the CUDA of the image; update the driver, or take an older image.', command: 'nvidia-smi' },
    ],
  },
  {
    pattern: FLASH,
    when: ({ situation }) => situation.programs.has('tgi'),
    title: 'TGI needs Flash Attention for this model, and the GPU has none',
    says: 'Flash Attention 2 runs from compute capability 7.5 (its first version) or 8.0 on; on older GPUs, such as the V100, TGI serves fewer models, and on one GPU only.',
    remedies: () => [
      { text: 'Run it on one GPU, without sharding, if the model fits there (quantized if need be).', command: '--num-shard 1' },
      { text: 'Or use a GPU of compute capability 8.0 or newer, or a server that does without Flash Attention (vLLM runs from 7.0 on).' },
      WHICH_GPU,
    ],
  },
  {
    pattern: /[Ss]harded is not supported for (?:this model|AutoModel)/,
    title: 'TGI cannot split this model over several GPUs',
    says: 'TGI has no code of its own for this architecture, and runs it by Transformers on one GPU.',
    remedies: () => [
      { text: 'Start it on one GPU; a model that is too large for it needs quantization (--quantize bitsandbytes-nf4, eetq).', command: '--num-shard 1' },
      { text: 'Or use a server that knows the architecture (vLLM, SGLang).' },
    ],
  },
  {
    pattern: /(?:4bit |8bit |gptq |awq |eetq |exl2 )?quantization is not (?:supported|available) for (?:AutoModel|this model|\w{1,40}ForCausalLM)/i,
    title: 'This model cannot be quantized by the server',
    remedies: () => [{ text: 'Leave --quantize out, or take a model that its publisher quantized in a form that the server lists.' }],
  },
  {
    pattern: /Unsupported model type (\w{2,40})/,
    title: ([, type], { situation }) => `${situation.programs.has('tgi') ? 'This TGI' : 'This release'} does not know models of type ${type}`,
    remedies: (_, { situation }) => [
      {
        text: situation.programs.has('tgi')
          ? 'Take a newer image of TGI; it is in maintenance, so for new models vLLM or SGLang.'
          : 'Update the server: the model is newer than its release.',
      },
    ],
  },
  {
    pattern: /CUDA runtime error: operation not supported[^\n]{0,120}turbomind/,
    title: "LMDeploy's TurboMind cannot use this GPU's memory pools",
    says: 'TurboMind takes memory from pools (cudaMallocAsync), which a vGPU and some virtual machines do not offer.',
    remedies: () => [
      { text: 'Use the engine that does without.', command: '--backend pytorch' },
      {
        text: 'Or pass the whole GPU through, or use a vGPU profile and driver that offer unified memory and pools.',
        command: 'nvidia-smi -q | grep -i -A4 virtualization',
      },
    ],
  },
  {
    pattern: /No module named '_turbomind'/,
    title: "LMDeploy's compiled part is not found",
    says: 'The compiled half of LMDeploy (_turbomind) comes with its wheel; beside its source folder, Python takes that folder in place of the installed package.',
    remedies: () => [
      { text: 'Start it in another folder than that of the source code.', command: 'cd ~ && python -c "import lmdeploy; print(lmdeploy.__file__)"' },
      { text: 'Or install the wheel; a copy of the source code alone must be compiled.', command: 'pip install --upgrade lmdeploy' },
    ],
  },
  {
    pattern: /turbomind[\\/]models[\\/]llama[\\/]Barrier\.h/,
    title: 'TurboMind cannot use several GPUs on Windows',
    says: 'Tensor parallelism of TurboMind needs a barrier that its Windows build lacks.',
    remedies: () => [{ text: 'Run it on one GPU (--tp 1), or in WSL or on Linux for more.', command: '--tp 1' }],
  },
  {
    pattern: /Error occurred when running GEMM!/,
    title: (_, { situation }) => `A matrix kernel of ${gemmOf(situation)} failed`,
    says: 'The kernel was chosen for this GPU and these shapes, and refused to run: mostly a fault of the release with this model, its quantization or its parallelism.',
    remedies: (_, { situation }) => [
      situation.programs.has('sglang')
        ? { text: 'Choose another backend for the experts.', command: '--moe-runner-backend triton' }
        : situation.programs.has('vllm')
          ? { text: 'Let vLLM do without these kernels.', command: 'export VLLM_USE_FLASHINFER_MOE_FP8=0 VLLM_USE_FLASHINFER_MOE_FP4=0' }
          : { text: 'Choose another backend for the experts (moe_config.backend: CUTLASS, TRTLLM, DEEPGEMM), or another split (tensor and expert parallel).' },
      issues(gemmOf(situation)),
    ],
  },
  {
    pattern: /No module named 'model'/,
    when: ({ situation }) => /triton|model_lifecycle\.cc|UNAVAILABLE: /.test(situation.text),
    title: "Triton's Python backend found no model.py",
    says: 'Triton loads model.py from the folder of the version (or the name under default_model_filename).',
    remedies: () => [{ text: 'Put the file there, readable for the user that runs Triton.', command: 'ls -l <REPOSITORY>/<MODEL>/1/model.py' }],
  },
  {
    pattern: /SGLang only supports sm75 and above/,
    title: 'SGLang does not support so old a GPU',
    says: 'It needs compute capability 7.5 (Turing) or newer.',
    remedies: () => [
      {
        text: 'Use a newer GPU, or a server that runs on this one: vLLM from 7.0 (Volta) on, llama.cpp from 5.0 on.',
        command: COMPUTE_CAP,
      },
    ],
  },
  {
    pattern: /Check failed: \(config_istream\) is false/,
    title: 'MLC LLM does not find the configuration of the model',
    says: 'There is no mlc-chat-config.json in the folder that was named.',
    remedies: () => [
      {
        text: 'Name the folder of a model in the format of MLC, or make one.',
        command: 'mlc_llm gen_config <MODEL_FOLDER> --quantization q4f16_1 --conv-template <TEMPLATE> -o <FOLDER>',
      },
    ],
  },
  {
    pattern: /support_sliding_window_\) is false/,
    title: 'MLC LLM: these kernels do not support a sliding window',
    remedies: () => [
      { text: 'Compile the model without FlashInfer, or update MLC LLM.', command: 'mlc_llm compile <MODEL> --opt "flashinfer=0" -o <FILE>.so' },
      { text: 'Or set sliding_window_size to -1 in mlc-chat-config.json where the context is short enough.' },
    ],
  },
  {
    pattern: /Failed to allocate (\d{4,15}) bytes with alignment/,
    title: 'TVM could not allocate memory',
    says: "Memory ran out while the model worked: the host's, or that of the device for which the message speaks.",
    remedies: () => [
      { text: 'Let the engine hold less: a shorter context, fewer requests at once.', command: '--overrides "max_num_sequence=4;max_total_seq_length=8192"' },
      { text: 'See what is free, and who holds it.', command: 'free -g; nvidia-smi' },
    ],
  },
  {
    pattern: /`--pooling` arg is not set/,
    title: 'The server does not know how the model pools',
    says: 'The repository of the model has no 1_Pooling/config.json.',
    remedies: () => [
      {
        text: 'Name it as the page of the model does: cls, mean or last-token; a wrong one gives poor embeddings without an error.',
        command: '--pooling <POOLING>',
      },
    ],
  },
  {
    pattern: /Converting from (?:SentencePiece and )?Tiktoken failed/,
    title: 'The tokenizer of the model cannot be read',
    says: 'Transformers tried all ways: its file (tokenizer.json, tokenizer.model) is missing or cut off, or the packages that read it are not installed.',
    remedies: () => [
      { text: 'Install what reads it.', command: 'python -m pip install --upgrade sentencepiece tiktoken protobuf transformers' },
      {
        text: 'See that the tokenizer is beside the model, whole: a file of a few hundred bytes is a pointer of Git LFS.',
        command: 'ls -l <MODEL_FOLDER>/tokenizer*',
      },
    ],
  },
  {
    pattern: /NIXL_ERR_(\w{3,30})/,
    title: ([, code]) => `The transfer of the KV cache failed (NIXL: ${code})`,
    says: 'NIXL moves the KV cache from the servers that prefill to those that decode.',
    remedies: ([, code]) => [
      { text: 'Run both sides with the same release, model, block size, KV cache type and, if not stated otherwise, tensor parallel size.' },
      /BACKEND|REMOTE|NOT_FOUND/.test(code ?? '') && {
        text: 'See whether UCX finds the network between them: devices of InfiniBand in the container, and unlimited locked memory.',
        command: 'ucx_info -d | grep -i transport; ulimit -l',
      },
      { text: 'Let UCX say more.', command: 'export UCX_LOG_LEVEL=info NIXL_LOG_LEVEL=debug' },
    ],
  },
  {
    pattern: /NGC_API_KEY|[Tt]he requested operation requires an API key/,
    title: 'The container has no key for NGC',
    says: 'It downloads its model from NGC, which asks for a key.',
    remedies: () => [
      {
        text: 'Make a key on ngc.nvidia.com (or build.nvidia.com), and pass it into the container.',
        command: 'export NGC_API_KEY=<KEY> && docker run --gpus all -e NGC_API_KEY <IMAGE>',
      },
      { text: 'In Kubernetes: as a secret that the pod reads as NGC_API_KEY.' },
    ],
  },
  {
    pattern:
      /Failed to connect to Ollama|could not connect to (?:a running )?[Oo]llama|(?:Cannot connect to host|[Cc]onnection refused[^\n]{0,80}|Max retries exceeded[^\n]{0,120}|dial tcp) ?(\S{3,80}?):11434/,
    title: 'Ollama cannot be reached',
    says: 'Nothing answers at that address: Ollama does not run there, or listens on 127.0.0.1 only, which a container cannot reach.',
    remedies: () => [
      {
        text: 'Let Ollama listen on all addresses (of its service: systemctl edit ollama), and restart it. The port is then open to the network.',
        command: 'export OLLAMA_HOST=0.0.0.0',
      },
      {
        text: 'In a container use the address of the host: start it with this option, and http://host.docker.internal:11434 as address.',
        command: '--add-host=host.docker.internal:host-gateway',
      },
      { text: 'See whether it runs, and on which address.', command: "sudo ss -ltnp | grep ':11434 '" },
    ],
  },
  {
    pattern: /(cuda_(?:fp8|fp4|fp6|bf16)\.hp{0,2}): No such file/,
    title: ([, file]) => `The CUDA toolkit lacks ${file}`,
    says: 'A kernel is compiled at the first start, and the toolkit that was found is too old for it, or only a part of it is installed.',
    remedies: ([, file]) => [
      {
        text: `Install a toolkit of the CUDA version that PyTorch was built with (${file?.includes('fp4') === true || file?.includes('fp6') === true ? '12.8' : '11.8'} or newer), and point CUDA_HOME at it.`,
        command: 'python -c "import torch; print(torch.version.cuda)"; nvcc --version; echo "$CUDA_HOME"',
      },
      { text: "Or use the server's own image, which brings what it compiles with." },
    ],
  },
  {
    pattern: /^(?:\[address=[^\]\n]{1,80}\] )?Remote server \S{3,80} closed/,
    title: "Xinference's process of the model ended",
    says: 'The process that holds the model ended while it was loaded or computed; its own error is not in this text.',
    remedies: () => [
      { text: "Read the worker's log above this line.", command: 'tail -n 100 ~/.xinference/logs/*/xinference.log' },
      { text: "See in the kernel's log whether its OOM killer ended it.", command: "sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail" },
      { text: 'Load it with less: another quantization, a shorter context, fewer layers on the GPU.' },
    ],
  },
  {
    pattern: /Model architectures \['(\w{3,80})'\] are not supported for now/,
    title: ([, model], { situation }) => `This ${situation.programs.has('sglang') ? 'SGLang' : 'vLLM'} does not know the architecture ${model}`,
    says: 'Mostly the model is newer than the server.',
    remedies: (_, { situation }) => [
      {
        text: 'Update the server to a release that lists the architecture.',
        command: pipInstall(situation, situation.programs.has('sglang') ? 'sglang' : 'vllm', '--upgrade'),
      },
      !situation.programs.has('sglang') && {
        text: "Or let it run Transformers' own code of the model (vLLM 0.7 and newer; slower).",
        command: '--model-impl transformers',
      },
    ],
  },
]
