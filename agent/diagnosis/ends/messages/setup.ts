// Messages before the work begins: compilers, builds that do not fit, certificates, what a scheduler or server cannot give.
import { madeFor } from '../python-packages.ts'
import { only, type Known } from './message.ts'
import { hostOf, vllmOption } from '../../faults/cuda-oom/less/vllm-host.ts'

export const SETUP: readonly Known[] = [
  {
    pattern: /[Ff]ailed to find C compiler/,
    says: 'Triton compiles a small C file at its first use and finds no compiler.',
    remedies: (_, { situation }) => [
      situation.system === 'windows'
        ? {
            text: 'Install triton-windows in the release for this PyTorch: it brings a small C compiler along.',
            command: 'python -m pip install -U triton-windows',
          }
        : {
            text: 'Install a C compiler where the program runs (in a container: in its image), or name one in CC. On Debian and Ubuntu:',
            command: 'sudo apt-get install -y gcc',
          },
    ],
  },
  {
    pattern: /Cannot find a working triton installation/,
    remedies: (_, { situation }) => [
      situation.system === 'windows'
        ? { text: 'Install Triton for Windows, in the release for this PyTorch.', command: 'python -m pip install triton-windows' }
        : {
            text: 'Install the Triton that this PyTorch asks for: the command names it. On another CPU than x86 it may have none.',
            command: "python -c \"import importlib.metadata as m; print([r for r in m.requires('torch') if 'triton' in r])\"; python -m pip show triton",
          },
      {
        text: 'If it is installed: Triton also fails where PyTorch finds no GPU.',
        command: 'nvidia-smi -L; python -c "import torch; print(torch.cuda.is_available())"',
      },
      {
        text: 'Or go on without torch.compile.',
        command: `export ${/nnunet/i.test(situation.text) ? 'nnUNet_compile=f' : 'TORCHDYNAMO_DISABLE=1'}`,
      },
    ],
  },
  {
    pattern: /Python\.h: No such file/,
    says: 'The headers of Python are not installed.',
    remedies: only(
      'Install them for the Python that runs the job (in a container: in its image). On Debian and Ubuntu:',
      'sudo apt-get install -y python3-dev',
    ),
  },
  {
    pattern: /CERTIFICATE_VERIFY_FAILED/,
    says: 'The certificate of the other side is not trusted here: mostly a proxy that signs with a certificate of its own, old root certificates, or a wrong clock.',
    remedies: () => [
      {
        text: "Behind such a proxy, give Python the certificate of the proxy's authority.",
        command: 'export REQUESTS_CA_BUNDLE=<CERTIFICATE_FILE> SSL_CERT_FILE=<CERTIFICATE_FILE>',
      },
      {
        text: 'Else update the root certificates, and see that the clock is right.',
        command: 'sudo apt-get install -y ca-certificates; python -m pip install --upgrade certifi; date',
      },
    ],
  },
  {
    pattern: /max_model_len \((\d{2,9})\) is greater than the derived max_model_len \((?:max_position_embeddings|model_max_length|\w{3,40})=(\d{2,9})/,
    title: ([, asked, most]) => `A context of ${asked} tokens was asked for, and the model has ${most}`,
    remedies: (match, { situation }) => [
      vllmOption(situation, `Ask for no more than the ${match[2]} tokens that the model was made for.`, 'max_model_len', match[2]) ?? {
        text: `Ask for no more than the ${match[2]} tokens that the model was made for.`,
      },
      { text: 'Longer only with the RoPE scaling that the page of the model names: else what it writes beyond that is of no use.' },
    ],
  },
  {
    pattern: /max_num_batched_tokens \((\d{2,9})\) is smaller than max_model_len \((\d{2,9})\)/,
    title: ([, tokens, length]) => `A step of ${tokens} tokens is shorter than the longest request (${length})`,
    remedies: ([, tokens, length], { situation }) => [
      vllmOption(situation, 'Let one step process as many tokens as the longest request has.', 'max_num_batched_tokens', length),
      vllmOption(situation, 'Or limit requests to what one step processes.', 'max_model_len', tokens),
      { text: 'With chunked prefill, where it was switched off, a long request goes through several steps.' },
    ],
  },
  {
    // Powers of two: the heads of keys and values, which the message does not name, must divide as well.
    pattern:
      /heads?(?: \(|=|`: )(\d{1,4})\)? (?:must be divisible by .{0,30}(?:tensor.parallel\w{0,10}|tp)(?:[ _]size)?(?: \(|=)|and `num_shards`: )(\d{1,3})/i,
    title: ([, heads, size]) => `${heads} attention heads cannot be split over ${size} GPUs`,
    remedies: ([, heads, size], { situation }) => {
      const { programs } = situation
      const fits = [64, 32, 16, 8, 4, 2, 1].find((each) => each <= Number(size) && Number(heads) % each === 0) ?? 1
      const text = `${fits === 1 ? 'Run the model on one GPU' : `Split the model over ${fits} GPUs`}: ${heads} heads divide by that, and not by ${size}.`
      if (hostOf(situation) !== undefined) return [vllmOption(situation, text, 'tensor_parallel_size', fits) ?? { text }]
      const option = programs.has('vllm') ? '--tensor-parallel-size' : programs.has('sglang') ? '--tp-size' : programs.has('tgi') ? '--num-shard' : undefined
      return [option === undefined ? { text } : { text, command: `${option} ${fits}` }]
    },
  },
  {
    pattern: /^(\d{1,9}) is not divisible by (\d{1,4})$/m,
    when: ({ error }) => error?.frames.some(({ name }) => name === 'ensure_divisibility') === true,
    title: ([, size, ranks]) => `A size of ${size} cannot be split over ${ranks} ranks`,
    says: 'Tensor parallelism cuts each layer into equal parts.',
    remedies: ([, size, ranks]) => {
      const fit = [1, 2, 3, 4, 5, 6, 7, 8].filter((each) => Number(size) % each === 0 && each !== Number(ranks))
      return [
        {
          text: `Set the tensor parallel size to a number that divides ${size}: ${fit.join(', ')} (vLLM --tensor-parallel-size, SGLang --tp-size, verl rollout.tensor_model_parallel_size, Megatron --tensor-model-parallel-size).`,
        },
        { text: 'The other GPUs can take pipeline stages or another copy of the model.' },
      ]
    },
  },
  {
    pattern: /number of required GPUs exceeds the total number/i,
    remedies: only(
      'Ask for no more GPUs than there are: tensor times pipeline parallel size is the number that it needs. Over several hosts all must have joined the Ray cluster.',
      'nvidia-smi -L; ray status',
    ),
  },
  {
    pattern:
      /Could not run 'torchvision::\w{1,40}' with arguments from the 'CUDA' backend|operator torchvision::\w{1,40} does not exist|No such operator torchvision::\w{1,40}|Could not find the operator torchvision::\w{1,40}/,
    title: 'torchvision does not fit the installed PyTorch',
    says: ([words]) =>
      words.startsWith('Could not run')
        ? 'This torchvision is a build for the CPU, and the PyTorch beside it has CUDA.'
        : `Its compiled operators are not there: torchvision was built for another PyTorch than the one that is installed${words.startsWith('No such') ? ', or the code calls them by torch.ops without "import torchvision" before' : ''}.`,
    remedies: ([words], { situation }) => {
      const torch = situation.versions.torch
      if (words.startsWith('Could not run'))
        return [
          {
            text: 'Install the torchvision with the same CUDA as PyTorch, from the same index: the part after the plus in its version (cu126, cu128 …) names it.',
            command: `python -c "import torch; print(torch.__version__)"\npython -m pip install --force-reinstall --no-deps torchvision --index-url https://download.pytorch.org/whl/${/\b2\.\d{1,2}\.\d\+(cu\d{3})\b/.exec(situation.text)?.[1] ?? '<CUDA>'}`,
          },
        ]
      const release = madeFor('torchvision', torch)
      const named = /\b2\.\d{1,2}\.\d\+(cu\d{3}|cpu|xpu|rocm[\d.]{1,5})\b/.exec(situation.text)?.[1]
      const index = named ?? (situation.system === 'windows' ? '<CUDA>' : undefined)
      return [
        release === undefined
          ? {
              text: 'Install the torchvision that was made for the installed PyTorch: 0.15 belongs to 2.0, 0.21 to 2.6, 0.24 to 2.9, one more for each release.',
              command: "python -c 'import torch; print(torch.__version__)'; python -m pip install 'torchvision==<VERSION>'",
            }
          : {
              text: `Install the torchvision that was made for PyTorch ${torch}.`,
              command: `python -m pip install --force-reinstall --no-deps 'torchvision==${release}'${index === undefined ? '' : ` --index-url https://download.pytorch.org/whl/${index}`}`,
            },
        { text: 'Later install both in one command, so that they stay together.' },
      ]
    },
  },
  {
    pattern: /can't start new thread|pthread_create failed|^Resource temporarily unavailable$|^\[Errno 11\] Resource temporarily unavailable$/m,
    // Of files and sockets the number means another thing.
    when: ({ error }) =>
      error?.message.startsWith('[Errno 11]') !== true || error.frames.some(({ name }) => /fork|_launch|_execute_child|thread/.test(name ?? '')),
    title: 'No more threads or processes can be started',
    says: 'The limit of processes and threads is reached: that of the user (ulimit -u), or that of the container (pids).',
    remedies: (_, { situation: { text, programs } }) => [
      {
        text: `Start fewer threads: each worker otherwise starts one for each core${/RLIMIT_NPROC (\d{1,9}) current/.test(text) ? ` (the limit is ${/RLIMIT_NPROC (\d{1,9}) current/.exec(text)?.[1]})` : ''}.`,
        command: 'export OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=4',
      },
      { text: 'See how many there are, and the limits.', command: 'ps -eLf | wc -l; ulimit -u; cat /sys/fs/cgroup/pids.max' },
      programs.has('docker') && { text: 'Raise the limit of the container.', command: 'docker run --pids-limit=-1 <IMAGE>' },
    ],
  },
  {
    pattern: /exec format error/i,
    says: 'It was built for another kind of CPU (amd64, arm64), or is a script without a first line that names its interpreter.',
    remedies: (_, { situation }) => [
      { text: 'Compare the CPU of the machine with that of the program.', command: 'uname -m; file -L <PROGRAM>' },
      {
        text: 'Use the image or build for that CPU: linux/amd64 where uname says x86_64, linux/arm64 where it says aarch64.',
        ...(situation.programs.has('docker') ? { command: `docker pull --platform <PLATFORM> ${situation.subject.image ?? '<IMAGE>'}` } : {}),
      },
    ],
  },
  {
    pattern: /Object arrays cannot be loaded when allow_pickle=False/,
    remedies: only(
      'The file holds Python objects and no plain array: write it again as arrays; or, only where you trust its source (loading runs code), np.load(…, allow_pickle=True).',
    ),
  },
  {
    pattern: /Run initialization has timed out after/,
    says: 'The service that records the run did not answer; the training itself had not begun.',
    remedies: () => [
      { text: 'Record on this machine and send it later.', command: 'export WANDB_MODE=offline' },
      { text: 'See whether the service can be reached from where the job runs.', command: 'curl -sSI https://api.wandb.ai | head -n 1; env | grep -i proxy' },
    ],
  },
  {
    pattern: /execve\(\): \S{0,200}\/slurm_script: No such file/,
    says: "Slurm's copy of the batch script was gone from the node before it started: its spool folder was cleaned, is not mounted, or is in /tmp.",
    remedies: () => [
      { text: 'Submit it again without that node, and report the node to its administrator.', command: 'sbatch --exclude=<NODE> <SCRIPT>' },
      { text: 'On the node: keep SlurmdSpoolDir out of /tmp and of what cleans it.', command: 'scontrol show config | grep -i SlurmdSpoolDir' },
    ],
  },
]
