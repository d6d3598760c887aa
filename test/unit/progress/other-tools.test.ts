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
})
