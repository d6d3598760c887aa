// Judges events as they pass and keeps the incidents that follow from them. A consumer of the pipeline: no clock, no I/O, time comes from the events.
import type { ContainerEvent, Event, LogLine, OperatorEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { summaryOf, type ContainerSettings, type Incident, type IncidentFigures, type IncidentSummary } from '../model/incident.ts'
import type { IncidentKind } from '../model/kinds.ts'
import type { BaselineEntry } from '../model/maintenance.ts'
import type { Detection } from './detection.ts'
import { createTracks } from './detectors/parts/tracks.ts'
import { createAcknowledgedBaseline } from './incidents/acknowledged-baseline.ts'
import { createEvidenceReader } from './incidents/evidence.ts'
import { createFindings, resolutionText } from './incidents/findings.ts'
import { createEvidenceCollection } from './incidents/evidence-collection.ts'
import { createLogMemory } from './incidents/log-memory.ts'
import { attributeLoss } from './incidents/attribute-lost-time.ts'
import { createLostTimeBook, type Death } from './incidents/lost-time.ts'
import { createPasts } from './incidents/oom/past.ts'
import { createRepeatedMessage } from './incidents/oom/repeated-message.ts'
import { createReservedCaches } from './incidents/oom/reserved-caches.ts'
import { createOomVerdicts } from './incidents/oom/verdict.ts'
import { rootOf, subjectOf, toIncident, type OpenIncident } from './incidents/open-incident.ts'
import { createPidToContainer } from './incidents/pid-to-container.ts'
import { createRecentSeries } from './incidents/recent-series.ts'
import { createCausalChains } from './incidents/causal-chains.ts'
import { createSubjects, type Place } from './incidents/subject.ts'
import { allocatorFault, createKillCounter, oomKillFault, namesNobody, withVictim } from './incidents/faults-from-counters.ts'
import { createSeconds } from './incidents/seconds.ts'
import { createSurvivedOoms } from './incidents/survived-oom.ts'
import { createTracker } from './incidents/tracker.ts'
import { withFacts, type Via } from './incidents/grouped-faults.ts'
import { createHostIdentityIndex } from './incidents/host-identity-index.ts'
import { createKnowledge } from './incidents/knowledge.ts'
import type { KnownEnd } from './ends/judge.ts'
import type { Knowledge } from './situation/knowledge.ts'
import { createRunEnds, type RunEnd } from './incidents/run-ends.ts'
import { createXidCounter, xidFault } from './incidents/xid-counter.ts'

export type DiagnosisOptions = {
  /** Faults that a line shows, root first. */
  readonly judge: (line: LogLine, know: () => Knowledge) => readonly Fault<IncidentKind>[]
  /** What ended a run, from its last lines and what the engine says. */
  readonly judgeRunEnd?: (lines: readonly string[], known: KnownEnd, know: () => Knowledge) => Fault | undefined
  /** What the numbers say; without it only logs and events are judged. */
  readonly detection?: Detection
  readonly hostname: string
  readonly settingsOf?: (containerId: string) => ContainerSettings | undefined
  /** Called with all that stands though it was declared healthy, to be kept for `restore`. */
  readonly onBaseline?: (baseline: readonly BaselineEntry[]) => void
  /** Called when more series are read than are kept for evidence: incidents then lack those of processes that came later. */
  readonly onEvidenceFull?: (maxSeries: number) => void
}
export type Diagnosis = {
  readonly name: string
  /** The incidents that fired, changed (at most once a second each) or were resolved by this event, each as it stood then; pending ones are left out. */
  readonly ingest: (event: Event) => readonly Incident[]
  readonly figures: () => IncidentFigures
  /** Firing now, root and evidence as known so far. */
  readonly firing: () => readonly Incident[]
  readonly restore: (incidents: readonly Incident[], baseline?: readonly BaselineEntry[]) => void
  /** What has changed since the last tick. To be called at the end. */
  readonly flush: () => readonly Incident[]
}

/** In a storm of incidents those that come later end with what they have. */
const MAX_FINISHING = 100
/** Of most events. */
const NOTHING: readonly Incident[] = []

export function createDiagnosis(options: DiagnosisOptions): Diagnosis {
  const { judge, judgeRunEnd = () => undefined, detection, hostname, settingsOf = () => undefined, onBaseline = () => {}, onEvidenceFull = () => {} } = options
  const identities = createHostIdentityIndex()
  const recent = createRecentSeries({ onFull: onEvidenceFull })
  const logs = createLogMemory()
  const evidence = createEvidenceReader({ recent, logs, identities, settingsOf })
  const knowledgeOf = createKnowledge({ identities, settingsOf })
  const resolve = createSubjects({ identities, hostname, settingsOf })
  const tracker = createTracker({ gpuReadAt: identities.gpuReadAt })
  const collection = createEvidenceCollection(evidence, tracker.elapsed)
  const kills = createKillCounter()
  const xids = createXidCounter()
  // Shared with the detectors where there are any.
  const ownTracks = createTracks()
  const tracks = detection?.tracks ?? ownTracks
  const pasts = createPasts(tracks)
  const lostTime = createLostTimeBook(tracks, (uuid) => identities.gpuByUuid(uuid)?.index)
  const caches = createReservedCaches()
  const oomVerdict = createOomVerdicts({ tracks, pasts, settingsOf, knowledgeOf, caches })
  const repeats = createRepeatedMessage()
  const survived = createSurvivedOoms()
  const pidToContainer = createPidToContainer()
  const runEnds = createRunEnds({ judge: (lines, known, origin) => judgeRunEnd(lines, known, () => knowledgeOf(origin)), open: tracker.open, identities })
  const chains = createCausalChains(identities.requested)
  const baseline = createAcknowledgedBaseline(onBaseline)
  const totals = new Map<IncidentKind, number>()
  const lastSeen = new Map<IncidentKind, number>()
  const fired = new Map<string, IncidentKind>()
  /** Over before the time after their fault has passed, which still belongs to their evidence. */
  const finishing = new Set<OpenIncident>()
  /** Since it was last taken; what is here when an event fails goes with the next. */
  let changed: Incident[] = []
  let firing: readonly IncidentSummary[] | undefined
  const isNewSecond = createSeconds()
  let lastT = 0

  const tell = (open: OpenIncident): void => {
    open.changed = false
    open.reportedAt = tracker.elapsed()
    firing = undefined
    if (open.status === 'pending') return
    const { kind } = rootOf(open).fault
    // A crash whose root came last counts for the root too: counters cannot take back.
    if (fired.get(open.id) !== kind) {
      if (open.firedAt !== undefined) totals.set(kind, (totals.get(kind) ?? 0) + 1)
      fired.set(open.id, kind)
    }
    if (open.status === 'resolved') {
      fired.delete(open.id)
      if (!open.complete && finishing.size < MAX_FINISHING) finishing.add(open)
    }
    for (const other of chains.place(open)) {
      if (other.status === 'resolved') changed.push(toIncident(other))
      else other.changed = true
    }
    changed.push(toIncident(open))
  }

  const linesOf = (line: LogLine | undefined): readonly string[] => (line === undefined ? [] : logs.recent(line, 20).map(({ text }) => text))
  const sighted = (
    reported: Fault<IncidentKind>,
    via: Via,
    place: Place,
    line: LogLine | undefined,
    more: { pending?: true; times?: number; key?: string } = {},
  ): void => {
    const resolved = resolve(reported, place)
    const fault = reported.kind === 'cuda_oom' ? oomVerdict(reported, place, resolved.subject, linesOf(line)) : withVictim(reported, resolved.subject)
    const again = via === 'log' && fault.kind === 'cuda_oom' && repeats(fault, place.t, resolved.crashKey)
    const open = tracker.see({ fault, via, t: place.t, ...resolved, ...more, ...(again ? { times: 0 } : {}) })
    if (via === 'log' && fault.kind === 'cuda_oom' && line !== undefined) survived.reported(open, fault, line, linesOf(line).slice(0, -1))
    lastSeen.set(fault.kind, Math.max(lastSeen.get(fault.kind) ?? 0, place.t))
    collection.seen(open, fault, place, line)
    // A burst of one fault is reported once a second; what is new is reported at once.
    if (open.status === 'firing' && fired.get(open.id) !== rootOf(open).fault.kind) tell(open)
  }

  const onLog = (line: LogLine): void => {
    logs.add(line)
    if (line.stream === 'kernel') pidToContainer.note(line.text)
    const faults = judge(line, () => knowledgeOf(pidToContainer.originOf(line)))
    if (faults.length === 0) {
      lostTime.line(line)
      survived.follow(line)
      collection.following(tracker.open(), line)
      return
    }
    const { container, container_id: named, path } = line.origin
    // An uncaught exception as the probe tells it; the program's own log may tell it too.
    const probed = /^probe:(\d+)$/.exec(path ?? '')?.[1]
    const via = line.stream === 'kernel' ? 'kernel' : probed === undefined ? 'log' : 'exception'
    for (const found of via === 'kernel' ? faults.filter((one) => !namesNobody(one)) : faults) {
      const fault = probed === undefined ? found : withFacts(found, { pid: Number(probed) })
      const containerId = named ?? (line.stream !== 'kernel' || fault.facts.pid === undefined ? undefined : pidToContainer.containerOf(fault.facts.pid))
      const place: Place = {
        t: line.t,
        stream: line.stream,
        ...(container === undefined ? {} : { container }),
        ...(containerId === undefined ? {} : { containerId }),
        ...(path === undefined ? {} : { path }),
      }
      sighted(fault, via, place, line)
    }
  }

  const oomKill = (via: 'event' | 'counter', t: number, name: string, id: string, who: string, times: number): void => {
    const limit = evidence.container({ subject: { container: { name, id } }, gpus: [] })?.memory_limit_bytes
    const fault = oomKillFault(name, limit, who, knowledgeOf({ container: name, container_id: id }))
    sighted(fault, via, { t, stream: 'numbers', container: name, containerId: id }, undefined, { times })
  }
  const runEnded = (end: RunEnd | undefined): void => {
    if (end !== undefined) sighted(end.fault, 'log', end.place, undefined)
  }
  const onContainer = (event: ContainerEvent): void => {
    runEnded(runEnds.container(event))
    const { action, t, container, container_id: id } = event
    if (action === 'oom') {
      oomKill('event', t, container, id, 'the container engine', 1)
    } else if (action === 'die' || action === 'died') {
      const { crashKey } = resolve(oomKillFault(container, undefined, ''), { t, stream: 'numbers', container, containerId: id })
      if (crashKey !== undefined) {
        lostTime.died(event, crashKey)
        tracker.ended(crashKey, t, event.exit_code)
        survived.ended(tracker.open())
      }
      for (const open of tracker.open()) if (open.changed && open.status === 'firing' && !fired.has(open.id)) tell(open)
    }
  }

  const attribute = (death: Death): IncidentKind | undefined => attributeLoss(tracker.open(), death)
  const onFinding = createFindings({ tracker, resolve, baseline, sighted, tell })
  const repaired = ({ incident, t, by, note }: OperatorEvent): void => {
    const open = tracker.settle(incident, t, resolutionText(by, note))
    if (open === undefined) return
    for (const { fault, subject } of open.grouped) baseline.accept(fault, { ...subjectOf(open), ...subject }, t)
    tell(open)
  }

  const tick = (t: number): void => {
    lastT = t
    for (const end of runEnds.tick(t)) runEnded(end)
    pasts.sample(t)
    for (const finding of detection?.judge(t) ?? []) onFinding(finding, t)
    lostTime.tick(t)
    lostTime.settle(t, attribute)
    for (const open of tracker.tick(t)) tell(open)
    for (const open of tracker.open()) {
      if (collection.late(open)) open.changed = true
      if (open.changed) tell(open)
    }
    for (const open of finishing) if (collection.late(open) && open.complete && finishing.delete(open)) changed.push(toIncident(open))
  }

  const firingNow = (): readonly Incident[] =>
    tracker
      .open()
      .filter(({ status }) => status === 'firing')
      .map((open) => toIncident(open))
  const takeChanged = (): readonly Incident[] => {
    if (changed.length === 0) return NOTHING
    const taken = changed
    changed = []
    return taken
  }
  const take = (event: Event): void => {
    identities.ingest(event)
    recent.ingest(event)
    caches.ingest(event)
    if (detection === undefined) ownTracks.ingest(event)
    else detection.ingest(event)
    switch (event.type) {
      case 'log':
        return onLog(event)
      case 'log_tail':
        return runEnded(runEnds.tail(event))
      case 'container':
        return onContainer(event)
      case 'allocator_oom':
        return sighted(
          allocatorFault(event),
          'probe',
          { t: event.t, stream: 'numbers', uuid: event.uuid, ...(event.container === undefined ? {} : { container: event.container }) },
          undefined,
          { pending: true },
        )
      case 'scrape':
        for (const { id, container, kills: times } of kills(event)) oomKill('counter', event.t, container, id, "the cgroup's counter of OOM kills", times)
        for (const { uuid, xid, times } of xids(event)) sighted(xidFault(xid), 'counter', { t: event.t, stream: 'numbers', uuid }, undefined, { times })
        if (isNewSecond(event.t)) tick(event.t)
        return
      case 'operator':
        return repaired(event)
      case 'allocator':
      case 'process':
      case 'exec':
      case 'hang':
        return
    }
  }

  return {
    name: 'diagnosis',
    ingest(event) {
      take(event)
      return takeChanged()
    },
    figures: () => ({
      firing: (firing ??= firingNow().map(summaryOf)),
      totals,
      lastSeen,
      forecasts: detection?.forecasts() ?? [],
      lost: lostTime.totals(),
    }),
    firing: firingNow,
    restore(incidents, standing = []) {
      baseline.restore(standing)
      for (const incident of incidents) {
        chains.restore(tracker.restore(incident))
        fired.set(incident.id, incident.kind)
        lastSeen.set(incident.kind, Math.max(lastSeen.get(incident.kind) ?? 0, incident.last_seen_at))
      }
      firing = undefined
    },
    flush() {
      lostTime.settle(lastT, attribute)
      for (const open of tracker.open()) if (open.changed) tell(open)
      return takeChanged()
    },
  }
}
