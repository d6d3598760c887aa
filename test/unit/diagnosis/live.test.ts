// Live lines: told at once, told once, and what one origin says is not mixed with another's.
import { describe, expect, test } from 'vitest'
import type { LogLine } from '../../../agent/model/event.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const line = (text: string, container = 'trainer'): LogLine => ({ type: 'log', t: 0, stream: 'container', origin: { container }, text })
const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 80.00 GiB of which 1.00 GiB is free.'

describe('the judge of live lines', () => {
  test('tells a fault with its line, and each occurrence', () => {
    const { judge } = createLogJudge(logScanner())
    expect(judge(line('step 1'))).toEqual([])
    const first = judge(line(OOM))
    expect(first.map((fault) => [fault.kind, fault.evidence[0]?.line])).toEqual([['cuda_oom', 2]])
    expect(judge(line(OOM)).map((fault) => fault.kind)).toEqual(['cuda_oom'])
  })
  test('a message of several joined lines is one fault with all its figures', () => {
    const { judge } = createLogJudge(logScanner())
    const faults = judge(
      line(
        'RuntimeError: CUDA out of memory.\nTried to allocate 2.00 GiB (GPU 1; 24.00 GiB total capacity;\n20.00 GiB already allocated; 1.00 GiB free; 21.00 GiB reserved in total by PyTorch)',
      ),
    )
    expect(faults).toHaveLength(1)
    expect(faults[0]?.facts).toMatchObject({ gpu_index: 1, requested_bytes: 2 * 2 ** 30, reserved_bytes: 21 * 2 ** 30 })
  })
  test('what llama.cpp tries again is no fault; what it gives up is one', () => {
    const { judge } = createLogJudge(logScanner())
    const reported = (text: string): readonly string[] => judge(line(text)).map(({ kind }) => kind)
    const alloc = 'ggml_x_alloc_buffer: allocating 700.00 MiB on device 0: cudaMalloc failed: out of memory'
    expect(reported(alloc)).toEqual([])
    expect(reported('ggml_y: failed to allocate CUDA0 buffer of size 734003200')).toEqual([])
    expect(reported('llama_z: compute buffer allocation failed, retrying without pipeline parallelism')).toEqual([])
    expect(reported('srv: request done')).toEqual([])
    expect(reported(alloc)).toEqual([])
    expect(judge(line("common_x: failed to create context with model 'm.gguf'"))).toMatchObject([
      { kind: 'cuda_oom', facts: { requested_bytes: 700 * 2 ** 20, gpu_index: 0 } },
    ])
  })
  test('one that adds nothing to another line is reported with that line', () => {
    const { judge } = createLogJudge(logScanner())
    expect(judge(line('ggml_x_alloc_buffer: allocating 700.00 MiB on device 0: cudaMalloc failed: out of memory'))).toEqual([])
    expect(judge(line('main: leaving')).map(({ kind }) => kind)).toEqual(['cuda_oom'])
  })
  test('kernel lines of one kill are looked back at', () => {
    const { judge } = createLogJudge(logScanner())
    const kernel = (text: string): LogLine => ({ type: 'log', t: 0, stream: 'kernel', origin: {}, text })
    judge(kernel('memory: usage 1048576kB, limit 1048576kB, failcnt 9'))
    const [fault] = judge(kernel('Memory cgroup out of memory: Killed process 12 (python3) total-vm:9kB, anon-rss:8kB, file-rss:0kB'))
    expect(fault?.facts).toMatchObject({ pid: 12, limit_bytes: 2 ** 30 })
  })
  test('a container keeps its program, each message has the settings that stand near it', () => {
    const { judge } = createLogJudge(logScanner())
    const of = (id: string) => {
      const origin = { container: id, container_id: id }
      return (text: string) => judge({ type: 'log', t: 0, stream: 'container', origin, text })
    }
    const [server, other] = [of('server'), of('other')]
    const commands = (faults: ReturnType<typeof judge>) => faults.flatMap(({ remedies }) => remedies.map(({ command }) => command))
    const pause = () => Array.from({ length: 80 }, (_, n) => server(`served ${n}`))
    pause()
    server('vllm serve small --gpu-memory-utilization 0.90')
    expect(commands(server(OOM))).toContain('--gpu-memory-utilization 0.85')
    server('vllm serve small --gpu-memory-utilization 0.70')
    expect(commands(server(OOM))).toContain('--gpu-memory-utilization 0.65')
    pause()
    expect(commands(server(OOM))).toContain('--max-num-seqs 32')
    expect(commands(other(OOM)).join(' ')).not.toContain('--max-num-seqs')
  })
  test('origins are apart', () => {
    const { judge } = createLogJudge(logScanner())
    judge(line('memory: usage 1048576kB, limit 1048576kB, failcnt 9', 'a'))
    const [fault] = judge(line('Memory cgroup out of memory: Killed process 12 (python3) total-vm:9kB, anon-rss:8kB', 'b'))
    expect(fault?.facts.limit_bytes).toBeUndefined()
  })
  test('ten thousand origins and lines of a megabyte: only so much is kept', () => {
    const { judge } = createLogJudge(logScanner())
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 10_000; i += 1) judge(line(`${'x'.repeat(1_000)} ${i}`, `c${i}`))
    for (let i = 0; i < 200; i += 1) judge(line('y'.repeat(2 ** 20), 'big'))
    expect(judge(line(OOM, 'big'))).toHaveLength(1)
    globalThis.gc?.()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(128 * 2 ** 20)
  })
})
