// Advice for TensorRT, TensorRT-LLM and Triton Inference Server: engines that are built, processes that are counted, repositories that are read.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const said = (text: string): string =>
  explainText(logScanner(), text)
    .map(({ kind, severity, title, verdict, remedies }) =>
      [`${kind} ${severity}`, title, verdict, ...remedies.map((one) => `${one.text} $ ${one.command ?? ''}`)].join('\n'),
    )
    .join('\n\n')
const ASKED = '[03/04/2025-11:12:13] [W] [TRT] Requested amount of GPU memory (8589934592 bytes) could not be allocated. There may not be enough free memory.\n'

describe('TensorRT without memory', () => {
  test('a builder that leaves kernels out goes on', () => {
    const answer = said(
      `[03/04/2025-11:12:13] [TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::145] Error Code 2: OutOfMemory (no further information)\n${ASKED}[03/04/2025-11:12:14] [TRT] [W] Skipping tactic 4 due to insufficient memory on requested size of 8589934592 detected for tactic 0x3c.\nTry decreasing the workspace size with IBuilderConfig::setMemoryPoolLimit().\n`,
    )
    expect(answer).toMatch(/^cuda_oom warning\n[^]*8\.00 GiB[^]*leaves out the kernels[^]*goes on[^]*--memPoolSize=workspace:<MIB>/)
    expect(answer).not.toMatch(/execution contexts|build failed/)
  })
  test('a build that failed: one fault, and no advice against itself', () => {
    const answer = said(
      `[03/04/2025-11:12:13] [E] Error[1]: [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (out of memory)\n${ASKED}[03/04/2025-11:12:14] [E] Error[10]: IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[/head/Constant.../head/Concat]}.)\n[03/04/2025-11:12:14] [E] Engine could not be created from network\n`,
    )
    expect(answer).toMatch(/cuda_oom critical[^]*the build failed: no kernel of ForeignNode\[\/head\/Constant\.\.\.\/head\/Concat\] fits[^]*smaller inputs/)
    expect(answer).not.toMatch(/more memory|compile_error/)
  })
  test.each([
    ['up to 7.x', '[E] [TRT] ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)\n', /TensorRT could not allocate memory/],
    [
      'the size in the same line, of TensorRT-LLM',
      '[03/04/2025-11:12:13] [TRT] [E] [globWriter.cpp::makeResizableGpuMemory::435] Error Code 2: OutOfMemory (Requested size was 5368709120 bytes.)\n[03/04/2025-11:12:13] [TRT-LLM] [E] Engine building failed, please check the error log.\n',
      /TensorRT-LLM could not allocate 5\.00 GiB[^]*build failed[^]*Build the engine for less(?![^]*KV cache)/,
    ],
  ])('%s', (_, text, says) => {
    expect(said(text)).toMatch(says)
  })
})

describe('TensorRT-LLM with the wrong number of processes', () => {
  test.each([
    [
      'its Python runtime under mpirun',
      'AssertionError: Engine world size (4 * 1) != Runtime world size (1)\n-----\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n',
      /built for 4 GPUs[^]*1 process was started[^]*another MPI[^]*mpirun -n 4 /,
    ],
    [
      'its C++ runtime without mpirun, in a folder that is named after Triton',
      '[TensorRT-LLM][INFO] MPI size: 1, rank: 0\nTraceback (most recent call last):\n  File "/opt/tritonserver/work/run.py", line 5, in <module>\n    main()\nRuntimeError: [TensorRT-LLM][ERROR] Assertion failed: mpiSize == tp * pp (/x/worldConfig.cpp:99)\n',
      /one process for each must be started: 1 process was started[^]*mpirun -n <GPUS>(?![^]*launch_triton)/,
    ],
    [
      "the executor's leader mode",
      '[TensorRT-LLM][ERROR] Assertion failed: With communicationMode kLEADER, MPI worldSize is expected to be equal to tp*pp when participantIds are not specified\n',
      /wrong number of processes[^]*launch_triton_server\.py/,
    ],
    [
      "Triton's table of models, whose cells wrap",
      '| Model | Version | Status                                                          |\n| llm   | 1       | UNAVAILABLE: Internal: unexpected error when creating modelInstanceState: [TensorRT-LLM][ERROR] Assertion failed: |\n|       |         | mpiSize == tp * pp (/x/worldConfig.cpp:80)                      |\n',
      /Triton did not load llm[^]*launch_triton_server\.py --world_size=<GPUS>/,
    ],
  ])('%s', (_, text, says) => {
    expect(said(text)).toMatch(says)
  })
})

describe('the repository of Triton', () => {
  test.each([
    [
      'a model that is not there',
      "E0304 11:12:13.141516 7 model_repository_manager.cc:1265] failed to poll model 'ranker': model not found in any model repository.\n",
      /no model ranker[^]*ls <REPOSITORY>/,
    ],
    [
      'a config.pbtxt with an error, which libprotobuf names',
      "[libprotobuf ERROR text_format.cc:335] Error parsing text-format inference.ModelConfig: 9:3: Expected identifier, got: }\nE0304 11:12:13.141516 7 model_repository_manager.cc:2063] Poll failed for model directory 'ranker': failed to read text proto from /repo/ranker/config.pbtxt\n",
      /Correct line 9, column 3[^]*Expected identifier[^]*ls -l \/repo\/ranker\/config\.pbtxt/,
    ],
    [
      'a load on request',
      'Model ranker load failed: [StatusCode.UNAVAILABLE] explicit model load / unload is not allowed if polling is enabled\n',
      /does not load models on request[^]*--model-control-mode=explicit/,
    ],
    [
      'a wrapped cell is read whole',
      '| ranker | 1       | UNAVAILABLE: Invalid argument: unexpected platform for the      |\n|        |         | model that was named                                            |\n',
      /refused the model ranker: "unexpected platform for the model that was named"/,
    ],
  ])('%s', (_, text, says) => {
    expect(said(text)).toMatch(says)
  })
})
