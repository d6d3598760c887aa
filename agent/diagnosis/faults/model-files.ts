// Model files and CPUs that a server of llama.cpp's kin does not accept: another architecture, another release, a processor without AVX.
import { PROGRAM_NAMES } from '../situation/programs.ts'
import { lookup } from '../../text/lookup.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { known } from './parts/window.ts'
import { notGguf, type NotGguf } from './parts/file-magic.ts'
import type { Piece } from './remedies/plan.ts'

function name({ situation }: Pick<Matched, 'situation'>): string {
  const { programs, text } = situation()
  if (programs.has('ollama')) return 'Ollama'
  if (/LM Studio\b|"errorData"|llama\.cpp error: '/.test(text)) return 'LM Studio'
  if (/koboldcpp/i.test(text)) return 'KoboldCpp'
  return /llama-cpp-python|llama_cpp[\\/]/.test(text) ? 'llama-cpp-python' : (PROGRAM_NAMES.llamacpp ?? 'llama.cpp')
}

function update(seen: Matched): Piece {
  const who = name(seen)
  if (who === 'Ollama') return { text: 'Update Ollama (server too, not only the client; models may need a newer release).', command: 'ollama --version' }
  if (who === 'llama-cpp-python')
    return { text: 'Update llama-cpp-python: it brings a llama.cpp of its own.', command: 'pip install --upgrade llama-cpp-python' }
  if (who === 'LM Studio') return { text: 'Update LM Studio, and the llama.cpp runtime in its settings (Runtime).' }
  return { text: `Update ${who}: its release is older than the file.` }
}
const again: Piece = {
  text: 'Else take a newer file of the model, converted and quantized by a current llama.cpp; a file that was downloaded in part is shorter than on its page.',
}

const NO_AVX = 'lscpu | grep -o "avx[^ ]*" | sort -u'
/** Windows ends a process by these. */
const WINDOWS: Readonly<Record<string, readonly [title: string, says: string, remedy: string]>> = {
  c0000135: [
    "Ollama's runner lacks a DLL",
    'Windows did not find a DLL that the runner needs: of CUDA or ROCm, or the C++ runtime of Microsoft.',
    'Install Ollama again over the old one (its DLLs are beside it), and the Visual C++ Redistributable (x64).',
  ],
  c000007b: [
    "Ollama's runner met a DLL that does not fit",
    'A DLL is damaged, or of a 32-bit program.',
    'Install Ollama again, and take folders with DLLs of other programs out of PATH.',
  ],
  c0000022: [
    "Ollama's runner was denied access",
    'Windows refused the runner a file that it needs to start (access denied): a virus scanner, or the rights on the folder of Ollama.',
    'Allow the folder of Ollama in the virus scanner, install Ollama again for this user, and do not start it from a folder that others own.',
  ],
  c0000005: [
    "Ollama's runner crashed",
    'The runner accessed memory that is not its own: a fault of its code, of the model file or of the driver of the GPU.',
    'Update Ollama and the driver of the GPU; try the model without the GPU (option num_gpu 0), and pull it again.',
  ],
  c0000409: [
    "Ollama's runner ended itself",
    'A check in the runner failed (it says which just above, as GGML_ASSERT or "error loading model").',
    'Update Ollama, and pull the model again: most of these are models that are newer than the release.',
  ],
}
const STATUS =
  /(?:runner|llama-server) process (?:has terminated|(?:is )?no longer running): (?:exit status 0x|(?=32212))(c0000135|c000007b|c0000022|c0000005|c0000409|3221225781|3221225595|3221225477|3221226505)/
const status = (word = ''): readonly [string, string, string] | undefined => lookup(WINDOWS, word.startsWith('c') ? word : Number(word).toString(16))
/** The cause stands just above. */
const causeAbove = ({ text, at }: Seen): boolean =>
  /GGML_ASSERT|error loading model|CUDA error|out of memory/.test(text.slice(Math.max(0, at - 60), at).join('\n'))
/** Of other families: memory, and a file that cannot be opened. */
const NOT_THE_FILE = /alloc|memory|failed to open|No such file|mmap|CUDA|permission/i

/** By the bytes that the lines above show. */
const magic = ({ text, at, message }: Seen): NotGguf | undefined => notGguf(`${text.slice(Math.max(0, at - 4), at).join('\n')}\n${message}`)
const fileIn = (message = ''): string => /([^\s'"\\/]{1,100}\.(?:gguf|bin|ggml))\b/.exec(message)?.[1] ?? 'The file'

const shown = (path = ''): string => (/^[\w./@+-]+$/.test(path) ? path : '<FILE>')
const ILLEGAL =
  /(?:runner|llama-server) (?:process (?:has terminated|(?:is )?no longer running)|exited with error): (?:signal: illegal instruction|exit status 0xc000001d)|llama\.go:\d{1,5}: signal: illegal instruction/

export const modelFiles = ruleFamily({
  id: 'model-files',
  kind: 'checkpoint_mismatch',
  literals: [
    'unknown model architecture: ',
    'wrong number of tensors; expected ',
    'create_tensor: tensor ',
    'check_tensor_dims: tensor ',
    'missing tensor ',
    'unknown pre-tokenizer type: ',
    'failed to open GGUF file ',
    'has invalid ggml type ',
    'key not found in model: ',
    'is no longer supported. please use',
    'signal: illegal instruction',
    'exit status 0xc0000',
    'no longer running: 32212',
    'error loading model',
    'no backends are loaded',
    'Failed to load model from file: ',
    'unreasonable header length',
    'V cache quantization requires flash_attn',
    'requires Flash Attention',
    'CPU does not have AVX',
  ],
  rules: [
    {
      // ggml/src/gguf.cpp; newer releases add the system's words.
      pattern: /failed to open GGUF file '([^'\n]{1,300})'(?: \(([A-Z][\w ]{3,60})\))?/,
      kind: 'file_missing',
      severity: 'critical',
      title: 'llama.cpp cannot open the model file',
      verdict: ({ match }) =>
        `${match[1]} cannot be opened${match[2] === undefined ? ': it is not there, its folder is not mounted, or this user may not read it' : `: "${match[2]}"`}. What the log says of GPU memory after that does not apply.`,
      remedies: ({ match }) => [
        {
          text: 'See whether it is there and readable, from where the server runs (a container sees only what is mounted into it).',
          command: `ls -lL ${shown(match[1])}`,
        },
        { text: 'Give the path of the file itself; of a model in parts the first one (…-00001-of-000NN.gguf).' },
      ],
      facts: ({ match }) => known({ path: match[1] }),
    },
    {
      // llama-model-loader.cpp; releases from 2025 on may have their backends as libraries of their own (GGML_BACKEND_DL).
      pattern: /no backends are loaded\. hint: use ggml_backend_load/,
      kind: 'config_error',
      severity: 'critical',
      title: 'llama.cpp found none of its backends',
      verdict:
        'This build loads its backends (CPU, CUDA) from separate libraries and found none, so it cannot compute. Neither the model nor the GPU is at fault.',
      remedies: [
        {
          text: 'Keep libggml-cpu*.so and libggml-cuda.so in the folder of the executable, and start that one, not a copy elsewhere.',
          command: 'ls "$(dirname "$(readlink -f <PROGRAM>)")" | grep -i ggml',
        },
        { text: 'A program of your own must call ggml_backend_load_all() before it loads a model; or build with -DGGML_BACKEND_DL=OFF.' },
      ],
    },
    {
      pattern: /unknown model architecture: '([\w.-]{1,60})'/,
      kind: 'config_error',
      severity: 'critical',
      title: (seen) => `This ${name(seen)} does not know the architecture ${seen.match[1]}`,
      verdict: (seen) => `The model is of the architecture ${seen.match[1]}, which this release of ${name(seen)} does not know: mostly the model is newer.`,
      remedies: (seen) => [update(seen), { text: 'Or use a model of an architecture that this release knows.' }],
    },
    {
      pattern: /unknown pre-tokenizer type: '([\w.-]{1,60})'/,
      kind: 'config_error',
      severity: 'critical',
      title: (seen) => `This ${name(seen)} does not know the tokenizer ${seen.match[1]}`,
      verdict: ({ match }) => `The file names the tokenizer ${match[1]}, which this release does not know: the model is newer.`,
      remedies: (seen) => [update(seen), again],
    },
    {
      pattern:
        /wrong number of tensors; expected (\d{1,6}), got (\d{1,6})|create_tensor: tensor '([\w.]{1,80})' not found|missing tensor '([\w.]{1,80})'|check_tensor_dims: tensor '([\w.]{1,80})' (?:has wrong shape|not found)[^\n]{0,80}|tensor '([\w.]{1,80})' (?:of type \d{1,3} \(\w{1,20}\) )?has invalid ggml type (\d{1,3})|key not found in model: ([\w.]{1,80})|GGUFv1 is no longer supported/,
      severity: 'critical',
      title: (seen) => `This ${name(seen)} does not fit the model file`,
      verdict: (seen) =>
        `The file holds other tensors or settings than this release of ${name(seen)} expects of such a model ("${seen.match[0].slice(0, 110)}"). One of the two is older: mostly the program, sometimes the file.`,
      remedies: (seen) => [update(seen), again],
    },
    {
      // Its path goes through programs with other code pages. https://github.com/continuedev/continue/issues/12713
      pattern: /error loading model: [^\n]{0,60}?failed to load model from (?=[^"\n]{0,300}[^\u0000-\u007f])/,
      severity: 'critical',
      title: 'The model cannot be opened: its path has letters outside ASCII',
      verdict: (seen) =>
        `${name(seen)} could not open the file. Such a path is often damaged on its way to the program that opens the file; mostly the name of the Windows user is the reason.`,
      remedies: ({ situation }) => [
        situation().programs.has('ollama')
          ? {
              text: 'Keep the models in a folder whose path is plain ASCII, move them there, and restart Ollama.',
              command: 'setx OLLAMA_MODELS C:\\ollama\\models',
            }
          : { text: 'Move the model to a folder whose path is plain ASCII, and name that.' },
      ],
    },
    {
      pattern: /error loading model: ([^\n]{5,120}?)(?: (?:llama_|common_|srv |main: |Traceback|Loading the model failed)|$)/,
      severity: 'critical',
      unless: ({ match, text, at }) =>
        NOT_THE_FILE.test(match[1] ?? '') || text.slice(Math.max(0, at - 3), at).some((line) => line.includes('failed to open GGUF file')),
      title: (seen) => `${name(seen)} cannot read the model file`,
      verdict: (seen) => {
        const { match, situation } = seen
        const other = magic(seen)
        if (other !== undefined) return `${fileIn(match[1])} is not a GGUF file but ${other.is}.`
        return /magic/.test(`${match[1]} ${situation().text}`)
          ? /46554747/.test(match[1] ?? '')
            ? 'The file is of the format GGUF, and the program is older than that format.'
            : `The file is not of the format that the program reads (GGUF): it begins with something else ("${match[1]}").`
          : `The program could not use the file: "${match[1]}". It is cut off, of an older format, or newer than the program.`
      },
      remedies: (seen) => [
        magic(seen)?.remedies,
        magic(seen) === undefined &&
          /magic/.test(seen.situation().text) &&
          !/46554747/.test(seen.match[1] ?? '') && {
            text: 'Take the model as GGUF (many publish it so), or convert its folder; safetensors and .bin files of GGML cannot be loaded as they are.',
            command: 'python convert_hf_to_gguf.py <MODEL_FOLDER> --outfile <FILE>.gguf',
          },
        magic(seen) === undefined && [update(seen), again],
      ],
    },
    {
      pattern: /Failed to load model from file: ([^\n]{3,200}?)(?:\s{1,4}(?:INFO|Exception)|$)/,
      severity: 'critical',
      unless: causeAbove,
      title: 'llama-cpp-python could not load the model',
      verdict: ({ match }) =>
        `llama.cpp refused ${match[1]?.trim().split(/[\\/]/).at(-1)}. Its own words are missing: they are printed only with verbose=True. Mostly the release is older than the model, the path is wrong, or memory is short.`,
      remedies: [
        { text: 'Load it once with verbose=True: llama.cpp then says why ("unknown model architecture", "failed to open", "out of memory").' },
        { text: 'Update llama-cpp-python: it brings a llama.cpp of its own.', command: 'pip install --upgrade llama-cpp-python' },
        { text: 'See that the file is there and as large as on its page; try n_gpu_layers=0 and a small n_ctx.' },
      ],
    },
    {
      pattern: /Improper safetensors file ([^\n]{2,200}?)\. Wrong file type, or unreasonable header length/,
      severity: 'critical',
      title: ({ match }) => `${match[1]?.split(/[\\/]/).at(-1)} is no safetensors file`,
      verdict: 'The file has that ending and begins like something else: a GGUF that was renamed, a page of HTML, or a download that was cut off.',
      remedies: [
        { text: 'See what it is: GGUF files begin with those letters.', command: 'head -c 64 <FILE>' },
        { text: 'Give a GGUF file its own ending and loader; download anything else again.' },
      ],
    },
    {
      pattern: /V cache quantization requires flash_attn|quantized V cache[^\n]{0,60}requires Flash Attention/,
      kind: 'config_error',
      severity: 'critical',
      title: 'A quantized KV cache needs flash attention',
      verdict: 'The cache of values was to be stored in 8 or 4 bit, which llama.cpp does only with flash attention.',
      remedies: ({ situation }) => [
        situation().programs.has('ollama')
          ? { text: 'Switch flash attention on.', command: 'export OLLAMA_FLASH_ATTENTION=1' }
          : { text: 'Switch flash attention on (llama-cpp-python and web UIs: flash_attn).', command: '--flash-attn on' },
        { text: 'Or leave the cache in 16 bit (cache type f16).' },
      ],
    },
    {
      pattern: STATUS,
      kind: 'worker_died',
      severity: 'critical',
      unless: causeAbove,
      title: ({ match }) => status(match[1])?.[0] ?? "Ollama's runner ended",
      verdict: ({ match }) =>
        `${status(match[1])?.[1] ?? ''} (status ${match[1]?.startsWith('c') === true ? `0x${match[1]}` : match[1]} of Windows).`.replace('. (', ' ('),
      remedies: ({ match }) => [
        { text: status(match[1])?.[2] ?? 'Update Ollama.' },
        { text: "Read the runner's last lines in %LOCALAPPDATA%\\Ollama\\server.log." },
      ],
    },
    {
      pattern: ILLEGAL,
      kind: 'worker_died',
      severity: 'critical',
      title: "Ollama's runner uses an instruction that this CPU does not have",
      verdict:
        'The runner was ended for an illegal instruction: it was built for processors with AVX (or AVX2), and this one, or the virtual machine, does not offer it.',
      remedies: [
        { text: 'See what the CPU offers; a virtual machine shows only what its CPU type passes on (Proxmox, QEMU: type "host").', command: NO_AVX },
        { text: 'Update Ollama: newer releases choose the code by what the CPU has.' },
      ],
    },
    {
      pattern: /CPU does not have AVX(?: or AVX2)?, disabling GPU support|incompatible with host system, CPU does not have AVX/,
      kind: 'gpu_not_visible',
      severity: 'warning',
      title: 'Ollama does not use the GPU: the CPU has no AVX',
      verdict:
        "This release of Ollama uses its GPU code only where the CPU has AVX. This CPU, or the virtual machine's, does not offer it, so models run on the CPU alone.",
      remedies: [
        { text: 'In a virtual machine give it the CPU type of its host (Proxmox, QEMU: type "host"); then AVX is there.', command: NO_AVX },
        { text: 'Update Ollama: releases since 2025 use the GPU without AVX too.' },
      ],
    },
  ],
})
