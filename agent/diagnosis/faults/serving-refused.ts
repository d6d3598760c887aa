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
    'tool choice requires --enable-auto-tool-choice',
    'must be < `max_total_tokens`',
    'timed out waiting for llama runner',
    'bind HTTP server socket',
    'qweight does not exist',
    'No compatible profiles found',
    'ggml_vulkan: No devices found',
    'Failed to start model server: integer division',
    'Fails: grpc process not found: ',
    'pthread_create failed: Resource temporarily unavailable',
  ],
  rules: [
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
      pattern: /tool choice requires --enable-auto-tool-choice and --tool-call-parser/,
      severity: 'warning',
      title: 'The server was started without tool calls',
      verdict: 'A request asked for tools, and vLLM was started without the options for them. Such requests are refused (400); others are served.',
      remedies: [
        {
          text: 'Start it with the parser for this model (the page of the model or of vLLM names it).',
          command: '--enable-auto-tool-choice --tool-call-parser <PARSER>',
        },
      ],
    },
    {
      pattern: /`(max_input_(?:tokens|length))` must be < `max_total_tokens`\. Given: (\d{1,9}) and (\d{1,9})/,
      severity: 'critical',
      title: 'TGI refused its limits of tokens',
      verdict: ({ match }) => `${match[1]} is ${match[2]} and max_total_tokens ${match[3]}: the total is input and answer together, so it must be larger.`,
      remedies: ({ match }) => [
        { text: `Leave room for answers (here 1024 tokens), or lower ${match[1]}.`, command: `--max-total-tokens ${Number(match[2]) + 1024}` },
      ],
    },
    {
      pattern: /timed out waiting for llama runner to start(?: - progress ([\d.]{1,5}))?/,
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
      pattern: /No compatible profiles found[^\n]{0,120}?(?:Free GPUs?: ?(?:- )?([^\n]{3,120}))?$/,
      severity: 'critical',
      title: 'NIM has no profile for this GPU',
      verdict: 'None of the profiles of this NIM (GPU, number of GPUs, precision) fits the GPUs that are free here, so it did not start.',
      remedies: [
        { text: 'See which profiles there are and what they need.', command: 'docker run --rm --gpus all <IMAGE> list-model-profiles' },
        { text: 'Give it more or larger GPUs, free those that are in use, or take a smaller model.' },
      ],
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
      pattern: /Failed to start model server: integer division or modulo by zero/,
      kind: 'gpu_not_visible',
      severity: 'critical',
      title: 'KServe finds no GPU in the pod',
      verdict:
        "KServe's server for Hugging Face models divides by the number of GPUs, and found none: the pod was not given one, or the image is the one for CPUs.",
      remedies: ({ situation }) => [
        { text: 'Ask for a GPU in the InferenceService: resources.limits of the predictor, "nvidia.com/gpu": "1".' },
        {
          text: 'See whether the container has it; runtimeClassName: nvidia may be missing.',
          command: `kubectl exec ${situation().subject.pod ?? '<POD>'} -c kserve-container -- nvidia-smi -L`,
        },
        { text: 'From KServe 0.15 on take the image whose tag ends in -gpu.' },
      ],
    },
    {
      pattern: /\[([\w./-]{1,120})\] Fails: grpc process not found: /,
      kind: 'missing_dependency',
      severity: 'warning',
      title: ({ match }) => `LocalAI has no backend ${backend(match[1])}`,
      verdict: ({ match }) =>
        `LocalAI tried ${backend(match[1])} for the model, and this installation does not have that backend. Without a backend in its configuration a model is tried with one after the other.`,
      remedies: ({ match }) => [
        { text: "Name the right backend in the model's YAML file (backend: llama-cpp, vllm, transformers …): the error of that one is then the cause." },
        { text: 'Install the backend, or (before LocalAI 3) use an image that holds it.', command: `local-ai backends install ${backend(match[1])}` },
      ],
    },
    {
      pattern: /pthread_create failed(?: for thread \d{1,4} of \d{1,4})?: Resource temporarily unavailable/,
      kind: 'aborted',
      severity: 'critical',
      title: 'A thread could not be started: a limit is reached',
      verdict: 'The system refused another thread: the limit of processes of the user, of the container or of its unit is reached, or host memory is used up.',
      remedies: ({ situation }) => [
        {
          text: 'See the limits, and how many threads run.',
          command: 'ulimit -u; cat /sys/fs/cgroup/pids.max /proc/sys/kernel/threads-max; ps -eLf | wc -l',
        },
        situation().programs.has('kubernetes')
          ? { text: "Raise the limit of processes of the pod (the kubelet's podPidsLimit), or start fewer threads." }
          : situation().programs.has('docker')
            ? { text: 'Start the container with a higher limit.', command: `docker run --pids-limit=-1 ${situation().subject.image ?? '<IMAGE>'}` }
            : { text: 'Raise it for the shell or the service (TasksMax and LimitNPROC of a systemd unit).', command: 'ulimit -u 65536' },
        {
          text: 'Or use fewer threads: one pool for each library and process is too many on hosts with many cores.',
          command: 'export OMP_NUM_THREADS=8 OPENBLAS_NUM_THREADS=8',
        },
      ],
    },
  ],
})
const backend = (path = ''): string => (path.endsWith('/run.sh') ? (path.split('/').at(-2) ?? path) : path)
