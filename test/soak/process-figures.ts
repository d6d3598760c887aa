// What processes cost, from /proc: CPU time, and memory in three ways.
import { readFileSync } from 'node:fs'

export type Memory = {
  readonly rss: number
  readonly pss: number
  /** Without the pages of files, whose share moves with what else runs on the machine. */
  readonly anonymous: number
}
/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024
  return { rss: field('Rss'), pss: field('Pss'), anonymous: field('Anonymous') }
}

/** Least squares: by how much a figure grows in an hour. */
export function perHour(points: readonly { readonly ms: number; readonly value: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [middle, level] = [mean(points.map(({ ms }) => ms)), mean(points.map(({ value }) => value))]
  const spread = points.reduce((sum, { ms }) => sum + (ms - middle) ** 2, 0)
  return (points.reduce((sum, { ms, value }) => sum + (ms - middle) * (value - level), 0) / spread) * 3_600_000
}
