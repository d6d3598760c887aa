// Eight hours of a healthy host, by day and by night, with restarts and evaluations, where two of a hundred samples are missing and the agent was stopped now and then: not one
// incident. None either where all is heard. `npm test` takes the first five hours, in which each pause comes once, and half an hour of all that is heard; `npm run test:long` all eight.
// Long: about 60 s.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import * as detectors from '../../agent/diagnosis/detectors/index.ts'
import type { Diagnosis } from '../../agent/diagnosis/diagnosis.ts'
import { createLogJudge } from '../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../agent/diagnosis/log-scanner.ts'
import type { Event } from '../../agent/model/event.ts'
import type { Incident } from '../../agent/model/incident.ts'
import { createRandom } from '../../agent/sources/simulated/random.ts'
import { createHeardDiagnosis } from '../setup/heard-diagnosis.ts'
import { createHealthyHost } from '../fakes/healthy-host/host.ts'
import { withLoss } from '../fakes/healthy-host/loss.ts'
import { rounds } from '../setup/rounds.ts'

const T = 1_763_600_000_000
const LOSS = 0.02
/** Each pause comes once in four hours, and most containers are set up again in five. */
const HOURS = rounds({ full: 8, quick: 5 })
/** Of these nothing is missing. */
const WHOLE_HOURS = rounds({ full: HOURS, quick: 0.5 })
/** Each half hour the agent hears nothing for so many seconds, one after the other: it was stopped, or the machine stalled. Then it hears without a break for an hour and a half. */
const PAUSES_S = [3, 12, 40, 95, 400, 0, 0, 0]
const paused = (second: number): boolean => second % 1_800 < (PAUSES_S[Math.floor(second / 1_800) % PAUSES_S.length] ?? 0)
const definitions: readonly DetectorDefinition[] = Object.values(detectors)

type Judged = { readonly diagnosis: Diagnosis; readonly incidents: ReadonlyMap<string, Incident>; readonly failures: readonly string[] }
function judged(): Judged {
  const incidents = new Map<string, Incident>()
  const failures: string[] = []
  const detection = createDetection({ definitions, onFailure: (id, error) => void failures.push(`${id}: ${String(error)}`) })
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    detection,
    hostname: 'gpu-host',
    onChange: (incident) => void incidents.set(incident.id, incident),
  })
  return { diagnosis, incidents, failures }
}
const reported = ({ incidents, failures }: Judged): readonly string[] => [
  ...failures,
  ...[...incidents.values()].map(({ started_at: at, kind, verdict }) => `${Math.round((at - T) / 1_000)} s ${kind}: ${verdict}`),
]
const take = ({ diagnosis }: Judged, events: readonly Event[]): void => {
  for (const event of events) diagnosis.ingest(event)
}

/** What no healthy host tells, what only some hosts have, and what is asked of others than the host. */
const UNTOLD =
  /^warpwatch_(agent_sampler_hangs_total|gpu_gpm_|gpu_retired_pages|target_failed|gpu_persistence_mode|job_(?:info|last_progress|progress_ratio|step)|inference_|host_previous_boot_)/

describe('a healthy host', () => {
  test('tells all that the detectors watch', () => {
    const host = createHealthyHost(1, T)
    const seen = new Set<string>()
    for (let second = 0; second < 61; second++)
      for (const event of host.tick(T + second * 1_000)) if (event.type === 'scrape') for (const { series } of event.readings) seen.add(series.metric.name)
    const watched = new Set(definitions.flatMap(({ watches }) => watches))
    expect([...watched].filter((name) => !seen.has(name) && !UNTOLD.test(name)).sort()).toEqual([])
  })

  test('that gets a fault has an incident, with missing samples too', () => {
    const host = createHealthyHost(1, T)
    const random = createRandom(1, 'loss')
    const lossy = judged()
    for (let second = 0; second < 900; second++) {
      const events = host.tick(T + second * 1_000).map((event): Event => {
        if (event.type !== 'scrape' || second < 600) return event
        return {
          ...event,
          readings: event.readings.map(({ series, value }) => {
            const hot = series.labels['gpu'] === '2' && series.labels['reason'] === 'sw_thermal_slowdown'
            return { series, value: hot && series.metric.name === 'warpwatch_gpu_throttle_active' ? 1 : value }
          }),
        }
      })
      take(lossy, withLoss(events, random, LOSS))
    }
    expect([...lossy.incidents.values()].map(({ kind, subject }) => [kind, subject.gpu?.index])).toEqual([['throttling', 2]])
  })

  test('has no incident for hours, also where samples are missing and the agent was stopped now and then', () => {
    const host = createHealthyHost(2, T)
    const random = createRandom(2, 'loss')
    const [whole, worn] = [judged(), judged()]
    for (let second = 0; second < HOURS * 3_600; second++) {
      const events = host.tick(T + second * 1_000)
      if (second < WHOLE_HOURS * 3_600) take(whole, events)
      const left = withLoss(events, random, LOSS)
      if (!paused(second)) take(worn, left)
    }
    expect(reported(whole)).toEqual([])
    expect(reported(worn)).toEqual([])
    expect(host.restarts()).toBeGreaterThan(5)
    // Nothing waits here: hours are judged, which takes minutes where the cores are shared.
  }, 1_800_000)
})
