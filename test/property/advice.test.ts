// Advice for any text: at most five remedies, commands that a shell reads, no placeholder whose fact is known, nothing for another vendor or program.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explainText } from '../../agent/diagnosis/explain.ts'
import { MOST_REMEDIES } from '../../agent/diagnosis/faults/remedies/plan.ts'
import { logScanner } from '../../agent/diagnosis/log-scanner.ts'
import type { Fault } from '../../agent/model/fault.ts'

const folder = join(import.meta.dirname, '../unit/diagnosis/examples')
const examples = (
  await Promise.all(
    readdirSync(folder).map(async (file) => {
      const loaded: { readonly examples: readonly { readonly text: string }[] } = await import(join(folder, file))
      return loaded.examples.map(({ text }) => text)
    }),
  )
).flat()

/** What may stand around a fault: programs, systems, settings, names. */
const AROUND = [
  '',
  'INFO 05-01 10:00:00 [api_server.py:1] vLLM API server version 0.9.1 gpu_memory_utilization=0.92 tensor_parallel_size=2',
  'python -m sglang.launch_server --model-path /models/m --mem-fraction-static 0.85',
  'text-generation-launcher --model-id org/m --max-batch-prefill-tokens 4096',
  'ollama[311]: time=2026-01-01T00:00:00Z level=INFO msg="starting"',
  'llama_context: n_ctx = 32768',
  '  File "/srv/app/train.py", line 12, in <module>\n    loss.backward()',
  'C:\\Users\\me\\venv\\Scripts\\python.exe app.py',
  'kubelet: pod trainer-7d9f8b6c5d-x2x4z in namespace "ml"',
  'trainer-1  | starting',
  'slurmstepd: error: Detected 1 oom-kill event in StepId=4711.batch cgroup',
  'jaxlib 0.4.30, jax.devices() = [CudaDevice(id=0)]',
  'tensorflow/core/common_runtime/gpu: Created device',
  'PyTorch version 2.6.0+rocm6.2, gfx1100',
  'NVIDIA-SMI 570.86  Driver Version: 570.86  CUDA Version: 12.8',
] as const

const told = (fault: Fault): readonly string[] => fault.remedies.flatMap(({ command }) => (command === undefined ? [] : [command]))
const checked = new Map<string, boolean>()
/** True where bash reads it; what a person must fill in is a word. */
function parses(command: string): boolean {
  const known = checked.get(command)
  if (known !== undefined) return known
  const ok = spawnSync('bash', ['-n'], { input: command.replaceAll(/<[A-Z][A-Z_]*>/g, 'WORD') }).status === 0
  checked.set(command, ok)
  return ok
}

/** Options and variables that only one program reads, with the words by which the text shows that program. */
const OF_PROGRAMS: readonly (readonly [command: RegExp, program: RegExp])[] = [
  [
    /--gpu-memory-utilization|--max-num-seqs|--enforce-eager|VLLM_/,
    /vllm|EngineCore|gpu_memory_utilization|desired GPU memory utilization|cache blocks|KV cache/i,
  ],
  [/--mem-fraction-static|--max-running-requests|--disable-cuda-graph/, /sglang|mem-fraction-static|alloc_req_slots/i],
  [/--max-batch-prefill-tokens|--cuda-memory-fraction/, /text[-_]generation|Not enough memory to handle|max-batch-prefill/i],
  [/OLLAMA_|\bollama /, /ollama/i],
  [/--n-gpu-layers|--ctx-size|--ubatch-size/, /ggml|llama|cudaMalloc|(?:CUDA|ROCm)\d? buffer|compute buffers|kv cache/i],
  [/XLA_PYTHON_CLIENT/, /jax|XlaRuntime|executable_name/i],
  [/TF_FORCE_GPU/, /tensorflow|keras|ResourceExhausted|TF_|tf_/i],
  [/CUDF_SPILL/, /rmm|cudf|cuml|cugraph|rapids/i],
]
const NVIDIA_ONLY = /\bnvidia-smi\b|\bnvidia-ctk\b|\bdcgmi\b|whl\/cu\d|compute-sanitizer|CUDA_LAUNCH_BLOCKING/

describe('advice', () => {
  test('keeps its rules for any example in any surroundings', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.subarray([...AROUND], { minLength: 0, maxLength: 3 }),
        fc.subarray([...AROUND], { minLength: 0, maxLength: 1 }),
        (example, before, after) => {
          const text = [...before, example, ...after].join('\n')
          const faults = explainText(logScanner(), text)
          const broken: string[] = []
          const amd =
            /\bHIP (?:out of memory|error)/.test(text) &&
            !/nvidia|NVRM|cuda(?!\.html)/i.test(text.replaceAll(/PYTORCH_CUDA_ALLOC_CONF|torch[./]cuda|CUDACachingAllocator/g, ''))
          for (const fault of faults) {
            if (fault.remedies.length === 0 || fault.remedies.length > MOST_REMEDIES) broken.push(`${fault.kind}: ${fault.remedies.length} remedies`)
            if (new Set(fault.remedies.map((remedy) => remedy.text)).size < fault.remedies.length) broken.push(`${fault.kind}: a remedy twice`)
            for (const command of told(fault)) {
              if (!parses(command)) broken.push(`no shell: ${command}`)
              if (/…|\/path\/to|\bTRAIN\.py\b/.test(command)) broken.push(`made up: ${command}`)
              if (/<(?![A-Z][A-Z_]*>)[a-z]/.test(command)) broken.push(`placeholder: ${command}`)
              if (command.includes('<GPU>') && (fault.facts.pci_bus_id !== undefined || fault.facts.gpu_index !== undefined))
                broken.push(`known GPU: ${command}`)
              if (command.includes('<PORT>') && fault.facts.port !== undefined) broken.push(`known port: ${command}`)
              if (amd && NVIDIA_ONLY.test(command)) broken.push(`another vendor: ${command}`)
              for (const [option, program] of OF_PROGRAMS) if (option.test(command) && !program.test(text)) broken.push(`another program: ${command}`)
            }
          }
          expect(broken).toEqual([])
        },
      ),
      { numRuns: 400 },
    )
  })

  test('figures lie within the card: a share of vLLM never above what is free, a length never above the estimate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 800, max: 18_000 }),
        fc.double({ min: 0.15, max: 0.95, noNaN: true }),
        fc.integer({ min: 1_000, max: 900_000 }),
        (total, share, length) => {
          const [gib, free] = [total / 100, (total * share) / 100]
          const text = `ValueError: Free memory on device (${free.toFixed(2)}/${gib.toFixed(2)} GiB) on startup is less than desired GPU memory utilization (0.96, ${(gib * 0.96).toFixed(2)} GiB).`
          const [fault] = explainText(logScanner(), text)
          const given = /--gpu-memory-utilization ([\d.]+)/.exec(fault === undefined ? '' : told(fault).join('\n'))?.[1]
          expect(Number(given ?? 0) * gib).toBeLessThanOrEqual(free + 0.01)
          const cache = `vLLM: ValueError: To serve at least one request with the models's max seq len (1048576), (22.50 GiB KV cache is needed, which is larger than the available KV cache memory (7.00 GiB). Based on the available memory, the estimated maximum model length is ${length}.`
          const [tooLong] = explainText(logScanner(), cache)
          expect(tooLong === undefined ? '' : told(tooLong).join('\n')).toContain(`--max-model-len ${length}`)
        },
      ),
      { numRuns: 60 },
    )
  })
})
