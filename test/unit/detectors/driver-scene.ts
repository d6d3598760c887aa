// A host whose driver misbehaves, second by second, through the detectors of driver and access: gaps as the sources tell them, and what is said.
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { containerLostGpu, driverHung, gpuMissing, nvmlDriverMismatch, telemetryStale } from '../../../agent/diagnosis/detectors/index.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Faulty } from '../../../agent/model/finding.ts'
import type { Gap, GapReason, Reading } from '../../../agent/model/reading.ts'
import { reading, scrape, T, uuid } from '../incidents/scene.ts'

export const DETECTORS: readonly DetectorDefinition[] = [gpuMissing, driverHung, telemetryStale, nvmlDriverMismatch, containerLostGpu]

/** One GPU in one second: well, silent without a word, or a gap of this reason. */
export type Card = 'well' | 'silent' | GapReason
export type Second = {
  readonly cards?: readonly Card[]
  /** The gap of the whole driver. */
  readonly wide?: Pick<Gap, 'reason' | 'code' | 'detail'>
  /** Of gpu-presence: what it says of each card by index, how many there are and should be. */
  readonly listed?: readonly (0 | 1 | undefined)[]
  readonly present?: number
  readonly expected?: number
  /** Kernel's and library's version. */
  readonly versions?: readonly [kernel: string, library: string]
  readonly more?: readonly Scrape[]
  /** Nothing at all is heard in this second. */
  readonly nothing?: true
}

export const cards = (count: number, others: Readonly<Record<number, Card>> = {}): readonly Card[] =>
  Array.from({ length: count }, (_, index) => others[index] ?? 'well')

const group = (t: number, name: string, readings: readonly Reading[], gaps: readonly Gap[], source = 'gpu'): Scrape => ({
  ...scrape(t, source, readings),
  group: name,
  gaps,
})
export { group }

function scrapesOf(t: number, second: Second, age: Map<number, number>): readonly Scrape[] {
  const { cards: all = [], wide, listed = [], present, expected, versions, more = [] } = second
  const made = all.map((card, index): Scrape => {
    const place = { gpu: String(index), uuid: uuid(index) }
    if (card === 'well') {
      age.set(index, t)
      const readings = [
        reading('gpu_info', { ...place, name: 'NVIDIA H100 80GB HBM3' }, 1),
        reading('gpu_memory_used_bytes', place, 1e9),
        reading(
          'process_gpu_memory_bytes',
          { ...place, pid: String(4_000 + index), process: 'python', container: 'trainer', container_id: '0123456789ab' },
          9e8,
        ),
      ]
      return group(t, `${uuid(index)}/fast`, readings, [])
    }
    if (card === 'silent') return group(t, 'nobody', [], [])
    return group(t, `${uuid(index)}/fast`, [], [{ metric: 'gpu', labels: place, reason: card, detail: `GPU ${index}: ${card} of the test` }])
  })
  const ages = all.flatMap((card, index) =>
    card === 'gpu_lost' ? [] : [reading('gpu_sample_age_seconds', { gpu: String(index), uuid: uuid(index) }, (t - (age.get(index) ?? t)) / 1_000)],
  )
  const presence = [
    ...listed.flatMap((value, index) => (value === undefined ? [] : [reading('gpu_present', { gpu: String(index), uuid: uuid(index) }, value)])),
    ...(present === undefined ? [] : [reading('gpus_present', {}, present)]),
    ...(expected === undefined ? [] : [reading('gpus_expected', {}, expected)]),
  ]
  const differ =
    versions === undefined
      ? []
      : [reading('driver_library_mismatch', { kernel_version: versions[0], library_version: versions[1] }, versions[0] === versions[1] ? 0 : 1)]
  return [
    ...made,
    group(t, 'age', ages, []),
    group(t, 'nvml', [], wide === undefined ? [] : [{ metric: 'gpu', labels: {}, ...wide }]),
    group(t, '', presence, [], 'gpu-presence'),
    group(t, '', differ, [], 'driver-version'),
    ...more,
  ]
}

export type Turn = { readonly second: number; readonly text: string; readonly fault?: Faulty; readonly why?: string }

/** What is said, each time that it changes, without the first word of health: `10 gpu_missing GPU 3 critical`, `20 gpu_missing GPU 3 healthy`. */
export function watch(
  seconds: number,
  tell: (second: number) => Second,
  { definitions = DETECTORS, options = {} }: { readonly definitions?: readonly DetectorDefinition[]; readonly options?: Readonly<Record<string, number>> } = {},
): readonly Turn[] {
  const failures: unknown[] = []
  const settings = Object.fromEntries(definitions.map(({ id }) => [id, { options }]))
  const detection = createDetection({ definitions, settings, onFailure: (_, error) => void failures.push(error) })
  const turns: Turn[] = []
  const last = new Map<string, string>()
  const age = new Map<number, number>()
  for (let second = 0; second < seconds; second++) {
    const t = T + second * 1_000
    const now = tell(second)
    if (now.nothing !== true) for (const event of scrapesOf(t, now, age)) detection.ingest(event)
    for (const finding of detection.judge(t)) {
      const { kind, key, about } = finding
      const said = finding.state === 'faulty' ? finding.severity : finding.state
      const before = last.get(`${kind} ${key}`)
      last.set(`${kind} ${key}`, said)
      if (before === said || (said === 'healthy' && before === undefined)) continue
      const gpu = /^GPU-0000000(\d)/.exec(about.uuid ?? '')?.[1]
      const whom = about.container ?? (gpu === undefined ? 'host' : `GPU ${gpu}`)
      turns.push({
        second,
        text: `${second} ${kind} ${whom} ${said}`,
        ...(finding.state === 'faulty' ? { fault: finding } : {}),
        ...(finding.state === 'healthy' && finding.why !== undefined ? { why: finding.why } : {}),
      })
    }
  }
  if (failures.length > 0) throw new Error('a detector failed', { cause: failures[0] })
  return turns
}
export const story = (turns: readonly Turn[]): readonly string[] => turns.map(({ text }) => text)
