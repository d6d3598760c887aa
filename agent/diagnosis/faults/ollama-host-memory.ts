// Ollama loads no model that does not fit the host's memory beside the GPU's.
import type { Piece } from './remedies/plan.ts'
import { bytesOf, SIZE } from './quantity.ts'
import { ruleFamily } from './parts/rules.ts'
import { around, known } from './parts/window.ts'
import { gibAsPrinted as gib } from '../../text/bytes.ts'

const UNLOAD: Piece = { text: 'Unload other models first: each loaded one keeps its part of host memory.', command: 'ollama ps' }

export const ollamaHostMemory = ruleFamily({
  id: 'ollama-host-memory',
  kind: 'host_memory',
  literals: [
    'requires more system memory',
    'model request too large for system',
    'failed to allocate CPU buffer',
    'unable to allocate CPU buffer',
    '_Host buffer of size',
    'while running the model: ',
    'may not have enough available memory to run',
  ],
  rules: [
    {
      // Releases of 2023, which only guess.
      pattern: /llama runner exited, you may not have enough available memory to run this model/,
      kind: 'worker_died',
      severity: 'critical',
      title: "Ollama's runner exited",
      verdict:
        'The runner process of Ollama exited while the model was loaded or used. Ollama supposes that memory was too small for the model, of the GPU or of the host; it does not know.',
      remedies: ({ situation }) => [
        { text: 'Load a smaller model or one with fewer bits, and close what else uses memory.' },
        situation().system !== 'windows' && { text: 'See how much host memory is free before the model is loaded.', command: 'free -g' },
        { text: 'Update Ollama: newer releases compute what fits before they load a model, and name what is lacking.' },
      ],
    },
    {
      pattern: /an error was encountered while running the model: (?:unexpected EOF|[^\n]{0,200}(?:connection (?:reset|refused)|forcibly closed))/,
      kind: 'worker_died',
      severity: 'critical',
      title: "Ollama's runner exited",
      verdict: 'The runner process of Ollama, which holds the model, exited in the middle of the answer. The server log has the reason.',
      remedies: ({ situation }) => [
        situation().system === 'windows'
          ? { text: 'Read the last lines of the log: %LOCALAPPDATA%\\Ollama\\server.log.' }
          : {
              text: 'Read what the runner printed last: a CUDA error, a failed allocation or a signal.',
              command: 'journalctl -u ollama --no-pager | tail -n 80',
            },
      ],
    },
    {
      // ggml: weights and caches that stay on the CPU, and the pinned memory through which data goes to the GPU.
      pattern: /failed to allocate (?:CPU|CUDA_Host|ROCm_Host) buffer of size (\d{1,15})|unable to allocate (?:CPU|CUDA_Host|ROCm_Host) buffer/,
      severity: 'critical',
      title: 'The model does not fit host memory',
      verdict: ({ facts: { requested_bytes: asked } }) =>
        `The server could not get ${asked === undefined ? 'memory' : gib(asked)} of host memory for the part of the model that stays on the CPU. This is host memory (RAM), not GPU memory.`,
      remedies: ({ situation }) => [
        { text: 'Load a smaller model or one with fewer bits, ask for a shorter context, or put more layers onto the GPU if it has space.' },
        situation().programs.has('ollama') && UNLOAD,
        situation().system === 'windows'
          ? { text: 'Close other programs, or enlarge the page file: Windows refuses what memory and page file together cannot back.' }
          : {
              text: 'See what else uses host memory, and what limits this service or container.',
              command: 'free -g; ps -eo pid,user,rss,args --sort=-rss | head',
            },
      ],
      facts: ({ match, text, at }) => known({ requested_bytes: bytesOf(match[1] ?? /buffer of size (\d{1,15})/.exec(around(text, at, 3, 0))?.[1], '') }),
    },
    {
      // The answer to the client, or the line in the server's own log just before it.
      pattern: new RegExp(
        `model (?:requires more system memory \\(${SIZE}\\) than is available \\(${SIZE}\\)|request too large for system"? requested="?${SIZE}"? available="?${SIZE})`,
      ),
      unless: ({ match, text, at }) => match[1] === undefined && /requires more system memory \(/.test(around(text, at, 0, 4)),
      severity: 'critical',
      title: 'The model does not fit host memory',
      verdict: ({ match }) => {
        const [asked, unit, free, freeUnit] = match.slice(match[1] === undefined ? 5 : 1)
        return `Ollama did not load the model: the part that does not fit the GPU needs ${asked} ${unit} of host memory, and ${free} ${freeUnit} were available.`
      },
      remedies: [
        { text: 'Load a smaller model or one with fewer bits (a q4 instead of q8 or fp16 tag), or ask for a shorter context.' },
        UNLOAD,
        { text: 'See what else uses host memory, and what limits this service or container.', command: 'free -g; systemctl show ollama -p MemoryMax' },
      ],
      facts: ({ match }) => known({ requested_bytes: bytesOf(match[1] ?? match[5], match[2] ?? match[6]) }),
    },
  ],
})
