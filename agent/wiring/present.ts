// The present: what every source said last, and the page, rows and readiness that are made of it.
import { createJobMapping } from '../attribution/job-mapping.ts'
import type { ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import { createExposition, type Exposition } from '../http/exposition.ts'
import { onNewGroup } from '../http/freshness.ts'
import { createReadiness, type Readiness } from '../http/health.ts'
import { createViews, type Views } from '../http/views.ts'
import type { TakesEvents, TakesTicks } from '../model/sink.ts'
import { createLatestStore, type LatestStore } from '../store/latest.ts'
import { createSourceStatistics, type SourceStatistics } from '../store/source-statistics.ts'

export type Present = TakesTicks & {
  readonly latest: LatestStore
  readonly statistics: SourceStatistics
  readonly views: Views
  readonly exposition: Exposition
  readonly ready: () => Readiness
  /** What takes events in, in this order. */
  readonly stores: readonly TakesEvents[]
  readonly reload: ReloadPart
}

const expositionOf = (latest: LatestStore, { metrics, host_name: hostname }: Config): Exposition =>
  createExposition({
    latest,
    dcgm: metrics.dcgm,
    hostnameLabel: metrics.hostname_label,
    hostname,
    holders: metrics.dcgm_holders,
    identity: metrics.dcgm_identity_labels,
    jobs: metrics.hpc_job_mapping_dir === '' ? undefined : createJobMapping(metrics.hpc_job_mapping_dir),
  })

export function createPresent(config: Config): Present {
  const latest = createLatestStore()
  const statistics = createSourceStatistics()
  const views = createViews({ latest, hostname: config.host_name })
  let exposition = expositionOf(latest, config)
  const refresh = (): void => {
    exposition.invalidate()
    views.invalidate()
  }
  return {
    name: 'present',
    latest,
    statistics,
    views,
    // Another one after a reload, so each question goes to the one in force.
    exposition: {
      invalidate: () => exposition.invalidate(),
      page: (format) => exposition.page(format),
      renderings: () => exposition.renderings(),
    },
    ready: createReadiness(latest),
    stores: [{ name: 'latest', ingest: (event) => (event.type === 'scrape' ? latest.apply(event) : undefined) }, statistics, onNewGroup(refresh)],
    tick(t) {
      latest.expire(t)
      statistics.expire(t)
      refresh()
    },
    reload: {
      takes: ['metrics.dcgm', 'metrics.hostname_label', 'metrics.dcgm_holders', 'metrics.dcgm_identity_labels', 'metrics.hpc_job_mapping_dir'],
      prepare: (next) => () => void (exposition = expositionOf(latest, next)),
    },
  }
}
