// Counters of tools that are no progress of a job, and figures in forms of their own that are.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}
const many = (line: (at: number) => string): readonly string[] => Array.from({ length: 12 }, (_, at) => line(at + 1))

describe('no progress', () => {
  test.each([
    ['files that git writes', many((at) => `Updating files: ${String(at * 5).padStart(3)}% (${at * 41}/820)`)],
    ['objects that a server of git counts', many((at) => `remote: Counting objects: ${at * 8}% (${at * 16}/200)`)],
    [
      'rows of a tool that lists devices',
      many((at) => `| 0                 | 0000:${at}1:00.0  | ${at * 3}      0    / 0       ${30_000 + at}/ 65536         |`),
    ],
    ['their health and power', many((at) => `| ${at}     X100    | OK            | 1${at}.5       40                0    / 0             |`)],
    ['tests in the Test Anything Protocol', many((at) => `# Subtest: step ${at} of 12`)],
    ['files with a figure each', many((at) => `${at * 7} pose_${at}.pdb 0.${600 + ((at * 37) % 100)}`)],
    ['what a run was given', ["Hyperparameters: {'alpha': 0.001, 'n_episodes': 10000, 'max_steps': 200}"]],
    ['another try of so many', many((at) => `Trying again in ${2 * at}.00 seconds... (${at}/100)`)],
    ['the settings of a run', ["config: {'NAME': 'own-v1', 'NUM_STEPS': 128, 'TOTAL_TIMESTEPS': 500000.0, 'UPDATE_EPOCHS': 5, 'LR': 0.001}"]],
    [
      'a folded table of pandas',
      ['   length  mean_speed  low_ratio  \\', ...many((at) => `${at - 1}      ${40 + at}    0.${170 + ((at * 37) % 90)}    0.${900 - at * 7}  `)],
    ],
    ['comments of code that runs', many((at) => `Executing command ${300 + at}: // Step ${at}: store the result`)],
    ['a formula', ['Scaling the LR for the AdamW parameters by 1/√(96/768) = 2.828427']],
    ["an error's own figures", many((at) => `2031-02-03 04:05:${10 + at},007 | ERROR   | Solver failed | it=${at * 30} | KKT=6.${at}e-09 | t=0.${100 + at}s`)],
    ["a kernel's audits", many((at) => `[Tue Jan 20 10:17:54 2031] audit: type=1400 audit(1768720686.780:${at}): name="own" pid=82${at}`)],
    ['tasks of Spark', many((at) => `[20:58:0${at % 10},518] INFO  {SparkContext} Created broadcast ${at} from broadcast at DAGScheduler.scala:1012`)],
    ['fractions that a model adds', many((at) => `   * Rewrite ${at}/9 as ${at * 8}/72, so ${at * 8}/72 + 27/72 = ${at * 8 + 27}/72`)],
  ])('%s', (_, lines) => {
    const { step, total, loss } = read(...lines) ?? {}
    expect({ step, total, loss }).toEqual({})
  })
})

test('an energy is no loss', () => {
  expect({ ...read(...many((at) => `\t1\t${at * 500}\t-25${700 + ((at * 37) % 100)}.5`)) }).not.toHaveProperty('loss')
})
test('nor is what a simulation says of its load', () => {
  expect({ ...read(...many((at) => `DD  step ${at * 5_000 - 1} load imb.: force 2${at % 7}.4%  mesh/force 1.1${(at * 37) % 90}`)) }).not.toHaveProperty('loss')
})

describe('progress', () => {
  test('names in one bracket, their figures in the next', () => {
    expect(read('Epoch 4 [mean loss, loss]: [2.5, 2.25], 0', 'Epoch 5 [mean loss, loss]: [2.4, 2.125], 0')).toMatchObject({ epoch: 5, loss: 2.125 })
  })
  test('the loss of a training beside that of a validation, with a letter each', () => {
    expect(read('Epoch: 2 | T_Loss 3.5 | V_Loss nan', 'Epoch: 3 | T_Loss 3.25 | V_Loss nan')).toMatchObject({ epoch: 3, loss: 3.25 })
  })
  test('the letter of an epoch before its counter', () => {
    const line = (at: number): string => `[E 9 | it ${at * 100}] loss {total 1.${at}25E+00, last 4.5E-01, own_nll 4.5E-01}`
    expect(read(...[1, 2, 3, 4].map(line))).toMatchObject({ epoch: 9, step: 400, loss: 1.425 })
  })
  test('a loss that is only called that of the training, beside that of a validation', () => {
    const lines = ['[fit] epoch  3/40  train=5.5  heldout=5.75  lr=1e-04', '[fit] epoch  4/40  train=5.25  heldout=5.5  lr=1e-04']
    expect(read(...lines, 'best epoch 2, held-out 5.5')).toMatchObject({ epoch: 4, loss: 5.25 })
    expect(read(...lines, '[fit] update best score: 0.5 at epoch 2')).toMatchObject({ epoch: 4 })
  })
  test('the counter that rises, not the batches that are always as many', () => {
    const lines = [1, 2, 3, 4, 5].flatMap((at) => [
      `[${at * 5000}] | gnorm  0.5${at} lr  0.0001 | loss  5.${at}`,
      'Train batches[  100] | loss  5.5',
      'Eval batches[  100] | loss  5.6',
    ])
    expect(read(...lines)).toMatchObject({ step: 25_000 })
  })
  test('trials of an optimizer, whatever settings it tries', () => {
    const trial = (at: number): string =>
      `[I 2031-02-03 04:0${at}:05,007] Trial ${at} finished with value: 27${at}.5 and parameters: {'layers': 1, 'batch': 4}. Best is trial 1 with value: 260.5.`
    expect(read(...[1, 2, 3, 4, 5, 6, 7].map(trial))?.step).toBe(7)
  })
})
