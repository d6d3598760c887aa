// kill -9 at random moments, again and again: nothing that was told safe is lost, nothing wrong is found, the database stays whole.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { createHistory } from '../../agent/store/history.ts'
import { bundled } from '../setup/bundled.ts'
import { rounds } from '../setup/rounds.ts'
import { crashMetrics, crashReading, crashSeries } from './history-crash-data.ts'

const KILLS = rounds({ full: 40, quick: 9 })
const DOWN_MS = 7_000
const START = 1_763_596_800_000

/** Seconds of the child's clock in each run, so that blocks are written however busy the machine is. */
const LEAST_SECONDS = 100

/** Runs the child until it has told so many seconds and a random time is over; returns the last second it told. */
async function runAndKill(program: string, directory: string, first: number): Promise<number> {
  const child = spawn(process.execPath, [program, directory, String(first)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let reported = ''
  let lines = 0
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const exited = once(child, 'close')
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const before = lines
      lines += chunk.toString().split('\n').length - 1
      reported += chunk.toString()
      if (before <= LEAST_SECONDS && lines > LEAST_SECONDS) setTimeout(resolve, Math.random() * 250)
    })
    child.once('exit', () => reject(new Error(`expected a child that runs until it is killed, it ended: ${errors}`)))
  })
  child.kill('SIGKILL')
  await exited
  expect(errors).toBe('')
  const complete = reported.slice(0, reported.lastIndexOf('\n')).split('\n')
  return Number(complete.at(-1))
}

test(`${KILLS} kills: no hole beyond the downtime, no wrong value, a whole database`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-crash-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const program = await bundled(join(import.meta.dirname, 'history-crash-child.ts'))
  onTestFinished(program.remove)
  const runs: { readonly first: number; readonly last: number }[] = []
  let next = START
  for (let i = 0; i < KILLS; i++) {
    const last = await runAndKill(program.path, directory, next)
    runs.push({ first: next, last })
    next = last + DOWN_MS
  }
  const history = createHistory({ directory, log: { info: () => {}, warn: (text) => expect.fail(text), error: (text) => expect.fail(text) }, now: () => next })
  const end = runs.at(-1)?.last ?? START
  const found = new Map<string, Map<number, number>>()
  const wrong: string[] = []
  for (const metric of crashMetrics) {
    for (let from = START; from <= end + 10_000; from += 1_000_000) {
      for (const series of history.query({ metric: metric.name, labels: {}, from, to: from + 999_999, points: 1000 })) {
        const key = `${series.metric}{n="${series.labels['n']}"}`
        const points = found.get(key) ?? new Map<number, number>()
        found.set(key, points)
        expect(series.step_ms).toBe(1000)
        for (const [i, t] of series.t.entries()) {
          const [min, max] = [series.min[i], series.max[i]]
          if (min === null || min === undefined) continue
          if (min !== max) wrong.push(`expected one value of ${key} at ${t}, found ${min} and ${max}`)
          points.set(t, min)
        }
      }
    }
  }
  crashSeries.forEach((series, n) => {
    const points = found.get(series.key) ?? new Map<number, number>()
    for (const [t, value] of points)
      if (Math.abs(value - crashReading(n, t)) > 1e-6) wrong.push(`${series.key} at ${t}: expected ${crashReading(n, t)}, found ${value}`)
    for (const { first, last } of runs) {
      for (let t = first; t <= last; t += 1000)
        if (!points.has(t)) wrong.push(`${series.key}: expected a value at ${t} (run from ${first} to ${last}), found none`)
    }
  })
  expect(wrong.slice(0, 10)).toEqual([])
  expect(
    runs.reduce((sum, { first, last }) => sum + (last - first) / 1000, 0),
    'enough seconds that blocks were written',
  ).toBeGreaterThanOrEqual(KILLS * LEAST_SECONDS)
  history.close()
  const db = new Sqlite(join(directory, 'history.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.prepare('SELECT count(*) FROM raw WHERE t1 <= t0 OR samples < 1 OR length(data) < 3').pluck().get()).toBe(0)
  expect(Number(db.prepare('SELECT count(*) FROM raw').pluck().get())).toBeGreaterThan(10)
  db.close()
})
