// Heads of logs by family and version, as these write them: version, weights, caches, graphs, layers. Our own.
import { describe, expect, test } from 'vitest'
import type { ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'
import { GIB } from './pages/parts.ts'

const MIB = 2 ** 20
const inLog = (bytes: number) => ({ bytes: Math.round(bytes), source: 'log' as const })
type Log = readonly [version: string, lines: readonly string[], expected: ServerFigures]
const LOGS: Readonly<Record<string, readonly Log[]>> = {
  vllm: [
    [
      '0.3: an engine without its version, a cache in blocks',
      [
        "INFO 02-01 10:00:00 llm_engine.py:72] Initializing an LLM engine with config: model='lab/m', tokenizer='lab/m', max_seq_len=4096, quantization=awq, seed=0)",
        'INFO 02-01 10:00:20 llm_engine.py:322] # GPU blocks: 1000, # CPU blocks: 512',
      ],
      { models: ['lab/m'], quantization: 'awq', context: 4_096, kvCapacityTokens: 16_000 },
    ],
    [
      '0.6.5: what it may take, in its profile',
      [
        'INFO 12-20 10:00:00 api_server.py:643] vLLM API server version 0.6.5',
        'INFO 12-20 10:00:09 worker.py:241] the current vLLM instance can use total_gpu_memory (79.00GiB) x gpu_memory_utilization (0.80) = 63.20GiB',
        'INFO 12-20 10:00:09 worker.py:241] model weights take 15.00GiB; non_torch_memory takes 0.10GiB; PyTorch activation peak memory takes 1.00GiB; the rest of the memory reserved for KV Cache is 47.10GiB.',
      ],
      { version: '0.6.5', memoryShare: 0.8, memory: { weights: inLog(15 * GIB), kv_cache: inLog(47.1 * GIB), other: inLog(1.1 * GIB) } },
    ],
    [
      '0.11: two ranks behind an API server',
      [
        '(APIServer pid=1) INFO 10-01 10:00:00 [api_server.py:1839] vLLM API server version 0.11.0',
        "(EngineCore_DP0 pid=9) INFO 10-01 10:00:01 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='lab/m', max_seq_len=8192, quantization=None,",
        '(Worker_TP0 pid=11) INFO 10-01 10:00:09 [gpu_model_runner.py:2653] Model loading took 8.0000 GiB and 3.1 seconds',
        '(Worker_TP1 pid=12) INFO 10-01 10:00:09 [gpu_model_runner.py:2653] Model loading took 8.0000 GiB and 3.2 seconds',
        '(Worker_TP0 pid=11) INFO 10-01 10:00:19 [gpu_worker.py:298] Available KV cache memory: 20.50 GiB',
        '(Worker_TP1 pid=12) INFO 10-01 10:00:19 [gpu_worker.py:298] Available KV cache memory: 20.50 GiB',
        '(EngineCore_DP0 pid=9) INFO 10-01 10:00:20 [kv_cache_utils.py:1087] GPU KV cache size: 335,872 tokens',
      ],
      { version: '0.11.0', models: ['lab/m'], context: 8_192, kvCapacityTokens: 335_872, memory: { weights: inLog(16 * GIB), kv_cache: inLog(41 * GIB) } },
    ],
  ],
  sglang: [
    [
      '0.3: each GPU by its number, sizes only by what is free',
      [
        '[gpu=0] Load weight begin. avail mem=79.00 GB',
        '[gpu=1] Load weight begin. avail mem=79.00 GB',
        '[gpu=0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=69.00 GB',
        '[gpu=1] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=69.00 GB',
        '[gpu=0] Memory pool end. avail mem=9.00 GB',
        '[gpu=1] Memory pool end. avail mem=9.00 GB',
        '[gpu=0] max_total_num_tokens=400000, max_prefill_tokens=16384, max_running_requests=2049, context_len=8192',
      ],
      { context: 8_192, kvCapacityTokens: 400_000, memory: { weights: inLog(20 * GIB), kv_cache: inLog(120 * GIB) } },
    ],
    [
      '0.4: pools without a count of tokens',
      [
        '[2025-02-04 05:29:10 TP0] Load weight begin. avail mem=23.00 GB',
        '[2025-02-04 05:29:17 TP0] Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=8.00 GB',
        '[2025-02-04 05:29:17 TP0] KV Cache is allocated. K size: 2.50 GB, V size: 2.50 GB.',
        '[2025-02-04 05:29:17 TP0] Memory pool end. avail mem=1.60 GB',
        '[2025-02-04 05:29:20 TP0] max_total_num_tokens=105000, chunked_prefill_size=2048, context_len=32768',
      ],
      { kvCapacityTokens: 105_000, context: 32_768, memory: { weights: inLog(15 * GIB), kv_cache: inLog(5 * GIB) } },
    ],
    [
      '0.5: a draft model beside the first one',
      [
        "[2026-02-01 10:00:00] server_args=ServerArgs(model_path='lab/m')",
        '[2026-02-01 10:00:01 TP0] Load weight begin. avail mem=110.00 GB',
        '[2026-02-01 10:00:09 TP0] Load weight end. elapsed=8.00 s, type=A, quant=fp8, avail mem=20.00 GB, mem usage=90.00 GB.',
        '[2026-02-01 10:00:10 TP0] Load weight begin. avail mem=20.05 GB',
        '[2026-02-01 10:00:11 TP0] Load weight end. elapsed=1.00 s, type=B, quant=fp8, avail mem=17.05 GB, mem usage=3.00 GB.',
        '[2026-02-01 10:00:12 TP0] Memory pool end. avail mem=9.05 GB',
        '[2026-02-01 10:00:14 TP0] Capture target verify CUDA graph end. elapsed=2.00 s, mem usage=0.50 GB, avail mem=8.50 GB.',
        '[2026-02-01 10:00:15 TP0] Capture draft verify CUDA graph end. elapsed=1.00 s, mem usage=-0.01 GB, avail mem=8.51 GB.',
      ],
      { quantization: 'fp8', memory: { weights: inLog(93 * GIB), kv_cache: inLog(8 * GIB), graphs: inLog(0.5 * GIB) } },
    ],
    [
      '0.5: layers with a state in place of keys and values, times without a day',
      [
        '[10:00:01] Load weight begin. avail mem=15.00 GB',
        '[10:00:03] Load weight end. elapsed=1.25 s, type=A, dtype=torch.bfloat16, avail mem=9.00 GB, mem usage=6.00 GB.',
        '[10:00:03] Mamba Cache is allocated. max_mamba_cache_size: 38, conv_state size: 0.25GB, ssm_state size: 2.75GB ',
        '[10:00:03] KV Cache is allocated. #tokens: 400000, K size: 1.50 GB, V size: 1.50 GB',
        '[10:00:03] Memory pool end. avail mem=3.00 GB',
      ],
      { kvCapacityTokens: 400_000, memory: { weights: inLog(6 * GIB), kv_cache: inLog(6 * GIB) } },
    ],
    [
      'a second start below the first, which did not come as far',
      [
        '[2026-02-01 10:00:01] Load weight begin. avail mem=79.00 GB',
        '[2026-02-01 10:00:09] Load weight end. elapsed=8.00 s, type=A, avail mem=69.00 GB, mem usage=10.00 GB.',
        '[2026-02-01 10:00:10] KV Cache is allocated. #tokens: 9, K size: 20.00 GB, V size: 20.00 GB',
        '[2026-02-01 11:00:01] Load weight begin. avail mem=78.90 GB',
        '[2026-02-01 11:00:09] Load weight end. elapsed=8.00 s, type=A, avail mem=68.90 GB, mem usage=10.00 GB.',
      ],
      { memory: { weights: inLog(10 * GIB) } },
    ],
  ],
  'llama.cpp': [
    [
      'a small model of many words: the table of the first tokens is a third of it and stays in host memory, all layers are on the GPU',
      [
        'print_info: file type   = Q8_0',
        'print_info: n_embd           = 1024',
        'print_info: n_vocab          = 250000',
        'load_tensors: loading model tensors, this can take a while... (mmap = true)',
        'load_tensors: offloaded 25/25 layers to GPU',
        'load_tensors:        CUDA0 model buffer size =   500.00 MiB',
        'load_tensors:   CPU_Mapped model buffer size =   260.00 MiB',
      ],
      { layers: '25/25', offloadedRatio: 0, memory: { weights: inLog(500 * MIB) } },
    ],
    [
      'all layers on the GPU and their experts in host memory: more than the table of the first tokens',
      [
        'print_info: n_embd           = 2048',
        'print_info: n_vocab          = 150000',
        'load_tensors: offloaded 49/49 layers to GPU',
        'load_tensors:        CUDA0 model buffer size =  1000.00 MiB',
        'load_tensors:   CPU_Mapped model buffer size =  9000.00 MiB',
      ],
      { layers: '49/49', offloadedRatio: 0.9, memory: { weights: inLog(1_000 * MIB) } },
    ],
    [
      'b1500: buffers without a device, a part of the layers',
      [
        'llm_load_tensors: mem required  = 2600.00 MiB',
        'llm_load_tensors: offloaded 20/35 layers to GPU',
        'llm_load_tensors: VRAM used: 3000.50 MiB',
        'llama_kv_cache_init: VRAM kv self = 1024.00 MB',
        'llama_new_context_with_model: VRAM scratch buffer: 256.00 MiB',
      ],
      {
        layers: '20/35',
        offloadedRatio: 1 - 20 / 35,
        memory: { weights: inLog(3_000.5 * MIB), kv_cache: inLog(1_024 * MIB), other: inLog(256 * MIB) },
      },
    ],
  ],
  ollama: [
    [
      '0.6: an estimate of a part of the layers',
      [
        'time=2025-03-01T10:00:00.000Z level=INFO source=server.go:130 msg=offload library=cuda layers.requested=-1 layers.model=63 layers.offload=49 layers.split="" memory.available="[17.8 GiB]" memory.required.full="23.4 GiB" memory.weights.total="16.0 GiB"',
      ],
      { layers: '49/63', offloadedRatio: 1 - 49 / 63 },
    ],
    [
      '0.7: all layers on the GPU; the table of the first tokens stays in host memory in any case',
      [
        'time=2025-06-01T10:00:00.000Z level=INFO source=ggml.go:358 msg="offloaded 27/27 layers to GPU"',
        'time=2025-06-01T10:00:00.000Z level=INFO source=ggml.go:356 msg="model weights" buffer=CUDA0 size="762.5 MiB" device=CUDA0 size="762.5 MiB"',
        'time=2025-06-01T10:00:00.000Z level=INFO source=ggml.go:356 msg="model weights" device=CPU size="306.0 MiB"',
      ],
      { layers: '27/27', offloadedRatio: 0, memory: { weights: inLog(762.5 * MIB) } },
    ],
  ],
}

describe.each(Object.entries(LOGS))('%s', (id, logs) => {
  const read = FAMILIES.find((one) => one.id === id)?.log
  test.each(logs)('%s', (_, lines, expected) => expect(read?.(`${lines.join('\n')}\n`)).toEqual(expected))
})
