// Messages with one known reason: their own advice replaces that of their kind; a message that only sounds alike keeps it.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const traceback = (error: string): string => `Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    step()\n${error}\n`
const answer = (error: string) => {
  const fault = explainText(logScanner(), traceback(error)).at(-1)
  const remedies = fault?.remedies ?? []
  return { kind: fault?.kind, verdict: fault?.verdict ?? '', first: remedies[0], all: remedies.map((one) => `${one.text} ${one.command ?? ''}`).join('\n') }
}
const GENERIC = /Reproduce it with one process|Correct the setting|the same line fails/

test.each([
  ['RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.', /find_unused_parameters=True/],
  ['NotImplementedError: Cannot copy out of meta tensor; no data!', /device_map/],
  [
    'ValueError: The checkpoint you are trying to load has model type `newmodel` but Transformers does not recognize this architecture.',
    /--upgrade transformers/,
  ],
  ['RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn', /enable_input_require_grads/],
  ['IndexError: index out of range in self', /resize_token_embeddings/],
  ['RuntimeError: Default process group has not been initialized, please make sure to call init_process_group.', /torchrun/],
  ['ValueError: num_samples should be a positive integer value, but got num_samples=0', /len\(dataset\)/],
])('%s', (error, advice) => {
  const { all, verdict } = answer(error)
  expect(all).toMatch(advice)
  expect(all).not.toMatch(GENERIC)
  expect(all).toContain('Open train.py:12')
  expect(verdict).toContain('train.py:12')
})

test('figures of the message are used', () => {
  expect(
    answer(
      "ValueError: User-specified max_model_len (65536) is greater than the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json).",
    ).first?.command,
  ).toBe('--max-model-len 32768')
  expect(
    answer(
      'AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 32 != 4 * 2 * 8',
    ).first?.text,
  ).toContain('train_batch_size to 64 (4 × 2 × 8)')
})

test('what is known takes the place of what the kind supposes', () => {
  const refused = explainText(logScanner(), 'sbatch: error: Batch job submission failed: Requested node configuration is not available\n').at(-1)
  expect(refused?.verdict).toContain('so the job was not queued')
  expect(refused?.verdict).not.toContain('does not say')
  expect(refused?.remedies[0]?.command).toContain('sinfo')
  const built = explainText(logScanner(), 'exec /usr/local/bin/start.sh: exec format error\n').at(-1)
  expect(built?.verdict).toContain('another kind of CPU')
  expect(built?.verdict).not.toContain('not installed')
})

test('an index out of range of something else keeps the advice of its kind', () => {
  const { kind, all } = answer('IndexError: list index out of range')
  expect(kind).toBe('python_exception')
  expect(all).toContain('Print the length and the index')
  expect(all).not.toContain('resize_token_embeddings')
})
