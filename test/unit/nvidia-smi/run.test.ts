// Running a program: never two at once, bounded output, and how each end is reported.
import { expect, test } from 'vitest'
import { createRunner } from '../../../agent/sources/nvidia-smi/run.ts'

const node = process.execPath

test('a second one is refused while the first lives', async () => {
  const { run, stop } = createRunner()
  const first = run(node, ['-e', 'setInterval(() => {}, 1000)'])
  expect(await run(node, ['-e', ''])).toEqual({ kind: 'still_hanging', pid: expect.any(Number) })
  stop()
  // Killed from outside the deadline it has ended as any other.
  expect(await first).toMatchObject({ kind: 'ended', exitCode: 137 })
  expect(await run(node, ['-e', 'console.log(1)'])).toMatchObject({ kind: 'ended', stdout: '1\n', exitCode: 0 })
})

test('more output than allowed ends it', async () => {
  const { run } = createRunner({ maxBytes: 10_000 })
  expect(await run(node, ['-e', "for (;;) console.log('x'.repeat(1000))"])).toEqual({ kind: 'too_long', maxBytes: 10_000 })
})

test.each([
  ['/nowhere/at-all', 'ENOENT'],
  [import.meta.dirname, 'EACCES'],
])('%s cannot be started', async (command, errno) => expect(await createRunner().run(command, [])).toEqual({ kind: 'absent', errno }))

test('a path that cannot be one', async () => expect(await createRunner().run('a\0b', [])).toMatchObject({ kind: 'absent' }))
