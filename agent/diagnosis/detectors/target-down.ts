// A service beside the GPU fails its health check again and again. Checks are counted, not seconds: each target has its own pace.
import { targetFailedChecks } from '../../metrics/target.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { upperFirst } from '../../text/grammar.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createFindingDeduper, type FindingDeduper } from './parts/per-gpu.ts'
import { createTargetChecks, type TargetChecks } from './parts/target-checks.ts'
import { checkReasonText, targetRemedies, targetText } from './parts/target-text.ts'

type State = { down: boolean; deduper: FindingDeduper | undefined }

export const targetDown = defineDetector({
  id: 'target-down',
  kinds: ['target_down'],
  title: 'A service fails its health check',
  severity: 'critical',
  watches: [],
  everyMs: 1_000,
  options: {
    // Three in a row, two back: as Kubernetes probes do (failureThreshold 3), with one more for health so that a service that flaps is one incident.
    failures: { default: 3, min: 1, max: 100, help: 'Checks that must fail without a break.' },
    successes: { default: 2, min: 1, max: 100, help: 'Checks that must go well without a break, until it is over.' },
  },
  // The row that the source counts: the pace of the checks is each target's own. Here the first good check ends it.
  expression: { promql: `${targetFailedChecks.name} >= 3` },
  create(options) {
    const checks = createTargetChecks()
    const states = new Map<string, State>()
    const aboutOf = ({ target, container }: TargetChecks) => ({ named: target, ...(container === undefined ? {} : { container }) })

    const faultyFinding = (t: number, of: TargetChecks): TypedFinding => {
      const [title, meaning] = checkReasonText(of.reason)
      const { target, reason, detail, status, failed, since, latencySeconds } = of
      return {
        kind: 'target_down',
        key: target,
        about: aboutOf(of),
        state: 'faulty',
        severity: 'critical',
        title: `Service ${target} is down: ${title}${reason === 'status' && status !== undefined ? ` ${status}` : ''}`,
        verdict: `${upperFirst(targetText(of))} has failed ${failed === 1 ? 'its check' : `${failed} checks in a row, for ${spanText(t - since)}`}: ${meaning}${detail === undefined ? '' : ` (${detail})`}.`,
        facts: {
          target,
          failed_checks: failed,
          since_ms: since,
          ...(reason === undefined ? {} : { reason }),
          ...(status === undefined ? {} : { http_status: status }),
          ...(latencySeconds === undefined ? {} : { latency_ms: Math.round(latencySeconds * 1_000) }),
        },
        remedies: targetRemedies(of),
      }
    }
    return {
      ingest: checks.ingest,
      judge(t) {
        const found: TypedFinding[] = []
        for (const of of checks.all()) {
          let state = states.get(of.target)
          if (state === undefined) states.set(of.target, (state = { down: false, deduper: undefined }))
          if (of.failed >= options.failures) state.down = true
          else if (of.well >= options.successes) state.down = false
          else if (!state.down || of.failed === 0) continue // too early to say, or on its way back
          state.deduper ??= createFindingDeduper({ kind: 'target_down', key: of.target, about: aboutOf(of) })
          if (state.down) state.deduper.faulty(found, faultyFinding(t, of))
          else state.deduper.healthy(found)
        }
        for (const [target, { deduper }] of states) {
          if (checks.has(target)) continue
          deduper?.healthy(found, 'removed or changed in the configuration')
          states.delete(target)
        }
        return found
      },
    }
  },
})
