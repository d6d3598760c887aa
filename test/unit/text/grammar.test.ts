// Plurals, lists and figures read as English.
import { expect, test } from 'vitest'
import { exactFigureText, figureText, megahertz, parametersText, percent, percentOrTrace, shareText } from '../../../agent/text/figures.ts'
import { andList, orList, counted, countedLarge, firstOf, indexRanges, indexRuns, plural, timesText, upperFirst } from '../../../agent/text/grammar.ts'

test('plurals', () => {
  expect([counted(1, 'GPU'), counted(0, 'GPU'), counted(2, 'entry', 'entries')]).toEqual(['1 GPU', '0 GPUs', '2 entries'])
  expect([plural(1, 'is', 'are'), plural(2, 'is', 'are')]).toEqual(['is', 'are'])
  expect([countedLarge(12_480, 'line'), countedLarge(999, 'line'), countedLarge(1_234_567, 'line')]).toEqual(['12,480 lines', '999 lines', '1,234,567 lines'])
  expect([timesText(1), timesText(3)]).toEqual(['once', '3 times'])
  expect(upperFirst('process 7')).toBe('Process 7')
})

test('lists', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(andList)).toEqual(['', 'a', 'a and b', 'a, b and c'])
  expect([[], ['a'], ['a', 'b', 'c']].map(orList)).toEqual(['', 'a', 'a, b or c'])
  expect([firstOf(['a', 'b'], 2), firstOf(['a', 'b', 'c', 'd'], 2)]).toEqual(['a, b', 'a, b and 2 more'])
  expect([indexRanges([3, 0, 1, 2, 6, 6]), indexRanges([1, 0]), indexRanges([])]).toEqual(['0–3, 6', '0, 1', ''])
  expect(indexRuns([5, 0, 1, 2])).toEqual(['0–2', '5'])
})

test('shares and clocks', () => {
  expect([percent(0.936), percent(0.001)]).toEqual(['94 %', '0 %'])
  expect([percentOrTrace(0), percentOrTrace(0.001), percentOrTrace(0.4)]).toEqual(['0 %', '<1 %', '40 %'])
  expect([shareText(1, 0), shareText(1, 10_000), shareText(34, 1_000), shareText(42, 100)]).toEqual(['0 %', '<0.1 %', '3.4 %', '42 %'])
  expect([megahertz(1.98e9), megahertz(345e6)]).toEqual(['1980 MHz', '345 MHz'])
  expect([parametersText(7.24e9), parametersText(125e6), parametersText(1000)]).toEqual(['7.24 billion', '125.00 million', '1.00 thousand'])
})

test.each([
  [2 ** 31, 'By', '2 GiB'],
  [83.6, 'Cel', '84 °C'],
  [0.42, '1', '42 %'],
  [1.98e9, 'Hz', '1980 MHz'],
  [412.2, 'W', '412 W'],
])('in a message %d %s is %s', (value, unit, text) => expect(figureText(value, unit)).toBe(text))

test.each([
  [91.25, 'Cel', '91.25 °C'],
  [1.5 * 2 ** 30, 'By', '1.5 GiB'],
  [1980e6, 'Hz', '1980 MHz'],
  [0.123456, '1', '0.1235'],
  [3, '{page}', '3'],
])('beside a threshold %d %s is %s', (value, unit, text) => expect(exactFigureText(value, unit)).toBe(text))
