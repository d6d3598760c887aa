// Ollama loads no model that does not fit the host's memory beside the GPU's.
import { bytesOf, SIZE } from './quantity.ts'
import { ruleFamily } from './parts/rules.ts'
import { known } from './parts/window.ts'

export const ollamaHostMemory = ruleFamily({
  id: 'ollama-host-memory',
  kind: 'host_memory',
  literals: ['requires more system memory'],
  rules: [
    {
      pattern: new RegExp(`model requires more system memory \\(${SIZE}\\) than is available \\(${SIZE}\\)`),
      severity: 'critical',
      title: 'The model does not fit host memory',
      verdict: ({ match }) =>
        `Ollama did not load the model: the part that does not fit the GPU needs ${match[1]} ${match[2]} of host memory, and ${match[3]} ${match[4]} were available.`,
      remedies: [
        { text: 'Load a smaller model or one with fewer bits (a q4 instead of q8 or fp16 tag), or ask for a shorter context.' },
        { text: 'Unload other models first: each loaded one keeps its part of host memory.', command: 'ollama ps' },
        { text: 'See what else uses host memory, and what limits this service or container.', command: 'free -g; systemctl show ollama -p MemoryMax' },
      ],
      facts: ({ match }) => known({ requested_bytes: bytesOf(match[1], match[2]) }),
    },
  ],
})
