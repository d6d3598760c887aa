// Plays the captures of real servers through the readers, where they are beside the repository; nothing of them is in the repository.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Family } from '../../../agent/servers/family.ts'
import type { ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'

const folder = join(import.meta.dirname, '../../../../shared/fixtures/inference')
const GIB = 2 ** 30
const MIB = 2 ** 20

/** The families by what the manifest calls their servers. */
const FAMILY_OF: Readonly<Record<string, string>> = {
  'llama.cpp (ik fork)': 'llama.cpp',
  'node-llama-cpp': 'llama.cpp',
  'ollama (llama-server child)': 'llama.cpp',
  'ray serve llm (vLLM)': 'vllm',
  'text-embeddings-inference': 'tei',
  'triton+tensorrt-llm': 'triton',
  'tensorrt-llm': 'triton',
  'tensorrt-llm (trtllm-serve)': 'trtllm-serve',
}

/** What the reference and the captures themselves say. A page is chosen by the family, a log by its name. */
const EXPECTED: Readonly<Record<string, readonly [path: string, ServerFigures]>> = {
  'vllm-0.23-metrics-after-520-requests.prom': [
    '/metrics',
    {
      models: ['glm52-w4a16-tiered'],
      state: 'ready',
      running: 0,
      waiting: 0,
      kvUsage: 0,
      kvCapacityTokens: 400_064,
      preemptions: 0,
      promptTokens: 331_882,
      generationTokens: 49_393,
      outcomes: { completed: 520, aborted: 0, failed: 0 },
    },
  ],
  'vllm-0.23-metrics-mtp-replica.prom': ['/metrics', { kvCapacityTokens: 1_600_255, promptTokens: 23_345, generationTokens: 8_200 }],
  'vllm-0.23-metrics-spec-decode.prom': ['/metrics', { generationTokens: 50_888 }],
  'vllm-docs-metrics-sample.prom': ['/metrics', { models: ['unsloth/Llama-3.2-1B-Instruct'] }],
  'ray-serve-vllm-0.6-metrics-part.prom': [
    '/metrics',
    { models: ['neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8'], promptTokens: 58, generationTokens: 300, running: 0, kvUsage: 0.00005882698982295764 },
  ],
  'vllm-0.10-v1-startup-blocks.log': [
    'log',
    {
      kvCapacityTokens: 174_800,
      memory: { weights: { bytes: Math.round(1.1201 * GIB), source: 'log' }, kv_cache: { bytes: Math.round(18.67 * GIB), source: 'log' } },
    },
  ],
  'vllm-0.20-kv-info-tp2.log': ['log', { kvCapacityTokens: 420_586 }],
  'vllm-0.23-startup-tp4.log': [
    'log',
    { version: '0.23.1rc1.dev1201+gd08eebad1', quantization: 'compressed-tensors', kvCapacityTokens: 574_336, context: 400_000 },
  ],
  // Two starts below each other, of which the second breaks off before its cache.
  'vllm-0.6.5-memory-profile-table.log': ['log', { memory: { weights: { bytes: Math.round(7.48 * GIB), source: 'log' } } }],
  'vllm-0.8-v0-tp-memory-profile.log': [
    'log',
    // Three of its workers; the cut-off capture lacks the fourth.
    { memory: { weights: { bytes: Math.round(3 * 21.21 * GIB), source: 'log' }, kv_cache: { bytes: Math.round(3 * 1.57 * GIB), source: 'log' } } },
  ],
  'vllm-0.23-failed-affinity.log': ['log', { memoryShare: 0.9 }],
  'vllm-0.6.4-oneline-profile-and-context.log': ['log', { kvCapacityTokens: 23_648 }],
  'sglang-0.3.6-docs-metrics.prom': [
    '/metrics',
    { models: ['google/gemma-2-9b-it'], kvCapacityTokens: 161_721, kvUsage: 0.01, running: 0, waiting: 0, context: 8_192 },
  ],
  'sglang-0.5.10-docs-metrics.prom': [
    '/metrics',
    { models: ['meta-llama/Llama-3.1-8B-Instruct'], running: 162, waiting: 2_826, kvUsage: 0.28, promptTokens: 8_128_902 },
  ],
  'sglang-0.5.12-gemma31b-startup.log': [
    'log',
    {
      quantization: 'awq',
      context: 262_144,
      kvCapacityTokens: 109_120,
      // Two ranks, two pools each: 2 x (2.08 + 2.08 + 2.08 + 2.08).
      memory: { weights: { bytes: Math.round(22.14 * GIB), source: 'log' }, kv_cache: { bytes: Math.round(16.64 * GIB), source: 'log' } },
    },
  ],
  'sglang-0.5.5-startup-bf16.log': ['log', { kvCapacityTokens: 183_133 }],
  'sglang-0.5.12-swa-tp2-low-ratio.log': [
    'log',
    {
      quantization: 'awq',
      context: 262_144,
      kvCapacityTokens: 706_807,
      memory: { weights: { bytes: Math.round(2 * 5.42 * GIB), source: 'log' }, kv_cache: { bytes: Math.round(2 * 14.02 * GIB), source: 'log' } },
    },
  ],
  'sglang-0.5.9-startup-mini.log': [
    'log',
    {
      kvCapacityTokens: 5_671_466,
      memory: { weights: { bytes: Math.round(1.2 * GIB), source: 'log' }, kv_cache: { bytes: Math.round(64.9 * GIB), source: 'log' } },
    },
  ],
  'sglang-0.5.6-b200-graphs.log': ['log', { kvCapacityTokens: 2_243_474, memory: { graphs: { bytes: Math.round(1.44 * GIB), source: 'log' } } }],
  'llamacpp-0.5.0-own-metrics-busy.prom': ['/metrics', { running: 2, waiting: 1, promptTokens: 54, generationTokens: 0 }],
  'llamacpp-0.7.0-own-debian-sid-metrics.prom': ['/metrics', { running: 0, promptTokens: 7, generationTokens: 20 }],
  'llamacpp-ik-metrics-2025-08.prom': ['/metrics', { kvUsage: 0.491063, promptTokens: 6_886, generationTokens: 3_469 }],
  'llamacpp-0.5.0-own-props.json': ['/props', { models: ['mid.gguf'], quantization: 'all F32', context: 1_024, state: 'ready' }],
  'llamacpp-b5269-props.json': ['/props', { models: ['Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf'], context: 1_024 }],
  'llamacpp-0.5.0-own-slots-busy.json': ['/slots', { running: 2, kvCapacityTokens: 2_048 }],
  'llamacpp-b5269-slots.json': ['/slots', { running: 0, kvCapacityTokens: 1_024 }],
  'llamacpp-0.5.0-own-router-models.json': ['/models', { models: ['tiny'] }],
  'llamacpp-0.5.0-own-v1-models.json': ['/v1/models', { models: ['mid.gguf'], context: 1_024, quantization: 'all F32' }],
  'llamacpp-0.5.0-own-startup-lv4-cpu.log': ['log', { context: 1_024, kvCapacityTokens: 2_048, offloadedRatio: 1 }],
  'llamacpp-ik-startup-3.log': [
    'log',
    {
      kvCapacityTokens: 16_384,
      memory: { weights: { bytes: Math.round((135.76 + 648.66) * MIB), source: 'log' }, kv_cache: { bytes: 1_536 * MIB, source: 'log' } },
    },
  ],
  'llamacpp-ik-oom-2.log': [
    'log',
    {
      context: 32_768,
      layers: '95/95',
      memory: {
        weights: { bytes: Math.round((15_831.98 + 3_221.75) * MIB), source: 'log' },
        kv_cache: { bytes: Math.round((1_632.02 + 1_564.02) * MIB), source: 'log' },
      },
    },
  ],
  'llamacpp-0.5.0-own-kv-alloc-fails.log': ['log', { context: 65_536, offloadedRatio: 1 }],
  'llamacpp-0.5.0-own-sleep-wake-401.log': ['log', { context: 2_048 }],
  'llamacpp-0.7.0-own-container-router.log': ['log', { context: 512 }],
  'node-llama-cpp-3.22.1-own-cpu.log': ['log', { context: 256, kvCapacityTokens: 256 }],
  'llamacpp-0.5.0-v1-models.json': ['/v1/models', { models: ['Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf'] }],
  'llamacpp-b8495-slots.json': ['/slots', { context: 65_536, kvCapacityTokens: 2 * 65_536 }],
  // Lines of many loads below each other: the last of them counts.
  'ollama-0.30-llama-server-buffer-lines.log': ['log', { memory: { weights: { bytes: 6_500 * MIB, source: 'log' } } }],
  'ollama-0.11-engine-memory.log': [
    'log',
    { offloadedRatio: 0, memory: { weights: { bytes: 8 * GIB, source: 'log' }, kv_cache: { bytes: 486 * MIB, source: 'log' } } },
  ],
  'ollama-0.5-offload-partial-4gpu.log': ['log', { offloadedRatio: 1 - 44 / 81 }],
  'ollama-0.5-two-gpus-kv-self.log': ['log', { memory: { kv_cache: { bytes: 512 * MIB, source: 'log' } } }],
  'ollama-0.33-api-version.json': ['/api/version', { version: '0.5.1' }],
  'tgi-3.3-info.json': ['/info', { models: ['bigscience/blomm-560m'], version: '0.5.0', context: 2_048 }],
  'tei-1.9-info.json': ['/info', { models: ['thenlper/gte-base'], version: '0.5.0', context: 512 }],
  'nim-1.x-metrics-part.prom': ['/v1/metrics', { models: ['meta/llama-3.1-8b-instruct'], outcomes: { completed: 5, failed: 0 } }],
  'triton-2.48-two-models.prom': ['/metrics', { models: ['mistral7b', 'llama2'], outcomes: { completed: 40, aborted: 0, rejected: 0, failed: 0 } }],
  'triton-trtllm-metrics.prom': ['/metrics', { running: 0, waiting: 1, kvCapacityTokens: 399_296, kvUsage: 1 / 6_239 }],
  'comfyui-0.3.14-system-stats-4090.json': ['/system_stats', { version: '0.3.14' }],
  'comfyui-0.3.7x-system-stats-4070s-part.json': ['/system_stats', { memory: { other: { bytes: 331_470_322, source: 'api' } } }],
}

/** Logs of errors, of decoding, of arguments: of a server's memory or model they say nothing, and nothing is made up. */
const SILENT = [
  'sglang-0.5.1-decode-batches.log',
  'sglang-0.5.12-boot-failure-triton.log',
  'sglang-0.5.12-glm-air-a2-tail.log',
  'tgi-1.3-launcher-args.log',
  'tgi-1.3-request-oom-compose.log',
  'trtllm-0.13-kv-blocks.log',
  'vllm-0.13-enginedead-trace.log',
  'vllm-0.19-engine-silent-port-answers.log',
  'vllm-0.20-nccl-hang-serve.log',
  'vllm-0.23-worker-oom-engine-fails.log',
  'vllm-0.3-engine-stats-lines.log',
  'vllm-0.4-metrics-lines.log',
  'vllm-0.8-fatal-signal.log',
]
/** What is no answer that is ever asked for: queues of statistics, a list of files, processes. */
const UNASKED = ['trtllm-serve-metrics-iterstats.json', 'ollama-0.33-api-tags.json', 'ray-2.58-own-process-tree.tsv']

const rows = existsSync(join(folder, 'MANIFEST.tsv'))
  ? readFileSync(join(folder, 'MANIFEST.tsv'), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split('\t'))
  : []
const familyOf = (server: string): Family | undefined => FAMILIES.find(({ id }) => id === (FAMILY_OF[server] ?? server))
const KNOWN = { argv: ['llama-server', '-np', '2'], figures: {} }

describe.skipIf(rows.length === 0)('captures of real servers (need ../shared)', () => {
  test.each(Object.entries(EXPECTED))('%s', (file, [path, expected]) => {
    const family = familyOf(rows.find(([name]) => name === file)?.[1] ?? '')
    const text = readFileSync(join(folder, file), 'utf8')
    const said = path === 'log' ? family?.log?.(text) : family?.pages.find((page) => page.path === path)?.read(text, KNOWN)
    expect(said).toMatchObject(expected)
  })
  test.each(SILENT)('%s says nothing of memory, model or cache', (file) => {
    const log = familyOf(rows.find(([name]) => name === file)?.[1] ?? '')?.log
    expect(log?.(readFileSync(join(folder, file), 'utf8')) ?? {}).toEqual({})
  })
  test('every capture is played', () => {
    const played = new Set([...Object.keys(EXPECTED), ...SILENT, ...UNASKED])
    expect(rows.flatMap(([file = '']) => (played.has(file) ? [] : [file]))).toEqual([])
  })
  test('no reader throws, whatever file it is given, and no page is read out of a log', () => {
    const pagesIn = (text: string): readonly string[] =>
      FAMILIES.flatMap(({ id, pages, proof, log }) => {
        const read = [proof.read({ body: text, headers: {} }), ...pages.map((page) => page.read(text, KNOWN))]
        log?.(text)
        return read.some((one) => one !== undefined && Object.keys(one).length > 0) ? [id] : []
      })
    const said = rows.map(([file = '']) => [file, pagesIn(readFileSync(join(folder, file), 'utf8'))] as const)
    expect(said.filter(([file, families]) => file.endsWith('.log') && families.length > 0)).toEqual([])
    expect(said.length).toBeGreaterThan(0)
  })
})
