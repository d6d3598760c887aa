// GPUs that are missing, hang or fall silent, sources that do, drivers of two versions, containers that lose their GPU, services that are down.
import { containerLostGpu, driverHung, gpuMissing, nvmlDriverMismatch, targetDown, telemetryStale } from '../../../agent/diagnosis/detectors/index.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import { uuid } from '../../unit/incidents/scene.ts'
import { checked, info } from '../../unit/detectors/target-scene.ts'
import { scrapeOf, within, type RuleScene } from './scene.ts'

const [FROM, TO, END] = [120, 300, 600]
const faulty = (second: number): boolean => within(second, FROM, TO)
const CARDS = [0, 1]
const placeOf = (index: number) => ({ gpu: String(index), uuid: uuid(index) })

/** When calls do not return: a left-out GPU is tried after 5, 10, 20, 40, 60 s (agent/sampler/supervisor.ts). */
const HANGS_S = [0, 3, 8, 18, 38, 78, 138]

type State = 'well' | 'missing' | 'hung' | 'silent'
/** Two GPUs; the first one is in this state. */
function gpus(second: number, state: State, hangs: number): readonly Event[] {
  const gap: Gap = { metric: 'gpu', labels: placeOf(0), reason: state === 'missing' ? 'gpu_lost' : 'timeout', detail: 'it does not answer' }
  const known: Event[] = CARDS.flatMap((index): readonly Event[] => {
    const labels = placeOf(index)
    const away = index === 0 && state !== 'well'
    return [
      scrapeOf(second, 'gpu', away ? {} : { gpu_memory_used_bytes: 4e9 }, {
        group: `${index}/fast`,
        labels,
        gaps: away && (state === 'hung' || state === 'missing') ? [gap] : [],
      }),
      scrapeOf(second, 'gpu', away && state === 'missing' ? {} : { gpu_info: 1 }, { group: `${index}/rare`, labels }),
    ]
  })
  const age = state === 'well' ? 0.5 : second - FROM
  known.push(scrapeOf(second, 'gpu', { gpu_sample_age_seconds: age }, { group: 'age 0', labels: placeOf(0) }))
  known.push(scrapeOf(second, 'gpu', { gpu_sample_age_seconds: 0.5 }, { group: 'age 1', labels: placeOf(1) }))
  if (hangs > 0) {
    const labels = { ...placeOf(0), function: 'nvmlDeviceGetMemoryInfo' }
    known.push(scrapeOf(second, 'gpu', { agent_sampler_hangs_total: hangs }, { group: 'hangs', labels }))
  }
  if (second % 5 === 0) {
    const gone = state === 'missing'
    for (const index of CARDS)
      known.push(scrapeOf(second, 'gpu-presence', { gpu_present: gone && index === 0 ? 0 : 1 }, { group: String(index), ttlS: 15, labels: placeOf(index) }))
    known.push(scrapeOf(second, 'gpu-presence', { gpus_present: gone ? 1 : 2, gpus_expected: 2 }, { ttlS: 15 }))
  }
  return known
}
const oneGpu = (name: string, detector: RuleScene['detector'], fires: boolean, state: State): RuleScene => ({
  name,
  detector,
  fires,
  seconds: END,
  by: 'uuid',
  tell: (second) =>
    gpus(
      second,
      faulty(second) ? state : 'well',
      state === 'hung' && second >= FROM ? HANGS_S.filter((after) => after <= Math.min(second, TO - 1) - FROM).length : 0,
    ),
})
const host = (second: number, hostSpeaks: boolean): readonly Event[] => [
  ...(hostSpeaks ? [scrapeOf(second, 'host', { host_load1: 3 })] : []),
  scrapeOf(second, 'agent', { 'agent_source_up source=host': hostSpeaks || second - FROM < 15 ? 1 : 0, 'agent_source_up source=containers': 1 }, { ttlS: 15 }),
]
const mismatch = (second: number, differ: boolean): Event =>
  scrapeOf(second, 'driver-version', { [`driver_library_mismatch kernel_version=580.1 library_version=${differ ? '580.2' : '580.1'}`]: differ ? 1 : 0 })
const BOX = { container: 'trainer', container_id: '0123456789ab', gpu: '0', uuid: uuid(0) }

export const driverScenes: readonly RuleScene[] = [
  oneGpu('a GPU is lost', gpuMissing, true, 'missing'),
  oneGpu('a GPU that hangs is not missing', gpuMissing, false, 'hung'),
  {
    name: 'fewer GPUs than expected',
    detector: gpuMissing,
    fires: true,
    seconds: END,
    tell: (second) => [scrapeOf(second, 'gpu-presence', { gpus_present: faulty(second) ? 7 : 8, gpus_expected: 8 }, { ttlS: 15 })],
  },
  oneGpu('a GPU hangs', driverHung, true, 'hung'),
  oneGpu('a GPU that is silent does not hang', driverHung, false, 'silent'),
  oneGpu('a GPU is silent', telemetryStale, true, 'silent'),
  oneGpu('a GPU that is lost is not silent', telemetryStale, false, 'missing'),
  { name: 'the host is silent', detector: telemetryStale, fires: true, seconds: END, tell: (second) => host(second, !faulty(second)) },
  {
    name: 'the host is silent for a moment',
    detector: telemetryStale,
    fires: false,
    seconds: END,
    tell: (second) => host(second, !within(second, FROM, FROM + 25)),
  },
  ...[true, false].map((fires): RuleScene => ({
    name: fires ? 'libraries and kernel module differ' : 'libraries and kernel module differ while an update runs',
    detector: nvmlDriverMismatch,
    fires,
    seconds: END,
    tell: (second) => [mismatch(second, within(second, FROM, fires ? TO : FROM + 8))],
  })),
  ...[true, false].map((fires): RuleScene => ({
    name: fires ? 'a container loses its GPU' : 'a container keeps its GPU',
    detector: containerLostGpu,
    fires,
    seconds: END,
    by: 'container',
    tell: (second) => [
      scrapeOf(second, 'containers', { container_info: 1 }, { labels: { ...BOX, state: 'running' } }),
      scrapeOf(second, 'device-access', { container_gpu_accessible: fires && faulty(second) ? 0 : 1 }, { labels: BOX }),
    ],
  })),
  ...[true, false].map((fires): RuleScene => ({
    name: fires ? 'a service is down' : 'a service fails twice',
    detector: targetDown,
    fires,
    seconds: END,
    by: 'target',
    tell: (second) => {
      if (second % 10 !== 0) return []
      const down = within(second, FROM, fires ? TO : FROM + 20)
      const failed = down ? (second - FROM) / 10 + 1 : 0
      return [
        info(second),
        checked(second, down ? 'refused' : 'well'),
        scrapeOf(second, 'target-checks', { target_failed_checks: failed }, { ttlS: 30, labels: { target: 'ui' } }),
      ]
    },
  })),
]
