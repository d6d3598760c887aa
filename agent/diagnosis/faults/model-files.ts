// Model files and CPUs that a server of llama.cpp's kin does not accept: another architecture, another release, a processor without AVX.
import { PROGRAM_NAMES } from '../situation/programs.ts'
import { ruleFamily, type Matched } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

const name = ({ situation, text }: Pick<Matched, 'situation' | 'text'>): string =>
  situation().programs.has('ollama')
    ? 'Ollama'
    : text.some((line) => /LM Studio\b|"errorData"|llama\.cpp error: '/.test(line))
      ? 'LM Studio'
      : text.some((line) => /koboldcpp/i.test(line))
        ? 'KoboldCpp'
        : text.some((line) => /llama-cpp-python|llama_cpp[\\/]/.test(line))
          ? 'llama-cpp-python'
          : (PROGRAM_NAMES.llamacpp ?? 'llama.cpp')

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
const ILLEGAL = /runner (?:process (?:has terminated|(?:is )?no longer running)|exited with error): (?:signal: illegal instruction|exit status 0xc000001d)/

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
    'has invalid ggml type ',
    'key not found in model: ',
    'is no longer supported. please use',
    'signal: illegal instruction',
    'exit status 0xc000001d',
    'CPU does not have AVX',
  ],
  rules: [
    {
      pattern: /unknown model architecture: '([\w.-]{1,60})'/,
      kind: 'config_error',
      severity: 'critical',
      title: (seen) => `This ${name(seen)} does not know the architecture ${seen.match[1]}`,
      verdict: (seen) => `The model is of the architecture ${seen.match[1]}, which this release of ${name(seen)} does not know: the model is newer.`,
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
