// What platforms that serve models say when a server finds no GPU, no profile, no backend, no key or no more threads: KServe, NIM, Ray Serve, LocalAI.
import { lookup } from '../../text/lookup.ts'
import { ruleFamily } from './parts/rules.ts'

const deploymentOf = (text: readonly string[], at: number): string =>
  /(?:deployments? \[?'|^ {2,30})([\w:.-]{2,80})(?:'\]?|:$)/m.exec(
    text
      .slice(Math.max(0, at - 2), at + 1)
      .toReversed()
      .join('\n'),
  )?.[1] ?? 'a deployment'

export const servingPlatforms = ruleFamily({
  id: 'serving-platforms',
  kind: 'config_error',
  literals: [
    'Fails: grpc process not found: ',
    'that have taken more than ',
    'currently runnable with the detected hardware',
    'api.ngc.nvidia.com',
    'Failed to start model server: integer division',
    'pthread_create failed',
    '(Exit code: ',
    'HTTP status client error',
    'unknown variant `',
    'No available slot found for the model',
    'No compatible profiles found',
    'deployment failed to start ',
  ],
  rules: [
    {
      pattern: /Unknown error\. Try a different model and\/or config|Please check settings and try loading the model again/,
      kind: 'worker_died',
      severity: 'critical',
      title: "LM Studio's engine ended while it loaded the model",
      verdict: ({ text, at }) => {
        const code = /\(Exit code: (\d{1,20})\)/.exec(text[at] ?? '')?.[1]
        const how = lookup(EXITS, code ?? '')
        return `The process that runs the model ended${code === undefined ? '' : ` with exit code ${code}`}${how === undefined ? '' : `: ${how}`}. The dialog knows no more; its log may.`
      },
      remedies: [
        {
          text: 'Choose another runtime in the settings (Runtime: CUDA, Vulkan, ROCm or CPU llama.cpp), or its version before: that shows whether the code for the GPU is at fault.',
        },
        { text: 'Update LM Studio, its runtimes and the driver of the GPU.' },
        { text: 'Load it with less on the GPU (GPU offload) and a shorter context, without flash attention and quantized cache.' },
        { text: 'Read what the engine says in the developer log while it loads.', command: 'lms log stream' },
      ],
    },
    {
      pattern: /HTTP status client error \((401|403|404) [\w ]{3,20}\) for url \(https?:\/\/huggingface\.co\/([\w.-]{1,96}(?:\/[\w.-]{1,96})?)\/resolve/,
      kind: 'model_access',
      severity: 'critical',
      title: ({ match }) => `No access to ${match[2]}`,
      verdict: ({ match }) =>
        `The hub answered ${match[1]} for ${match[2]}: ${match[1] === '404' ? 'no file of that name is there' : 'it is private or gated, or its name is wrong'}.`,
      remedies: ({ match, situation }) => [
        match[1] !== '404' && {
          text: `Accept the terms on the page of ${match[2]}, and give the server a token of that account.`,
          command: situation().programs.has('docker') ? 'docker run -e HF_TOKEN=<TOKEN> <IMAGE>' : 'export HF_TOKEN=<TOKEN>',
        },
        match[1] === '404' && { text: 'Check name and revision; the server needs config.json, tokenizer.json and weights as safetensors there.' },
        { text: 'Without a way to the hub: download the model elsewhere, and name its folder as --model-id.' },
      ],
    },
    {
      pattern: /unknown variant `([\w-]{2,60})`, expected one of `(?:bert|camembert)/,
      severity: 'critical',
      title: ({ match }) => `Text Embeddings Inference does not know models of type ${match[1]}`,
      verdict: ({ match }) => `The model is of type ${match[1]}, which this release cannot serve.`,
      remedies: [
        { text: 'Take a newer image: types are added with releases.' },
        { text: 'Or serve it by another server (vLLM with --task embed, Infinity, sentence-transformers).' },
      ],
    },
    {
      pattern: /No available slot found for the model/,
      kind: 'gpu_unschedulable',
      severity: 'critical',
      title: 'Xinference has no free GPU for the model',
      verdict: 'Each GPU already holds a model, and Xinference gives a GPU to one model of this kind only.',
      remedies: [
        { text: 'See what is loaded, and end what is not needed.', command: 'xinference list; xinference terminate --model-uid <UID>' },
        { text: 'Or name the GPU yourself: then two models share it, if memory allows.', command: '--gpu-idx 0' },
      ],
    },
    {
      pattern:
        /Deployment '?([\w:.-]{1,80})'? in application '?([\w.-]{1,60})'? has (\d{1,4}) replicas? that (?:have|has) taken more than (\d{1,5})s to be scheduled/,
      kind: 'gpu_unschedulable',
      severity: 'warning',
      title: ({ match }) => `Ray Serve finds no place for ${match[1]}`,
      verdict: ({ message, match }) => {
        const [, asks, has] = /replica: (\[[^\]]{2,200}\]), total resources available: (\{[^}]{0,300}\})/.exec(message) ?? []
        return `${match[3]} replica${match[3] === '1' ? '' : 's'} of ${match[1]} wait${match[3] === '1' ? 's' : ''} for resources${asks === undefined ? '' : `: each asks for ${asks}, and free are ${has}`}.`
      },
      remedies: [
        { text: 'See what the cluster has, and who holds it.', command: 'ray status' },
        { text: 'A node counts its GPUs when Ray starts there: start it where they are visible (in containers and pods with the GPU), or with --num-gpus.' },
        { text: 'Ask for less (ray_actor_options, tensor parallel size), or stop another deployment.' },
      ],
    },
    {
      // ray serve/_private/deployment_state.py
      pattern: /deployment failed to start (\d{1,4}) times in a row/,
      kind: 'worker_died',
      severity: 'critical',
      title: ({ text, at }) => `Ray Serve could not start ${deploymentOf(text, at)}`,
      verdict: ({ match }) =>
        `Its replica ended ${match[1]} times while it started: its constructor raised an error, or its first health check failed. The error itself is behind "Error:", or in the log of the replica.`,
      remedies: [
        { text: 'Read the error of the replica (on its node).', command: 'serve status; ls -t /tmp/ray/session_latest/logs/serve | head' },
        {
          text: 'If it names the GPU: the pod or node of the replica must show it, and the deployment must ask for it (num_gpus, accelerator_type).',
          command: 'ray status; nvidia-smi -L',
        },
      ],
    },
    {
      pattern: /Could not find a profile that is currently runnable with the detected hardware/,
      severity: 'critical',
      title: 'NIM has no profile for this GPU',
      verdict: 'None of the profiles of this NIM fits the GPUs that are free here (kind, number, memory), so it did not start.',
      remedies: ({ situation }) => {
        const shorter = /try --max-model-len=(\d{3,7}) to reduce/.exec(situation().text)?.[1]
        return [
          shorter !== undefined && {
            text: 'Serve it with the shorter context that its list of profiles proposes.',
            command: `docker run --gpus all -e NIM_MAX_MODEL_LEN=${shorter} -e NGC_API_KEY <IMAGE>`,
          },
          { text: 'See which profiles there are and what they need.', command: 'docker run --rm --gpus all <IMAGE> list-model-profiles' },
          { text: 'Give it more or larger GPUs, free those that are in use, or take a smaller model.' },
        ]
      },
    },
    {
      pattern: /(?:HTTP status client error \()?\b(401|403)\b[^\n]{0,60}https:\/\/api\.ngc\.nvidia\.com|api\.ngc\.nvidia\.com[^\n]{0,200}\b(401|403)\b/,
      kind: 'model_access',
      severity: 'critical',
      title: 'NGC refuses the download of the model',
      verdict: ({ match }) =>
        (match[1] ?? match[2]) === '401'
          ? 'NGC does not accept the key: it is wrong, expired or missing.'
          : 'NGC knows the key, and its organization may not download this model.',
      remedies: [
        { text: 'Use a key of an organization with access (NVIDIA AI Enterprise or the developer program), and accept the terms on the page of the model.' },
        { text: 'Pass it into the container.', command: 'export NGC_API_KEY=<KEY> && docker run --gpus all -e NGC_API_KEY <IMAGE>' },
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
  ],
})
const backend = (path = ''): string => (path.endsWith('/run.sh') ? (path.split('/').at(-2) ?? path) : path)
/** Windows' codes come as 64-bit numbers that JavaScript rounded. */
const EXITS: Readonly<Record<string, string>> = {
  '4': 'an instruction that this CPU does not have',
  '6': 'it aborted itself',
  '9': 'it was killed, mostly because host memory ran out',
  '11': 'a segmentation fault',
  '132': 'an instruction that this CPU does not have',
  '134': 'it aborted itself',
  '137': 'it was killed, mostly because host memory ran out',
  '139': 'a segmentation fault',
  '18446744072635810000': 'an access violation or a failed check in the runtime',
  '18446744072635812000': 'a failed check in the runtime (it aborted itself)',
}
