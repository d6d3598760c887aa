// Results of the service checks in a row: how often each failed or passed without a break. An unknown result counts for neither.
import { targetFailing, targetInfo, targetLatencySeconds, targetStatus, targetUp } from '../../../metrics/target.ts'
import type { Event } from '../../../model/event.ts'

export type TargetChecks = {
  readonly target: string
  url: string | undefined
  /** Name of the container that it runs in, as configured. */
  container: string | undefined
  /** Checks that failed, or went well, since the other was last seen; one of both is 0. */
  failed: number
  well: number
  /** When the row began. */
  since: number
  reason: string | undefined
  detail: string | undefined
  status: number | undefined
  latencySeconds: number | undefined
}
export type TargetChecksFold = {
  readonly ingest: (event: Event) => void
  readonly all: () => Iterable<TargetChecks>
  readonly has: (target: string) => boolean
}

const SOURCE = 'targets'
const [INFO, UP, LATENCY, STATUS, FAILING] = [targetInfo.name, targetUp.name, targetLatencySeconds.name, targetStatus.name, targetFailing.name] as const
/** More than may be configured. */
const MAX_TARGETS = 1_000

export function createTargetChecks(): TargetChecksFold {
  const targets = new Map<string, TargetChecks>()
  const of = (target: string): TargetChecks => {
    let checks = targets.get(target)
    if (checks === undefined) {
      if (targets.size >= MAX_TARGETS) for (const oldest of targets.keys()) if (targets.delete(oldest)) break
      checks = {
        target,
        url: undefined,
        container: undefined,
        failed: 0,
        well: 0,
        since: 0,
        reason: undefined,
        detail: undefined,
        status: undefined,
        latencySeconds: undefined,
      }
      targets.set(target, checks)
    }
    return checks
  }
  const count = (checks: TargetChecks, up: boolean, t: number): void => {
    if ((up ? checks.well : checks.failed) === 0) checks.since = t
    checks.well = up ? checks.well + 1 : 0
    checks.failed = up ? 0 : checks.failed + 1
    checks.reason = checks.detail = checks.status = checks.latencySeconds = undefined
  }
  return {
    all: () => targets.values(),
    has: (target) => targets.has(target),
    ingest(event) {
      if (event.type !== 'scrape' || event.source !== SOURCE) return
      // A check says something, or why it cannot; the source takes back what it said of one that another configuration does not have.
      if (event.readings.length === 0 && event.gaps.length === 0) targets.delete(event.group)
      // The count first: what the other readings say belongs to this check.
      for (const { series, value } of event.readings)
        if (series.metric.name === UP && series.labels['target'] !== undefined) count(of(series.labels['target']), value === 1, event.t)
      for (const { series, value } of event.readings) {
        const { target, url, container, reason } = series.labels
        if (target === undefined) continue
        const checks = of(target)
        const { name } = series.metric
        if (name === INFO) [checks.url, checks.container] = [url, container]
        else if (name === LATENCY) checks.latencySeconds = value
        else if (name === STATUS) checks.status = value
        else if (name === FAILING) checks.reason = reason
      }
      for (const { metric, labels, detail } of event.gaps) if (metric === FAILING && labels['target'] !== undefined) of(labels['target']).detail = detail
    },
  }
}
