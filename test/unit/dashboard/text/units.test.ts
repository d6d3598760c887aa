// Figures in the units that the reader chose, and times in UTC.
import { afterEach, expect, test } from 'vitest'
import { chooseUnits } from '../../../../dashboard/src/text/units.ts'
import { celsiusFigure, gib, memory } from '../../../../dashboard/src/text/format.ts'
import { momentText, showUtc, since, timeWithSeconds, zoneName } from '../../../../agent/text/time.ts'

afterEach(() => {
  chooseUnits({ memory: 'GiB', temperature: '°C' })
  showUtc(false)
})

const SIZES = [80e9, 2.5e9, 512e6, 4_000, 0, undefined]

test('memory in powers of 1024 until the reader wants those of 1000', () => {
  expect(SIZES.map(memory)).toEqual(['74.5 GiB', '2.3 GiB', '488 MiB', '4 KiB', '0 MiB', '–'])
  expect(gib(80e9)).toBe('74.5')
  chooseUnits({ memory: 'GB', temperature: '°C' })
  expect(SIZES.map(memory)).toEqual(['80.0 GB', '2.5 GB', '512 MB', '4 kB', '0 MB', '–'])
  expect(memory(1.5e12)).toBe('1500 GB')
  expect(gib(80e9)).toBe('80.0')
})

test('temperatures in Fahrenheit', () => {
  expect(celsiusFigure(67)).toEqual({ value: '67', unit: '°C' })
  chooseUnits({ memory: 'GiB', temperature: '°F' })
  expect(celsiusFigure(67)).toEqual({ value: '153', unit: '°F' })
  expect(celsiusFigure(undefined).value).toBe('–')
})

test('times in UTC, whatever zone the browser is in', () => {
  const [t, dayAfter] = [Date.UTC(2026, 4, 1, 23, 30, 5), Date.UTC(2026, 4, 2, 12)]
  showUtc(true)
  expect(timeWithSeconds(t)).toBe('23:30:05')
  expect(momentText(t, dayAfter)).toBe('2026-05-01 23:30:05')
  expect(since(t, t + 60_000)).toBe('23:30')
  expect(zoneName(t)).toBe('UTC')
})
