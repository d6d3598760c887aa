// What Triton Inference Server says of models that it does not load: the folder, the backend, the Python process, and the table of all models.
import { ruleFamily, type Matched } from './parts/rules.ts'
import { dockerRun } from './remedies/docker-run.ts'
import type { Piece } from './remedies/plan.ts'
import { WRONG_RANKS, WRONG_RANKS_TITLE, wrongRanksRemedies, wrongRanksSays } from './remedies/tensorrt-llm-ranks.ts'

const critical = { severity: 'critical' } as const
const OTHERS: Piece = { text: 'To start with the other models in the meantime:', command: '--exit-on-error=false' }
const layout: Piece = {
  text: 'Lay the repository out as <MODEL>/config.pbtxt and <MODEL>/1/model.onnx (model.plan, model.pt, model.py …), and name the folder above the models.',
  command: 'find <REPOSITORY> -maxdepth 3',
}
const shm = ({ situation }: Matched): Piece =>
  situation().programs.has('kubernetes')
    ? { text: 'Give the pod more shared memory (an emptyDir of medium Memory at /dev/shm): each Python model takes some.' }
    : {
        text: 'Give the container more shared memory: each Python model takes some, and 64 MiB are soon used up.',
        command: dockerRun('--shm-size=1g', situation()),
      }
/** Cells of a table wrap: the rows below whose first two columns are empty go on with the message. */
function cell(text: readonly string[], at: number): string {
  const last = (row = ''): string | undefined => /\|([^|]{1,400})\|\s{0,4}$/.exec(row)?.[1]?.trim()
  let words = last(text[at]) ?? ''
  for (let row = at + 1; row <= at + 4 && /\|\s{1,80}\|\s{1,40}\|/.test(text[row] ?? ''); row += 1) words += ` ${last(text[row]) ?? ''}`
  return words
}
/** libprotobuf names line and column: `Error parsing text-format inference.ModelConfig: 12:3: Expected identifier`. */
const SYNTAX = /Error parsing text-format [\w.]{1,60}: (\d{1,6}):(\d{1,6}): ([^\n]{3,160})/
const syntax = ({ text, at }: Pick<Matched, 'text' | 'at'>): RegExpExecArray | null => SYNTAX.exec(text.slice(Math.max(0, at - 20), at).join('\n'))
/** The first column of the table of models. */
const modelIn = (row = ''): string | undefined => /\|\s{0,4}([\w.-]{1,80})\s{0,80}\|\s{0,4}\S{1,8}\s{0,20}\|\s{0,4}UNAVAILABLE: /.exec(row)?.[1]
const versionless = (row = ''): string => /\|\s{0,4}([\w.-]{1,80})\s{0,80}\|[^|\n]{0,30}\|\s{0,4}Not loaded/.exec(row)?.[1] ?? 'a model'
/** Names of platforms that are written as names of backends. triton-inference-server/backend, README. */
const BACKENDS: Readonly<Record<string, string>> = {
  tensorrt_plan: 'tensorrt',
  onnxruntime_onnx: 'onnxruntime',
  pytorch_libtorch: 'pytorch',
  tensorflow_savedmodel: 'tensorflow',
  tensorflow_graphdef: 'tensorflow',
}
/** What has a family of its own. */
const ELSEWHERE = /Protobuf parsing failed|CUDA|cuda|memory|PTX|\.so\b|ModuleNotFoundError|stub|plan file|Version tag|not provided/

export const tritonRefused = ruleFamily({
  id: 'triton-refused',
  kind: 'config_error',
  literals: [
    'stub process',
    'Stub process ',
    'unable to create stream: ',
    'Poll failed for model directory',
    "unable to find 'libtriton_",
    'unable to find backend library for backend',
    'unable to load shared library: lib',
    'allocate pinned system memory',
    'backend API version does not support this backend',
    'model configuration is not provided for model',
    '| UNAVAILABLE: ',
    'Not loaded: No model version was found',
    'failed to load all models',
    'failed to poll model ',
    'explicit model load / unload is not allowed',
  ],
  rules: [
    {
      ...critical,
      kind: 'worker_died',
      pattern:
        /(?:failed to load '([\w.-]{1,80})'[^\n]{0,80})?Failed to initialize stub, stub process exited unexpectedly(?:: ([\w.-]{1,80}?)(?:_\d{1,3}){0,2}(?:\s|$))?|Stub process '([\w.-]{1,80}?)(?:_\d{1,3}){0,2}' is not healthy/,
      title: ({ match }) => `Triton's Python model ${match[1] ?? match[2] ?? match[3] ?? ''} ended while it was loaded`.replace('  ', ' '),
      verdict: ({ match }) =>
        `The process that Triton starts for the Python model${match[1] === undefined && match[3] === undefined ? '' : ` ${match[1] ?? match[3]}`} ended, or did not answer in time. Its own error is above or is only in the verbose log.`,
      remedies: (seen) => [
        shm(seen),
        { text: 'Let Triton say more, and look for the traceback of model.py.', command: 'tritonserver --model-repository=<REPOSITORY> --log-verbose=1' },
        { text: "Run model.py's imports by hand in the same container: a crash of a library while it is imported looks the same." },
        { text: 'If many models start at once on few CPUs: give them more time.', command: '--backend-config=python,stub-timeout-seconds=120' },
      ],
    },
    {
      ...critical,
      pattern: /Poll failed for model directory '([^'\n]{1,120})': ([^\n]{3,200})/,
      title: ({ match }) => `Triton cannot use the folder ${match[1]} of its repository`,
      verdict: ({ match, text, at }) =>
        /^\d{1,6}$/.test(match[1] ?? '')
          ? `Triton took ${match[1]}, which looks like the folder of a version, for a model: its repository is named one level too deep.`
          : `Triton looked at ${match[1]} as a model, and refused it: "${(text[at] ?? '').split(`'${match[1]}': `)[1]?.trim() ?? match[2]}".`,
      remedies: (seen) => {
        const [, line, column, reason] = syntax(seen) ?? []
        const said = seen.match[2] ?? ''
        if (said.includes('read text proto'))
          return [
            {
              text:
                line === undefined
                  ? 'Correct its config.pbtxt: the line with libprotobuf ERROR above names line and column, mostly a missing quote, comma or bracket, or a field that this release does not know.'
                  : `Correct line ${line}, column ${column} of its config.pbtxt: ${reason?.trim()}`,
            },
            {
              text: 'Every file of the model must be readable by the user of the server.',
              command: `ls -l ${/ from (\/[\w./-]{1,200})/.exec(said)?.[1] ?? '<REPOSITORY>'}`,
            },
          ]
        return [
          /must specify|unexpected|expected|invalid|unable to find|duplicate/i.test(said) && {
            text: 'Correct what the message names in the config.pbtxt of that model.',
          },
          layout,
        ]
      },
    },
    {
      ...critical,
      pattern: /failed to poll model '([\w.-]{1,80})': model not found in any model repository/,
      title: ({ match }) => `Triton has no model ${match[1]}`,
      verdict: ({ match }) => `Triton was asked to load ${match[1]}, and none of its repositories has a folder of that name.`,
      remedies: [
        { text: 'See which models the repository has as the server sees it (in its container): the name is that of the folder.', command: 'ls <REPOSITORY>' },
        layout,
      ],
    },
    {
      ...critical,
      pattern: /explicit model load \/ unload is not allowed if polling is enabled/,
      title: 'Triton does not load models on request',
      verdict: 'A program asked Triton to load or unload a model. It does that only in the explicit mode, and this server runs in another one.',
      remedies: [
        {
          text: 'Start it in the explicit mode; models to be there from the start are named with --load-model (* for all).',
          command: "tritonserver --model-repository=<REPOSITORY> --model-control-mode=explicit --load-model='*'",
        },
        { text: 'Or leave the request out: in the other modes the models of the repository are loaded at the start.' },
      ],
    },
    {
      ...critical,
      pattern: /UNAVAILABLE: /,
      unless: ({ text, at }) => modelIn(text[at]) === undefined || !WRONG_RANKS.test(cell(text, at)),
      title: WRONG_RANKS_TITLE,
      verdict: ({ text, at, situation }) => `Triton did not load ${modelIn(text[at]) ?? ''}. ${wrongRanksSays(situation())}`,
      remedies: ({ situation }) => wrongRanksRemedies(situation()),
    },
    {
      ...critical,
      pattern: /model configuration is not provided for model '([\w.-]{1,80})'/,
      title: ({ match }) => `Triton found no configuration of ${match[1]}`,
      verdict: ({ match }) =>
        `There is no config.pbtxt for ${match[1]}, and Triton could not make one from its files: a format without one, or a folder laid out in another way.`,
      remedies: [layout],
    },
    {
      ...critical,
      pattern: /(?:failed to load '([\w.-]{1,80})'[^\n]{0,60})?Triton backend API version does not support this backend/,
      title: 'A backend was built for another release of Triton',
      verdict: ({ match }) => `The backend${match[1] === undefined ? '' : ` of ${match[1]}`} asks for a newer interface than this Triton has.`,
      remedies: [
        { text: 'Take backend and server from one release: the same tag for both (for example r24.05 and 24.05-py3), or an image that brings the backend.' },
      ],
    },
    {
      ...critical,
      pattern: /unable to find 'libtriton_([\w.-]{1,60})\.so' for model '([\w.-]{1,80})'/,
      title: ({ match }) => `Triton has no backend ${match[1]} for ${match[2]}`,
      verdict: ({ match }) => `config.pbtxt of ${match[2]} names the backend ${match[1]}, and this Triton has none of that name.`,
      remedies: ({ match }) => {
        const name = match[1] ?? ''
        const backend = BACKENDS[name]
        return [
          backend !== undefined && {
            text: `${name} is a platform: write platform: "${name}", or backend: "${backend}".`,
            command: `grep -nE "backend|platform" <REPOSITORY>/${match[2]}/config.pbtxt`,
          },
          {
            text: `See which backends this image holds${backend === undefined ? ', and use one that has it, or correct the name' : ''}.`,
            command: 'ls /opt/tritonserver/backends',
          },
          OTHERS,
        ]
      },
    },
    {
      severity: 'warning',
      kind: 'gpu_not_visible',
      pattern: /(?:Unable|[Ff]ailed) to allocate pinned system memory[^\n]{0,120}?CUDA driver version is insufficient/,
      title: 'Triton runs without a GPU',
      verdict:
        'Triton found no driver that it can use, and goes on with the CPU: the container was started without the GPU, or the driver of the host is older than this release of Triton asks for.',
      remedies: ({ situation }) => [
        situation().programs.has('kubernetes')
          ? { text: 'Request a GPU for the pod (resources.limits: nvidia.com/gpu: 1).' }
          : { text: 'Start the container with the GPU.', command: dockerRun('--gpus all', situation()) },
        {
          text: 'If it was: compare the driver of the host with the one that the release notes of this Triton name, and update it or take an older image.',
          command: 'nvidia-smi',
        },
      ],
      unless: ({ situation }) => situation().text.includes('NVIDIA Driver was not detected'),
    },
    {
      ...critical,
      kind: 'gpu_not_visible',
      pattern: /unable to create stream: operation not supported/,
      title: 'CUDA does not work on this GPU',
      verdict:
        'CUDA refuses to make a stream on the GPU (operation not supported). Mostly it is a virtual GPU (vGPU) whose profile has no CUDA, or that has no licence.',
      remedies: [
        { text: 'See the profile and its licence: those of the C and Q series have CUDA.', command: "nvidia-smi -q | grep -iE 'product name|license'" },
      ],
    },
    {
      ...critical,
      pattern: /(?:failed to load '([\w.-]{1,80})'[^\n]{0,60})?unable to find backend library for backend '([\w.-]{1,60})'/,
      title: ({ match }) => `Triton has no backend ${match[2]}${match[1] === undefined ? '' : ` for ${match[1]}`}`,
      verdict: ({ match }) =>
        `The model${match[1] === undefined ? '' : ` ${match[1]}`} asks for the backend ${match[2]}, and this Triton found no library of it.`,
      remedies: [
        {
          text: 'See which backends this image holds: images with a framework in their tag (pyt, tf2, trtllm, min) have few; take the full one, or correct the name in config.pbtxt.',
          command: 'ls /opt/tritonserver/backends',
        },
        OTHERS,
      ],
    },
    {
      ...critical,
      kind: 'missing_dependency',
      pattern: /(?:failed to load '([\w.-]{1,80})'[^\n]{0,60})?unable to load shared library: (lib[\w.+-]{1,80}): cannot open shared object file/,
      title: ({ match }) => `A backend of Triton lacks ${match[2]}`,
      verdict: ({ match }) =>
        `Triton did not load${match[1] === undefined ? ' a model' : ` ${match[1]}`}: the library of its backend needs ${match[2]}, which is not there${/^lib(?:c10|torch)/.test(match[2] ?? '') ? ' (it is part of PyTorch)' : ''}.`,
      remedies: ({ match }) => [
        {
          text: 'See what the backend lacks: all its libraries must be in its own folder.',
          command: `ldd /opt/tritonserver/backends/${/^lib(?:c10|torch)/.test(match[2] ?? '') ? 'pytorch/libtriton_pytorch.so' : '*/libtriton_*.so'} | grep 'not found'`,
        },
        { text: 'Take server and backend from one image, or copy the whole folder of a backend that was built apart.' },
        OTHERS,
      ],
    },
    {
      ...critical,
      pattern: /Not loaded: No model version was found/,
      title: ({ text, at }) => `Triton found no version of ${versionless(text[at])}`,
      verdict: ({ text, at }) =>
        `The folder of ${versionless(text[at])} has no subfolder whose name is a number, or none that its version_policy allows, or the storage did not list it in time.`,
      remedies: [layout, { text: 'See what version_policy in its config.pbtxt asks for.', command: 'grep -rn version_policy <REPOSITORY>' }],
    },
    {
      ...critical,
      pattern: /UNAVAILABLE: Internal: unable to create TensorRT engine/,
      unless: ({ text, at }) => modelIn(text[at]) === undefined,
      title: ({ text, at }) => `Triton could not read the TensorRT engine of ${modelIn(text[at]) ?? ''}`,
      verdict: ({ text, at }) =>
        `TensorRT refused the engine file (model.plan) of ${modelIn(text[at]) ?? ''}. An engine runs only with the release of TensorRT and on the type of GPU for which it was built; a file that was cut off is refused too.`,
      remedies: [
        { text: 'Read the lines that begin with E above the table: there TensorRT says why.' },
        {
          text: 'Build the engine again on this GPU, with the TensorRT of the same release as this Triton.',
          command: 'trtexec --onnx=<MODEL>.onnx --saveEngine=model.plan',
        },
        OTHERS,
      ],
    },
    {
      ...critical,
      pattern: /UNAVAILABLE: (?:Internal: |Invalid argument: |Not found: )?([^|\n]{5,240})/,
      unless: ({ text, at }) => modelIn(text[at]) === undefined || ELSEWHERE.test(cell(text, at)),
      title: ({ text, at }) => `Triton did not load ${modelIn(text[at]) ?? ''}`,
      verdict: ({ text, at }) =>
        `Triton refused the model ${modelIn(text[at]) ?? ''}: "${cell(text, at)
          .replace(/^UNAVAILABLE: (?:Internal: |Invalid argument: |Not found: )?/, '')
          .slice(0, 240)}".`,
      remedies: ({ match }) => [
        /supports only GPU/.test(match[1] ?? '')
          ? {
              text: 'Triton made no GPU of this host available to the model: its instance_group says KIND_CPU, or, where config.pbtxt names no kind, the container was started without GPUs or with an image for another driver.',
              command: 'grep -rn -A 4 instance_group <REPOSITORY>\nnvidia-smi',
            }
          : { text: 'Correct what the message names, in the files or config.pbtxt of that model; one model that fails keeps the server from starting.' },
        OTHERS,
      ],
    },
    {
      ...critical,
      pattern: /creating server: Internal - failed to load all models/,
      // A row of the table, or the error of a model, says more.
      unless: ({ text }) => text.some((line) => /UNAVAILABLE: |failed to load '|^E\d{4} /.test(line)),
      title: 'Triton did not start: a model failed to load',
      verdict: 'At least one model of the repository failed to load, so Triton did not start. Which one, and why, is not in this text.',
      remedies: [
        { text: 'Read the lines that begin with E, and the rows of the table of models that say UNAVAILABLE: they name the model and the reason.' },
        { text: 'If there are none, let Triton say more.', command: 'tritonserver --model-repository=<REPOSITORY> --log-verbose=1' },
        OTHERS,
      ],
    },
  ],
})
