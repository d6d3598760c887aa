// What programs that run models refuse before they compute: a file or node that is not there, a model that is too large or too new.
import { KERNEL_LOG } from './host-oom/remedies.ts'
import { ruleFamily } from './parts/rules.ts'

export const servingRefused = ruleFamily({
  id: 'serving-refused',
  kind: 'config_error',
  literals: [
    'Model loading aborted due to insufficient system resources',
    'all backends returned error',
    'unknown projector type',
    'must be < `max_total_tokens`',
    'timed out waiting for llama',
    'bind HTTP server socket',
    'qweight does not exist',
    'ggml_vulkan: No devices found',
    'available GPUs (',
    'error while handling argument "',
    'error: invalid argument: -',
    'downloading or loading vocab file',
    'Failed to load NCCL library from ',
  ],
  rules: [
    {
      // vllm/distributed/device_communicators/pynccl_wrapper.py
      pattern: /Failed to load NCCL library from (\S{3,200}?)\.? It is expected/,
      kind: 'nccl_error',
      severity: 'critical',
      title: 'vLLM cannot load NCCL',
      verdict: ({ match }) =>
        `vLLM could not load ${match[1]}: the file is not there, damaged, or needs another library or platform. Without it the workers of several GPUs cannot talk to each other.`,
      remedies: ({ match, situation }) => [
        /VLLM_NCCL_SO_PATH ?=/.test(situation().text) && {
          text: 'Leave VLLM_NCCL_SO_PATH out: PyTorch brings the NCCL that it was built with, which vLLM then takes.',
          command: 'unset VLLM_NCCL_SO_PATH',
        },
        { text: 'See whether the file is there, and which library it lacks.', command: `ls -lL ${match[1]}; ldd ${match[1]} | grep "not found"` },
        !/VLLM_NCCL_SO_PATH ?=/.test(situation().text) && {
          text: 'Install the NCCL of this PyTorch again (cu13 for CUDA 13).',
          command: 'python -m pip install --force-reinstall nvidia-nccl-cu12',
        },
      ],
      // On a CPU, TPU or XPU vLLM does without, and says so.
      unless: ({ situation }) => /detected platform (?:cpu|tpu|xpu)|device_config=(?:cpu|tpu|xpu)/.test(situation().text),
    },
    {
      // openai-harmony, which gpt-oss is served with: https://github.com/vllm-project/vllm/issues/22525
      pattern: /error downloading or loading vocab file/,
      kind: 'network_error',
      severity: ({ message }) => (/Error in harmony chat/.test(message) ? 'warning' : 'critical'),
      title: 'The vocabulary of gpt-oss could not be downloaded',
      verdict: ({ message }) =>
        `Servers of gpt-oss read its chat format with openai-harmony, which downloads o200k_base.tiktoken from openaipublic.blob.core.windows.net. The files of the model do not hold it, and this host could not get it${/Error in harmony chat/.test(message) ? ': chat requests are refused until then' : ''}.`,
      remedies: [
        {
          text: 'Download both vocabularies where there is a way out, and bring the folder to the server (a mount of the container).',
          command:
            'mkdir -p tiktoken && for name in o200k_base cl100k_base; do curl -fLo tiktoken/$name.tiktoken https://openaipublic.blob.core.windows.net/encodings/$name.tiktoken; done',
        },
        { text: 'Name the folder in the environment of the server.', command: 'export TIKTOKEN_ENCODINGS_BASE=<FOLDER>' },
        {
          text: 'Or give the server a way out: behind a proxy it needs its variables.',
          command: 'env | grep -i proxy',
        },
      ],
    },
    {
      // llama.cpp, common/arg.cpp.
      pattern: /error while handling argument "([\w-]{2,40})": (?:error: )?([^\n]{3,160})|error: invalid argument: (-[\w-]{1,40})/,
      severity: 'critical',
      title: ({ match }) => `llama.cpp rejected the argument ${match[1] ?? match[3]}`,
      verdict: ({ match }) => `It did not start${match[2] === undefined ? `: this build does not know ${match[3]}` : `: "${match[2].trim()}"`}.`,
      remedies: ({ match }) => [
        /^(?:-fa|--flash-attn)$/.test(match[1] ?? '') && { text: 'Since August 2025 this option takes a value: on, off or auto.', command: '--flash-attn on' },
        { text: 'See what this build takes, and which one it is.', command: 'llama-server --help; llama-server --version' },
        match[2] === undefined && { text: 'Or update llama.cpp, if the option is newer than the build.' },
      ],
      // Its download failed, which the lines above explain.
      unless: ({ match, situation }) =>
        (match[3] !== undefined && !situation().programs.has('llamacpp')) || /failed to (?:get|download) model/.test(match[2] ?? ''),
    },
    {
      pattern:
        /Failed to load model "([^"\n]{1,120})": Model loading aborted due to insufficient system resources|Model loading aborted due to insufficient system resources/,
      kind: 'host_memory',
      severity: 'critical',
      title: 'LM Studio did not load the model: it looks too large',
      verdict: ({ match }) => `LM Studio estimates that ${match[1] ?? 'the model'} does not fit the free memory of GPU and host, and did not try to load it.`,
      remedies: [
        { text: 'Load a smaller quantization or model, or a shorter context; unload other models first.' },
        { text: 'If memory really is free: lower the guardrails for loading in the settings. The system may then run out of memory.' },
      ],
    },
    {
      pattern: /could not load model - all backends returned error: \[([\w-]{1,40})\][^\n]{0,200}?(?:error reading from server: EOF|code = Unavailable)/,
      kind: 'worker_died',
      severity: 'critical',
      title: ({ match }) => `LocalAI's backend ${match[1]} ended`,
      verdict: ({ match }) => `The backend ${match[1]} of LocalAI ended while it loaded the model. Its own words are not in this text.`,
      remedies: [
        { text: 'Let LocalAI print what its backends say, and load the model again.', command: 'export DEBUG=true' },
        KERNEL_LOG,
        { text: 'See that the image or backend is the one for this GPU and its driver; on a CPU without AVX it ends at once.' },
      ],
    },
    {
      pattern: /unknown projector type: (\w{2,60})/,
      severity: 'critical',
      title: 'llama.cpp does not know this kind of projector',
      verdict: ({ match }) => `The file for images (mmproj) is of type ${match[1]}, which this release of llama.cpp does not know: the model is newer.`,
      remedies: ({ situation }) => [
        { text: `Update ${situation().programs.has('ollama') ? 'Ollama' : 'llama.cpp, or the program that brings it'}.` },
        { text: 'Without images the model runs as it is: leave --mmproj out.' },
      ],
    },
    {
      pattern: /`(max_input_(?:tokens|length))` must be < `max_total_tokens`\. Given: (\d{1,9}) and (\d{1,9})/,
      severity: 'critical',
      title: 'TGI refused its limits of tokens',
      verdict: ({ match }) => `${match[1]} is ${match[2]} and max_total_tokens ${match[3]}: the total is input and answer together, so it must be larger.`,
      remedies: ({ match }) => [
        { text: `Leave space for answers (here 1024 tokens), or lower ${match[1]}.`, command: `--max-total-tokens ${Number(match[2]) + 1024}` },
      ],
    },
    {
      pattern: /timed out waiting for llama(?: runner|-server) to start(?: - progress ([\d.]{1,5}))?/,
      kind: 'worker_died',
      severity: 'critical',
      title: 'Ollama gave up loading the model',
      verdict: ({ match }) =>
        `The model made no progress for five minutes while it was loaded${match[1] === undefined ? '' : ` (${Math.round(Number(match[1]) * 100)} % done)`}: its disk is slow or far away, or the driver hangs.`,
      remedies: [
        { text: 'Keep the models on a local, fast disk; give slow ones more time (set it for the service).', command: 'export OLLAMA_LOAD_TIMEOUT=30m' },
        { text: 'See whether the GPU answers, and what Ollama says before.', command: 'journalctl -u ollama --no-pager | tail -n 60' },
      ],
    },
    {
      pattern: /couldn't bind HTTP server socket, hostname: (\S{1,80}), port: (\d{1,5})/,
      kind: 'port_in_use',
      severity: 'critical',
      title: 'Port already in use',
      verdict: ({ match }) =>
        `llama-server cannot listen on ${match[1]}, port ${match[2]}: another process most likely does, or the address is not one of this host.`,
      remedies: ({ match }) => [
        { text: `See which process listens on port ${match[2]}.`, command: `sudo ss -ltnp | grep ':${match[2]} '` },
        { text: 'Or let the server listen on another port.', command: `--port ${Number(match[2]) + 1}` },
      ],
      facts: ({ match }) => ({ port: Number(match[2]) }),
    },
    {
      pattern: /weight (\S{3,120}\.qweight) does not exist/,
      severity: 'critical',
      title: 'The model is not quantized in that way',
      verdict: ({ match }) =>
        `The server was told that the model is quantized (GPTQ, AWQ), and its files have no ${match[1]}: they hold plain weights or another form.`,
      remedies: [{ text: 'Leave --quantize out, or use the repository that holds the quantized model.' }],
    },
    {
      pattern: /ggml_vulkan: No devices found/,
      kind: 'gpu_not_visible',
      severity: 'warning',
      title: 'llama.cpp finds no Vulkan device',
      verdict:
        'Vulkan lists no GPU here, so llama.cpp computes on the CPU: its driver is not installed where it runs, or the container was not given the device.',
      remedies: [
        {
          text: 'See what Vulkan finds; in a container install the driver in its image (Mesa for AMD and Intel) and pass the device.',
          command: 'vulkaninfo --summary; ls -l /dev/dri',
        },
      ],
    },
    {
      pattern: /(?:[Tt]ensor parallel size|[Ww]orld size) \((\d{1,4})\) (?:exceeds|is larger than) (?:the )?(?:number of )?available GPUs \((\d{1,4})\)/,
      severity: 'critical',
      title: ({ match }) => `vLLM was to use ${match[1]} GPUs, and ${match[2]} ${match[2] === '1' ? 'is' : 'are'} there`,
      verdict: ({ match }) => `Tensor times pipeline parallel size is ${match[1]}, and this host (or container) has ${match[2]}, so the server did not start.`,
      remedies: ({ match }) => [
        { text: 'Use no more than there are, if the model fits.', command: `--tensor-parallel-size ${match[2]}` },
        { text: 'Several hosts: join them in a Ray cluster first, and start the server on its head node.', command: '--distributed-executor-backend ray' },
        { text: 'See which GPUs it sees; a container gets those that it was started with.', command: 'nvidia-smi -L; echo "$CUDA_VISIBLE_DEVICES"' },
      ],
    },
  ],
})
