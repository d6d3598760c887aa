// Advice for any text: at most five remedies, commands that a shell reads, no placeholder whose fact is known, no figure out of its bounds, nothing for
// another vendor, program or orchestrator.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from '../setup/fast-check.ts'
import { part } from '../setup/rounds.ts'
import { describe, expect, test } from 'vitest'
import { explainText } from '../../agent/diagnosis/explain.ts'
import { MOST_REMEDIES } from '../../agent/diagnosis/faults/remedies/plan.ts'
import { logScanner } from '../../agent/diagnosis/log-scanner.ts'
import { vendorOfLine } from '../../agent/diagnosis/situation/platform.ts'
import { readSituation } from '../../agent/diagnosis/situation/situation.ts'
import type { Facts } from '../../agent/model/facts.ts'
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

/** What may be around a fault: programs, systems, settings, names. */
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
  'docker logs trainer-a',
  'trainer-1  | starting',
  'slurmstepd: error: Detected 1 oom-kill event in StepId=4711.batch cgroup',
  'jaxlib 0.4.30, jax.devices() = [CudaDevice(id=0)]',
  'tensorflow/core/common_runtime/gpu: Created device',
  'PyTorch version 2.6.0+rocm6.2, gfx1100',
  'NVIDIA-SMI 570.86  Driver Version: 570.86  CUDA Version: 12.8',
  'xe 0000:03:00.0: [drm] Using GuC firmware',
  '** Platform: Windows\n** Python version: 3.12.7 [MSC v.1941 64 bit (AMD64)]\nD:\\ComfyUI_windows_portable\\ComfyUI\\main.py',
  'Linux host 5.15.153.1-microsoft-standard-WSL2 #1 SMP x86_64',
  'uv run train.py',
  '/nix/store/abc-python3-3.11-env/lib/python3.11/site-packages/torch/cuda/__init__.py',
  'Linux node 6.8.0 k3s[811]: starting containerd',
  'amdgpu 0000:0d:00.0: amdgpu: SE 4, SH per SE 2, CU per SH 10',
] as const

/** The same text with other figures: each number of two digits and more, and each of two decimals, may become another of its length. */
function refigured(text: string, seed: number): string {
  let state = seed
  const next = (): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32
  return text.replaceAll(/(?<![\w.:/-])\d{1,6}(?:\.\d{2})?(?= (?:[KMG]iB|MB|GB|bytes|tokens)\b)/g, (figure) =>
    next() < 0.5 ? figure : figure.replaceAll(/\d/g, (_, at: number) => String(at === 0 ? 1 + Math.floor(next() * 9) : Math.floor(next() * 10))),
  )
}

const reported = (fault: Fault): readonly string[] => fault.remedies.flatMap(({ command }) => (command === undefined ? [] : [command]))
const checked = new Map<string, boolean>()
/** True where bash reads it; what a person must fill in is a word. */
function parses(command: string): boolean {
  const known = checked.get(command)
  if (known !== undefined) return known
  const ok = spawnSync('bash', ['-n'], { input: command.replaceAll(/<[A-Z][A-Z_]*>/g, 'WORD') }).status === 0
  checked.set(command, ok)
  return ok
}

/** Options, variables and tools of one program, with the words by which the text shows that program. */
const OF_PROGRAMS: readonly (readonly [command: RegExp, program: RegExp])[] = [
  [
    /--gpu-memory-utilization|--max-num-seqs|--enforce-eager|--tensor-parallel-size|VLLM_/,
    // Its logger stamps lines as no other does: `ERROR 02-03 04:05:06 [core.py:77]`.
    /vllm|EngineCore|gpu_memory_utilization|desired GPU memory utilization|cache blocks|KV cache|RPC call to \w+ timed out|(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[\w/.]+\.py:\d/i,
  ],
  [/--mem-fraction-static|--max-running-requests|--disable-cuda-graph/, /sglang|mem-fraction-static|alloc_req_slots|out of memory\. Try to lower/i],
  [/--max-batch-prefill-tokens|--cuda-memory-fraction/, /text[-_]generation|Not enough memory to handle|max-batch-prefill/i],
  [/OLLAMA_|\bollama /, /ollama|\bsource=\w+\.go:\d|llama runner process|requires more system memory/i],
  [/--n-gpu-layers|--ctx-size|--ubatch-size/, /ggml|llama|cudaMalloc|(?:CUDA|ROCm)\d? buffer|compute buffers|kv cache/i],
  // Paths of JAX's build; TensorFlow's are external/local_xla.
  [/XLA_PYTHON_CLIENT/, /jax|XlaRuntime|executable_name|\bexternal\/xla\/|\bpjrt_|RESOURCE_EXHAUSTED: Failed to/i],
  [/TF_FORCE_GPU/, /tensorflow|keras|ResourceExhausted|TF_|tf_/i],
  [/CUDF_SPILL/, /rmm|cudf|cuml|cugraph|rapids/i],
  [
    /\bkubectl\b/,
    /kube|k8s|k3s|nvidia\.com\/|amd\.com\/|\bpods?\b|device[- ]plugin|gpu-operator|Restart Count|Last State|CrashLoopBackOff|Reason: {1,20}OOMKilled|node was low on resource|Container Toolkit|Evicted|\bnodes? are available/i,
  ],
  [/\b(?:scontrol|sacct|sbatch|srun|sinfo)\b/, /slurm|srun|sbatch|StepId|CANCELLED AT|\bJOB \d|SLURM_|_job_complete: JobId=|State: [A-Z_]+ \(exit code/i],
]
const NVIDIA_ONLY = /\bnvidia-smi\b|\bnvidia-ctk\b|\bdcgmi\b|whl\/cu\d|compute-sanitizer|CUDA_LAUNCH_BLOCKING/
const AMD_ONLY = /\brocm-smi\b|\bamd-smi\b|\brocminfo\b|whl\/rocm|HSA_OVERRIDE|AMD_SERIALIZE|HIP_LAUNCH_BLOCKING|PYTORCH_HIP_ALLOC_CONF/
const INTEL_ONLY = /\bxpu-smi\b|UR_L0_|ZE_AFFINITY/

/** What Windows has not, and what of WSL 2 belongs to Windows. */
const LINUX_ONLY = /\bsudo\b|\bdmesg\b|\bsystemctl\b|\bldconfig\b|\blsmod\b|\bps -o\b|(?:^|; )df -|^export |\bapt-get\b|\bjournalctl\b/m
const NOT_IN_WSL = /\bmodprobe\b|\bdkms\b|--gpu-reset|\bdcgmi\b/
const OF_NVIDIA =
  /^(?:xid|nvml_\w+|gpu_lost|ecc_error|nvlink_errors|fabric_manager|vgpu_license|driver_not_loaded|gpu_unschedulable|cublas_cudnn_error|bitsandbytes_setup)$/

const FACT_NAMES: Readonly<Record<string, readonly (keyof Facts)[]>> = {
  GPU: ['pci_bus_id', 'gpu_index'],
  PORT: ['port'],
  PID: ['pid'],
  JOB_ID: ['job_id'],
  LIBRARY: ['library'],
}

/** Figures of settings, with what a program takes at all. */
const BOUNDS: readonly (readonly [pattern: RegExp, least: number, most: number])[] = [
  [/--(?:gpu-memory-utilization|mem-fraction-static|cuda-memory-fraction)[ =](\S+)/g, 0.01, 1],
  [/XLA_PYTHON_CLIENT_MEM_FRACTION=(\S+)/g, 0.01, 1],
  [
    /--(?:max-num-seqs|max-running-requests|tensor-parallel-size|tp-size|num-shard|max-model-len|ctx-size|max-batch-prefill-tokens|chunked-prefill-size)[ =](\S+)/g,
    1,
    2e7,
  ],
  [/--(?:n-gpu-layers|cpu-moe|n-cpu-moe)[ =](\S+)/g, 0, 1_000],
  [/--(?:shm-size|memory)[ =](\d+)[a-z]*/g, 1, 2 ** 50],
  [/-(?:pl)[ =](\S+)/g, 50, 2_000],
  [/:(\d+) '/g, 1, 65_535],
]

/** What a remedy breaks of the rules. */
function breaches(text: string, fault: Fault): readonly string[] {
  const broken: string[] = []
  const situation = readSituation(text)
  const { facts, kind, remedies } = fault
  if (remedies.length === 0 || remedies.length > MOST_REMEDIES) broken.push(`${kind}: ${remedies.length} remedies`)
  if (new Set(remedies.map((remedy) => remedy.text)).size < remedies.length) broken.push(`${kind}: a remedy twice`)
  for (const said of [fault.title, fault.verdict, ...remedies.map((remedy) => remedy.text)])
    if (/\bundefined\b(?! symbol)|\bNaN\b(?!s)(?<!loss.{0,40}NaN)|\bInfinity\b|\[object/.test(said) && !/\bundefined\b|\bNaN\b|Infinity/.test(text))
      broken.push(`${kind}: ${said}`)
  for (const command of reported(fault)) {
    if (!parses(command)) broken.push(`no shell: ${command}`)
    if (/…|\/path\/to|\bTRAIN\.py\b|\bundefined\b|\bNaN\b/.test(command)) broken.push(`made up: ${command}`)
    if (/<(?![A-Z][A-Z_]*>)[a-z]/.test(command)) broken.push(`placeholder: ${command}`)
    for (const [, name = ''] of command.matchAll(/<([A-Z][A-Z_]*)>/g)) {
      if (FACT_NAMES[name]?.some((fact) => facts[fact] !== undefined) === true) broken.push(`${name} is known: ${command}`)
      if (SITUATION_NAMES[name]?.(situation) !== undefined) broken.push(`${name} stands in the text: ${command}`)
    }
    for (const [pattern, least, most] of BOUNDS)
      for (const [, figure = ''] of command.matchAll(pattern))
        if (!/^<[A-Z_]+>$/.test(figure) && !(Number(figure) >= least && Number(figure) <= most)) broken.push(`out of bounds: ${command}`)
    // These messages are of NVIDIA's driver and software themselves, on a host that may have another card too.
    const own = vendorOfLine(fault.evidence.map((line) => line.text).join('\n'))
    const vendor = OF_NVIDIA.test(kind) ? undefined : (own ?? situation.vendor)
    if (vendor !== undefined && vendor !== 'nvidia' && NVIDIA_ONLY.test(command)) broken.push(`another vendor (${vendor}): ${command}`)
    if ((vendor === 'nvidia' || vendor === 'intel') && AMD_ONLY.test(command)) broken.push(`another vendor (${vendor}): ${command}`)
    if ((vendor === 'nvidia' || vendor === 'amd') && INTEL_ONLY.test(command)) broken.push(`another vendor (${vendor}): ${command}`)
    if (situation.system === 'windows' && isOfFamily(fault) && LINUX_ONLY.test(command)) broken.push(`not on Windows: ${command}`)
    if (situation.system === 'wsl' && isOfFamily(fault) && NOT_IN_WSL.test(command)) broken.push(`not in WSL: ${command}`)
    if (/\/nix\/store/.test(text) && /^pip install .*whl\/cu/.test(command)) broken.push(`not in a Nix store: ${command}`)
    for (const [option, program] of OF_PROGRAMS) if (option.test(command) && !program.test(text)) broken.push(`another program: ${command}`)
  }
  return broken
}
/** Of the families of faults, whose remedies pass the last look; ends of jobs have remedies of their own. */
const FAMILY_KINDS: ReadonlySet<string> = new Set(logScanner().families.flatMap(({ kinds }) => kinds))
const isOfFamily = (fault: Fault): boolean => FAMILY_KINDS.has(fault.kind)
type Situated = ReturnType<typeof readSituation>
const SITUATION_NAMES: Readonly<Record<string, (situation: Situated) => string | undefined>> = {
  POD: ({ subject }) => subject.pod,
  CONTAINER: ({ subject }) => subject.container,
  JOB_ID: ({ subject }) => subject.slurmJob,
}

describe('advice', () => {
  test.each([
    ['a known GPU', 'xid', { pci_bus_id: '0000:c1:00' }, 'sudo nvidia-smi --gpu-reset -i <GPU>', 'NVRM: Xid (PCI:0000:c1:00): 79'],
    ['a known pod', 'job_killed', {}, 'kubectl describe pod <POD>', 'kubelet: pod trainer-7d9f8b6c5d-x2x4z in namespace "ml"'],
    ['a share above 1', 'cuda_oom', {}, '--gpu-memory-utilization 1.04', 'vLLM engine'],
    ['a negative count', 'cuda_oom', {}, '--max-num-seqs -4', 'vLLM engine'],
    ['no figure', 'cuda_oom', {}, '--ctx-size abc', 'llama_context: n_ctx = 4'],
    ["another vendor's tool", 'cuda_oom', {}, 'nvidia-smi', 'torch.OutOfMemoryError: HIP out of memory.'],
    ["AMD's tool for NVIDIA", 'cuda_oom', {}, 'rocm-smi', 'NVRM: Xid'],
    ["another program's option", 'cuda_oom', {}, '--mem-fraction-static 0.8', 'vLLM engine'],
    ['another orchestrator', 'cuda_oom', {}, 'kubectl delete pod x', 'docker run app'],
    ["Linux's tools on Windows", 'cuda_oom', {}, 'sudo dmesg', 'D:\\app\\main.py'],
    ['the driver inside WSL', 'cuda_oom', {}, 'modprobe nvidia', 'microsoft-standard-WSL2'],
    ['no shell', 'cuda_oom', {}, 'echo "a', ''],
  ] as const)('the check itself finds %s', (_, kind, facts, command, text) => {
    const fault: Fault = { kind, severity: 'critical', title: 'x', verdict: 'x', facts, remedies: [{ text: 'x', command }], evidence: [] }
    expect(breaches(text, fault)).toHaveLength(1)
  })

  test.each(AROUND.map((around, time) => [around, time] as const))('keeps its rules for every example after: %s', (around, time) => {
    const broken = part(examples, time, 10).flatMap((example) => {
      const text = `${around}\n${example}`
      return explainText(logScanner(), text).flatMap((fault) => breaches(text, fault))
    })
    expect([...new Set(broken)]).toEqual([])
  })

  test('keeps its rules for any example with any figures in any surroundings', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.subarray([...AROUND], { minLength: 0, maxLength: 3 }),
        fc.subarray([...AROUND], { minLength: 0, maxLength: 1 }),
        fc.nat(),
        (example, before, after, seed) => {
          const text = [...before, refigured(example, seed), ...after].join('\n')
          expect(explainText(logScanner(), text).flatMap((fault) => breaches(text, fault))).toEqual([])
        },
      ),
      { numRuns: 600 },
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
          const given = /--gpu-memory-utilization ([\d.]+)/.exec(fault === undefined ? '' : reported(fault).join('\n'))?.[1]
          expect(Number(given ?? 0) * gib).toBeLessThanOrEqual(free + 0.01)
          const cache = `vLLM: ValueError: To serve at least one request with the models's max seq len (1048576), (22.50 GiB KV cache is needed, which is larger than the available KV cache memory (7.00 GiB). Based on the available memory, the estimated maximum model length is ${length}.`
          const [tooLong] = explainText(logScanner(), cache)
          expect(tooLong === undefined ? '' : reported(tooLong).join('\n')).toContain(`--max-model-len ${length}`)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('what failed is never advised again: TGI prefills less, SGLang and vLLM take another share than the one in force', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 60_000 }), fc.integer({ min: 50, max: 97 }), (tokens, percent) => {
        const all = (text: string): string => explainText(logScanner(), text).flatMap(reported).join('\n')
        const tgi = /--max-batch-prefill-tokens (\d+)/.exec(
          all(`text_generation_launcher: Not enough memory to handle ${tokens} prefill tokens. You need to decrease --max-batch-prefill-tokens`),
        )?.[1]
        expect(Number(tgi ?? 0)).toBeLessThan(tokens)
        const oom = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.06 GiB is free.'
        const share = percent / 100
        const sglang = /--mem-fraction-static ([\d.]+)/.exec(all(`sglang.launch_server --mem-fraction-static ${share}\n${oom}`))?.[1]
        expect(Number(sglang)).toBeLessThan(share)
        const vllm = /--gpu-memory-utilization ([\d.]+)/.exec(all(`vLLM engine (v0.9.1) gpu_memory_utilization=${share}\n${oom}`))?.[1]
        expect(Number(vllm ?? 0)).toBeLessThan(share)
      }),
      { numRuns: 60 },
    )
  })
})
