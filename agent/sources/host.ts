// The machine around the GPUs: CPU, memory, pressure and load each second, disks, /dev/shm and network each ten seconds. All from /proc and statfs.
import { detectWsl, readWslFacts, wslHint } from '../lib/wsl.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'
import type { Aspect, HostPaths } from './host/aspect.ts'
import { collect } from './host/aspect.ts'
import { cpu } from './host/cpu.ts'
import { diskIo } from './host/disk-io.ts'
import { disk } from './host/disk.ts'
import { infiniband } from './host/infiniband.ts'
import { createInfo } from './host/info.ts'
import { load } from './host/load.ts'
import { memory, oom } from './host/memory.ts'
import { network } from './host/network.ts'
import { pressure } from './host/pressure.ts'
import { shm } from './host/shm.ts'

export type HostOptions = {
  /** Where the host's /proc is; another path than /proc means a container with the host's mounted there. */
  readonly procRoot?: string
  readonly sysRoot?: string
  /** Empty: what the system says. */
  readonly hostname?: string
}

const PERIOD_MS = { fast: 1_000, slow: 10_000 } as const
const ASPECTS: readonly Aspect[] = [cpu, memory, pressure, load, oom, disk, diskIo, shm, network, infiniband]
const metricsOf = (aspects: readonly Aspect[]): readonly MetricDef[] => aspects.flatMap((aspect) => aspect.metrics)
const metrics = metricsOf([...ASPECTS, createInfo('')])

export function createHostSource({ procRoot = '/proc', sysRoot = '/sys', hostname = '' }: HostOptions = {}): Source {
  const aspects = [...ASPECTS, createInfo(hostname)]
  const paths: HostPaths = { proc: procRoot, sys: sysRoot, root: procRoot === '/proc' ? '' : `${procRoot}/1/root` }
  const stops: (() => void)[] = []
  let stopped = false
  return {
    id: 'host',
    metrics: metricsOf(aspects),
    start({ emit, every, log }) {
      stopped = false
      const hint = wslHint(detectWsl(readWslFacts(procRoot)))
      if (hint !== undefined) log.info(hint)
      for (const rate of ['fast', 'slow'] as const) {
        const reads = aspects.filter((aspect) => aspect.rate === rate).map((aspect) => aspect.create(paths))
        const periodMs = PERIOD_MS[rate]
        const scrape = async (t: number): Promise<void> => {
          const begun = performance.now()
          const out = collect()
          for (const read of reads) {
            // Most read synchronously: no promise for them each second.
            const pending = read(out)
            if (pending !== undefined) await pending
          }
          if (stopped) return // while a file system was asked
          emit({
            type: 'scrape',
            t,
            source: 'host',
            group: rate,
            ttlMs: 3 * periodMs,
            durationMs: performance.now() - begun,
            readings: out.readings,
            gaps: out.gaps,
          })
        }
        stops.push(every(periodMs, scrape))
        // The first answer must not wait for the grid; the next one on the grid replaces it.
        void scrape(Date.now())
      }
    },
    stop() {
      stopped = true
      for (const stop of stops.splice(0)) stop()
    },
  }
}

export const host = defineSource({
  id: 'host',
  metrics,
  needs: ['config'],
  create: ({ config }) =>
    config.host.enabled && config.simulate.scenario === 'off'
      ? createHostSource({ procRoot: config.host.proc_root, sysRoot: config.host.sys_root, hostname: config.host_name })
      : undefined,
})
