// Hosts whose GPU shares the host's memory stall without a word when it runs out: each second their memory is written to disk, and after a boot that did not end well its last minutes are reported.
import { join } from 'node:path'
import { readSmallFile } from '../attribution/small-file.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { hostPreviousBootEndTimestampSeconds, hostPreviousBootMemoryFallRatio, hostPreviousBootMemoryFreeRatio } from '../metrics/host-boot.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { lineOf } from '../text/error.ts'
import { defineSource } from './definition.ts'
import { meminfoValue } from './host/memory.ts'
import { readEvidence, writeEvidence, type Evidence, type LastBoot } from './previous-boot/evidence.ts'

const metrics = [hostPreviousBootEndTimestampSeconds, hostPreviousBootMemoryFreeRatio, hostPreviousBootMemoryFallRatio]

export type PreviousBootOptions = { readonly file: string; readonly procRoot: string; readonly inventory: Pick<Inventory, 'gpus'> }

const NOTE_MS = 1_000
const TELL_MS = 10_000
/** So long after the start it is reported. */
const TOLD_FOR_MS = 15 * 60_000
const FALL_WITHIN_MS = 5 * 60_000

/** undefined: the boot before ended as it should, or nothing is known of it. */
export function lastMinutes(before: LastBoot | undefined, boot: string): readonly Reading[] | undefined {
  const last = before?.moments.at(-1)
  if (before === undefined || before.boot === boot || before.stopped || last === undefined || last.totalBytes === 0) return undefined
  const recent = before.moments.filter(({ t }) => last.t - t <= FALL_WITHIN_MS)
  const most = Math.max(...recent.map(({ availableBytes }) => availableBytes))
  return [
    { series: makeSeries(hostPreviousBootEndTimestampSeconds, {}), value: last.t / 1_000 },
    { series: makeSeries(hostPreviousBootMemoryFreeRatio, {}), value: last.availableBytes / last.totalBytes },
    { series: makeSeries(hostPreviousBootMemoryFallRatio, {}), value: (most - last.availableBytes) / last.totalBytes },
  ]
}

export function createPreviousBootSource({ file, procRoot, inventory }: PreviousBootOptions): Source {
  const boot = readSmallFile(`${procRoot}/sys/kernel/random/boot_id`).trim()
  const reported = lastMinutes(readEvidence(file), boot)
  let evidence: Evidence | undefined
  let failed = false
  return {
    id: 'previous-boot',
    metrics,
    start({ emit, every, log }) {
      const startedAt = Date.now()
      const tell = (t: number): void => {
        if (reported !== undefined && t - startedAt <= TOLD_FOR_MS)
          emit({ type: 'scrape', t, source: 'previous-boot', group: '', ttlMs: 3 * TELL_MS, durationMs: 0, readings: reported, gaps: [] })
      }
      tell(startedAt)
      every(TELL_MS, tell)
      every(NOTE_MS, (t) => {
        if (failed || !inventory.gpus().some(({ labels }) => labels['memory'] === 'unified')) return
        try {
          const meminfo = readSmallFile(`${procRoot}/meminfo`)
          const [totalBytes, availableBytes] = [meminfoValue(meminfo, 'MemTotal'), meminfoValue(meminfo, 'MemAvailable')]
          if (totalBytes === undefined || availableBytes === undefined) return
          evidence ??= writeEvidence(file, boot)
          evidence.note({ t, totalBytes, availableBytes })
        } catch (error) {
          failed = true
          log.warn(`the last minutes of this boot are not kept: ${lineOf(error)}`)
        }
      })
    },
    stop() {
      try {
        evidence?.stop()
      } catch {
        // A full disk: then the next start takes this for an unclean end, and finds memory that was free.
      }
    },
  }
}

export const previousBoot = defineSource({
  id: 'previous-boot',
  metrics,
  needs: ['config', 'latest'],
  create({ config, latest }) {
    if (config.simulate.scenario !== 'off') return undefined
    try {
      return createPreviousBootSource({ file: join(config.data_dir, 'host-memory.log'), procRoot: config.host.proc_root, inventory: latest.inventory })
    } catch {
      return undefined // a kernel or a copy of /proc without boot_id
    }
  },
})
