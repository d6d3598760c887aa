// The forecast on /metrics: seconds from now, of the right process, and nothing when nothing is reported.
import { describe, expect, test } from 'vitest'
import { createForecastReadings } from '../../../agent/sources/incidents/forecasts.ts'
import type { Forecast } from '../../../agent/model/finding.ts'
import { T, uuid } from './scene.ts'

const forecast = (earliestMs: number | null, latestMs: number | null): Forecast => ({
  t: T,
  key: `${uuid(1)} 4242`,
  about: { uuid: uuid(1), pid: 4242, container: 'trainer' },
  earliestMs,
  latestMs,
})
const rows = (readings: ReturnType<ReturnType<typeof createForecastReadings>>) => readings.map(({ series: { key }, value }) => [key, value])
const labels = `{uuid="${uuid(1)}",pid="4242",container="trainer"}`

describe('forecast readings', () => {
  test('count down to both ends', () => {
    const read = createForecastReadings()
    const figures = { forecasts: [forecast(T + 600_000, T + 1_200_000)], firing: [] }
    expect(rows(read(figures, T))).toEqual([
      [`warpwatch_memory_exhaustion_earliest_seconds${labels}`, 600],
      [`warpwatch_memory_exhaustion_latest_seconds${labels}`, 1_200],
    ])
    expect(rows(read(figures, T + 601_000)).map(([, value]) => value)).toEqual([0, 599])
  })
  test('leave an open end out, and say nothing when nothing is told', () => {
    const read = createForecastReadings()
    expect(rows(read({ forecasts: [forecast(T + 1_000, null)], firing: [] }, T))).toEqual([[`warpwatch_memory_exhaustion_earliest_seconds${labels}`, 1]])
    expect(read({ forecasts: [], firing: [] }, T)).toEqual([])
  })
})
