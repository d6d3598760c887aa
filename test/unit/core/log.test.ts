// The log: levels, formats, and that no text from outside can forge a line.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createLogger, type LogSettings } from '../../../agent/lib/log.ts'

function logger(settings: LogSettings) {
  const lines: string[] = []
  const made = createLogger(settings, (line) => void lines.push(line))
  return { lines, ...made, log: made.part('gpu') }
}
const HOSTILE = 'a\nb\r\u001b[31m\u009b2J\u2028{"level":"error"}\u0000'

test('text has time, level and part, and escapes what could forge a line', () => {
  const { log, lines } = logger({ level: 'info', format: 'text' })
  log.warn(HOSTILE)
  expect(lines.map((line) => line.replace(/^\S+Z /, ''))).toEqual(['warn  gpu: a\n  b\\x0d\\x1b[31m\\x9b2J\u2028{"level":"error"}\\x00\n'])
})

test('json is one object a line with time, level, part and message, whatever the text is', () => {
  const { log, lines } = logger({ level: 'info', format: 'json' })
  log.error(HOSTILE)
  const [line = ''] = lines
  expect(lines).toHaveLength(1)
  expect(line.endsWith('\n')).toBe(true)
  expect(line.slice(0, -1)).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/)
  const { time, ...said } = z.strictObject({ time: z.iso.datetime(), level: z.string(), part: z.string(), message: z.string() }).parse(JSON.parse(line))
  expect(said).toEqual({ level: 'error', part: 'gpu', message: HOSTILE })
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000)
})

test('debug is absent while it is off, so that its text is not put together', () => {
  const { log, lines, configure } = logger({ level: 'info', format: 'text' })
  let made = 0
  const text = (): string => `text ${++made}`
  log.debug?.(text())
  expect([made, lines]).toEqual([0, []])
  configure({ level: 'debug', format: 'text' })
  log.debug?.(text())
  expect([made, lines.length]).toEqual([1, 1])
  expect(lines[0]).toMatch(/ debug gpu: text 1\n$/)
})

test('level and format change for every part at once', () => {
  const { part, lines, configure } = logger({ level: 'error', format: 'text' })
  const [a, b] = [part('a'), part('b')]
  a.warn('not said')
  configure({ level: 'warn', format: 'json' })
  a.warn('one')
  b.info('not said')
  b.warn('two')
  expect(lines.map((line) => z.object({ part: z.string(), message: z.string() }).parse(JSON.parse(line)))).toEqual([
    { part: 'a', message: 'one' },
    { part: 'b', message: 'two' },
  ])
})
