// Pages in JSON, by family and version. Our own.
import { GIB, type Played } from './parts.ts'

const json = JSON.stringify
export const JSONS: readonly Played[] = [
  ['what it serves', 'vllm', '/v1/models', json({ data: [{ id: 'm', max_model_len: 8_192, root: 'lab/m' }] }), { models: ['m'], context: 8_192 }],
  [
    'an answer of several engines without shares',
    'sglang',
    '/v1/loads?include=core,memory,queues',
    json({ loads: [{ num_running_reqs: 3, num_waiting_reqs: 2, num_used_tokens: 500, max_total_num_tokens: 1_000, memory: { weight_gb: 10 } }] }),
    { running: 3, waiting: 2, kvUsage: 0.5, kvCapacityTokens: 1_000, memory: { weights: { bytes: 10 * GIB, source: 'api' } } },
  ],
  [
    '3.3',
    'tgi',
    '/info',
    json({ model_id: 'lab/m', model_dtype: 'torch.float16', max_total_tokens: 4_096, version: '3.3.7', router: 'text-generation-router' }),
    { models: ['lab/m'], version: '3.3.7', context: 4_096 },
  ],
  [
    '1.9',
    'tei',
    '/info',
    json({ model_id: 'lab/e', model_type: { embedding: { pooling: 'mean' } }, max_input_length: 512, version: '1.9.3' }),
    { models: ['lab/e'], version: '1.9.3', context: 512 },
  ],
  [
    'each model with its queue',
    'infinity',
    '/models',
    json({ data: [{ id: 'lab/e', stats: { queue_fraction: 0.1, queue_absolute: 2, results_pending: 3, batch_size: 32 } }] }),
    { models: ['lab/e'], waiting: 2, running: 3 },
  ],
  [
    '0.7: the type is guessed, the name is the path',
    'llama.cpp',
    '/props',
    json({
      total_slots: 4,
      model_alias: '/models/a.gguf',
      model_path: '/models/a.gguf',
      model_ftype: '(guessed) Q4_K - Medium',
      build_info: 'b11669-x',
      default_generation_settings: { n_ctx: 8_192 },
    }),
    { models: ['a.gguf'], quantization: 'Q4_K - Medium', context: 8_192, version: 'b11669-x', state: 'ready' },
  ],
  ['a router', 'llama.cpp', '/props', json({ role: 'router', build_info: 'b11669-x' }), { router: true, state: 'ready' }],
  [
    "a router's models, of which one sleeps",
    'llama.cpp',
    '/models',
    json({
      data: [
        { id: 'a', status: { value: 'loaded' } },
        { id: 'b', status: { value: 'sleeping' } },
        { id: 'c', status: { value: 'unloaded' } },
      ],
    }),
    { models: ['a', 'b'] },
  ],
  [
    'before 0.10: no context; and the new ones',
    'ollama',
    '/api/ps',
    json({ models: [{ name: 'm:8b', size: 1_000, size_vram: 750, details: { quantization_level: 'Q4_0' } }] }),
    { models: ['m:8b'], quantization: 'Q4_0', offloadedRatio: 0.25 },
  ],
  [
    '0.33',
    'ollama',
    '/api/ps',
    json({ models: [{ name: 'm:8b', size: 1_000, size_vram: 1_000, context_length: 32_768, details: { quantization_level: 'Q4_K_M' } }] }),
    { models: ['m:8b'], context: 32_768, offloadedRatio: 0 },
  ],
  ['asleep', 'lmdeploy', '/is_sleeping', json({ is_sleeping: true }), { state: 'sleeping' }],
  [
    'before 0.4',
    'lm-studio',
    '/api/v0/models',
    json({
      data: [
        { id: 'a', state: 'loaded', quantization: 'Q8_0', loaded_context_length: 4_096 },
        { id: 'b', state: 'not-loaded' },
      ],
    }),
    { models: ['a'], quantization: 'Q8_0', context: 4_096 },
  ],
  [
    '0.4',
    'lm-studio',
    '/api/v1/models',
    json({ models: [{ key: 'a', quantization: { name: 'Q8_0' }, loaded_instances: [{ id: 'a', config: { context_length: 4_096 } }] }] }),
    { models: ['a'], quantization: 'Q8_0', context: 4_096 },
  ],
  [
    "PyTorch's own figures",
    'comfyui',
    '/system_stats',
    json({ system: { comfyui_version: '0.3.70' }, devices: [{ type: 'cuda', torch_vram_total: 8 * GIB, torch_vram_free: 3 * GIB }] }),
    { version: '0.3.70', memory: { weights: { bytes: 5 * GIB, source: 'api' }, other: { bytes: 3 * GIB, source: 'api' } } },
  ],
  ['one runs, two wait', 'comfyui', '/prompt', json({ exec_info: { queue_remaining: 3 } }), { running: 1, waiting: 2 }],
  ['its tasks', 'webui', '/internal/pending-tasks', json({ size: 2, tasks: [] }), { waiting: 2 }],
]
