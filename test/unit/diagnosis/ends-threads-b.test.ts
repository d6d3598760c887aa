// Ends of programs in the shapes that users paste: TensorFlow's graphs, OpenFOAM in parallel, Quantum ESPRESSO, Vulkan; and advice.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

describe("an error of TensorFlow's graph", () => {
  const node = [
    "Detected at node 'gradient_tape/net/add' defined at (most recent call last):",
    '    File "/home/me/cells/fit.py", line 88, in <module>',
    '      main()',
    '    File "/opt/venv/lib/python3.10/site-packages/keras/engine/training.py", line 1564, in fit',
    '      tmp_logs = self.train_function(iterator)',
    "Node: 'gradient_tape/net/add'",
  ]
  test('has its message below the stack of the node', () => {
    const [first] = faultsOf(
      'Traceback (most recent call last):',
      '  File "/home/me/cells/fit.py", line 88, in <module>',
      '    main()',
      '  File "/home/me/cells/fit.py", line 61, in main',
      '    net.fit(train, epochs=9)',
      '  File "/opt/venv/lib/python3.10/site-packages/tensorflow/python/eager/execute.py", line 54, in quick_execute',
      '    tensors = pywrap_tfe.TFE_Py_Execute(ctx._handle, device_name, op_name,',
      'tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:',
      '',
      ...node,
      'required broadcastable shapes',
      '\t [[{{node gradient_tape/net/add}}]] [Op:__inference_train_function_4711]',
    )
    expect(first?.facts).toMatchObject({ exception: 'InvalidArgumentError', frame: 'fit.py:61' })
    expect(first?.verdict).toContain('required broadcastable shapes')
  })
  test('without a traceback has the frame of the node', () => {
    const [first] = faultsOf(
      'tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:',
      ...node,
      'logits and labels must be broadcastable: logits_size=[64,12] labels_size=[64,9]',
    )
    expect(first).toMatchObject({ kind: 'shape_mismatch', facts: { exception: 'InvalidArgumentError', frame: 'fit.py:88' } })
  })
})

test('a traceback whose `<module>` Markdown has swallowed', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    'File "/home/me/cells/fit.py", line 7, in',
    'import cellgrid',
    "ModuleNotFoundError: No module named 'cellgrid'",
  )
  expect(first).toMatchObject({ kind: 'missing_dependency', facts: { module: 'cellgrid', frame: 'fit.py:7' } })
})

describe('a simulation', () => {
  test('of OpenFOAM in parallel', () => {
    const lines = [
      '--> FOAM FATAL IO ERROR: ',
      "Unknown patchField type slipWal for patch type wall'",
      '',
      'file: /scratch/me/duct/0/U.boundaryField.lid at line 27.',
    ]
    const faults = faultsOf(...lines.map((line) => `[3] ${line}`), '[3] ', 'FOAM parallel run exiting')
    expect(faults[0]?.kind).toBe('python_exception')
    expect(faults[0]?.verdict).toContain('slipWal')
  })
  test.each([
    ['     Error in routine read_cards (3):', '     K_POINTS must come before'],
    ['     from card_grid : error #         3', '     K_POINTS must come before'],
  ])('of Quantum ESPRESSO: %s', (head, message) => {
    const rule = ` ${'%'.repeat(78)}`
    expect(faultsOf(rule, head, message, rule, '', '     stopping ...')[0]?.verdict).toContain('K_POINTS must come before')
    expect(kinds(head, message, 'and it went on')).toEqual([])
  })
})

test('a GPU that Vulkan lost', () => {
  expect(kinds('[Error] [carb.graphics-vulkan.plugin] VkResult: ERROR_DEVICE_LOST', '[Error] [carb.graphics-vulkan.plugin] submitCommands failed.')).toContain(
    'gpu_reset',
  )
})

test('a loss that is NAN in capitals', () => {
  expect(
    kinds('Traceback (most recent call last):', '  File "/home/me/fit.py", line 40, in step', '    check(loss)', 'ValueError: loss is NAN at batch 12'),
  ).toEqual(['nan_loss'])
})

test('a file that a program could not open says which', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    '  File "/home/me/fit.py", line 12, in <module>',
    '    data = load(path)',
    'RuntimeError: Could not open file /data/cells/train.idx',
  )
  expect(first).toMatchObject({ kind: 'file_missing', facts: { path: '/data/cells/train.idx' } })
})

describe('what to do about an error that may come', () => {
  test('is none', () => {
    const advice = "If you encounter the error 'an illegal memory access was encountered', this may be due to the library. Lower OWN_BATCH_SIZE."
    expect(kinds(`[2031-02-03 04:05:06,384] OWNMD INFO    ${advice}`, 'epoch 1: loss 2.1', 'epoch 2: loss 1.9')).toEqual([])
    expect(kinds(`[2031-02-03 04:05:06,384] OWNMD INFO    ${advice}`)).toEqual([])
  })
  test('but behind the error itself takes nothing from it', () => {
    expect(kinds('RuntimeError: CUDA error: an illegal memory access was encountered. If you see this error again, file an issue.')).toEqual([
      'illegal_memory_access',
    ])
  })
})

test("an error of R's console, which begins with a space", () => {
  const [first] = faultsOf(' Error in py_call_impl(callable, dots$args, dots$keywords) : ', "  ValueError: Layer cells_1 got an input that isn't a tensor. ")
  expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'ValueError' } })
})

test('a kernel that does not compile in a program of Rust', () => {
  const [first] = faultsOf(
    '2031-02-03T04:05:06.100000Z ERROR own_train::learner: PANIC => panicked at /home/me/.cargo/git/checkouts/owncl-0a1b/2c3d/crates/owncl/src/server.rs:610:17:',
    '[Compilation Error] ',
    '    default_program(31): error: identifier "cells" is undefined',
  )
  expect(first?.kind).toBe('compile_error')
})

test('a traceback whose lines a wide console padded and a copy glued', () => {
  const glued = [
    'Traceback (most recent call last):',
    'File "C:\\Users\\me\\cells\\fit.py", line 90, in <module>',
    'main(args)',
    'File "C:\\Users\\me\\cells\\fit.py", line 41, in main',
    'grid = encode(batch["cells"])',
  ].join(' '.repeat(40))
  const [first] = faultsOf(glued, 'RuntimeError: expected scalar type Half but found Float')
  expect(first).toMatchObject({ kind: 'dtype_mismatch', facts: { frame: 'fit.py:41', exception: 'RuntimeError' } })
})

test('a crash of native code below Go', () => {
  const [first] = faultsOf(
    'fatal error: unexpected signal during runtime execution',
    '[signal SIGSEGV: segmentation violation code=0x2 addr=0x0 pc=0x10a0b0c0d]',
    '',
    'runtime stack:',
    'runtime.throw({0x10a0b0c0d?, 0x0?})',
    '\t/usr/local/go/src/runtime/panic.go:1047 +0x40',
  )
  expect(first).toMatchObject({ kind: 'segfault', facts: { signal: 'SIGSEGV' } })
})
