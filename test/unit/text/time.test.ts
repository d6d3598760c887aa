// Moments: UTC names its zone, local times name the day only where it is another one.
import { describe, expect, test } from 'vitest'
import {
  clockOfDay,
  dayOfMonth,
  isoText,
  momentText,
  since,
  timeOfDay,
  timeWithSeconds,
  utcClock,
  utcMinuteText,
  utcStamp,
  utcText,
  zoneName,
} from '../../../agent/text/time.ts'

test('in UTC', () => {
  const t = Date.UTC(2026, 4, 1, 3, 12, 7)
  expect([utcText(t), utcStamp(t), utcMinuteText(t), utcClock(t)]).toEqual([
    '2026-05-01 03:12:07 UTC',
    '2026-05-01 03:12:07',
    '2026-05-01 03:12 UTC',
    '03:12:07',
  ])
  expect([isoText(t), isoText(t + 5)]).toEqual(['2026-05-01T03:12:07Z', '2026-05-01T03:12:07.005Z'])
  expect(clockOfDay(545)).toBe('09:05')
})

describe('local', () => {
  const t = new Date(2026, 10, 20, 9, 5, 7).getTime()

  test('time and day', () => {
    expect([timeOfDay(t), timeWithSeconds(t), dayOfMonth(t)]).toEqual(['09:05', '09:05:07', '20 Nov'])
    expect([since(t, t + 3_600_000), since(t, t + 86_400_000)]).toEqual(['09:05', '2026-11-20 09:05'])
    expect([momentText(t, t + 3_600_000), momentText(t, t + 86_400_000)]).toEqual(['09:05:07', '2026-11-20 09:05:07'])
  })

  test('the zone is its distance from UTC', () => {
    const minutes = 0 - new Date(t).getTimezoneOffset()
    const named = /^UTC(?:([+-])(\d+)(?::(\d\d))?)?$/.exec(zoneName(t))
    expect(named).not.toBeNull()
    expect((named?.[1] === '-' ? -1 : 1) * (Number(named?.[2] ?? 0) * 60 + Number(named?.[3] ?? 0))).toBe(minutes)
  })
})
