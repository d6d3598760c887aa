// A history in a directory of its own, and scrapes to feed it.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { defineMetric } from '../../../agent/model/metric.ts'
import { makeSeries, type Labels, type Series } from '../../../agent/model/series.ts'
import { createHistory, type History, type HistoryOptions } from '../../../agent/store/history.ts'
import { scrape } from './history-scrape.ts'

export { scrape }

/** 2025-11-20 00:00:00 UTC, a whole hour. */
export const START = 1_763_596_800_000
export const power = defineMetric({
  name: 'warpwatch_gpu_power_watts',
  subject: 'gpu',
  field: 'power_watts',
  kind: 'gauge',
  unit: 'W',
  help: 'Power.',
  labels: ['gpu', 'uuid'],
})
export const forgotten = defineMetric({
  name: 'warpwatch_gpu_info',
  subject: 'gpu',
  kind: 'info',
  unit: '1',
  help: 'Identity.',
  labels: ['gpu'],
  history: false,
})
export const gpu = (index: number): Series => makeSeries(power, { gpu: String(index), uuid: `GPU-${index}` })

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-history-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export type Lines = { readonly info: string[]; readonly warn: string[]; readonly error: string[] }
export function collectLog(): { readonly lines: Lines; readonly log: HistoryOptions['log'] } {
  const lines: Lines = { info: [], warn: [], error: [] }
  return { lines, log: { info: (text) => lines.info.push(text), warn: (text) => lines.warn.push(text), error: (text) => lines.error.push(text) } }
}

export function open(directory: string, options: Partial<HistoryOptions> = {}): History {
  const history = createHistory({ directory, log: collectLog().log, now: () => START, ...options })
  onTestFinished(() => history.close())
  return history
}

/** Seconds `from` to `until` (not included) after START, one scrape each. */
export function feed(history: History, from: number, until: number, values: (second: number) => readonly (readonly [Series, number])[]): void {
  for (let second = from; second < until; second++) {
    history.ingest(scrape(START + second * 1000, values(second)))
    history.maintain(START + second * 1000 + 250)
  }
}

/** Non-null points of the one series that matches, as second after START and value; fails when min, mean and max differ. */
export function points(history: History, from: number, to: number, labels: Labels = {}): Map<number, number> {
  const found = new Map<number, number>()
  for (let at = from; at <= to; at += 1000) {
    for (const series of history.query({ metric: power.name, labels, from: START + at * 1000, to: START + Math.min(to, at + 999) * 1000, points: 1000 })) {
      series.t.forEach((t, i) => {
        const [min, mean, max] = [series.min[i], series.mean[i], series.max[i]]
        if (min === null || min === undefined) return
        if (min !== max || mean !== min) throw new Error(`expected one value at ${t}, found ${min}, ${mean}, ${max}`)
        found.set((t - START) / 1000, min)
      })
    }
  }
  return found
}

/** What a kill would leave behind right now: the files as they are. */
export function snapshotFiles(directory: string): string {
  const copy = temporaryDirectory()
  for (const name of ['history.db', 'history.db-wal']) if (existsSync(join(directory, name))) copyFileSync(join(directory, name), join(copy, name))
  return copy
}
