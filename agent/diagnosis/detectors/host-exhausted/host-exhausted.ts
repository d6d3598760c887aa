// A GPU that shares the host's memory takes the host with it when that runs out: warned of before, and said afterwards when the boot before ended so.
import { gpuInfo } from '../../../metrics/gpu-identity.ts'
import { hostPreviousBootEndTimestampSeconds, hostPreviousBootMemoryFallRatio, hostPreviousBootMemoryFreeRatio } from '../../../metrics/host-boot.ts'
import { hostMemoryAvailableBytes, hostMemoryCachedBytes, hostMemoryTotalBytes } from '../../../metrics/host.ts'
import type { TypedFinding } from '../../../model/finding.ts'
import { gib } from '../../../text/bytes.ts'
import { spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { createHold } from '../parts/hold.ts'
import { createFindingDeduper } from '../parts/per-gpu.ts'
import { fallOf, type Fall, type Point } from './fall.ts'

const EVERY_MS = 5_000
const KEEP_MS = 21 * 60_000
const MINUTE_MS = 60_000

/** One look each five seconds is kept for each ten, so that a line through 20 minutes has 120 points. */
const POINT_MS = 10_000
/** A process that holds GPU memory for less long still loads. */
const WARM_UP_MS = 4 * MINUTE_MS
const MAX_PROCESSES = 4_096
/** A date beyond it does not exist in JavaScript (ECMA-262, time values). */
const LAST_DATE_S = 8.64e12

export const hostExhausted = defineDetector({
  id: 'host-exhausted',
  kinds: ['host_exhausted'],
  title: 'A host with unified memory runs out of it',
  severity: 'critical',
  watches: [
    gpuInfo.name,
    hostMemoryTotalBytes.name,
    hostMemoryAvailableBytes.name,
    hostMemoryCachedBytes.name,
    hostPreviousBootEndTimestampSeconds.name,
    hostPreviousBootMemoryFreeRatio.name,
    hostPreviousBootMemoryFallRatio.name,
  ],
  everyMs: EVERY_MS,
  options: {
    free_ratio: {
      default: 0.05,
      min: 0.01,
      max: 0.5,
      help: 'A boot that ended with less of its memory available than this, and falling, ended because of it.',
    },
    critical_minutes: { default: 5, min: 0, max: 60, help: 'Critical from so many minutes before the memory is gone.' },
  },
  expression: { none: 'a straight fall over minutes, distinguished from the load of a model by the page cache, has no PromQL equivalent' },
  create(options, { present }) {
    let points: Point[] = []
    const hold = createHold({ forMs: 2 * EVERY_MS, clearMs: MINUTE_MS })
    let last: Fall | undefined
    const now = createFindingDeduper({ kind: 'host_exhausted', key: 'now', about: {} })
    const before = createFindingDeduper({ kind: 'host_exhausted', key: 'boot', about: {} })
    const seen = new Map<number, number>()
    let firstLook: number | undefined
    /** Bytes of processes that were not there four minutes ago; those that were there at the first look are of unknown age. */
    const loading = (t: number): number => {
      firstLook ??= t
      let bytes = 0
      const here = new Set<number>()
      for (const holding of present.inventory.processes()) {
        here.add(holding.pid)
        const since = seen.get(holding.pid) ?? (t === firstLook ? -Infinity : t)
        if (seen.size < MAX_PROCESSES) seen.set(holding.pid, since)
        if (t - since < WARM_UP_MS) bytes += holding.bytes
      }
      for (const pid of seen.keys()) if (!here.has(pid)) seen.delete(pid)
      return bytes
    }
    const value = (metric: { readonly name: string }): number | undefined => present.of(metric.name)[0]?.value

    const judgeNow = (t: number, found: TypedFinding[]): void => {
      const [total, available] = [value(hostMemoryTotalBytes), value(hostMemoryAvailableBytes)]
      if (total === undefined || available === undefined) return void hold.see(t, undefined)
      const newest = points.at(-1)
      if (newest !== undefined && (t < newest.t || t - newest.t > 3 * MINUTE_MS)) points = []
      if (newest === undefined || t - newest.t >= POINT_MS - EVERY_MS / 2)
        points.push({ t, available, cached: value(hostMemoryCachedBytes), loading: loading(t) })
      while (points[0] !== undefined && t - points[0].t > KEEP_MS) points.shift()
      const fall = fallOf(points, t, total)
      last = fall ?? last
      const held = hold.see(t, fall !== undefined)
      if (held === 'healthy') return now.healthy(found, 'the memory that is available no longer falls')
      if (held !== 'faulty' || last === undefined) return
      const { perMs, spanMs, leftMs } = last
      now.faulty(found, {
        kind: 'host_exhausted',
        key: 'now',
        about: {},
        state: 'faulty',
        severity: leftMs <= options.critical_minutes * MINUTE_MS ? 'critical' : 'warning',
        title: `This host runs out of memory in about ${spanText(Math.max(leftMs, MINUTE_MS))}`,
        verdict: `The GPU of this host shares its memory, of which ${gib(available)} of ${gib(total)} are available. For ${spanText(spanMs)} that has fallen by ${gib(Math.round(perMs * MINUTE_MS))} each minute; when it is gone the host stalls without an OOM kill, because memory of the GPU counts in no process and no container.`,
        facts: {
          free_bytes: available,
          total_bytes: total,
          slope_bytes_per_second: Math.round(perMs * 1_000),
          earliest_ms: Math.round(t + leftMs),
          since_ms: Math.round(t - spanMs),
        },
        remedies: [
          { text: 'See which processes hold GPU memory, and stop the one that grows while the host still answers.', command: 'nvidia-smi' },
          { text: 'Drop the page cache, which the driver gets only when it is free.', command: 'sync; echo 3 | sudo tee /proc/sys/vm/drop_caches' },
          { text: 'Give the server less of the memory (vLLM: --gpu-memory-utilization), and leave the CPU at least 10 % of it.' },
        ],
      })
    }

    const judgeBoot = (found: TypedFinding[], unified: boolean): void => {
      const [end, free, fall] = [value(hostPreviousBootEndTimestampSeconds), value(hostPreviousBootMemoryFreeRatio), value(hostPreviousBootMemoryFallRatio)]
      if (end === undefined || free === undefined || fall === undefined) {
        if (unified) before.healthy(found, 'the host runs again')
        return
      }
      // No date: what is beside it is no more to be believed.
      if (Math.abs(end) > LAST_DATE_S) return
      if (free >= options.free_ratio || fall <= 0) return before.healthy(found)
      const total = value(hostMemoryTotalBytes)
      const left = total === undefined ? `${Math.round(free * 1_000) / 10} % of its memory` : `${gib(free * total)} of ${gib(total)}`
      before.faulty(found, {
        kind: 'host_exhausted',
        key: 'boot',
        about: {},
        state: 'faulty',
        severity: 'critical',
        title: 'This host ran out of memory before it restarted',
        verdict: `The boot before ended without a shutdown. In its last second that was written to disk, ${new Date(end * 1_000).toISOString().slice(11, 19)} UTC, ${left} was available, after a fall by ${Math.round(fall * 100)} % of it within five minutes. The GPU shares this memory, so what it takes ends the host and no process.`,
        facts: total === undefined ? {} : { free_bytes: Math.round(free * total), total_bytes: total },
        remedies: [
          { text: 'Give the server that ran less of the memory (vLLM: --gpu-memory-utilization), or a smaller model or context.' },
          {
            text: 'With PyTorch, switch expandable segments off: on this platform they took memory until nothing was left.',
            command: 'PYTORCH_ALLOC_CONF=expandable_segments:False',
          },
          { text: 'See what the kernel wrote last.', command: 'journalctl -k -b -1 | tail -n 50' },
        ],
      })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const unified = present.inventory.gpus().some(({ labels }) => labels['memory'] === 'unified')
        judgeBoot(found, unified)
        // A host whose GPU has memory of its own swaps or kills, and does not stall.
        if (unified) judgeNow(t, found)
        return found
      },
    }
  },
})
