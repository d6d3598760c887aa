// Words from outside that every object inherits, where they are looked up in tables.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader } from '../../../agent/progress/reader.ts'
import { lookup } from '../../../agent/text/lookup.ts'

const INHERITED = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']

test.each(INHERITED)('%s is in no table of ours', (word) => {
  expect(lookup({ it: 1 }, word)).toBeUndefined()
})

test.each(INHERITED)('a missing module that is named %s', (word) => {
  const [fault] = explainText(
    logScanner(),
    `Traceback (most recent call last):\n  File "/srv/a.py", line 1, in <module>\nModuleNotFoundError: No module named '${word}'`,
  )
  expect(fault?.kind).toBe('missing_dependency')
  expect(JSON.stringify(fault)).not.toContain('native code')
})

test.each(INHERITED)('progress with the column, the metric and the unit %s', (word) => {
  const reader = createProgressReader()
  const feed = createFeed(reader)
  feed.push([1, 2, 3].map((step) => `step ${step}/90 loss ${4 - step / 9} ${word}: 5.1 rate: 7.2 ${word}/s 3 it/${word}\n`).join(''))
  feed.push(`epoch ${word} step loss\n1 2 3 0.5\n2 3 4 0.4\n`)
  feed.end()
  expect(reader.progress()?.step).toBeGreaterThan(0)
})
