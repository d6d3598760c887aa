// Ends of jobs of the kind host_memory; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'NumPy',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nnumpy.core._exceptions._ArrayMemoryError: Unable to allocate 12.0 GiB for an array with shape (3221225472,) and data type float32',
    kinds: ['host_memory'],
    facts: { requested_bytes: 12884901888, exception: '_ArrayMemoryError' },
  },
  {
    name: 'PyTorch',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nRuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can\'t allocate memory: you tried to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)',
    kinds: ['host_memory'],
    facts: { requested_bytes: 8589934592, errno: 12 },
  },
  {
    name: 'C++',
    text: "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core dumped)",
    kinds: ['host_memory'],
    facts: { signal: 'SIGABRT' },
  },
  { name: 'quiet: memory is printed', text: '2026-03-02 10:00:00,000 INFO mem: host memory 12.0 GiB of 64.0 GiB', kinds: [] },
  {
    name: 'Ollama',
    text: 'level=INFO msg="NewLlamaServer failed" error="model requires more system memory (51.3 GiB) than is available (22.0 GiB)"',
    kinds: ['host_memory'],
    facts: { requested_bytes: 51.3 * 2 ** 30 },
  },
  {
    name: 'ggml keeps a part on the CPU',
    text: 'alloc_tensor_range: failed to allocate CPU buffer of size 536870912\nllama_model_load: error loading model: unable to allocate CPU buffer',
    kinds: ['host_memory'],
    facts: { requested_bytes: 536870912 },
  },
  {
    name: 'Java: the line of the program, not of its library',
    text: 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat org.nd4j.linalg.api.buffer.BaseDataBuffer.<init>(BaseDataBuffer.java:402)\n\tat reviews.Fit.load(Fit.java:31)\n\tat org.nd4j.linalg.Run.with(Run.java:12)\n\tat reviews.Fit.main(Fit.java:91)',
    kinds: ['host_memory'],
    facts: { frame: 'Fit.java:31' },
  },
  { name: "Intel's Fortran", text: 'forrtl: severe (41): insufficient virtual memory', kinds: ['host_memory'] },
]
