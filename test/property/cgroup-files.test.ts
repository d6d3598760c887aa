// The readers of cgroup files: what is there is found, unlimited is unlimited, garbage is no number.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { parseKeyed, parseLimit, parseNumber, parsePressure, workingSet } from '../../agent/sources/containers/cgroup-files.ts'
import { parseStat, parseStatus } from '../../agent/attribution/proc-files.ts'

const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const key = fc.stringMatching(/^[a-z_]{1,20}$/)

describe('cgroup files', () => {
  test('a number alone', () => {
    fc.assert(
      fc.property(count, (value) => {
        expect(parseNumber(`${value}\n`)).toBe(value)
      }),
    )
  })

  test.each(['max\n', '9223372036854771712\n', '9223372036854710272\n', '9223372036854775807\n', '18446744073709551615\n', '-1\n'])(
    '%j is unlimited',
    (text) => {
      expect(parseLimit(text)).toBe('unlimited')
    },
  )

  test('a limit is itself', () => {
    fc.assert(
      fc.property(count, (value) => {
        expect(parseLimit(`${value}\n`)).toBe(value)
      }),
    )
  })

  test('every key of a keyed file is found, whichever keys begin or end alike', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, count), { selector: ([name]) => name, minLength: 1 }), fc.boolean(), (entries, ended) => {
        const text = entries.map(([name, value]) => `${name} ${value}`).join('\n') + (ended ? '\n' : '')
        for (const [name, value] of entries) expect(parseKeyed(text, name)).toBe(value)
        expect(parseKeyed(text, 'not-there')).toBeUndefined()
      }),
    )
  })

  test('pressure', () => {
    fc.assert(
      fc.property(count, count, (some, full) => {
        const line = (kind: string, total: number): string => `${kind} avg10=0.00 avg60=1.25 avg300=99.99 total=${total}\n`
        expect(parsePressure(line('some', some) + line('full', full))).toEqual({ someSeconds: some / 1e6, fullSeconds: full / 1e6 })
        expect(parsePressure(line('some', some))).toEqual({ someSeconds: some / 1e6 })
      }),
    )
  })

  test('the working set is between nothing and the usage', () => {
    fc.assert(
      fc.property(count, count, (usage, inactive) => {
        const set = workingSet(usage, inactive)
        expect(set).toBeLessThanOrEqual(usage)
        expect(set).toBeGreaterThanOrEqual(0)
        expect(set).toBe(inactive < usage ? usage - inactive : usage)
      }),
    )
  })

  test('garbage is no number and throws nothing', () => {
    const shreds = fc.array(
      fc.oneof(fc.string(), fc.constantFrom('max', '-5', '1e9', '0x10', 'NaN', 'oom_kill ', 'oom_kill', '\n', ' ', 'total=', 'some ', '١٢')),
    )
    fc.assert(
      fc.property(shreds, (parts) => {
        const text = parts.join('')
        const values = [
          parseNumber(text),
          parseLimit(text),
          parseKeyed(text, 'oom_kill'),
          ...Object.values(parsePressure(text)),
          ...Object.values(parseStat(text) ?? {}),
          ...Object.values(parseStatus(text)),
        ]
        const wrong = values.filter((value) => typeof value === 'number' && !(value >= 0 && Number.isFinite(value)))
        expect(wrong).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('process files', () => {
  test('a name may hold anything, parentheses and blanks too', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 15 }), fc.integer({ min: 1, max: 4_194_304 }), count, (comm, pid, ticks) => {
        const fields = Array.from({ length: 18 }, (_, index) => index + 100).join(' ')
        expect(parseStat(`${pid} (${comm}) S ${fields} ${ticks} 1 2 3\n`)).toEqual({ comm, startTicks: ticks })
      }),
    )
  })

  test('the inner pid is the last of NSpid, and none without a namespace', () => {
    expect(parseStatus('Name:\tpython\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t4242\t17\n')).toEqual({ uid: 1000, innerPid: 17 })
    expect(parseStatus('Name:\tpython\nUid:\t0\t0\t0\t0\nNSpid:\t4242\n')).toEqual({ uid: 0 })
  })
})
