// Runs of a container, or of a program without one, that ended because memory ran out. A death has evidence (a log line, a report of the probe or the engine) and an end
// (the engine's event, or the driver's list without the process); an out of memory that the program survived is none.
import type { ContainerEvent, Event } from '../../../model/event.ts'
import { createOomText } from './oom-text.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

export type Death = {
  readonly t: number
  readonly bornT: number | undefined
  /** The most that one of its processes held on a card. */
  readonly peakBytes: number | undefined
  readonly memory: 'gpu' | 'host'
}
/** `memory` runs out, the end is still to come. */
type Evidence = { readonly t: number; readonly pids: Set<number>; readonly memory: Death['memory'] }
export type Program = {
  readonly key: string
  readonly name: string
  readonly container: string | undefined
  containerId: string | undefined
  uuid: string | undefined
  bornT: number | undefined
  peakBytes: number
  /** It has a process on a card now. */
  alive: boolean
  evidence: Evidence | undefined
  /** An end without evidence so far: its log may come a moment later. */
  endT: number | undefined
  deaths: Death[]
}
export type OomDeaths = {
  readonly ingest: (event: Event) => void
  /** Call before reading `programs`: finds ends that only the driver's process list shows. */
  readonly settle: (t: number) => void
  readonly programs: () => Iterable<Program>
}

/** The end follows the fault within so long: tracebacks, other ranks, the engine's own delay. */
const END_WITHIN_MS = 120_000
/** The engine reports an end a moment after the driver; both are the same end. */
const SETTLE_MS = 10_000
/** A line written before the end may be read after it. */
const LATE_LINE_MS = 2_000
const MAX_DEATHS = 50
const MAX_PROGRAMS = 2_000

export function createOomDeaths(tracks: Tracks): OomDeaths {
  const programs = new Map<string, Program>()
  const saysOom = createOomText()

  const programOf = (container: string | undefined, name: string, uuid: string | undefined): Program => {
    const key = container === undefined ? `process ${name} ${uuid ?? ''}` : `container ${container}`
    let program = programs.get(key)
    if (program !== undefined) return program
    program = {
      key,
      name: container ?? name,
      container,
      containerId: undefined,
      uuid,
      bornT: undefined,
      peakBytes: 0,
      alive: false,
      evidence: undefined,
      endT: undefined,
      deaths: [],
    }
    programs.set(key, program)
    if (programs.size > MAX_PROGRAMS)
      for (const [old, { deaths, evidence, alive }] of programs) if (deaths.length === 0 && !evidence && !alive) programs.delete(old)
    return program
  }
  const programOfTrack = (track: Track): Program | undefined =>
    track.container === undefined && track.process === undefined ? undefined : programOf(track.container, track.process ?? '', track.uuid)

  const die = (program: Program, t: number, { memory }: Evidence): void => {
    program.deaths.push({ t, bornT: program.bornT, peakBytes: program.peakBytes > 0 ? program.peakBytes : undefined, memory })
    if (program.deaths.length > MAX_DEATHS) program.deaths.shift()
    program.evidence = undefined
    program.endT = undefined
    program.bornT = undefined
    program.peakBytes = 0
  }
  const note = (program: Program, t: number, memory: Death['memory'], pid?: number): void => {
    const last = program.deaths.at(-1)
    if (last !== undefined && t <= last.t + LATE_LINE_MS) return
    const open = program.evidence
    if (open === undefined) program.evidence = { t, pids: new Set(pid === undefined ? [] : [pid]), memory }
    else if (pid !== undefined) open.pids.add(pid)
    const { endT } = program
    if (program.evidence !== undefined && endT !== undefined && t <= endT + LATE_LINE_MS && endT - t <= END_WITHIN_MS) die(program, endT, program.evidence)
  }

  const onContainer = ({ action, t, container, container_id: id, exit_code: code }: ContainerEvent): void => {
    const program = programOf(container, container, undefined)
    program.containerId = id
    if (action === 'start') {
      program.bornT = t
      program.peakBytes = 0
      program.endT = undefined
    } else if (action === 'oom') note(program, t, 'host')
    else if (action === 'die' || action === 'died') {
      const { evidence } = program
      // It ended well: what it had caught was no reason.
      if (code === 0) program.evidence = undefined
      else if (evidence !== undefined && t - evidence.t <= END_WITHIN_MS) die(program, t, evidence)
      else program.endT = t
    }
  }

  /** Without an event of the engine: the processes with evidence are gone, or where no pid is known one of the program is. */
  const endOf = (program: Program, { t, pids }: Evidence): number | undefined => {
    const own: Track[] = []
    for (const track of tracks.all()) if (programOfTrack(track) === program) own.push(track)
    const concerned = pids.size > 0 ? own.filter(({ pid }) => pids.has(pid)) : own.filter(({ endedT }) => endedT !== undefined && endedT >= t - SETTLE_MS)
    if (concerned.length === 0 || concerned.some(({ endedT }) => endedT === undefined)) return undefined
    return Math.min(...concerned.map(({ endedT }) => endedT ?? t))
  }

  return {
    ingest(event) {
      switch (event.type) {
        case 'container':
          return onContainer(event)
        case 'log': {
          const { container } = event.origin
          // A file that belongs to no container names no program.
          if (container !== undefined && saysOom(event)) note(programOf(container, container, undefined), event.t, 'gpu')
          return
        }
        case 'allocator_oom': {
          const track = tracks.get(event.uuid, event.pid)
          const program = track === undefined ? undefined : programOfTrack(track)
          if (track === undefined || program === undefined) return
          const open = program.evidence
          // A new process without memory: the one before it has ended, though no event has reported it yet.
          if (open !== undefined && open.pids.size > 0 && !open.pids.has(track.pid) && track.firstT > open.t) die(program, open.t, open)
          return note(program, event.t, 'gpu', event.pid)
        }
        case 'log_tail':
        case 'allocator':
        case 'scrape':
        case 'operator':
        case 'process':
        case 'exec':
        case 'hang':
          return
      }
    },
    settle(t) {
      for (const program of programs.values()) program.alive = false
      for (const track of tracks.all()) {
        if (track.endedT !== undefined) continue
        const program = programOfTrack(track)
        if (program === undefined) continue
        program.alive = true
        program.uuid ??= track.uuid
        program.containerId ??= track.containerId
        const last = program.deaths.at(-1)
        if (last === undefined || track.firstT > last.t) program.bornT ??= track.firstT
        program.peakBytes = Math.max(program.peakBytes, track.nvml?.bytes ?? track.sample?.stats.reserved_bytes ?? 0)
      }
      for (const program of programs.values()) {
        const { evidence } = program
        if (evidence === undefined || t - evidence.t < SETTLE_MS) continue
        const end = endOf(program, evidence)
        if (end !== undefined) die(program, end, evidence)
        else if (t - evidence.t > END_WITHIN_MS) program.evidence = undefined
      }
    },
    programs: () => programs.values(),
  }
}
