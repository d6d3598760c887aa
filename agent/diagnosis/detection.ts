// Runs the detectors over the events: shared folds once, each detector at its own pace, findings out. Pure: time comes from the events.
import type { DetectorSettings } from '../model/detector-settings.ts'
import type { Event } from '../model/event.ts'
import type { Finding, Forecast, ForecastInterval } from '../model/finding.ts'
import type { DetectorDefinition, OptionValues, OptionDefs } from './detectors/definition.ts'
import { createPresent } from './detectors/parts/present.ts'
import { createTracks, type Tracks } from './detectors/parts/tracks.ts'

export type Detection = {
  /** The processes on the GPUs, for others that judge by them. */
  readonly tracks: Tracks
  readonly ingest: (event: Event) => void
  /** Other detectors or options from now on. Those that stay the same keep all that they know; of those that are gone what they found is over. */
  readonly configure: (definitions: readonly DetectorDefinition[], settings: DetectorSettings | undefined) => void
  /** To be called when the events of a second have come in; what each detector that is due says. */
  readonly judge: (t: number) => readonly Finding[]
  /** Intervals that are being told now. */
  readonly forecasts: () => readonly Forecast[]
}
export type DetectionOptions = {
  readonly definitions: readonly DetectorDefinition[]
  readonly settings?: DetectorSettings
  readonly onForecast?: (forecast: Forecast) => void
  /** A detector that throws is left out for that time; the others go on. */
  readonly onFailure?: (id: string, error: unknown) => void
}

type Running = {
  readonly definition: DetectorDefinition
  readonly options: OptionValues<OptionDefs>
  readonly detector: ReturnType<DetectorDefinition['create']>
  due: number | undefined
  /** What it has found that is not over, by kind and key. */
  readonly faulty: Map<string, Finding>
}

/** A detector that finds more than this at a time finds the same thing many times. */
const MAX_FAULTY = 5_000

function note({ faulty }: Running, finding: Finding): void {
  const name = `${finding.kind} @ ${finding.key}`
  if (finding.state === 'healthy') faulty.delete(name)
  else if (finding.state === 'faulty' && (faulty.size < MAX_FAULTY || faulty.has(name))) faulty.set(name, finding)
}

const sameOptions = (a: OptionValues<OptionDefs>, b: OptionValues<OptionDefs>): boolean => Object.entries(b).every(([name, value]) => a[name] === value)

/** What is at most so far ahead is now. */
const NOW_MS = 60_000
const SILENT: ForecastInterval = { earliestMs: null, latestMs: null }

function optionsOf(definition: DetectorDefinition, settings: DetectorSettings | undefined): OptionValues<OptionDefs> {
  const set = settings?.[definition.id]?.options
  return Object.fromEntries(Object.entries(definition.options).map(([name, def]) => [name, set?.[name] ?? def.default]))
}

/** A change of more than a tenth of the time that is left is worth telling. */
function differs(before: ForecastInterval, after: ForecastInterval, t: number): boolean {
  const moved = (a: number | null, b: number | null): boolean => {
    if (a === null || b === null) return a !== b
    // Both say "from now on".
    if (Math.max(a, b) - t <= NOW_MS) return false
    return Math.abs(a - b) > 0.1 * Math.max(60_000, Math.abs(a - t))
  }
  return moved(before.earliestMs, after.earliestMs) || moved(before.latestMs, after.latestMs)
}

export function createDetection({ definitions, settings, onForecast = () => {}, onFailure = () => {} }: DetectionOptions): Detection {
  const watched = new Set<string>()
  const present = createPresent(watched)
  const tracks = createTracks()
  let running: readonly Running[] = []
  let listeners: readonly Running[] = []
  /** What was found by detectors that are gone. */
  let over: Finding[] = []
  const reported = new Map<string, Forecast>()

  const start = (definition: DetectorDefinition, options: OptionValues<OptionDefs>): Running => ({
    definition,
    options,
    due: undefined,
    detector: definition.create(options, { present, tracks }),
    faulty: new Map(),
  })
  const configure: Detection['configure'] = (wanted, by) => {
    watched.clear()
    for (const { watches } of wanted) for (const metric of watches) watched.add(metric)
    const before = new Map(running.map((entry) => [entry.definition.id, entry]))
    // One order wherever they come from: a namespace's exports have none that every loader keeps to, so detectors are sorted by id.
    running = wanted
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .filter(({ id }) => by?.[id]?.enabled !== false)
      .map((definition) => {
        const options = optionsOf(definition, by)
        const known = before.get(definition.id)
        if (known?.definition !== definition) return start(definition, options)
        before.delete(definition.id)
        // With other options it starts again; its incidents stay until it reports something else.
        return sameOptions(known.options, options) ? known : { ...start(definition, options), faulty: known.faulty }
      })
    listeners = running.filter(({ detector }) => detector.ingest !== undefined)
    for (const { faulty } of before.values())
      for (const { kind, key, about } of faulty.values()) over.push({ kind, key, about, state: 'healthy', why: 'removed or changed in the configuration' })
  }
  configure(definitions, settings)

  const guarded = <T>(id: string, run: () => T): T | undefined => {
    try {
      return run()
    } catch (error) {
      onFailure(id, error)
      return undefined
    }
  }
  const tell = (t: number, { key, about }: Finding, interval: ForecastInterval): void => {
    const forecast: Forecast = { t, key, about, ...interval }
    if (interval.earliestMs === null && interval.latestMs === null) reported.delete(key)
    else reported.set(key, forecast)
    onForecast(forecast)
  }
  const followForecast = (t: number, finding: Finding): void => {
    const before = reported.get(finding.key)
    const now = finding.state === 'faulty' ? finding.forecast : undefined
    if (now === undefined) {
      if (before !== undefined) tell(t, finding, SILENT)
    } else if (before === undefined || differs(before, now, t)) tell(t, finding, now)
  }

  return {
    tracks,
    configure,
    ingest(event) {
      if (event.type === 'scrape') present.ingest(event)
      tracks.ingest(event)
      for (const { definition, detector } of listeners) guarded(definition.id, () => detector.ingest?.(event))
    },
    judge(t) {
      present.moveTo(t)
      tracks.moveTo(t)
      const found = over
      over = []
      for (const finding of found) if (finding.kind === 'memory_exhaustion_forecast') followForecast(t, finding)
      for (const entry of running) {
        const slot = Math.floor(t / entry.definition.everyMs)
        if (entry.due === slot) continue
        entry.due = slot
        for (const finding of guarded(entry.definition.id, () => entry.detector.judge(t)) ?? []) {
          note(entry, finding)
          if (finding.kind === 'memory_exhaustion_forecast') followForecast(t, finding)
          found.push(finding)
        }
      }
      return found
    },
    forecasts: () => [...reported.values()],
  }
}
