// Programs that go on with less than they were asked for; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['precision_fallback']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'CPU', text: 'CUDA is not available, falling back to CPU.', kinds: one, facts: { to: 'cpu' } },
  {
    name: 'ollama',
    text: 'time=2026-01-02T03:04:05Z level=INFO source=types.go:60 msg="inference compute" id=cpu library=cpu compute="" name=cpu',
    kinds: one,
  },
  {
    name: 'ONNX Runtime',
    text: '[W:onnxruntime:Default, onnxruntime_pybind_state.cc:900] Failed to create CUDAExecutionProvider. Please see the docs',
    kinds: one,
  },
  {
    name: 'a number format',
    text: "Your device 'Quadro' (with compute capability 7.5) doesn't support torch.bfloat16. Falling back to torch.float16 for compatibility.",
    kinds: one,
    facts: { from: 'bf16', to: 'fp16' },
  },
  { name: 'Whisper', text: 'UserWarning: FP16 is not supported on CPU; using FP32 instead', kinds: one, facts: { from: 'fp16', to: 'fp32' } },
  {
    name: 'one step on the CPU, because GPU memory ran out',
    text: 'WARNING: CUDA OutOfMemoryError in BoxAssigner, using CPU',
    kinds: one,
    facts: { to: 'cpu' },
  },
  { name: 'quiet: nothing was wanted', text: 'Using CPU threads: 8', kinds: [] },
  { name: 'quiet: Python', text: 'ImportWarning: find_spec() not found; falling back to find_module()', kinds: [] },
]
