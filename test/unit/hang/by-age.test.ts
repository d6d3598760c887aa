// Whose log it is where pids have one digit more, or begin again, between a process and what it starts.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readProcessTree } from '../../../agent/hang/live/process.ts'
import { writersOf } from '../../../agent/hang/live/writers.ts'

const folder = mkdtempSync(join(tmpdir(), 'by-age-'))
afterAll(() => rmSync(folder, { recursive: true }))
const log = join(folder, 'job.log')
writeFileSync(log, '')

/** A /proc with these processes: pid, parent, start in clock ticks; all of them write the log. */
function procWith(processes: readonly (readonly [pid: number, parent: number, started: number])[]): string {
  const root = mkdtempSync(join(folder, 'proc-'))
  for (const [pid, parent, started] of processes) {
    mkdirSync(join(root, String(pid), 'fd'), { recursive: true })
    const fields = ['S', parent, pid, pid, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 1, 0, started]
    writeFileSync(join(root, String(pid), 'stat'), `${pid} (python (3) x) ${fields.join(' ')}\n`)
    symlinkSync(log, join(root, String(pid), 'fd', '1'))
  }
  return root
}

const writersIn = (root: string): readonly number[] => writersOf(log, readProcessTree(root), root)

describe('a process comes before what it has started', () => {
  test.each([
    ['with a pid of one digit more', 99_998, 100_003],
    ['with a pid of one digit more, small', 9, 10],
    ['with a lower pid, after pids began again', 4_194_301, 312],
    ['with the next pid', 312, 313],
  ])('%s', (_how, parent, child) => {
    const root = procWith([
      [parent, 1, 5_000],
      [child, parent, 5_200],
    ])
    expect(writersIn(root)).toEqual([parent, child])
  })

  test('of the same clock tick the lower pid is first', () => {
    expect(
      writersIn(
        procWith([
          [10, 1, 5_000],
          [9, 1, 5_000],
        ]),
      ),
    ).toEqual([9, 10])
  })

  test('what a process has started is listed nearest first, and of those as near the oldest first', () => {
    const tree = readProcessTree(
      procWith([
        [9, 1, 100],
        [100, 9, 300],
        [20, 9, 400],
        [1_000, 100, 500],
        [5, 20, 600],
      ]),
    )
    expect(tree.below(9)).toEqual([100, 20, 1_000, 5])
  })
})
