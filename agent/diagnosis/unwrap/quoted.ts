// Lines as a mail quotes them, and with the task number of `srun --label`.
import type { Unwrap } from './json.ts'

const LEAST = 2
const isSaid = (line: string): boolean => line.trim() !== ''

/** The lines without the marks of a quote, where all have them. */
export function withoutQuotes(lines: readonly string[]): readonly string[] {
  const said = lines.filter(isSaid)
  if (said.length < LEAST || !said.every((line) => line.startsWith('>'))) return lines
  const marks = said.every((line) => line.length === 1 || line.startsWith('> ')) ? 2 : 1
  return lines.map((line) => line.slice(marks))
}

/** Not the hour of a clock time: 14:50:02. */
const TASK = /^ {0,3}(\d{1,4}): ?(?!\d\d:\d\d)/
const SHARE = 0.9
/** The task number as torchrun prints a rank, where nearly all lines have one. */
export function taskNumbers(sample: readonly string[]): Unwrap | undefined {
  const said = sample.filter(isSaid)
  const tasks = said.filter((line) => TASK.test(line)).length
  if (tasks < LEAST || tasks < SHARE * said.length) return undefined
  return (line) => {
    const [head, number] = TASK.exec(line) ?? []
    return head === undefined ? undefined : `[${number}]: ${line.slice(head.length)}`
  }
}
