// Who runs each process on a GPU and by which command: user, command line without secrets, start. Read once for each process.
import { commandLine } from '../attribution/command-line.ts'
import { readSmallFile } from '../attribution/small-file.ts'
import { createHostUsers, imageUser, innerUid } from '../attribution/users.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { processInfo, processStartTimestampSeconds } from '../metrics/process.ts'
import type { IdentifyProcess, ProcessIdentity } from '../model/identity.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { createGetent } from './processes/getent.ts'
import { createRunner } from './nvidia-smi/run.ts'
import { defineSource } from './definition.ts'

export type ProcessDetailsOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly inventory: Pick<Inventory, 'processes'>
  readonly showsCommands: boolean
  /** Asks the host's directory for the name of a user that its own list does not have; undefined: does not ask. */
  readonly directoryName?: (uid: number) => string | undefined
}

const metrics = [processInfo, processStartTimestampSeconds] as const
const EVERY_MS = 2_000
/** Who runs what rarely changes: emitted when it does, and again every ten seconds. */
const RENEW_MS = 10_000
/** A process is named by its number until its directory answers; it may also change its command line after its start (exec). */
const REREAD_MS = 60_000
/** Clock ticks a second: USER_HZ is 100 on every architecture that has NVIDIA drivers. */
const TICKS = 100
const MAX_KNOWN = 4_096

type Person = { readonly startTicks: number; readonly user: string; readonly uid: string; readonly command: string }
type Row = { readonly person: Person; readonly info: Series; readonly start: Series }

export function createProcessDetailsSource({ procRoot, identify, inventory, showsCommands, directoryName }: ProcessDetailsOptions): Source {
  const tryRead = (path: string): string => {
    try {
      return readSmallFile(`${procRoot}/${path}`)
    } catch {
      return ''
    }
  }
  const bootSeconds = Number(/^btime (\d+)/m.exec(tryRead('stat'))?.[1] ?? Number.NaN)
  const users = createHostUsers(procRoot)
  const people = new Map<number, { readonly person: Person; readonly readAt: number }>()
  const rows = new Map<string, Row>()

  const userOf = ({ pid, uid, container }: ProcessIdentity): string => {
    if (uid === undefined) return ''
    if (container === undefined) return users.name(uid) ?? directoryName?.(uid) ?? String(uid)
    const inside = innerUid(tryRead(`${pid}/uid_map`), uid)
    // An image without a list of users, such as one with a single program, still has this one.
    return imageUser(procRoot, pid, inside) ?? (inside === 0 ? 'root' : String(inside))
  }
  const personOf = (who: ProcessIdentity, t: number): Person => {
    const { person: known, readAt = 0 } = people.get(who.pid) ?? {}
    const isOld = known === undefined || known.startTicks !== who.startTicks || Math.abs(t - readAt) >= REREAD_MS
    // A name that is still asked for is looked up again at the next turn.
    if (!isOld && !(known.user === known.uid && who.container === undefined)) return known
    const next: Person = {
      startTicks: who.startTicks,
      user: userOf(who),
      uid: who.uid === undefined ? '' : String(who.uid),
      command: showsCommands ? commandLine(tryRead(`${who.pid}/cmdline`)) : '',
    }
    const isSame = known?.startTicks === next.startTicks && known.user === next.user && known.uid === next.uid && known.command === next.command
    // The same object as long as nothing changes: its series are kept by it.
    const person = isSame ? known : next
    people.delete(who.pid)
    people.set(who.pid, { person, readAt: isOld ? t : readAt })
    const oldest = people.size > MAX_KNOWN ? people.keys().next().value : undefined
    if (oldest !== undefined) people.delete(oldest)
    return person
  }
  const rowOf = (labels: Labels, person: Person): Row => {
    const { gpu = '', uuid = '', gi, ci, pid = '', process, container_id: id } = labels
    const key = `${pid} ${uuid} ${gi ?? ''} ${ci ?? ''}`
    const known = rows.get(key)
    if (known?.person === person) return known
    const place = { gpu, uuid, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }), pid, ...(process === undefined ? {} : { process }) }
    const said = Object.fromEntries(Object.entries({ user: person.user, uid: person.uid, command: person.command }).filter(([, value]) => value !== ''))
    const row: Row = {
      person,
      info: makeSeries(processInfo, { ...place, ...(id === undefined ? {} : { container_id: id }), ...said }),
      start: makeSeries(processStartTimestampSeconds, place),
    }
    rows.set(key, row)
    return row
  }
  return {
    id: 'process-details',
    metrics,
    start({ emit, every }) {
      let said: ReadonlySet<Row> = new Set()
      let saidAt = Number.NEGATIVE_INFINITY
      every(EVERY_MS, (t) => {
        const begun = performance.now()
        const seen = new Set<Row>()
        for (const { pid, labels } of inventory.processes()) {
          const who = identify(pid)
          if (who === undefined) continue
          const person = personOf(who, t)
          seen.add(rowOf(labels, person))
        }
        for (const [key, row] of rows) if (!seen.has(row)) rows.delete(key)
        if (Math.abs(t - saidAt) < RENEW_MS && seen.size === said.size && [...seen].every((row) => said.has(row))) return
        said = seen
        saidAt = t
        const readings: Reading[] = []
        for (const { info, start, person } of seen) {
          readings.push({ series: info, value: 1 })
          const startedAt = bootSeconds + person.startTicks / TICKS
          if (Number.isFinite(startedAt)) readings.push({ series: start, value: startedAt })
        }
        emit({ type: 'scrape', t, source: 'process-details', group: '', ttlMs: 2.5 * RENEW_MS, durationMs: performance.now() - begun, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const processDetails = defineSource({
  id: 'process-details',
  metrics,
  needs: ['config', 'identify', 'latest'],
  create({ config, identify, latest }) {
    if (config.simulate.scenario !== 'off') return undefined
    const runner = createRunner({ deadlineMs: 2_000, maxBytes: 16 * 1024 })
    const source = createProcessDetailsSource({
      procRoot: config.host.proc_root,
      identify,
      inventory: latest.inventory,
      showsCommands: config.host.command_lines,
      directoryName: createGetent(runner.run),
    })
    return { ...source, stop: () => runner.stop() }
  },
})
