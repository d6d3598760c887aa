// Lines by which a job says that it has saved its state: found in the scanner's one pass, never taken for a fault.
import { describe, expect, test } from 'vitest'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { isProgressMark } from '../../../agent/diagnosis/progress-marks.ts'

const SAVED = [
  '[INFO|trainer.py:3410] 2026-11-20 10:00:00,000 >> Saving model checkpoint to out/checkpoint-500',
  '[INFO|modeling_utils.py:2590] Model weights saved in out/checkpoint-500/model.safetensors',
  '  successfully saved checkpoint from iteration    1000 to /ckpt',
  '[2026-11-20 10:00:00,000] [INFO] [torch_checkpoint_engine.py:23:save] [Torch] Saved /ckpt/global_step10/mp_rank_00_model_states.pt.',
  'Epoch 00007: val_loss improved from 0.50000 to 0.45000, saving model to best.h5',
  'Epoch 3 | Training snapshot saved at snapshot.pt',
  '[titan] Saving the checkpoint (or staging if async is enabled).',
]
const NOT = ['step 500 loss 1.2', 'Saving checkpoint failed: No space', 'loaded checkpoint from out/checkpoint-500', 'skipping: checkpoint saved already']

describe('marks of progress', () => {
  test.each(SAVED)('%s', (text) => {
    expect(isProgressMark(text)).toBe(true)
    const { search, familiesOf } = logScanner()
    const families: number[] = []
    const bytes = Buffer.from(`one line\n${text}\nanother`)
    search.inBytes(bytes, 0, bytes.length, (_, literal) => void families.push(familiesOf(literal).length))
    expect(families.length).toBeGreaterThan(0)
    expect(Math.max(...families)).toBe(0)
    expect(createLogJudge(logScanner()).judge({ type: 'log', t: 1, stream: 'container', origin: { container: 'a' }, text })).toEqual([])
  })
  test.each(NOT)('not: %s', (text) => {
    expect(isProgressMark(text)).toBe(false)
  })
})
