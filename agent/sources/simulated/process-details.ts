// Who runs each simulated process, by which command and since when, as the source `process-details` says it of real ones.
import { processInfo, processStartTimestampSeconds } from '../../metrics/process.ts'
import type { Scrape } from '../../model/event.ts'
import type { Reading } from '../../model/reading.ts'
import { appendTo } from './append-reading.ts'
import { userOutside } from './host-jobs.ts'
import { isAlive, type Process, type World } from './world.ts'

/** As the real source: again every ten seconds, and at once when another process came or went. */
const RENEW_TICKS = 10
const TTL_MS = 25_000

function append(readings: Reading[], process: Process, startedAt: number): void {
  const { card, mig, owner, pid, name, script } = process
  const labels = {
    gpu: String(card.index),
    uuid: card.uuid,
    ...(mig !== undefined && { gi: mig.gi, ci: mig.ci }),
    pid: String(pid),
    process: name,
    container_id: owner?.id.slice(0, 12) ?? '',
    user: owner === undefined ? userOutside(process) : owner.user,
    command: `${name} ${script}`,
  }
  appendTo(processInfo, labels)(readings, 1)
  appendTo(processStartTimestampSeconds, labels)(readings, startedAt)
}

/** Each call means one second of the wall clock, in which `speed` seconds of the story pass; `second` is the newest of these. */
export function createProcessDetails(world: World, speed: number): (tick: number, second: number, t: number) => readonly Scrape[] {
  let reported = ''
  return (tick, second, t) => {
    const listed = world.processes.filter((process) => isAlive(process) && process.card.fault === undefined)
    const pids = listed.map(({ pid }) => pid).join()
    if (pids === reported && tick % RENEW_TICKS !== 0) return []
    reported = pids
    const readings: Reading[] = []
    for (const process of listed) append(readings, process, Math.round(t / 1000 - (second - process.startedAt) / speed))
    return [{ type: 'scrape', t, source: 'process-details', group: '', ttlMs: TTL_MS, durationMs: 0, readings, gaps: [] }]
  }
}
